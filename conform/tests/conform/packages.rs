//! Checks the package descriptions of the device library for Arduino, PlatformIO, ESP-IDF and Zephyr: each follows its
//! specification, names existing files, and agrees with the others. `BLESS=1` rewrites `keywords.txt`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The headers that users include. `dn_internal.h` and headers that only these include are left out.
const HEADERS: [&str; 3] = ["dn_pson.h", "dn_bind.h", "dn_json.h"];

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../c")
}

fn read(name: &str) -> String {
    let path = library().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn yaml(name: &str) -> Value {
    serde_saphyr::from_str(&read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn names_in(folder: &str) -> BTreeSet<String> {
    fs::read_dir(library().join(folder))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("a map").keys().map(String::as_str).collect()
}

/// <https://docs.arduino.cc/arduino-cli/library-specification>, rev. 2.2, with arduino-lint's stricter rules for the name.
#[test]
fn arduino_library_properties() {
    let text = read("library.properties");
    let fields: BTreeMap<&str, &str> =
        text.lines().map(|line| line.split_once('=').unwrap_or_else(|| panic!("no field: {line}"))).collect();
    let names: Vec<&str> = fields.keys().copied().collect();
    assert_eq!(
        names,
        [
            "architectures",
            "author",
            "category",
            "includes",
            "maintainer",
            "name",
            "paragraph",
            "sentence",
            "url",
            "version"
        ]
    );
    assert_eq!(fields["version"], VERSION);
    assert_eq!(fields["architectures"], "*");
    assert_eq!(fields["includes"], HEADERS[0]);
    assert!(fields["name"].len() <= 16 && fields["name"].chars().all(|c| c.is_ascii_alphanumeric()));
    let categories = [
        "Display",
        "Communication",
        "Signal Input/Output",
        "Sensors",
        "Device Control",
        "Timing",
        "Data Storage",
        "Data Processing",
        "Other",
    ];
    assert!(categories.contains(&fields["category"]));
    assert!(fields["url"].starts_with("https://"));
    assert!(fields.values().all(|value| !value.is_empty() && value.trim() == *value));
    assert!(
        !fields["paragraph"].starts_with(fields["sentence"]),
        "the sentence is prepended to the paragraph"
    );
}

/// A sketch is a folder that contains a file of the same name; the IDE opens only such folders.
#[test]
fn arduino_examples() {
    for name in names_in("examples") {
        assert_eq!(names_in(&format!("examples/{name}")), BTreeSet::from([format!("{name}.ino")]));
    }
}

/// <https://docs.platformio.org/en/latest/manifests/library-json>
#[test]
fn platformio_library_json() {
    let manifest: Value = serde_json::from_str(&read("library.json")).expect("JSON");
    for required in ["name", "version", "description", "keywords", "repository", "authors", "license"] {
        assert!(manifest.get(required).is_some(), "{required}");
    }
    assert_eq!(manifest["version"], VERSION);
    assert_eq!(manifest["license"], "Apache-2.0");
    assert_eq!(manifest["headers"], json!(HEADERS));
    assert!(manifest["description"].as_str().expect("text").len() <= 255);
    for keyword in manifest["keywords"].as_array().expect("an array") {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_+. ".contains(c);
        assert!(
            keyword.as_str().is_some_and(|word| word.len() <= 50 && word.chars().all(allowed)),
            "{keyword}"
        );
    }

    let mut examples = BTreeSet::new();
    for example in manifest["examples"].as_array().expect("an array") {
        let (name, base) = (example["name"].as_str().expect("text"), example["base"].as_str().expect("text"));
        for file in example["files"].as_array().expect("an array") {
            assert!(library().join(base).join(file.as_str().expect("text")).is_file(), "{base}/{file}");
        }
        examples.insert(name.to_owned());
    }
    assert_eq!(examples, names_in("examples"));

    assert_eq!(manifest["build"], json!({"srcDir": "src", "includeDir": "src"}));
    for header in HEADERS {
        assert!(library().join("src").join(header).is_file(), "{header}");
    }
}

/// <https://docs.espressif.com/projects/idf-component-manager/en/latest/reference/manifest_file.html>
#[test]
fn esp_idf_component() {
    let manifest = yaml("idf_component.yml");
    let expected = [
        "dependencies",
        "description",
        "files",
        "license",
        "repository",
        "repository_info",
        "tags",
        "url",
        "version",
    ];
    assert_eq!(keys(&manifest), BTreeSet::from(expected));
    assert_eq!(manifest["version"], VERSION);
    assert_eq!(manifest["license"], "Apache-2.0");
    assert_eq!(manifest["repository_info"]["path"], "c");
    assert_eq!(keys(&manifest["dependencies"]), BTreeSet::from(["idf"]));
    for excluded in manifest["files"]["exclude"].as_array().expect("an array") {
        let folder = excluded.as_str().and_then(|glob| glob.strip_suffix("/**/*")).expect("a folder's glob");
        assert!(library().join(folder).is_dir(), "{folder}");
    }
    let build = read("CMakeLists.txt");
    assert!(build.contains("if(ESP_PLATFORM)") && build.contains("idf_component_register("));
}

/// <https://docs.zephyrproject.org/latest/develop/modules.html>
#[test]
fn zephyr_module() {
    let module = yaml("zephyr/module.yml");
    assert_eq!(module, json!({"name": "dunnage", "build": {"cmake": "zephyr", "kconfig": "zephyr/Kconfig"}}));
    let (kconfig, build) = (read("zephyr/Kconfig"), read("zephyr/CMakeLists.txt"));
    for option in kconfig.lines().filter_map(|line| line.trim_start_matches("menu").strip_prefix("config ")) {
        assert!(build.contains(&format!("CONFIG_{option}")), "{option} has no effect");
    }
}

#[test]
fn cmake_project_has_the_version() {
    assert!(read("CMakeLists.txt").contains(&format!("VERSION {VERSION}")));
}

/// The folder is also distributed separately, so it needs its own copy of the license.
#[test]
fn license_matches_the_project() {
    assert_eq!(read("LICENSE"), read("../LICENSE"));
}

/// `keywords.txt` lists exactly the public names of the headers.
#[test]
fn keywords_are_the_public_names() {
    let (mut types, mut functions, mut constants) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    // All headers include dn_config.h, which has the settings and the version.
    for header in HEADERS.into_iter().chain(["dn_config.h"]) {
        public_names(&read(&format!("src/{header}")), &mut types, &mut functions, &mut constants);
    }
    let mut text = String::from("# What the Arduino IDE colours. Fields are separated by a tab.\n");
    for (title, token, names) in [
        ("Types", "KEYWORD1", types),
        ("Functions, and macros that are called as such", "KEYWORD2", functions),
        ("Constants", "LITERAL1", constants),
    ] {
        text += &format!("\n# {title}\n");
        text.extend(names.iter().map(|name| format!("{name}\t{token}\n")));
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(library().join("keywords.txt"), &text).expect("keywords.txt is written");
    }
    assert_eq!(read("keywords.txt"), text, "BLESS=1 writes it again");
}

/// Sorts the declarations of `header` into types, functions and constants.
fn public_names(
    header: &str,
    types: &mut BTreeSet<String>,
    functions: &mut BTreeSet<String>,
    constants: &mut BTreeSet<String>,
) {
    let code = without_comments(header);
    for line in code.lines() {
        let Some(definition) = line.trim_start().strip_prefix("#define ") else { continue };
        let end = definition.find(|c: char| !is_name(c)).unwrap_or(definition.len());
        let (name, rest) = definition.split_at(end);
        let called = rest.starts_with('(');
        let renamed = name.starts_with("dn_") && !called;
        if name.ends_with("_H") || name.starts_with("DN__") || renamed {
            continue;
        }
        if called {
            functions.insert(name.to_owned())
        } else {
            constants.insert(name.to_owned())
        };
    }

    let declarations = without_directives(&code);
    let mut at = 0;
    while let Some(start) = declarations[at..].find(|c: char| c.is_ascii_alphabetic()).map(|found| at + found)
    {
        let end =
            declarations[start..].find(|c| !is_name(c)).map_or(declarations.len(), |found| start + found);
        let (name, before, after) = (&declarations[start..end], &declarations[..start], &declarations[end..]);
        at = end;
        if name.starts_with("DN_") && !name.starts_with("DN__") {
            // Enumerators follow a brace or a comma. Other names in that position were defined above.
            if before.trim_end().ends_with(['{', ',']) && after.trim_start().starts_with([',', '}', '=']) {
                constants.insert(name.to_owned());
            }
        } else if name.starts_with("dn_") && !name.starts_with("dn__") {
            let after = after.trim_start();
            if before.ends_with("(*") || before.trim_end().ends_with('}') && after.starts_with(';') {
                types.insert(name.to_owned());
            } else if after.starts_with('(') {
                functions.insert(name.to_owned());
            } else if after.starts_with(';')
                && before.lines().last().is_some_and(|line| line.starts_with("typedef "))
            {
                types.insert(name.to_owned());
            }
        }
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn without_comments(code: &str) -> String {
    let mut parts = code.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once("*/").expect("a comment ends").1)
}

/// The code without preprocessor directives and their continuation lines.
fn without_directives(code: &str) -> String {
    let mut kept = String::new();
    let mut directive = false;
    for line in code.lines() {
        directive |= line.trim_start().starts_with('#');
        if !directive {
            kept += line;
            kept.push('\n');
        }
        directive &= line.ends_with('\\');
    }
    kept
}
