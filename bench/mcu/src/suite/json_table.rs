//! Prints the suite `mcu-json` for people: for each payload and target, the formats and their improvement over JSON.

use super::figure;
use crate::{payloads::Group, results::Record};

/// The libraries that write and read each format.
const FORMATS: [(&str, &str, &str); 4] = [
    ("MessagePack", "mpack", "mpack"),
    ("PSON", "dunnage", "dunnage"),
    ("JSON", "snprintf", "jsmn"),
    ("JSON, cJSON", "cjson", "cjson"),
];

/// Prints a block per payload.
pub fn print(records: &[Record], groups: &[Group], targets: &[(&str, &str)]) {
    println!(
        "\n(De)serialization of JSON, MessagePack and PSON. JSON is written by snprintf and read by jsmn; cJSON builds a document."
    );
    println!("In brackets: the difference from JSON.");
    for payload in groups.iter().flat_map(|group| &group.payloads) {
        let text = serde_json::to_string(&payload.value).unwrap_or_default();
        let start: String = text.chars().take(40).collect();
        println!("\n\"{}\", {} bytes of JSON: {start}...", payload.name, text.len());
        for (target, counts) in targets {
            println!("  {target}, {counts}");
            for operation in ["serialize", "deserialize"] {
                print_operation(records, target, counts, &payload.name, operation);
            }
        }
    }
}

/// Prints a line per format.
fn print_operation(records: &[Record], target: &str, counts: &str, payload: &str, operation: &str) {
    let of = |library: &str, metric: &str| figure(records, target, library, payload, operation, metric);
    let json = of(if operation == "serialize" { "snprintf" } else { "jsmn" }, counts);
    for (format, writer, reader) in FORMATS {
        let library = if operation == "serialize" { writer } else { reader };
        let Some(count) = of(library, counts) else {
            let reason = reason(records, target, library, payload, operation);
            println!("    {operation:<12}{format:<12} {reason}");
            continue;
        };
        let bytes = of(library, "bytes").map_or(String::new(), |bytes| {
            format!(", {bytes:>5} bytes{}", improvement(bytes, of("snprintf", "bytes")))
        });
        let [stack, heap] = ["stack", "heap"].map(|metric| of(library, metric).unwrap_or(0.0));
        let change = improvement(count, json);
        println!(
            "    {operation:<12}{format:<12}{count:>8}{change:<11} stack {stack:>5}, heap {heap:>5}{bytes}"
        );
    }
}

/// Prints the average improvement over JSON for each target, as in the study's charts, and the figures that the study quotes.
pub fn print_averages(records: &[Record], quoted: &[Record], payloads: &[&str], targets: &[(&str, &str)]) {
    println!("\nAverage difference from JSON over the study's payloads that fit");
    println!("{:<28}{:>12}{:>14}{:>10}", "", "serialize", "deserialize", "bytes");
    for (target, counts) in targets {
        for (format, library) in [("MessagePack", "mpack"), ("PSON", "dunnage")] {
            let average = |writer: &str, operation: &str, metric: &str| {
                let improvements: Vec<_> = payloads
                    .iter()
                    .filter_map(|payload| {
                        let json = figure(records, target, writer, payload, operation, metric)?;
                        Some(figure(records, target, library, payload, operation, metric)? / json - 1.0)
                    })
                    .collect();
                let sum = improvements.iter().sum::<f64>() / improvements.len() as f64;
                format!("{:+.1} % ({})", sum * 100.0, improvements.len())
            };
            println!(
                "{:<28}{:>14}{:>14}{:>14}",
                format!("{target}, {format}"),
                average("snprintf", "serialize", counts),
                average("jsmn", "deserialize", counts),
                average("snprintf", "serialize", "bytes"),
            );
        }
    }
    println!("In brackets: the number of payloads. The study, MessagePack, ArduinoJson 6.18.0:");
    for record in quoted.iter().filter(|record| record.unit == "%") {
        println!("  {}: {} {}, -{} %", record.target, record.operation, record.metric, record.value);
    }
}

/// The difference from JSON's figure, such as ` (-58.97 %)`; empty without one, and for JSON itself.
fn improvement(value: f64, json: Option<f64>) -> String {
    match json {
        Some(json) if json > 0.0 && json != value => format!(" ({:+.1} %)", (value / json - 1.0) * 100.0),
        _ => String::new(),
    }
}

/// Returns why a figure is missing.
fn reason<'a>(records: &'a [Record], target: &str, library: &str, payload: &str, operation: &str) -> &'a str {
    let same = |r: &&Record| {
        (r.target.as_str(), r.library.as_str(), r.metric.as_str()) == (target, library, "fits")
            && (r.payload.as_str(), r.operation.as_str()) == (payload, operation)
    };
    records.iter().find(same).and_then(|record| record.note.as_deref()).unwrap_or("was not measured")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_json_is_a_negative_percentage() {
        assert_eq!(improvement(119.0, Some(290.0)), " (-59.0 %)");
        assert_eq!(improvement(290.0, Some(290.0)), "");
        assert_eq!(improvement(290.0, None), "");
    }
}
