//! Compares the tables of README.md and docs/sizes.md with the output of `dunnage compare`.

use crate::run::{dunnage, root};
use serde_json::Value;
use std::{env, fmt::Write as _, fs};

/// A message of the first table, and what peers without a schema language take for each of its fields.
struct Example {
    description: &'static str,
    schema: &'static str,
    /// The JSON pointer to the schema in its file, and to the message.
    pointers: [&'static str; 2],
    fields: &'static [Field],
    /// The rows of docs/fewer-bytes.md with the means of trained messages.
    trained: Option<&'static str>,
}

/// A field, its bytes in a struct that is written by hand, and CayenneLPP's type with its bytes.
type Field = (&'static str, u32, Option<(&'static str, u32)>);

const EXAMPLES: [Example; 3] = [
    Example {
        description: "a room sensor (Milesight AM103)",
        schema: "bench/vendors/milesight-am103.json",
        pointers: ["/schema", "/messages/0/value"],
        fields: &[
            ("battery", 1, Some(("percentage", 1))),
            ("temperature", 2, Some(("temperature", 2))),
            ("humidity", 1, Some(("humidity", 1))),
            ("co2", 2, Some(("concentration", 2))),
        ],
        trained: None,
    },
    Example {
        description: "a [weather station](examples/weather-station)",
        schema: "examples/weather-station/station.json",
        pointers: ["", "/examples/0"],
        fields: &[
            ("time", 4, Some(("unix time", 4))),
            ("temperature", 2, Some(("temperature", 2))),
            ("humidity", 1, Some(("humidity", 1))),
            ("pressure", 2, Some(("barometer", 2))),
            ("wind.speed", 2, Some(("analog", 2))),
            ("wind.gust", 2, Some(("analog", 2))),
            ("wind.from, and what is present", 1, Some(("direction", 2))),
            ("rain", 2, Some(("analog", 2))),
            ("battery", 1, Some(("voltage", 2))),
        ],
        trained: Some("| mean | "),
    },
    Example {
        description: "a shipping container, 20 fields, numbers as text",
        schema: "spec/schemas/container-voyage.json",
        pointers: ["", "/examples/0"],
        fields: &[
            ("msisdn", 4, None),
            ("iso6346", 5, None),
            ("time", 5, None),
            ("rssi", 1, None),
            ("cgi", 9, None),
            ("bat-soc", 1, None),
            ("acc", 6, None),
            ("temperature", 2, None),
            ("humidity", 2, None),
            ("pressure", 2, None),
            ("ble-m, door, gnss", 1, None),
            ("latitude", 3, None),
            ("longitude", 3, None),
            ("altitude", 3, None),
            ("speed", 2, None),
            ("heading", 2, None),
            ("nsat", 1, None),
            ("hdop", 1, None),
        ],
        trained: Some("| `container-voyage`: mean | "),
    },
];

