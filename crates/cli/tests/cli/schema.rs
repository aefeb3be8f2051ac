use crate::run::{dunnage, golden};
use serde_json::json;

#[test]
fn the_bundled_schemas_match_the_golden_tables() {
    let bundled = std::fs::read_dir(crate::run::root().join("spec/schemas")).unwrap();
    let mut count = 0;
    for file in bundled {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let run = dunnage(&["schema", "check", name], "");
        golden(&format!("schema-{name}.txt"), run.text());
        assert_eq!(dunnage(&["schema", "check", path.to_str().unwrap()], "").text(), run.text());
        count += 1;
    }
    assert!(count >= 4);
}

#[test]
fn a_valid_message_is_reported_as_valid() {
    let run = dunnage(&["schema", "check", "container", "bench/corpus/container.json"], "");
    assert!(run.text().ends_with("\nbench/corpus/container.json is valid\n"));
    let run = dunnage(&["schema", "check", "container", "bench/corpus/container.json", "--json"], "");
    assert_eq!(run.code, 0);
    assert_eq!(run.json()["valid"], true);
    assert_eq!(run.json()["fields"].as_array().unwrap().len(), 20);
    assert_eq!(run.json()["packed"]["slot"], 1);
    assert_eq!(run.json()["packed"]["fingerprint"].as_str().unwrap().len(), 64);
}

#[test]
fn a_violation_has_the_pointer_of_the_value() {
    let message = std::fs::read_to_string(crate::run::root().join("bench/corpus/container.json")).unwrap();
    let message = message.replace("\"door\":\"D\"", "\"door\":\"X\"");
    let run = dunnage(&["schema", "check", "container", "-"], &message);
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.starts_with("dunnage: standard input: ") && run.stderr.ends_with(" at /door, byte 243\n"),
        "{}",
        run.stderr
    );
    let run = dunnage(&["schema", "check", "container", "-", "--json"], &message);
    assert_eq!(run.code, 1);
    assert_eq!((&run.json()["valid"], &run.json()["violation"]["pointer"]), (&json!(false), &json!("/door")));
    assert_eq!(run.json()["violation"]["offset"], 243);
}

#[test]
fn an_error_in_a_schema_names_the_keyword_and_pointer() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("s.json");
    std::fs::write(
        &schema,
        r#"{"type":"object","properties":{"a":{"$dynamicRef":"b"}},"additionalProperties":false}"#,
    )
    .unwrap();
    let schema = schema.to_str().unwrap();
    let run = dunnage(&["schema", "check", schema], "");
    assert_eq!((run.code, run.any_text()), (1, ""));
    assert!(
        run.stderr.contains(": $dynamicRef: ") && run.stderr.ends_with(" at /properties/a/$dynamicRef\n"),
        "{}",
        run.stderr
    );
    let error = &dunnage(&["schema", "check", schema, "--json"], "").json()["error"];
    assert_eq!(
        (&error["keyword"], &error["pointer"]),
        (&json!("$dynamicRef"), &json!("/properties/a/$dynamicRef"))
    );
}

