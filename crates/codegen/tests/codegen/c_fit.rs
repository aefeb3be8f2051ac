//! Generated C writes as much of a message as fits: the vectors of `spec/vectors/packed/fit.json` without statistics, which C has no fit for.

#[path = "../../../pson/tests/pson/notation/mod.rs"]
#[allow(dead_code, clippy::unwrap_used)]
mod notation;

use crate::c_programs::{CHECK, run};
use dunnage_codegen::c;
use dunnage_packed::Layout;
use dunnage_schema::{Model, bundled_named};
use serde_json::Value as Json;
use std::{collections::BTreeMap, fmt::Write as _};

fn vectors() -> Vec<Json> {
    let file: Json =
        serde_json::from_str(include_str!("../../../../spec/vectors/packed/fit.json")).expect("JSON");
    let vectors = file["vectors"].as_array().expect("vectors").clone();
    vectors.into_iter().filter(|vector| vector["schema"]["x-dunnage-statistics"].is_null()).collect()
}

fn layout(schema: &Json) -> Layout {
    Layout::new(&Model::compile(&schema.to_string()).expect("the schema compiles")).expect("a layout")
}

/// Returns bytes as an array of C.
fn array(hex: &str) -> String {
    let bytes: Vec<_> = (0..hex.len()).step_by(2).map(|at| format!("0x{}", &hex[at..at + 2])).collect();
    format!("{{{}}}", bytes.join(", "))
}

/// Returns the statements that check a vector: C reads the whole message, and writes what fits.
fn check(vector: &Json) -> String {
    let layout = layout(&vector["schema"]);
    let (name, limit) = (layout.name(), &vector["limit"]);
    let whole = notation::value(&vector["value"]);
    let mut bytes = Vec::new();
    layout.encode(&whole, &mut bytes).expect("the message is valid");
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut text = format!(
        "    {{
        static {name} message;
        static const uint8_t whole[] = {};
        uint8_t out[{limit}];
        CHECK({name}_decode(&message, whole, sizeof whole, NULL));
        size = {name}_encode_fit(&message, out, sizeof out, &fault);
",
        array(&hex)
    );
    match vector["hex"].as_str() {
        Some(hex) => {
            let _ = write!(
                text,
                "        static const uint8_t part[] = {};
        CHECK(fault.kind == DUNNAGE_OK && size == sizeof part && !memcmp(out, part, size));
        {{
            static uint8_t again[{}_MAX_SIZE];
            CHECK({name}_encode(&message, again, sizeof again, NULL) == size && !memcmp(out, again, size));
        }}
",
                array(hex),
                name.to_uppercase()
            );
        }
        None => text.push_str("        CHECK(!size && fault.kind == DUNNAGE_TRUNCATED);\n"),
    }
    text + "    }\n"
}

#[test]
fn as_much_of_a_message_is_written_as_fits() {
    let (mut schemas, mut checks) = (BTreeMap::new(), String::new());
    for vector in vectors() {
        schemas.insert(layout(&vector["schema"]).name().to_lowercase(), vector["schema"].to_string());
        checks.push_str(&check(&vector));
    }
    assert_eq!(schemas.len(), 3);
    let includes: String = schemas.keys().map(|name| format!("#include \"{name}.h\"\n")).collect();
    let schemas: Vec<&str> = schemas.values().map(String::as_str).collect();
    let main = format!(
        "{includes}#include <string.h>\n{CHECK}
int main(void)
{{
    dunnage_fault fault;
    size_t size;
{checks}    return 0;
}}
"
    );
    run("fit", &schemas, "", &main);
}

/// The header says what is left out, and the compiler checks the size of what is left.
#[test]
fn the_smallest_form_fits_the_link() {
    let layout = layout(&vectors()[0]["schema"]);
    let files = |fit, limit| {
        let link = Some(c::Link { name: "LoRaWAN", limit });
        c::c(&layout, &c::Options { link, fit, ..Default::default() }).expect("C")
    };
    let (with, without) = (files(true, 11), files(false, 11));
    let smallest = layout.fit_bytes().expect("a plain layout");
    assert!(smallest < layout.max_bytes().expect("a plain layout"));
    assert!(with.header.contains(&format!("#define READINGS_FIT_SIZE {smallest}\n")));
    assert!(with.header.contains("READINGS_FIT_SIZE <= READINGS_LINK_LIMIT"));
    assert!(without.header.contains("READINGS_MAX_SIZE <= READINGS_LINK_LIMIT"));
    let steps =
        "readings[].spectrum; then position.hdop, position.satellites; then readings[].h; then battery";
    assert!(with.header.contains(steps), "{}", with.header);
    let weather = Layout::new(&Model::compile(bundled_named("weather").expect("bundled")).expect("a model"))
        .expect("a layout");
    let files = c::c(&weather, &c::Options::default()).expect("C");
    assert!(!files.header.contains("_fit") && weather.fit_bytes() == weather.max_bytes());
}
