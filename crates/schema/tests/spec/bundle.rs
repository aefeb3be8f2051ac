//! Schemas of several files.

use crate::json::message;
use dunnage_schema::{Folders, Model};
use std::{fs, path::Path, path::PathBuf};

/// A folder that is removed after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("dunnage-bundle-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("schemas/parts")).expect("a folder");
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a file");
        path
    }

    fn bundle(&self, path: &Path) -> Result<String, String> {
        let folders = Folders::new(&[self.0.join("schemas")]).expect("a folder");
        folders.bundle(path, &fs::read_to_string(path).expect("a file")).map_err(|error| error.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_that_refer_to_one_another_become_one_schema() {
    let folder = Folder::new("several");
    let main = folder.write(
        "schemas/main.json",
        r##"{"type":"object","properties":{
            "t":{"$ref":"parts/units.json#/$defs/celsius"}, "next":{"$ref":"main.json"},
            "flag":{"$ref":"https://schemas.example/flag.json"}, "own":{"$ref":"#/$defs/own"}},
            "additionalProperties":false, "$defs":{"own":{"enum":["a","b"]}}}"##,
    );
    folder.write(
        "schemas/parts/units.json",
        r##"{"$defs":{"celsius":{"$ref":"#/$defs/small"},"small":{"$ref":"../small.json"}}}"##,
    );
    folder.write("schemas/small.json", r#"{"type":"integer","minimum":-40,"maximum":85}"#);
    folder.write("schemas/flag.json", r#"{"$id":"https://schemas.example/flag.json","type":"boolean"}"#);
    let text = folder.bundle(&main).expect("a bundle");
    let model = Model::compile(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    for valid in [r#"{"t":85,"flag":true,"own":"b"}"#, r#"{"next":{"next":{"t":0}}}"#] {
        assert_eq!(model.validate(&message(valid)), Ok(()), "{valid}\n{text}");
    }
    for invalid in [r#"{"t":86}"#, r#"{"next":{"flag":1}}"#, r#"{"own":"c"}"#] {
        assert!(model.validate(&message(invalid)).is_err(), "{invalid}");
    }
    // The bundle is self-contained.
    let alone = folder.write("alone.json", &text);
    assert_eq!(Folders::default().bundle(&alone, &text).expect("a bundle"), text);
}

#[test]
fn nothing_outside_of_the_folders_is_read() {
    let folder = Folder::new("outside");
    let secret = folder.write("secret.json", r#"{"const":"secret"}"#);
    std::os::unix::fs::symlink(&secret, folder.0.join("schemas/link.json")).expect("a link");
    std::os::unix::fs::symlink(&folder.0, folder.0.join("schemas/parts/up")).expect("a link");
    for reference in [
        "../secret.json".to_owned(),
        "parts/../../secret.json".to_owned(),
        "link.json".to_owned(),
        "parts/up/secret.json".to_owned(),
        secret.display().to_string(),
        format!("file://{}", secret.display()),
        "/etc/passwd".to_owned(),
        "http://127.0.0.1:9/secret.json".to_owned(),
        "missing.json".to_owned(),
        "parts".to_owned(),
    ] {
        let main = folder.write("schemas/main.json", &format!(r#"{{"$ref":"{reference}"}}"#));
        let result = folder.bundle(&main).and_then(|text| {
            assert!(!text.contains("secret\"}"), "{reference}: {text}");
            Model::compile(&text).map_err(|error| error.to_string())
        });
        let error = result.expect_err(&reference);
        assert!(
            error.contains(&format!("{reference:?}")) && !error.contains("const"),
            "{reference}: {error}"
        );
    }
    assert!(Folders::new(&[secret]).unwrap_err().message().contains("is not a folder"));
}

#[test]
fn files_with_the_same_name_in_two_folders_are_distinct() {
    let folder = Folder::new("two");
    fs::create_dir_all(folder.0.join("others")).expect("a folder");
    let main = folder.write(
        "schemas/main.json",
        r#"{"type":"object","properties":{"x":{"$ref":"../others/part.json"},"y":{"$ref":"unit.json"}}}"#,
    );
    folder.write("schemas/unit.json", r#"{"type":"string"}"#);
    folder.write("others/part.json", r#"{"$ref":"unit.json"}"#);
    folder.write("others/unit.json", r#"{"type":"integer"}"#);
    for order in [["schemas", "others"], ["others", "schemas"]] {
        let folders = Folders::new(&order.map(|name| folder.0.join(name))).expect("folders");
        let text = folders.bundle(&main, &fs::read_to_string(&main).expect("a file")).expect("a bundle");
        let model = Model::compile(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(model.validate(&message(r#"{"x":3,"y":"a"}"#)), Ok(()), "{text}");
        assert!(model.validate(&message(r#"{"x":"a"}"#)).is_err(), "{text}");
        assert!(model.validate(&message(r#"{"y":3}"#)).is_err(), "{text}");
    }
}

#[test]
fn references_are_relative_to_the_id_of_the_enclosing_schema() {
    let folder = Folder::new("nested");
    let main = folder.write(
        "schemas/main.json",
        r##"{"$id":"https://schemas.example/main.json","type":"object","properties":{
            "x":{"$ref":"unit.json"}, "y":{"$id":"parts/","$ref":"unit.json"}, "z":{"$id":"parts/z.json","$ref":"../unit.json"},
            "own":{"$id":"deep/a.json","$ref":"b.json"}}, "$defs":{"own":{"$id":"deep/b.json","type":"null"}}}"##,
    );
    folder.write("schemas/unit.json", r#"{"type":"string"}"#);
    folder.write("schemas/parts/unit.json", r#"{"type":"integer"}"#);
    folder.write("schemas/b.json", r#"{"type":"boolean"}"#);
    let text = folder.bundle(&main).expect("a bundle");
    let model = Model::compile(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(model.validate(&message(r#"{"x":"a","y":3,"z":"b","own":null}"#)), Ok(()), "{text}");
}

#[test]
fn names_of_files_are_percent_encoded_in_references() {
    let folder = Folder::new("percent");
    let main = folder.write(
        "schemas/main.json",
        r##"{"type":"array","prefixItems":[{"$ref":"my%20part%23%25.json#/$defs/a%25"},{"$ref":"my%20part%23%25.json"}]}"##,
    );
    folder.write("schemas/my part#%.json", r#"{"type":"string","$defs":{"a%":{"type":"integer"}}}"#);
    let text = folder.bundle(&main).expect("a bundle");
    let model = Model::compile(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(model.validate(&message(r#"[1,"a"]"#)), Ok(()), "{text}");
    assert!(model.validate(&message(r#"["a",1]"#)).is_err(), "{text}");
}

#[test]
fn in_older_drafts_keywords_beside_a_reference_are_ignored() {
    let folder = Folder::new("alone");
    let main = folder.write(
        "schemas/main.json",
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","type":"array",
            "items":[{"$ref":"between.json"},{"$ref":"between.json#/definitions/flag"}]}"##,
    );
    folder.write(
        "schemas/between.json",
        r#"{"$ref":"unit.json","minimum":7,"definitions":{"flag":{"type":"boolean"}}}"#,
    );
    folder.write("schemas/unit.json", r#"{"type":"integer"}"#);
    let text = folder.bundle(&main).expect("a bundle");
    let model = Model::compile(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(model.validate(&message("[3,true]")), Ok(()), "{text}");
    assert!(model.validate(&message("[true,3]")).is_err(), "{text}");
}

#[test]
fn files_with_one_id_are_told_apart_by_their_paths() {
    let folder = Folder::new("twice");
    folder.write(
        "schemas/a.json",
        r##"{"$id":"https://schemas.example/a","$ref":"https://schemas.example/a#/$defs/x","$defs":{"x":{"type":"string"}}}"##,
    );
    folder.write(
        "schemas/b.json",
        r##"{"$id":"https://schemas.example/a","$ref":"#/$defs/x","$defs":{"x":{"$ref":"https://schemas.example/a#/$defs/y"},"y":{"type":"integer"}}}"##,
    );
    for (first, second, valid, invalid) in
        [("a", "b", r#"["a",1]"#, r#"[1,"a"]"#), ("b", "a", r#"[1,"a"]"#, r#"["a",1]"#)]
    {
        let main = folder.write(
            "schemas/main.json",
            &format!(
                r#"{{"type":"array","prefixItems":[{{"$ref":"{first}.json"}},{{"$ref":"{second}.json"}}]}}"#
            ),
        );
        let text = folder.bundle(&main).expect("a bundle");
        let model = Model::compile(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(model.validate(&message(valid)), Ok(()), "{text}");
        assert!(model.validate(&message(invalid)).is_err(), "{text}");
    }
    let main = folder.write("schemas/main.json", r#"{"$ref":"https://schemas.example/a"}"#);
    let error = folder.bundle(&main).expect_err("an error");
    assert!(error.contains("a.json and of") && error.contains("b.json: refer to one by its path"), "{error}");
}

#[test]
fn addresses_can_be_mapped_to_files() {
    let folder = Folder::new("map");
    let url = "https://raw.example/master/common.json".to_owned();
    folder.write(
        "common.json",
        r##"{"$defs":{"t":{"$ref":"https://raw.example/master/common.json#/$defs/n"},"n":{"type":"integer"}}}"##,
    );
    let main = folder.write("main.json", &format!(r##"{{"$ref":"{url}#/$defs/t"}}"##));
    let text = fs::read_to_string(&main).expect("a file");
    let bundle = |folders: Folders| folders.bundle(&main, &text).map_err(|error| error.to_string());
    let map = folder.write("map.json", &format!(r#"{{"{url}":"common.json"}}"#));
    let mapped = bundle(Folders::default().with_map(&map).expect("a map")).expect("a bundle");
    let model = Model::compile(&mapped).unwrap_or_else(|e| panic!("{e}\n{mapped}"));
    assert_eq!(model.validate(&message("1")), Ok(()), "{mapped}");
    assert!(model.validate(&message("\"a\"")).is_err(), "{mapped}");
    // The map decides where several files have the address as their $id.
    for name in ["schemas/one.json", "schemas/two.json"] {
        folder.write(name, &format!(r#"{{"$id":"{url}","type":"string"}}"#));
    }
    let folders = Folders::new(&[folder.0.join("schemas")]).expect("a folder");
    assert!(bundle(folders.clone()).expect_err("an error").contains("map the address"));
    assert_eq!(bundle(folders.with_map(&map).expect("a map")).expect("a bundle"), mapped);
    // A reference to a file has its own pointer, and needs a folder; a map alone reads no files beside the schema.
    let both = format!(r#"{{"properties":{{"a":{{"$ref":"{url}"}},"b/c":{{"$ref":"map.json"}}}}}}"#);
    let mapped = Folders::default().with_map(&map).expect("a map");
    let bundled = mapped.bundle(&main, &both).expect("a bundle");
    let error = Model::compile(&bundled).expect_err("an error");
    assert!(
        error.pointer() == "/properties/b~1c/$ref" && error.message().contains("--schema-dir"),
        "{error}"
    );
    let inside = Folders::new(&[folder.0.join("schemas")]).expect("a folder").with_map(&map).expect("a map");
    let error = inside.bundle(&main, &both.replace("\"map.json", "\"./map.json")).expect_err("an error");
    assert!(error.pointer() == "/properties/b~1c/$ref" && error.message().contains("leads out"), "{error}");
    for (wrong, reason) in [
        (r#"{"common.json":"common.json"}"#, "not an absolute"),
        (r#"{"https://raw.example/none":"none.json"}"#, "none.json: "),
        (r#"{"https://raw.example/none":7}"#, "not the path"),
        ("[]", "not a JSON object"),
    ] {
        let error = Folders::default().with_map(&folder.write("wrong.json", wrong)).expect_err("an error");
        assert!(error.message().contains(reason) && error.message().contains("wrong.json"), "{error}");
    }
}

#[test]
fn sizes_of_bundles_and_files_are_limited() {
    let folder = Folder::new("large");
    let references: Vec<String> = (0..20).map(|n| format!(r#"{{"$ref":"{n}.json"}}"#)).collect();
    let main = folder.write(
        "schemas/main.json",
        &format!(r#"{{"type":"array","prefixItems":[{}]}}"#, references.join(",")),
    );
    for n in 0..20 {
        let text = format!(r#"{{"const":"{}"}}"#, "a".repeat(1_000_000));
        folder.write(&format!("schemas/{n}.json"), &text);
    }
    let error = folder.bundle(&main).map(|text| text.len()).expect_err("an error");
    assert!(error.contains("more than 8 MiB"), "{error}");
    let endless = fs::File::open("/dev/zero").expect("a device");
    assert!(dunnage_schema::read_text(endless).unwrap_err().to_string().contains("1048576 bytes"));
}