#[test]
fn all_violations_are_listed_and_a_misspelt_field_has_a_suggestion() {
    let message = r#"{"station":"A","temprature":17.2,"humidity":"wet"}"#;
    let run = dunnage(&["schema", "check", "weather", "-"], message);
    assert_eq!(run.code, 1);
    assert!(run.stderr.lines().count() >= 3, "{}", run.stderr);
    assert!(
        run.stderr.contains("there is no field \"temprature\"; did you mean \"temperature\"? at /temprature")
    );
    assert!(run.stderr.contains(" at /humidity"), "{}", run.stderr);
    let report = dunnage(&["schema", "check", "weather", "-", "--json"], message).json();
    assert_eq!(report["violations"].as_array().unwrap().len(), run.stderr.lines().count());
    assert_eq!(report["violation"], report["violations"][0]);
    // In every schema-driven format, the error kind is `type`, not `range`.
    for format in ["packed", "protobuf", "avro", "struct", "thrift-compact"] {
        let run =
            dunnage(&["convert", "--from", "json", "--to", format, "--schema", "meter"], r#"{"nope":1}"#);
        assert!(
            run.stderr.starts_with("dunnage: type: there is no field \"nope\""),
            "{format}: {}",
            run.stderr
        );
    }
}

#[test]
fn a_message_is_rejected_as_a_schema() {
    let folder = tempfile::tempdir().unwrap();
    let message = folder.path().join("reading.json");
    std::fs::write(&message, r#"{"temperature":17.25}"#).unwrap();
    let message = message.to_str().unwrap();
    for arguments in [
        &["schema", "check", message][..],
        &["schema", "size", message],
        &["schema", "diff", message, "weather"],
        &["generate", "c", "--schema", message, "-o", "target/never"],
        &["compare", message, "--schema", message],
    ] {
        let run = dunnage(arguments, "");
        assert_eq!((run.code, run.any_text()), (1, ""), "{arguments:?}");
        assert!(
            run.stderr.starts_with(&format!("dunnage: {message}: this is not a schema: ")),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_misspelt_bundled_schema_gets_a_suggestion() {
    for arguments in [&["schema", "check", "wether"][..], &["compare", "-", "--schema", "Wether"]] {
        let run = dunnage(arguments, "{}");
        assert!(run.code == 1 && run.stderr.contains("; did you mean weather? (bundled"), "{}", run.stderr);
    }
}

#[test]
fn a_required_field_without_a_property_gives_a_warning() {
    let schema =
        r#"{"type":"object","properties":{"temperature":{"type":"integer"}},"required":["temprature"]}"#;
    let run = dunnage(&["schema", "check", "-"], schema);
    assert_eq!(run.code, 0);
    assert_eq!(
        run.stderr,
        "dunnage: -: warning: the field \"temprature\" is required, but properties does not have it; did you mean \"temperature\"? at /required/0\n"
    );
    let report = dunnage(&["schema", "check", "-", "--json"], schema).json();
    assert_eq!(report["warnings"].as_array().unwrap().len(), 1);
}

/// Returns a schema for a temperature up to `max`, with the additional members `top`.
fn reading(max: u32, top: &str) -> String {
    format!(
        r#"{{"title":"Reading",{top}"type":"object","properties":{{"t":{{"type":"number","multipleOf":0.25,"minimum":-40,"maximum":{max}}}}},"required":["t"],"additionalProperties":false}}"#
    )
}

#[test]
fn a_check_detects_a_message_of_another_schema() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let convert = |schema: &str, from: &str, to: &str, input: &[u8], more: &[&str]| {
        let arguments = ["convert", "--from", from, "--to", to, "--schema", schema];
        dunnage(&[&arguments, more].concat(), input)
    };
    // Without a check, the wrong layout goes unnoticed.
    let (old, new) = (file("old.json", reading(60, "")), file("new.json", reading(600, "")));
    let bytes = convert(&old, "json", "packed", br#"{"t":14.25}"#, &[]).stdout;
    assert_eq!(convert(&new, "packed", "json", &bytes, &[]).text(), "{\"t\":394}\n");
    let rejected = convert(&new, "packed", "json", &bytes, &["--require-check"]);
    assert_eq!(rejected.code, 1, "{}", rejected.stderr);
    assert!(rejected.stderr.contains("x-dunnage-check") && rejected.stdout.is_empty(), "{}", rejected.stderr);
    for check in [1, 2] {
        let top = format!(r#""x-dunnage-check":{check},"#);
        let (old, new) = (file("old.json", reading(60, &top)), file("new.json", reading(600, &top)));
        let bytes = convert(&old, "json", "packed", br#"{"t":14.25}"#, &["--require-check"]).stdout;
        let own = convert(&old, "packed", "json", &bytes, &["--require-check"]);
        assert_eq!(own.text(), "{\"t\":14.25}\n");
        let other = convert(&new, "packed", "json", &bytes, &[]);
        assert_eq!(other.code, 1, "{}", other.stderr);
        assert!(other.stderr.contains("the check does not match"), "{}", other.stderr);
        let generated = dunnage(
            &["generate", "c", "--schema", &old, "-o", &format!("{}/out{check}", folder.path().display())],
            "",
        );
        assert_eq!(generated.code, 0, "{}", generated.stderr);
        assert!(generated.stderr.contains("slot 1, layout "), "{}", generated.stderr);
        assert!(generated.stderr.contains(&format!("a check of {check} byte(s)")), "{}", generated.stderr);
    }
}

#[test]
fn a_slot_from_the_port_takes_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let with = write("with.json", &reading(100, r#""x-dunnage-slot":9,"#));
    let port = write("port.json", &reading(100, r#""x-dunnage-slot":9,"x-dunnage-slot-from":"port","#));
    let size = |schema: &str| -> serde_json::Value {
        serde_json::from_str(dunnage(&["schema", "size", schema, "--json"], "").text()).unwrap()
    };
    let bytes = |schema: &str| size(schema)["packed"]["max_bytes"].as_u64().unwrap();
    assert_eq!(bytes(&with), bytes(&port) + 1);
    assert!(dunnage(&["schema", "size", &port], "").text().starts_with("packed: slot 9 from the port, "));
    assert!(dunnage(&["schema", "layout", &port], "").text().contains("the port of the link"));
    let convert = ["convert", "--from", "json", "--to", "packed", "--hex", "--schema", &port];
    assert_eq!(dunnage(&convert, r#"{"t":5}"#).text().trim(), "2d00");
    let inspected = dunnage(&["inspect", "--hex", "--format", "packed", "--schema", &port], "2d00");
    assert!(inspected.text().contains('5') && !inspected.text().contains("slot"), "{}", inspected.text());
    let train = dunnage(&["schema", "train", "-", "--schema", &port], "{\"t\":5}\n");
    assert!(train.stderr.contains("leave out x-dunnage-slot-from"), "{}", train.stderr);
}

#[test]
fn an_inferred_schema_derives_its_slot_from_its_layout() {
    let slot = |messages: &str| {
        let schema = dunnage(&["schema", "infer", "--lines"], messages).text().to_owned();
        let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
        let slot = schema["x-dunnage-slot"].as_u64().unwrap();
        assert!((1..=63).contains(&slot), "{schema}");
        slot
    };
    let (a, b) = ("{\"on\":true}\n{\"on\":false}\n", "{\"on\":true,\"x\":null}\n");
    assert_eq!(slot(a), slot(a));
    assert_ne!(slot(a), slot(b));
}

#[test]
fn a_schema_of_several_files_can_be_bundled_from_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    std::fs::write(path("main.json"), r#"{"properties":{"id":{"$ref":"parts/id.json"}}}"#).unwrap();
    std::fs::write(path("parts/id.json"), r#"{"type":"string","format":"uuid"}"#).unwrap();
    let (main, directory) = (path("main.json"), folder.path().display().to_string());
    let alone = dunnage(&["schema", "check", &main], "");
    assert_eq!(alone.code, 1);
    assert!(alone.stderr.contains("--schema-dir"), "{}", alone.stderr);
    let bundle = dunnage(&["schema", "bundle", &main, "--schema-dir", &directory], "");
    std::fs::write(path("whole.json"), bundle.text()).unwrap();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let outside = dunnage(&["schema", "check", &main, "--schema-dir", &path("empty")], "");
    assert_eq!(outside.code, 1, "{}", outside.any_text());
    let whole = path("whole.json");
    for (message, code) in [(r#"{"id":"9f4d8a70-3c1b-4e8e-9d0a-5f2b6c7d8e9f"}"#, 0), (r#"{"id":"none"}"#, 1)]
    {
        let asserted = dunnage(&["schema", "check", &whole, "-", "--assert-formats"], message);
        assert_eq!(asserted.code, code, "{}", asserted.stderr);
        assert_eq!(dunnage(&["schema", "check", &whole, "-"], message).code, 0);
    }
}

#[test]
fn a_schema_is_not_read_beyond_its_limit() {
    for arguments in [
        &["schema", "check", "/dev/zero"][..],
        &["compare", "bench/corpus/container.json", "--proto", "/dev/zero"],
    ] {
        let run = dunnage(arguments, "");
        assert_eq!(run.code, 1);
        assert!(run.stderr.contains("/dev/zero: more than 1048576 bytes"), "{}", run.stderr);
    }
}
