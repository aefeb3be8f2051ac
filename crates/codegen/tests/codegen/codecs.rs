//! Compares the codecs in other languages with golden files, which `BLESS=1` rewrites, and leaves the whole codecs for the tests in
//! `ts013`, which run them. Golden files have the part of the schema; one of them has the runtime, too.

use dunnage_codegen::{MAX_TS013_BYTES, ts013, ts013_examples};
use dunnage_packed::{Layout, Training};
use dunnage_pson::Value;
use dunnage_schema::{Model, Options};
use std::{fs, path::Path};

/// The schema whose golden file has the runtime.
const WHOLE: &str = "weather";
const PARTS: &str = include_str!("../ts013/parts.schema.json");
/// A schema whose slot is the port.
const PORT: &str = include_str!("../ts013/port.schema.json");
/// A schema with every keyword and format that excludes values for which there are bits.
const CHECKS: &str = include_str!("../ts013/checks.schema.json");

fn layout(schema: &str) -> Layout {
    Layout::new(&Model::compile(schema).expect("a schema")).expect("a layout")
}

fn bundled(name: &str) -> &'static str {
    dunnage_schema::bundled_named(name).expect("a bundled schema")
}

/// Returns the schema's examples.
fn examples(schema: &str) -> Vec<Value> {
    let Ok(Value::Map(schema)) = serde_json::from_str(schema) else { panic!("not an object") };
    let examples = schema.into_iter().find(|(key, _)| key == "examples");
    let Some((_, Value::Array(examples))) = examples else { panic!("no examples") };
    examples
}

/// Writes a codec and its examples where the tests in `ts013` read them.
fn leave(folder: &str, name: &str, codec: &str, examples: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ts013").join(folder);
    fs::create_dir_all(&folder).expect("the folder can be created");
    fs::write(folder.join(format!("{name}.js")), codec).expect("the codec can be written");
    fs::write(folder.join(format!("{name}.examples.json")), examples).expect("the examples can be written");
}

/// Returns a codec without the runtime, which is the same for all schemas.
fn without_runtime(codec: &str) -> String {
    let start = codec.find("// The message that is read or written.").expect("the start of the runtime");
    let end = codec.find("var LAYOUT").expect("the layout");
    format!("{}{}", &codec[..start], &codec[end..])
}

fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, text).expect("the golden file can be written");
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert!(text == golden, "{name} differs from the generated text; BLESS=1 accepts the change");
}

#[test]
fn ts013_codecs_match_the_golden_files() {
    for (name, schema) in [
        ("container", bundled("container")),
        ("weather", bundled("weather")),
        ("meter", bundled("meter")),
        ("parts", PARTS),
        ("checks", CHECKS),
        ("port", PORT),
    ] {
        let options = Options { assert_formats: true, ..Options::default() };
        let layout = Layout::new(&Model::compile_with(schema, options).expect("a schema")).expect("a layout");
        let codec = ts013(&layout, name).expect("a codec");
        assert!(codec.len() <= MAX_TS013_BYTES);
        let golden = if name == WHOLE { codec.clone() } else { without_runtime(&codec) };
        assert_golden(&format!("ts013/golden/{name}.js"), &golden);
        let examples = ts013_examples(&layout, &examples(schema)).expect("valid examples");
        assert_golden(&format!("ts013/golden/{name}.examples.json"), &examples);
        leave("golden", name, &codec, &examples);
    }
}

/// The codec of the container, with statistics of their examples.
#[test]
fn a_ts013_codec_with_statistics_matches_its_golden_file() {
    let options = Options { assert_formats: true, ..Options::default() };
    let model = Model::compile_with(bundled("container"), options).expect("a schema");
    let layout = Layout::untrained(&model);
    let examples = examples(bundled("container"));
    let mut training = Training::new(&layout).expect("a plain layout");
    for example in examples.iter().cycle().take(400) {
        training.add(&training.example(example).expect("a message of the schema"));
    }
    let layout =
        Layout::new(&model.with_statistics(Some(&training.finish().statistics))).expect("its statistics");
    let codec = ts013(&layout, "container").expect("a codec");
    assert_golden("ts013/trained/container.js", &without_runtime(&codec));
    let examples = ts013_examples(&layout, &examples).expect("valid examples");
    assert_golden("ts013/trained/container.examples.json", &examples);
    leave("trained", "container", &codec, &examples);
}

#[test]
fn errors_name_what_javascript_cannot_represent() {
    let errors = |schema: &str| -> Vec<String> {
        let parts = ts013(&layout(schema), "test").expect_err("JavaScript cannot represent the schema");
        parts.iter().map(ToString::to_string).collect()
    };
    let object = |properties: &str| {
        format!(r#"{{"type":"object","additionalProperties":false,"properties":{{{properties}}}}}"#)
    };
    assert_eq!(
        errors(&object(
            r#""text":{"type":"string"},"big":{"type":"integer","minimum":0},"d":{"type":"number","multipleOf":0.1,"minimum":0,"maximum":1e15}"#
        )),
        ["text is text without a longest one: add maxLength, or an anchored pattern"]
    );
    assert_eq!(
        errors(&object(
            r#""big":{"type":"integer","minimum":0},"d":{"type":"number","multipleOf":0.1,"minimum":0,"maximum":1e15},
            "span":{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991},
            "text":{"type":"string","x-dunnage-number":{"multipleOf":1}},
            "list":{"type":"array","maxItems":2,"items":{"enum":[1,9007199254740993]}},
            "time":{"type":"string","x-dunnage-time":{"notation":"YYYYMMDDhhmmssfffffffff"}}"#
        )),
        [
            "big has numbers beyond 2^53 - 1, which JavaScript does not hold: give it a narrower minimum and maximum, a coarser step, or until",
            "d has more digits than JavaScript tells apart: give it minimum and maximum within 15 digits",
            "span has numbers beyond 2^53 - 1, which JavaScript does not hold: give it a narrower minimum and maximum, a coarser step, or until",
            "text has numbers beyond 2^53 - 1, which JavaScript does not hold: give it a narrower minimum and maximum, a coarser step, or until",
            "list[] has a value that JavaScript does not hold: a number beyond 2^53 - 1, or properties named by whole numbers that are not first: write it as text",
            "time has numbers beyond 2^53 - 1, which JavaScript does not hold: give it a narrower minimum and maximum, a coarser step, or until",
        ]
    );
    assert_eq!(
        errors(r#"{"type":"boolean"}"#),
        ["$ is not an object, which a codec's data is: put it into an object"]
    );
    assert_eq!(
        errors(&object(r#""b":{"type":"boolean"},"7":{"type":"boolean"}"#)),
        [
            "$ has properties named by whole numbers, which JavaScript puts first: put them first, in ascending order"
        ]
    );
    let long = format!(r#""flag":{{"type":"boolean","description":"{}"}}"#, "x".repeat(50_000));
    assert_eq!(ts013(&layout(&object(&long)), "test").map(|text| text.len() < MAX_TS013_BYTES), Ok(true));
    let enumeration: Vec<_> = (0..5_000).map(|n| format!("\"{n:06}\"")).collect();
    let errors = errors(&object(&format!(r#""many":{{"enum":[{}]}}"#, enumeration.join(","))));
    assert!(errors[0].starts_with("$ needs a codec of ") && errors.len() == 1, "{errors:?}");
}
