use crate::run::{dunnage, root};
use std::fs;

#[test]
fn generated_definitions_match_the_golden_files() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("made/on/the/way");
    for (language, ending) in [
        ("proto", "proto"),
        ("avro", "avsc"),
        ("thrift", "thrift"),
        ("sql", "sql"),
        ("grafana", "dashboard.json"),
    ] {
        let arguments = ["generate", language, "--schema", "meter", "-o", output.to_str().unwrap()];
        let file = output.join(format!("meter.{ending}"));
        assert_eq!(dunnage(&arguments, "").text(), format!("{}\n", file.display()));
        let golden_file = root().join(format!("crates/codegen/tests/golden/meter.{ending}"));
        assert_eq!(
            fs::read_to_string(output.join(format!("meter.{ending}"))).unwrap(),
            fs::read_to_string(golden_file).unwrap()
        );
    }
}

#[test]
fn options_of_sql_choose_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let run = |options: &[&str]| {
        let mut arguments =
            vec!["generate", "sql", "--schema", "weather", "-o", folder.path().to_str().unwrap()];
        arguments.extend(options);
        let run = dunnage(&arguments, "");
        (run.code, run.stderr, fs::read_to_string(folder.path().join("weather.sql")).unwrap_or_default())
    };
    let (_, _, plain) = run(&["--table", "station", "--decimals", "double", "--json"]);
    assert!(
        plain.contains("CREATE TABLE IF NOT EXISTS \"station\" (") && plain.contains("\"_message\" jsonb"),
        "{plain}"
    );
    assert!(!plain.contains("numeric") && plain.contains("PRIMARY KEY (\"_name\")"), "{plain}");
    let (_, _, partitions) = run(&["--partitions=day"]);
    assert!(
        partitions.contains("PARTITION BY RANGE") && partitions.contains("INTERVAL '1 day'"),
        "{partitions}"
    );
    let (_, _, hypertable) = run(&["--timescale", "--drop-after-days", "30"]);
    assert!(
        hypertable.contains("create_hypertable") && hypertable.contains("INTERVAL '30 days'"),
        "{hypertable}"
    );
    // The name in a gateway, not the title.
    let out = folder.path().to_str().unwrap();
    dunnage(&["generate", "sql", "--schema", "container-voyage", "-o", out], "").text();
    let made = fs::read_to_string(folder.path().join("containervoyage.sql")).unwrap();
    assert!(made.contains("CREATE TABLE IF NOT EXISTS \"container-voyage\" ("), "{made}");
    assert_eq!(run(&["--timescale", "--partitions"]).0, 2);
    assert_eq!(run(&["--chunk-days", "1"]).0, 2);
    let other = dunnage(&["generate", "proto", "--schema", "weather", "--timescale", "-o", "."], "");
    assert!(other.code == 2 && other.stderr.contains("sql only"), "{}", other.stderr);
}

#[test]
fn an_error_names_the_file_that_cannot_be_written() {
    let run = dunnage(&["generate", "proto", "--schema", "container", "-o", "Cargo.toml"], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.starts_with("dunnage: Cargo.toml: "), "{}", run.stderr);
}

#[test]
fn a_ts013_codec_comes_with_the_schemas_examples() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let run = dunnage(&["generate", "ts013", "--schema", "weather", "-o", output], "");
    assert_eq!(run.text(), format!("{output}/weather.js\n{output}/weather.examples.json\n"));
    for file in ["weather.js", "weather.examples.json"] {
        let golden = root().join("crates/codegen/tests/ts013/golden").join(file);
        assert_eq!(
            fs::read_to_string(folder.path().join(file)).unwrap(),
            fs::read_to_string(golden).unwrap()
        );
    }
}