impl Example {
    /// Returns the bytes in each of the formats.
    fn sizes(&self, formats: &[&str]) -> Vec<String> {
        let file: Value =
            serde_json::from_str(&fs::read_to_string(root().join(self.schema)).unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let schema = folder.path().join("schema.json");
        let [schema_at, message_at] = self.pointers;
        fs::write(&schema, file.pointer(schema_at).unwrap().to_string()).unwrap();
        let message = file.pointer(message_at).unwrap().to_string();
        let arguments = ["compare", "-", "--schema", schema.to_str().unwrap(), "--json"];
        let compared = dunnage(&arguments, message).json();
        let rows = compared["formats"].as_array().unwrap();
        let bytes =
            |format: &&str| rows.iter().find(|row| row["format"] == *format).unwrap()["bytes"].to_string();
        formats.iter().map(bytes).collect()
    }

    fn by_hand(&self) -> u32 {
        self.fields.iter().map(|(_, bytes, _)| bytes).sum()
    }

    /// Returns the bytes of CayenneLPP: a channel and a type precede each value.
    fn cayenne(&self) -> Option<u32> {
        self.fields.iter().map(|(_, _, value)| value.map(|(_, bytes)| 2 + bytes)).sum()
    }

    /// Returns the means of messages with statistics and of deltas, from docs/fewer-bytes.md.
    fn trained(&self) -> [String; 2] {
        let Some(row) = self.trained else { return ["–".into(), "–".into()] };
        let text = fs::read_to_string(root().join("docs/fewer-bytes.md")).unwrap();
        let line = text.lines().find(|line| line.starts_with(row)).expect("the row of means");
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        [cells[2], cells[3]].map(|cell| cell.trim_end_matches(" B").to_owned())
    }
}

#[test]
fn the_first_table_of_the_readme_is_what_the_program_prints() {
    let mut table =
        "| | JSON | CBOR | CayenneLPP | Protobuf | struct by hand | packed | with statistics | delta |\n\
                     |---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
            .to_owned();
    for example in &EXAMPLES {
        let sizes = example.sizes(&["json", "cbor", "protobuf", "packed"]);
        let [json, cbor, protobuf, packed] = &sizes[..] else { panic!("{sizes:?}") };
        let cayenne = example.cayenne().map_or("–".to_owned(), |bytes| bytes.to_string());
        let (hand, [prior, delta]) = (example.by_hand(), example.trained());
        let description = example.description;
        let _ = writeln!(
            table,
            "| {description} | {json} | {cbor} | {cayenne} | {protobuf} | {hand} | {packed} | {prior} | {delta} |"
        );
    }
    compare_or_bless("README.md", "savings", &table);
}

#[test]
fn the_table_of_peers_has_the_bytes_of_each_field() {
    let mut table = "| message | struct by hand: bytes of each field | CayenneLPP: bytes of each value, without channel and type |\n|---|---|---|\n".to_owned();
    for example in &EXAMPLES {
        let fields: Vec<String> =
            example.fields.iter().map(|(name, bytes, _)| format!("{name} {bytes}")).collect();
        let values =
            example.fields.iter().map(|(_, _, value)| value.map(|(name, bytes)| format!("{name} {bytes}")));
        let values = values.collect::<Option<Vec<_>>>().map_or("–".to_owned(), |values| values.join(", "));
        let description = example.description.replace("](", "](../");
        let _ = writeln!(table, "| {description} | {} | {values} |", fields.join(", "));
    }
    compare_or_bless("docs/compare.md", "peers", &table);
}

#[test]
fn the_picture_of_the_readme_shows_the_bits_of_the_weather_station() {
    let station = "examples/weather-station/station.json";
    let text = fs::read_to_string(root().join(station)).unwrap();
    let message = serde_json::from_str::<Value>(&text).unwrap()["examples"][0].to_string();
    let path = root().join(station);
    let run = dunnage(
        &["convert", "--from", "json", "--to", "packed", "--schema", path.to_str().unwrap()],
        message.clone(),
    );
    let svg = fs::read_to_string(root().join("docs/bits.svg")).unwrap();
    let texts = |class: &str| -> String {
        let begin = format!("<text class=\"{class}\"");
        let of = |part: &str| part.split_once('>').unwrap().1.split_once('<').unwrap().0.to_owned();
        svg.split(&begin).skip(1).map(of).collect()
    };
    let bytes = run.stdout.iter();
    assert_eq!(texts("hex"), bytes.clone().map(|byte| format!("{byte:02x}")).collect::<String>());
    assert_eq!(texts("bit"), bytes.map(|byte| format!("{byte:08b}")).collect::<String>());
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let sentence = format!("{} bytes of JSON become {}.", message.len(), run.stdout.len());
    assert!(readme.contains(&sentence), "README.md does not say: {sentence}");
    for head in [format!("JSON, {} bytes<", message.len()), format!("packed, {} bytes<", run.stdout.len())] {
        assert!(svg.contains(&head), "docs/bits.svg does not say: {head}");
    }
}

#[test]
fn table_of_all_formats_matches_the_output_of_compare() {
    let message = "bench/corpus/container.json";
    let links = ["--link", "kineis", "--link", "astrocast"];
    let table =
        dunnage(&[&["compare", message, "--schema", "container"], &links[..], &["--markdown"]].concat(), "");
    compare_or_bless("docs/sizes.md", "size", table.text());
}

/// Compares `table` with the text in `document` between `begin NAME table` and `end NAME table`, or replaces it if `BLESS` is
/// set.
#[track_caller]
fn compare_or_bless(document: &str, name: &str, table: &str) {
    let (begin, end) = (format!("<!-- begin {name} table -->\n"), format!("<!-- end {name} table -->"));
    let path = root().join(document);
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once(&begin).expect("the document has the marker of its table");
    let (old, tail) = rest.split_once(&end).unwrap();
    if env::var_os("BLESS").is_some() {
        return fs::write(path, [head, &begin, table, &end, tail].concat()).unwrap();
    }
    assert_eq!(old, table, "the table in {document} is old: run with BLESS=1");
}
