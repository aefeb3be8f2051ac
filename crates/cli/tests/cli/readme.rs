//! Compares the tables of README.md and docs/sizes.md with the output of `dunnage compare`.

use crate::run::{dunnage, root};
use serde_json::Value;
use std::{env, fmt::Write as _, fs};

#[test]
fn the_first_sentence_of_the_readme_gives_the_bytes_of_the_container() {
    let json = fs::read_to_string(root().join("bench/corpus/container.json")).unwrap();
    let message: Value = serde_json::from_str(&json).unwrap();
    let run = dunnage(&["convert", "--from", "json", "--to", "packed", "--schema", "container"], json);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let sentence = format!("{} bytes of JSON become {}.", message.to_string().len(), run.stdout.len());
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains(&sentence), "README.md does not say: {sentence}");
}

#[test]
fn table_of_the_readme_matches_the_output_of_compare() {
    let mut table = "| | JSON | CBOR | Protobuf | packed |\n|---|--:|--:|--:|--:|\n".to_owned();
    for (schema, description) in [
        ("container", "a shipping container, 20 fields"),
        ("meter", "an electricity meter with three phases"),
        ("weather", "a weather station"),
    ] {
        let text = fs::read_to_string(root().join(format!("spec/schemas/{schema}.json"))).unwrap();
        let text: Value = serde_json::from_str(&text).unwrap();
        let compared =
            dunnage(&["compare", "-", "--schema", schema, "--json"], text["examples"][0].to_string()).json();
        let bytes = |format: &str| {
            let rows = compared["formats"].as_array().unwrap().iter();
            rows.clone().find(|row| row["format"] == format).unwrap()["bytes"].to_string()
        };
        let sizes = ["json", "cbor", "protobuf", "packed"].map(bytes).join(" | ");
        let _ = writeln!(table, "| {description} | {sizes} |");
    }
    compare_or_bless("README.md", "savings", &table);
}

#[test]
fn table_of_all_formats_matches_the_output_of_compare() {
    let message = "bench/corpus/container.json";
    let links = ["--link", "kineis", "--link", "astrocast"];
    let table =
        dunnage(&[&["compare", message, "--schema", "container"], &links[..], &["--markdown"]].concat(), "");
    compare_or_bless("docs/sizes.md", "size", table.text());
}

/// Compares `table` with the text in `document` between `begin NAME table` and `end NAME table`, or replaces it if `BLESS` is
/// set.
#[track_caller]
fn compare_or_bless(document: &str, name: &str, table: &str) {
    let (begin, end) = (format!("<!-- begin {name} table -->\n"), format!("<!-- end {name} table -->"));
    let path = root().join(document);
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once(&begin).expect("the document has the marker of its table");
    let (old, tail) = rest.split_once(&end).unwrap();
    if env::var_os("BLESS").is_some() {
        return fs::write(path, [head, &begin, table, &end, tail].concat()).unwrap();
    }
    assert_eq!(old, table, "the table in {document} is old: run with BLESS=1");
}
