//! Schemas of random messages, texts and numbers, and the strategies that generate them.

use dunnage_schema::{Model, Type, infer};
use proptest::prelude::*;
use serde_json::Value as Json;

/// Texts of the recognised kinds, and near misses.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?[0-9]{1,4}(\\.[0-9]{1,3})?",
        "-?0[.:][0-9]{1,2}",
        "-?[0-9.]{1,5} -?[0-9.]{1,5}",
        "[0-3][0-9][01][0-9]2[0-9] [0-2][0-9][0-5][0-9][0-5][0-9](\\.[0-9])?",
        "20[0-9]{2}-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-5][0-9]:[0-6][0-9](\\.[0-9]{1,3})?(Z|\\+01:00)?",
        "[A-Z]{3}[UJZ][0-9]{7}",
        "[0-9A-F]{1,4}[-:./^$+]{0,2}[0-9a-f]{1,4}",
        "[0-9.]{7,9}",
        "[01]",
        "\\PC{0,6}",
    ]
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?",
        "-?[1-9](\\.[0-9]{1,14})?([eE][+-]?[0-9]{1,2})?",
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("JSON has no others", |f| f.is_finite()).prop_map(|f| format!("{f:e}")),
        Just("-0".to_owned()),
    ]
}

/// Messages of all kinds, as JSON.
pub fn message() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => text().prop_map(|text| Json::from(text).to_string()),
        4 => number(),
        1 => Just("null".to_owned()),
        1 => any::<bool>().prop_map(|b| b.to_string()),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let key = prop_oneof![3 => "[a-d]", 1 => "[0-9]{1,2}", 1 => "temperature|lat", 1 => "\\PC{0,2}"];
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            3 => prop::collection::btree_map(key, inner, 0..12).prop_map(|entries| {
                let entry = |(key, value): (String, String)| format!("{}:{value}", Json::from(key));
                format!("{{{}}}", entries.into_iter().map(entry).collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // `infer` itself validates every sample and fails if the schema does not allow it.
    #[test]
    fn any_messages_have_a_schema_that_allows_them(samples in prop::collection::vec(message(), 1..6)) {
        let inferred = infer(&samples, None);
        prop_assert!(inferred.is_ok(), "{samples:?}: {inferred:?}");
    }

    #[test]
    fn any_texts_have_a_schema_that_allows_them(texts in prop::collection::vec(text(), 1..40)) {
        let samples: Vec<String> = texts.into_iter().map(|text| Json::from(text).to_string()).collect();
        let inferred = infer(&samples, None);
        prop_assert!(inferred.is_ok(), "{samples:?}: {inferred:?}");
    }

    #[test]
    fn any_numbers_have_a_schema_that_allows_them(numbers in prop::collection::vec(number(), 1..40)) {
        let inferred = infer(&numbers, None);
        prop_assert!(inferred.is_ok(), "{numbers:?}: {inferred:?}");
    }

    #[test]
    fn decimals_of_one_notation_are_decimals(numbers in prop::collection::vec("-?[1-9][0-9]{0,3}\\.[0-9]{2}", 1..40)) {
        let model = Model::compile(&infer(&numbers, None).unwrap().schema).unwrap();
        prop_assert!(matches!(model.root(), Type::Decimal(_)));
        let texts: Vec<String> = numbers.iter().map(|number| format!("\"{number}\"")).collect();
        let model = Model::compile(&infer(&texts, None).unwrap().schema).unwrap();
        prop_assert!(matches!(model.root(), Type::NumberText(_)));
    }
}
