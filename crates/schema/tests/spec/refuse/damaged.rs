//! Random damage to schemas: each is compiled or refused, without a panic.

use dunnage_schema::{Model, bundled};
use proptest::prelude::*;

/// Some of the schemas of `bench/corpus/real`.
const REAL: &[&str] = &[
    include_str!("../../../../../bench/corpus/real/json-schema/schema.json"),
    include_str!("../../../../../bench/corpus/real/thing-description/schema.json"),
    include_str!("../../../../../bench/corpus/real/geojson/schema.json"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_schema_with_a_value_in_the_wrong_place_is_compiled_or_refused(
        which in any::<proptest::sample::Index>(),
        at in any::<proptest::sample::Index>(),
        other in any::<proptest::sample::Index>(),
        insert in proptest::sample::select(vec![
            "{\"$ref\":\"#\"}", "{\"not\":{\"$ref\":\"#\"}}", "true", "false", "[]", "{}", "-1", "{\"allOf\":[{\"$ref\":\"#\"},{\"items\":{\"$ref\":\"#\"}}]}",
        ]),
    ) {
        // One value of a real schema is replaced by another, or by `insert`.
        let text = which.get(REAL);
        let starts: Vec<usize> = text.match_indices(": ").map(|(i, _)| i + 2).collect();
        let value_at = |i: usize| {
            let mut values = serde_json::Deserializer::from_str(&text[i..]).into_iter::<serde_json::Value>();
            let value = values.next().and_then(Result::ok);
            value.map(|value| (value.to_string(), i + values.byte_offset()))
        };
        let (at, other) = (*at.get(&starts), *other.get(&starts));
        if let Some((_, end)) = value_at(at) {
            let _ = Model::compile(&format!("{}{insert}{}", &text[..at], &text[end..]));
            if let Some((value, _)) = value_at(other) {
                let _ = Model::compile(&format!("{}{value}{}", &text[..at], &text[end..]));
            }
        }
    }

    #[test]
    fn a_damaged_schema_is_compiled_or_refused(
        which in any::<proptest::sample::Index>(),
        at in any::<proptest::sample::Index>(),
        cut in 0usize..12,
        insert in prop_oneof![
            "[\\[\\]{}\":,0-9.eE+\\-a-z ]{0,8}",
            proptest::sample::select(vec!["\"$ref\":\"#\",", "-1e-9", "1e999", "null", "[]", "{}", "\"type\":\"array\","]).prop_map(str::to_owned),
        ],
    ) {
        let text = which.get(bundled()).1;
        let starts: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
        let at = *at.get(&starts);
        let rest: String = text[at..].chars().skip(cut).collect();
        let _ = Model::compile(&format!("{}{insert}{rest}", &text[..at]));
    }
}
