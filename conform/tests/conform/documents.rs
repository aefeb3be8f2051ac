//! Checks the device library's documents: their code compiles, and the names in them exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const DOCUMENTS: [&str; 3] = ["README.md", "docs/porting.md", "docs/binding.md"];
const HEADERS: [&str; 3] = ["dn_pson.h", "dn_bind.h", "dn_json.h"];

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../c")
}

fn read(name: &str) -> String {
    let path = library().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The code blocks of `document` marked as `language`.
fn blocks<'a>(document: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("\n```{language}\n");
    document.split(&fence).skip(1).map(|rest| rest.split("\n```\n").next().expect("a block")).collect()
}

/// The names in `text` that start with `dn_` or `DN_`.
fn names(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("dn_") || word.starts_with("DN_"))
        .collect()
}

/// A block that includes a header is compiled as a file. Any other block is wrapped in a function with a message, a buffer, a
/// reader and a writer.
#[test]
fn code_compiles() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut compiled = 0;
    // The blocks of docs/binding.md form one file, which c/tests/document.sh compiles.
    for document in DOCUMENTS.into_iter().filter(|document| *document != "docs/binding.md") {
        for block in blocks(&read(document), "c") {
            let code = if block.contains("#include") {
                block.to_owned()
            } else {
                let includes: String =
                    HEADERS.iter().map(|header| format!("#include <{header}>\n")).collect();
                format!(
                    "{includes}#include <string.h>\nvoid block(const uint8_t *message, size_t size, uint8_t *buffer, dn_reader r, dn_writer w);\n\
                     void block(const uint8_t *message, size_t size, uint8_t *buffer, dn_reader r, dn_writer w)\n{{\n\
                     (void)message, (void)size, (void)buffer, (void)r, (void)w;\n{block}\n}}\n"
                )
            };
            let file = folder.path().join("block.c");
            fs::write(&file, &code).expect("the block is written");
            let output = Command::new("cc")
                .args(["-std=c99", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused"])
                .arg(format!("-I{}", library().join("src").display()))
                .arg(&file)
                .output()
                .expect("cc");
            assert!(
                output.status.success(),
                "{document}:\n{code}\n{}",
                String::from_utf8_lossy(&output.stderr)
            );
            compiled += 1;
        }
    }
    assert!(compiled >= 5, "{compiled}");
}

/// Every library name in a document is declared in a header or is a file of `src/`.
#[test]
fn names_exist() {
    // `dn_pson.h` includes `dn_config.h`, which has the settings.
    let headers = HEADERS.iter().chain(&["dn_config.h"]);
    let headers: String = headers.map(|header| read(&format!("src/{header}"))).collect();
    let declared = names(&headers);
    let files: BTreeSet<String> = fs::read_dir(library().join("src"))
        .expect("src")
        .filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    for document in DOCUMENTS {
        for name in names(&read(document)) {
            // `dn_config.h` appends the settings to the linker names of functions.
            let name = name.split("_nesting_").next().unwrap_or(name);
            assert!(declared.contains(name) || files.contains(name), "{document} names {name}");
        }
    }
}

/// The functions that a header declares or defines, as declarations.
fn functions(header: &str) -> Vec<String> {
    let declaration = |line: &str| {
        let (signature, _) = line.strip_prefix("static inline ").unwrap_or(line).split_once(')')?;
        let (start, _) = signature.split_once('(')?;
        let is_function = !line.starts_with([' ', '#', '/']) && !line.starts_with("typedef");
        let is_public = start.rsplit([' ', '*']).next()?.starts_with("dn_");
        (is_function && is_public).then(|| format!("{signature});"))
    };
    header.lines().filter_map(declaration).collect()
}

/// The macros of a header that have parameters.
fn macros<'a>(header: &'a str) -> Vec<&'a str> {
    let name = |line: &'a str| {
        let (name, _) = line.strip_prefix("#define ")?.split_once('(')?;
        (!name.contains(' ') && !name.starts_with("DN__")).then_some(name)
    };
    header.lines().filter_map(name).collect()
}

/// "The API on one page" has the declaration of every function in the headers, and the name of every macro, except what only macros call.
/// `code_compiles` compares the types.
#[test]
fn the_api_page_has_the_signature_of_every_function() {
    let macros_call = ["dn_write_short_key", "dn_chars_are", "DN_LITERAL"];
    let is_called = |name: &str| macros_call.iter().any(|inner| name.contains(inner));
    let readme = read("README.md");
    let page = readme.split("\n## ").find(|section| section.starts_with("The API on one page"));
    let page = page.expect("the page");
    let mut found = 0;
    for header in HEADERS.map(|header| read(&format!("src/{header}"))) {
        for function in functions(&header).iter().filter(|function| !is_called(function)) {
            assert!(page.lines().any(|line| line.starts_with(function)), "{function} is missing");
            found += 1;
        }
        for name in macros(&header).into_iter().filter(|name| !is_called(name)) {
            assert!(names(page).contains(name), "{name} is missing");
            found += 1;
        }
    }
    assert!(found > 80, "{found}");
}

/// Links to files have an existing target.
#[test]
fn links_have_a_target() {
    for document in DOCUMENTS {
        let folder = library().join(document).parent().expect("a folder").to_owned();
        for target in read(document).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = target.split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.starts_with("https://") {
                assert!(folder.join(target).exists(), "{document} links to {target}");
            }
        }
    }
}