#[test]
fn fields_that_a_ts013_codec_cannot_represent_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("open.json");
    let text = r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"boolean"}}}}"#;
    fs::write(&schema, text).unwrap();
    let schema = schema.to_str().unwrap();
    let run = dunnage(&["generate", "ts013", "--schema", schema, "-o", folder.path().to_str().unwrap()], "");
    assert_eq!(run.code, 1);
    let lines: Vec<_> =
        run.stderr.lines().map(|line| line.replace(&format!("dunnage: {schema}: "), "")).collect();
    assert_eq!(
        lines,
        [
            "a is text without a longest one: add maxLength, or an anchored pattern",
            "b is an array of any length: add maxItems",
            "$ may have other properties: add additionalProperties: false",
        ]
    );
    assert!(!folder.path().join("open.js").exists());
}

#[test]
fn c_is_written_as_a_header_and_a_source_with_the_shared_code() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let run = dunnage(&["generate", "c", "--schema", "container", "-o", output], "");
    let written = ["container.h", "container.c", "dunnage_message.h", "dunnage_message.c"];
    assert_eq!(run.text(), written.map(|file| format!("{output}/{file}\n")).concat());
    for file in ["container.h", "container.c"] {
        let golden = root().join("crates/codegen/tests/golden/c").join(file);
        assert_eq!(
            fs::read_to_string(folder.path().join(file)).unwrap(),
            fs::read_to_string(golden).unwrap()
        );
    }
}

#[test]
fn c_for_a_link_that_carries_every_message_defines_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let arguments = ["generate", "c", "--schema", "container", "--link", "astrocast", "-o", output];
    assert_eq!(dunnage(&arguments, "").code, 0);
    let header = fs::read_to_string(folder.path().join("container.h")).unwrap();
    assert!(header.contains("#define CONTAINER_LINK_LIMIT 160\n"), "{header}");
}

#[test]
fn a_port_that_the_link_does_not_have_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let schema = r#"{"type": "integer", "minimum": 0, "maximum": 9, "x-dunnage-slot-from": "port"}"#;
    let generate = |link: &str| {
        let output = folder.path().join(link);
        let arguments = ["generate", "c", "--schema", "-", "--link", link, "-o", output.to_str().unwrap()];
        let run = dunnage(&arguments, schema);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stderr
    };
    assert!(generate("sigfox").contains("has no port"));
    assert!(!generate("lorawan-eu868-dr0").contains("has no port"));
}

#[test]
fn c_for_a_link_that_is_too_narrow_lists_the_fields_to_shrink() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let run = dunnage(&["generate", "c", "--schema", "container", "--link", "kineis", "-o", output], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("carries 30: "), "{}", run.stderr);
    let table = run.any_text();
    let lines: Vec<_> = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
    assert_eq!(lines[0][..3], ["field", "bits", "share"]);
    let bits: Vec<u32> = lines[1..].iter().map(|line| line[1].parse().unwrap()).collect();
    assert!(bits.is_sorted_by(|a, b| a >= b) && bits.len() == 23, "{table}");
    assert!(table.contains("multipleOf 0.0001 -> 0.001 saves 3"), "{table}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_schema_that_c_cannot_represent_is_rejected_field_by_field() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("note.json");
    fs::write(
        &schema,
        r#"{"title":"Note","type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"null"}}},
            "additionalProperties":false}"#,
    )
    .unwrap();
    let output = folder.path().join("out");
    let run =
        dunnage(&["generate", "c", "--schema", schema.to_str().unwrap(), "-o", output.to_str().unwrap()], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("a is text without a longest one: add maxLength"), "{}", run.stderr);
    assert!(run.stderr.contains("b is an array of any length: add maxItems"), "{}", run.stderr);
    assert!(!output.exists());
}

