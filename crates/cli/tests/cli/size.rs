//! `dunnage schema size` and `dunnage schema layout`.

use crate::run::{dunnage, golden, root};
use serde_json::Value as Json;

#[test]
fn size_and_layout_match_the_golden_tables() {
    golden("size-container.txt", dunnage(&["schema", "size", "container"], "").text());
    golden("layout-weather.txt", dunnage(&["schema", "layout", "weather"], "").text());
}

#[test]
fn the_parts_add_up_to_the_largest_message() {
    for (schema, _) in dunnage_schema::bundled() {
        let size = dunnage(&["schema", "size", schema, "--json"], "").json();
        let layout = dunnage(&["schema", "layout", schema, "--json"], "").json();
        assert_eq!(size["packed"], layout["packed"], "{schema}");
        for report in [&size, &layout] {
            let bits = |of: &str| -> u64 {
                report["parts"].as_array().unwrap().iter().map(|part| part[of].as_u64().unwrap()).sum()
            };
            assert_eq!(
                Some(bits("max_bits").div_ceil(8)),
                report["packed"]["max_bytes"].as_u64(),
                "{schema}"
            );
            assert_eq!(
                Some(bits("min_bits").div_ceil(8)),
                report["packed"]["min_bytes"].as_u64(),
                "{schema}"
            );
        }
    }
}

#[test]
fn the_exported_layout_is_the_canonical_text_and_names_what_is_rounded() {
    let schema = r#"{"type": "object", "required": ["a", "b"], "additionalProperties": false, "properties": {
        "a": {"type": "number", "minimum": 0, "maximum": 9, "multipleOf": 0.1},
        "b": {"type": "array", "maxItems": 2, "items":
            {"type": "number", "minimum": 0, "maximum": 9, "multipleOf": 0.1, "x-dunnage-round": true}}}}"#;
    let model = dunnage_schema::Model::compile(schema).unwrap();
    let layout = dunnage_packed::Layout::new(&model).expect("a layout");
    let output = dunnage(&["schema", "layout", "-", "--json"], schema);
    let text = output.text();
    assert!(text.contains(&format!("\"layout\":{},", layout.canonical())), "{text}");
    assert!(text.contains("\"rounded\":[3],"), "{text}");
    assert_eq!(dunnage(&["schema", "layout", "weather", "--json"], "").json().get("rounded"), None);
}

#[test]
fn a_message_is_encoded_within_the_sizes_shown() {
    for (schema, text) in dunnage_schema::bundled() {
        let packed = dunnage(&["schema", "size", schema, "--json"], "").json()["packed"].clone();
        let model = dunnage_schema::Model::compile(text).unwrap();
        let layout = dunnage_packed::Layout::new(&model).expect("a layout");
        let json = dunnage_formats::Id::Json.open(None, dunnage_formats::Mapping::Exact).unwrap();
        let examples: Json = serde_json::from_str(text).unwrap();
        for example in examples["examples"].as_array().unwrap() {
            let mut bytes = Vec::new();
            layout.encode(&json.decode(example.to_string().as_bytes()).unwrap(), &mut bytes).unwrap();
            let sizes = packed["min_bytes"].as_u64().unwrap()..=packed["max_bytes"].as_u64().unwrap();
            assert!(sizes.contains(&(bytes.len() as u64)), "{schema}: {} in {sizes:?}", bytes.len());
        }
    }
}

#[test]
fn links_have_the_limits_and_prices_of_the_catalogue() {
    let arguments = ["schema", "size", "container", "--link", "kineis", "--link", "astrocast", "--json"];
    let report = dunnage(&[&arguments[..], &["--messages-per-day", "4"]].concat(), "").json();
    assert_eq!(report["links"][0]["fits_smallest"], false);
    assert_eq!(report["links"][0].get("max_eur_per_month"), None);
    assert_eq!(report["links"][1]["fits_largest"], true);
    // 4 messages a day for 30 days at 0.183 euros per 1024 bytes.
    let expected = report["packed"]["max_bytes"].as_f64().unwrap() * 4.0 * 30.0 * 0.183 / 1024.0;
    let shown = report["links"][1]["max_eur_per_month"].as_f64().unwrap();
    assert!((shown - expected).abs() < 1e-9, "{shown}, not {expected}");
    assert_eq!(dunnage(&["schema", "size", "container", "--link", "pigeon"], "").code, 2);
}

#[test]
fn a_schema_without_a_maximum_size_names_the_unbounded_parts() {
    let schema = root().join("bench/corpus/real/tsconfig/schema.json");
    let run = dunnage(&["schema", "size", schema.to_str().unwrap()], "");
    assert!(run.text().contains("no maximum size within 1024 bytes"));
    assert!(run.text().contains("is text without a longest one: add maxLength"));
    let report = dunnage(&["schema", "size", schema.to_str().unwrap(), "--json"], "").json();
    assert_eq!((&report["packed"]["plain"], report["packed"].get("max_bytes")), (&Json::Bool(false), None));
    // Only a link without a limit carries messages without a maximum size.
    for link in report["links"].as_array().unwrap() {
        assert_eq!(link["fits_largest"], Json::Bool(link.get("max_payload_bytes").is_none()), "{link}");
    }
}
