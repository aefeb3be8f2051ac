//! The schemas of `bench/corpus/real` and `bench/corpus/nested` compile, and allow their documents.

use crate::json::{parse, value};
use dunnage_schema::Model;
use std::{fs, path::Path};

#[test]
fn every_schema_of_the_corpus_compiles_and_allows_its_document() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/corpus");
    for (set, least) in [("real", 26), ("nested", 4)] {
        let mut failures = Vec::new();
        let mut count = 0;
        for entry in fs::read_dir(corpus.join(set)).unwrap() {
            let folder = entry.unwrap().path();
            if !folder.is_dir() {
                continue;
            }
            count += 1;
            let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
            let outcome = match Model::compile(&read("schema.json")) {
                Ok(model) => {
                    model.validate(&value(&parse(&read("document.json")))).map_err(|e| e.to_string())
                }
                Err(error) => Err(error.to_string()),
            };
            failures.extend(outcome.err().map(|reason| format!("{}: {reason}", folder.display())));
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert!(count >= least, "{set}: {count} schemas are not the whole corpus");
    }
}