#[test]
fn a_schema_without_a_title_is_named_after_its_file_and_overwrites_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let generate = |schema: &str| dunnage(&["generate", "c", "--schema", schema, "-o", output], "");
    for name in ["soil-node", "tank.schema"] {
        let schema = folder.path().join(format!("{name}.json"));
        let text = format!(
            r#"{{"type":"object","properties":{{"{name}":{{"type":"boolean"}}}},"additionalProperties":false}}"#
        );
        fs::write(&schema, text).unwrap();
        let run = generate(schema.to_str().unwrap());
        let file = if name == "soil-node" { "soilnode" } else { "tank" };
        assert!(run.text().starts_with(&format!("{output}/{file}.h\n{output}/{file}.c\n")), "{}", run.text());
        // Generating again for the same schema overwrites the files.
        assert_eq!(generate(schema.to_str().unwrap()).code, 0);
    }
    let header = fs::read_to_string(folder.path().join("soilnode.h")).unwrap();
    assert!(header.contains("SoilNode_encode"), "{header}");
    // A file that was not generated is not overwritten, and the other file is not written either.
    let theirs = folder.path().join("weather.c");
    fs::write(&theirs, "int main(void) { return 0; }\n").unwrap();
    let run = generate("weather");
    assert_eq!((run.code, run.any_text()), (1, ""));
    assert!(
        run.stderr.contains("weather.c: this file was not generated for a schema called weather"),
        "{}",
        run.stderr
    );
    assert!(!folder.path().join("weather.h").exists());
    assert_eq!(fs::read_to_string(theirs).unwrap(), "int main(void) { return 0; }\n");
}

#[test]
fn a_misspelt_link_gets_a_suggestion() {
    let run =
        dunnage(&["generate", "c", "--schema", "weather", "--link", "kinesis", "-o", "target/never"], "");
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("kineis"), "{}", run.stderr);
}

#[test]
fn files_that_were_not_generated_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let generate = |language: &str| dunnage(&["generate", language, "--schema", "weather", "-o", output], "");
    let theirs: [(&str, &str, &[u8]); 6] = [
        ("c", "h", b"// caf\xe9, in Latin-1\n"),
        ("ts013", "js", b"/*\n * My own decoder.\n */\n"),
        ("ts013", "examples.json", b"{\n  \"of\": \"mine\"\n}\n"),
        ("avro", "avsc", b"{\n  \"type\": \"record\",\n  \"name\": \"Mine\"\n}\n"),
        ("proto", "proto", b"\xff\xfe"),
        ("cddl", "cddl", b"\n"),
    ];
    for (language, ending, text) in theirs {
        let file = folder.path().join(format!("weather.{ending}"));
        fs::write(&file, text).unwrap();
        let run = generate(language);
        assert_eq!((run.code, run.any_text()), (1, ""), "{language}");
        assert!(run.stderr.contains("is not overwritten"), "{}", run.stderr);
        assert_eq!(fs::read(&file).unwrap(), text, "{language}");
        fs::remove_file(&file).unwrap();
        assert_eq!(generate(language).code, 0, "{language}");
        assert_eq!(generate(language).code, 0, "{language} again");
    }
    // If one of the two files cannot be written, neither is written.
    fs::remove_file(folder.path().join("weather.h")).unwrap();
    fs::remove_file(folder.path().join("weather.c")).unwrap();
    fs::create_dir(folder.path().join("weather.c")).unwrap();
    assert_eq!(generate("c").code, 1);
    assert!(!folder.path().join("weather.h").exists());
}

#[test]
fn a_ts013_codec_can_be_generated_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let schema = r#"{"title":"Lamp","type":"object","properties":{"on":{"type":"boolean"}},"required":["on"],
        "additionalProperties":false,"examples":[{"on":true}]}"#;
    let run = dunnage(&["generate", "ts013", "--schema", "-", "-o", output], schema);
    assert_eq!(run.text(), format!("{output}/lamp.js\n{output}/lamp.examples.json\n"));
    assert!(fs::read_to_string(folder.path().join("lamp.examples.json")).unwrap().contains("\"on\": true"));
}

