//! Checks `CITATION.cff`: it has the keys that the Citation File Format 1.2.0 requires, agrees with the workspace, and lists the studies that `bench/` repeats.

use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/{name}")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn citation() -> Value {
    serde_saphyr::from_str(&read("CITATION.cff")).unwrap_or_else(|error| panic!("CITATION.cff: {error}"))
}

/// Whether these are authors: entities with a name, or persons.
fn are_authors(authors: &Value) -> bool {
    let named = |author: &Value| ["name", "family-names", "alias"].iter().any(|key| author[key].is_string());
    authors.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(named))
}

#[test]
fn citation_agrees_with_the_workspace() {
    let citation = citation();
    assert_eq!(citation["cff-version"], "1.2.0");
    assert_eq!(citation["type"], "software");
    assert_eq!(citation["title"], "Dunnage");
    assert_eq!(citation["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(citation["license"], env!("CARGO_PKG_LICENSE"));
    assert_eq!(citation["repository-code"], env!("CARGO_PKG_REPOSITORY"));
    assert!(read("LICENSE").contains("Apache License\n                           Version 2.0"));
    assert!(citation["message"].is_string() && citation["abstract"].is_string());
    assert!(are_authors(&citation["authors"]));
}

#[test]
fn citation_lists_the_studies_that_are_repeated() {
    let citation = citation();
    let references = citation["references"].as_array().unwrap();
    for reference in references {
        let title = reference["title"].as_str().unwrap();
        assert!(reference["type"].is_string() && are_authors(&reference["authors"]), "{title}");
    }
    let titles: Vec<&str> = references.iter().map(|reference| reference["title"].as_str().unwrap()).collect();
    let suites = read("bench/suites.toml");
    let papers: Vec<&str> = suites
        .lines()
        .filter_map(|line| line.strip_prefix("paper = \"")?.strip_suffix('"'))
        .filter(|paper| !paper.is_empty())
        .collect();
    assert_eq!(papers.len(), titles.len());
    for paper in papers {
        assert!(titles.iter().any(|title| paper.starts_with(title)), "{paper}");
    }
}
