//! Schemas of texts: numbers and times in a notation, enumerations and patterns.

use super::{field, many, schema};
use serde_json::json;

#[test]
fn numbers_in_text_keep_their_notation() {
    let number = |value| json!({"type":"string","x-dunnage-number":value});
    let usual = json!({"minimum":-200,"maximum":200});
    assert_eq!(
        field(&["\"17.00\"", "\"-0.50\""]),
        number(json!({"multipleOf":0.01,"minimum":-2000,"maximum":2000,"usual":usual}))
    );
    assert_eq!(
        field(&["\"06\"", "\"11\""]),
        number(
            json!({"multipleOf":1,"minimum":0,"maximum":2000,"usual":{"minimum":0,"maximum":99},"digits":2})
        )
    );
    // The notations differ, so that no keyword describes both texts.
    for mixed in [["\"06\"", "\"7\""], ["\"1.0\"", "\"1.00\""], ["\"-0.0\"", "\"0.0\""], ["\"1.\"", "\".1\""]]
    {
        assert_eq!(field(&mixed).get("x-dunnage-number"), None, "{mixed:?}");
    }
}

#[test]
fn numbers_of_one_text_have_a_separator_and_share_a_range() {
    let acc = field(&["\"-993.9269 -27.1004 -52.0035\""]);
    let numbers = &acc["x-dunnage-numbers"];
    assert_eq!(numbers["separator"], " ");
    assert_eq!(
        numbers["items"][2],
        json!({
            "name":"z","multipleOf":0.0001,"minimum":-100000,"maximum":100000,
            "usual":{"minimum":-10000,"maximum":10000}
        })
    );
    assert_eq!(field(&["\"12:30\""])["x-dunnage-numbers"]["separator"], ":");
    assert_eq!(field(&["\"1 2\"", "\"1 2 3\""]).get("x-dunnage-numbers"), None);
}

#[test]
fn times_have_a_notation() {
    for (text, notation) in [
        ("200423 002940.0", "DDMMYY hhmmss.f"),
        ("2026-03-29T12:00:00Z", "YYYY-MM-DDThh:mm:ssZ"),
        ("2026-03-29T12:00:00.125Z", "YYYY-MM-DDThh:mm:ss.fffZ"),
        ("2026-02-18T03:43:28", "YYYY-MM-DDThh:mm:ss"),
        ("2026-02-18 03:43:28.50", "YYYY-MM-DD hh:mm:ss.ff"),
        ("18.02.2026 03:43:28", "DD.MM.YYYY hh:mm:ss"),
        ("12/31/2026 03:43:28", "MM/DD/YYYY hh:mm:ss"),
        ("20260218034328", "YYYYMMDDhhmmss"),
    ] {
        let time = &field(&[&format!("\"{text}\"")])["x-dunnage-time"];
        assert_eq!(
            (&time["notation"], &time["epoch"]),
            (
                &json!(notation),
                &json!(if notation.contains("YYYY") {
                    "1970-01-01T00:00:00Z"
                } else {
                    "2000-01-01T00:00:00Z"
                })
            ),
            "{text}"
        );
        assert_eq!(time.get("until").is_some(), notation.contains("YYYY"), "{text}");
    }
    assert_eq!(field(&["\"1969-07-20T20:17:40Z\""])["x-dunnage-time"]["epoch"], "0000-01-01T00:00:00Z");
    assert_eq!(field(&["\"320423 002940.0\""]).get("x-dunnage-time"), None);
}

#[test]
fn an_enumeration_needs_many_samples() {
    assert_eq!(many(|n| format!("\"{}\"", ["on", "off", "E1"][n % 3]))["enum"], json!(["E1", "off", "on"]));
    assert_eq!(many(|n| format!("\"{}\"", n % 2))["enum"], json!(["0", "1"]));
    // A text that never changes may belong to one device.
    assert_eq!(many(|_| "\"reading\"".into()), json!({"type":"string","maxLength":50}));
    // A text that occurs once suggests that there are others, unless there are very many.
    assert_eq!(
        many(|n| if n > 0 { "\"ok\"".into() } else { "\"lost\"".into() })["enum"],
        json!(["lost", "ok"])
    );
    let states = |n: usize| ["normal", "swarm", "robbed", "tipped", "calm"][if n < 4 { n } else { 4 }];
    assert_eq!(many(|n| format!("\"{}\"", states(n))).get("enum"), None);
    let few: Vec<&str> = (0..199).map(|n| ["\"on\"", "\"off\""][n % 2]).collect();
    assert_eq!(field(&few).get("enum"), None);
    assert_eq!(field(&["\"on\"", "\"off\""]), json!({"type":"string","maxLength":20}));
    assert_eq!(field(&["\"on\""]), json!({"type":"string","maxLength":20}));
    // Three devices are not all devices.
    assert_eq!(many(|n| format!("\"DNGU00000{}7\"", n % 3))["pattern"], "^[A-Z]{1,8}[0-9]{1,14}$");
    for counted in ["node-{}", "v1.{}.0", "NRZ-2020-13{}", "{}%"] {
        assert_eq!(
            many(|n| format!("\"{}\"", counted.replace("{}", &(n % 3).to_string()))).get("enum"),
            None,
            "{counted}"
        );
    }
    // A small fleet gets the pattern of a large one.
    assert_eq!(many(|n| format!("\"gh-0{}\"", n % 6))["pattern"], "^[a-z]{1,5}-[0-9]{1,5}$");
    assert_eq!(many(|n| format!("\"room {}\"", n % 3)).get("pattern"), None);
    // Numbers in names tell nothing apart.
    let names = ["SDS011_P1", "SDS011_P2", "BME280_humidity", "BME280_temperature"];
    assert_eq!(many(|n| format!("\"{}\"", names[n % 4]))["enum"].as_array().unwrap().len(), 4);
}

#[test]
fn short_texts_of_digits_and_letters_are_not_hexadecimal() {
    for text in ["3d", "2D", "4g", "A1"] {
        assert_eq!(field(&[&format!("\"{text}\"")]), json!({"type":"string","maxLength":20}), "{text}");
    }
}

#[test]
fn patterns_beyond_the_limit_become_text() {
    let id = |n: usize| format!("{}{}", "Z".repeat(1 + n % 20), "7".repeat(1 + n / 20));
    let fields: Vec<String> = (0..300).map(|n| format!("\"{}\":\"{}\"", "f".repeat(n), id(n))).collect();
    let properties = &schema(&[format!("{{{}}}", fields.join(","))])["properties"];
    let patterns = properties.as_object().unwrap().values().filter(|field| field["pattern"].is_string());
    assert_eq!(patterns.count(), 256);
}