#[test]
fn messages_in_a_folder_share_one_version_of_the_code() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let generate = |schema: &str| dunnage(&["generate", "c", "--schema", schema, "-o", output], "");
    assert_eq!((generate("container").code, generate("weather").code), (0, 0));
    let shared = folder.path().join("dunnage_message.c");
    fs::write(&shared, "/* of another version */\n").unwrap();
    let run = generate("meter");
    assert_eq!((run.code, run.any_text()), (1, ""));
    assert!(
        run.stderr.contains("dunnage_message.c: this file is from another version of dunnage"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("generate all messages of the folder again"), "{}", run.stderr);
    assert!(!folder.path().join("meter.h").exists());
    assert_eq!(fs::read_to_string(&shared).unwrap(), "/* of another version */\n");
}

#[test]
fn another_layout_in_the_same_slot_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let generate = |language: &str, slot: u8, maximum: u8| {
        let schema = format!(
            r#"{{"title": "N", "type": "object", "x-dunnage-slot": {slot}, "additionalProperties": false,
            "properties": {{"n": {{"type": "integer", "minimum": 0, "maximum": {maximum}}}}}}}"#
        );
        let output = folder.path().to_str().unwrap();
        dunnage(&["generate", language, "--schema", "-", "-o", output], &schema).stderr
    };
    for language in ["c", "ts013"] {
        let warns = |slot, maximum| generate(language, slot, maximum).contains("in slot 1: if devices");
        let warned = [warns(1, 7), warns(1, 7), warns(1, 200), warns(2, 7), warns(1, 7)];
        assert_eq!(warned, [false, false, true, false, false], "{language}");
    }
}

#[test]
fn every_name_in_the_c_code_starts_with_the_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().to_str().unwrap();
    let generate = |prefix: &str| {
        dunnage(&["generate", "c", "--schema", "weather", "--prefix", prefix, "-o", output], "")
    };
    for prefix in ["acme", "acme_"] {
        assert_eq!(generate(prefix).code, 0);
    }
    let header = fs::read_to_string(folder.path().join("acme_weather.h")).unwrap();
    for line in header.lines() {
        let name =
            line.strip_prefix("#define ").or_else(|| line.strip_prefix("typedef struct ")).map(|rest| {
                rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
            });
        assert!(name.is_none_or(|name| name.to_lowercase().starts_with("acme_weather")), "{line}");
    }
    assert!(header.contains("size_t acme_Weather_encode(const acme_Weather *message"), "{header}");
    for prefix in ["", "3d", "_x", "a-b", "é", "a b", "Dunnage", "dunnage_"] {
        let run = generate(prefix);
        assert_eq!(run.code, 2, "{prefix}");
        assert!(run.stderr.contains("prefix"), "{}", run.stderr);
    }
    let run = dunnage(&["generate", "proto", "--schema", "weather", "--prefix", "acme", "-o", output], "");
    assert_eq!((run.code, run.stderr.contains("--prefix is for C")), (2, true), "{}", run.stderr);
}

#[test]
fn a_title_without_ascii_letters_is_replaced_by_the_file_name() {
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("pogoda.json");
    fs::write(&schema, r#"{"title":"Погода","type":"boolean"}"#).unwrap();
    let output = folder.path().to_str().unwrap();
    let run = dunnage(&["generate", "c", "--schema", schema.to_str().unwrap(), "-o", output], "");
    assert!(run.text().starts_with(&format!("{output}/pogoda.h\n")), "{}", run.text());
}

#[test]
fn what_the_c_does_not_check_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.json");
    let schema = r#"{"title":"S","type":"array","items":{"type":"boolean"},"maxItems":4,"uniqueItems":true}"#;
    fs::write(&file, schema).unwrap();
    let output = folder.path().join("out");
    let run =
        dunnage(&["generate", "c", "--schema", file.to_str().unwrap(), "-o", output.to_str().unwrap()], "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("the program must, before it sends:\n  $: uniqueItems\n"), "{}", run.stderr);
}
