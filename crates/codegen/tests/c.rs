//! The C of the bundled schemas, as text: a change of names, bits or code shows here. `BLESS=1` writes it again.

use dunnage_codegen::c;
use dunnage_packed::Layout;
use dunnage_schema::Model;
use std::{env, fs, path::Path};

fn generated(schema: &str) -> c::Files {
    let text = dunnage_schema::bundled_named(schema).expect("a bundled schema");
    c::c(&Layout::new(&Model::compile(text).expect("bundled schemas compile")), None)
        .expect("plain layouts have C")
}

fn assert_golden(name: &str, text: &str) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/c").join(name);
    if env::var_os("BLESS").is_some() {
        fs::write(&golden, text).expect("the golden file can be written");
    }
    let expected = fs::read_to_string(&golden).expect("the golden file");
    assert!(text == expected, "{name} has changed: BLESS=1 cargo test -p dunnage-codegen");
}

#[test]
fn the_bundled_schemas() {
    for schema in ["container", "weather", "meter"] {
        let files = generated(schema);
        assert_golden(&format!("{}.h", files.name), &files.header);
        assert_golden(&format!("{}.c", files.name), &files.source);
    }
}
