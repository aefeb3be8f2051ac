//! Schemas that are refused, each with the pointer to the mistake.

mod damaged;
mod keywords;
mod limits;
mod notations;

use dunnage_schema::Model;

/// Asserts that each schema is refused, with an error that has the pointer, names a keyword in it and contains the reason.
pub fn refused(cases: &[(&str, &str, &str)]) {
    for (schema, pointer, reason) in cases {
        let error = Model::compile(schema).expect_err(schema);
        assert_eq!(error.pointer(), *pointer, "{schema}: {error}");
        assert!(error.message().contains(reason), "{schema}: {error}");
        assert!(pointer.contains(error.keyword()), "{schema}: {}", error.keyword());
        assert!(error.to_string().contains(pointer), "{error}");
    }
}
