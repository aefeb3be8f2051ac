//! Compares the SQL of some schemas with golden files, which `BLESS=1` rewrites. The tests of the output to PostgreSQL run such SQL.

use dunnage_codegen::grafana;
use dunnage_codegen::sql::{Decimals, Period, Source, SqlType, Storage, Table, Timescale};
use dunnage_schema::{Model, bundled_named, units};
use std::{env, fs, path::Path};

fn assert_golden(name: &str, text: &str) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if env::var_os("BLESS").is_some() {
        fs::write(&golden, text).unwrap();
    }
    assert_eq!(fs::read_to_string(&golden).unwrap_or_default(), text, "{name}: BLESS=1 accepts the change");
}

#[test]
fn the_tables_of_bundled_schemas_match_the_golden_files() {
    let timescale =
        Timescale { chunk_days: Some(7), compress_after_days: Some(14), drop_after_days: Some(365) };
    for (schema, file, decimals, message, storage) in [
        ("meter", "meter.sql", Decimals::Numeric, false, Storage::Plain),
        ("weather", "weather.timescale.sql", Decimals::Double, true, Storage::Timescale(timescale)),
        (
            "container",
            "container.partitions.sql",
            Decimals::Numeric,
            false,
            Storage::Partitions(Period::Month),
        ),
    ] {
        let text = bundled_named(schema).unwrap();
        let model = Model::compile(text).unwrap();
        let table = Table::new(schema, &[&model], &units(text), decimals, message);
        assert_golden(file, &table.script(model.name(), &storage));
    }
}

#[test]
fn the_dashboard_of_a_table_matches_the_golden_file() {
    let text = bundled_named("meter").unwrap();
    let model = Model::compile(text).unwrap();
    let table = Table::new("meter", &[&model], &units(text), Decimals::Numeric, false);
    assert_golden("meter.dashboard.json", &grafana(&table, model.name()));
}

/// The name and type of each column of a field.
fn columns(versions: &[&str]) -> Vec<String> {
    let models: Vec<_> = versions.iter().map(|text| Model::compile(text).unwrap()).collect();
    let table = Table::new("t", &models.iter().collect::<Vec<_>>(), &[], Decimals::Numeric, false);
    let fields = table.columns.iter().filter(|column| matches!(column.source, Source::Field(_)));
    fields.map(|column| format!("{} {}", column.name, column.kind.name())).collect()
}

fn column(schema: &str) -> String {
    columns(&[&format!(r#"{{"type":"object","properties":{{"v":{schema}}}}}"#)]).join(", ")
}

#[test]
fn the_type_of_a_column_holds_all_values_of_its_schema() {
    for (schema, expected) in [
        (r#"{"type":"integer","minimum":-32768,"maximum":32767}"#, "v smallint"),
        (r#"{"type":"integer","minimum":0,"maximum":32768}"#, "v integer"),
        (r#"{"type":"integer","minimum":0,"maximum":2147483648}"#, "v bigint"),
        (r#"{"type":"integer"}"#, "v bigint"),
        (r#"{"type":"integer","minimum":0,"maximum":18446744073709551614}"#, "v numeric(20,0)"),
        (r#"{"type":"number","multipleOf":0.01,"minimum":-40,"maximum":85}"#, "v numeric(4,2)"),
        (r#"{"type":"number","multipleOf":0.001,"minimum":0,"maximum":0.5}"#, "v numeric(3,3)"),
        (r#"{"type":"number","multipleOf":5,"minimum":0,"maximum":500}"#, "v smallint"),
        (r#"{"type":"number","multipleOf":0.1,"minimum":0,"maximum":1,"x-dunnage-round":true}"#, "v numeric"),
        (r#"{"type":"number"}"#, "v double precision"),
        (r#"{"type":["number","null"]}"#, "v double precision"),
        (r#"{"type":["integer","number"]}"#, "v double precision"),
        (r#"{"type":"boolean"}"#, "v boolean"),
        (r#"{"type":"string"}"#, "v text"),
        (r#"{"type":"string","format":"date-time"}"#, "v timestamp with time zone"),
        (r#"{"type":"string","x-dunnage-time":{"notation":"DDMMYY hhmmss"}}"#, "v timestamp with time zone"),
        (
            r#"{"type":"string","x-dunnage-number":{"multipleOf":1,"minimum":0,"maximum":99,"digits":2}}"#,
            "v smallint",
        ),
        (r#"{"enum":["on","off",null]}"#, "v text"),
        (r#"{"enum":[1,2.5]}"#, "v double precision"),
        (r#"{"enum":["on",1]}"#, "v jsonb"),
        (r#"{"const":3}"#, "v smallint"),
        (r#"{"type":["integer","string"]}"#, "v jsonb"),
        (r#"{"type":"array","items":{"type":"boolean"}}"#, "v boolean[]"),
        (
            r#"{"type":"array","prefixItems":[{"const":1},{"type":"integer","minimum":0,"maximum":70000}],"items":false}"#,
            "v integer[]",
        ),
        (r#"{"type":"array","items":{"type":"array","items":{"type":"boolean"}}}"#, "v jsonb"),
        (r#"{"type":"array","prefixItems":[{"type":"string"},{"type":"boolean"}],"items":false}"#, "v jsonb"),
        (r#"{"type":"array"}"#, "v jsonb"),
        (r#"{"type":"object","additionalProperties":{"type":"integer"}}"#, "v jsonb"),
        (r#"{}"#, "v jsonb"),
        (r#"{"type":"null"}"#, ""),
    ] {
        assert_eq!(column(schema), expected, "{schema}");
    }
}

#[test]
fn versions_share_a_table_and_recursive_parts_are_json() {
    let one = r#"{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":9},"only":{"type":"string"}}}"#;
    let two = r#"{"type":"object","properties":{"n":{"type":"number","multipleOf":0.1,"minimum":0,"maximum":9},"more":{"type":"boolean"}}}"#;
    assert_eq!(columns(&[one, two]), ["n numeric(2,1)", "only text", "more boolean"]);
    let tree = r##"{"type":"object","properties":{"v":{"type":"number"},"left":{"$ref":"#"}}}"##;
    assert_eq!(columns(&[tree]), ["v double precision", "left jsonb"]);
    assert_eq!(columns(&[r#"{"type":"integer"}"#]), ["value bigint"]);
    assert_eq!(columns(&[r#"{"type":"object"}"#]), [""; 0]);
    let wide: Vec<_> = (0..1500).map(|n| format!(r#""f{n}":{{"type":"boolean"}}"#)).collect();
    assert_eq!(
        columns(&[&format!(r#"{{"type":"object","properties":{{{}}}}}"#, wide.join(","))]).len(),
        1000
    );
}

#[test]
fn only_a_text_that_must_be_one_of_some_has_a_condition() {
    let model =
        Model::compile(r#"{"type":"object","properties":{"s":{"enum":["it's","b"]},"n":{"enum":[1,2]}}}"#)
            .unwrap();
    let table = Table::new("t", &[&model], &[], Decimals::Numeric, false);
    let checks: Vec<_> = table.columns.iter().filter_map(|column| column.check()).collect();
    assert_eq!(checks.len(), 1);
    assert!(checks[0].definition.ends_with(r#"CHECK ("s" IN ('it''s', 'b'))"#), "{}", checks[0].definition);
    assert!(checks[0].is_of_column("s_in_00000000") && !checks[0].is_of_column("s_in_x_in_00000000"));
    assert_eq!(table.columns.last().unwrap().kind, SqlType::SmallInt);
}
