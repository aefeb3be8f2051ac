use crate::run::{dunnage, root};
use std::{env, fs};

const BEGIN: &str = "<!-- begin size table -->\n";
const END: &str = "<!-- end size table -->";

#[test]
fn the_readme_says_how_many_bytes_of_the_container_are_left() {
    let message = fs::read(root().join("bench/corpus/container.json")).unwrap();
    let run = dunnage(&["convert", "--from", "json", "--to", "packed", "--schema", "container"], message);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let sentence = format!(
        "The container above takes {} bytes with the ranges of its sensors (`--schema container`).",
        run.stdout.len()
    );
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.contains(&sentence), "README.md does not say: {sentence}");
}

#[test]
fn the_size_table_of_the_readme_is_what_compare_prints() {
    let table = dunnage(
        &[
            "compare",
            "bench/corpus/container.json",
            "--schema",
            "container",
            "--link",
            "kineis",
            "--link",
            "astrocast",
            "--markdown",
        ],
        "",
    );
    let path = root().join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (head, rest) = readme.split_once(BEGIN).expect("README.md has the marker of its table");
    let (old, tail) = rest.split_once(END).unwrap();
    if env::var_os("BLESS").is_some() {
        return fs::write(path, [head, BEGIN, table.text(), END, tail].concat()).unwrap();
    }
    assert_eq!(old, table.text(), "the table in README.md is old: run with BLESS=1");
}
