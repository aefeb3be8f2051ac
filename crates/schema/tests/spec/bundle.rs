//! Schemas of several files.

use crate::json::message;
use dunnage_schema::{Folders, Model};
use std::{fs, path::Path, path::PathBuf};

/// A folder that goes away with the test.
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
    // The bundle is complete in itself.
    let alone = folder.write("alone.json", &text);
    assert_eq!(Folders::default().bundle(&alone, &text).expect("the same"), text);
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
        let refused = folder.bundle(&main).and_then(|text| {
            assert!(!text.contains("secret\"}"), "{reference}: {text}");
            Model::compile(&text).map_err(|error| error.to_string())
        });
        let error = refused.expect_err(&reference);
        assert!(
            error.contains(&format!("{reference:?}")) && !error.contains("const"),
            "{reference}: {error}"
        );
    }
    assert!(Folders::new(&[secret]).unwrap_err().contains("is not a folder"));
}
