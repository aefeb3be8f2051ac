//! Prints the paper's Tables 3 and 4 and its Figures 5, 6 and 7 beside our figures.

use super::figure;
use crate::{
    avr,
    results::{Record, Source},
    shape::Floats,
    summary::AVERAGED,
};

/// The name of the suite.
pub const SUITE: &str = "pson-paper";

/// The target in place of the paper's ESP32: a 32-bit core of the ESP32-C3's class.
pub const ESP32_CLASS: &str = "rv32imc";

/// The libraries in the order of the tables: format, library, and how it works.
const LIBRARIES: [(&str, &str, &str); 7] = [
    ("pson", "dunnage", ""),
    ("msgpack", "mpack", ""),
    ("protobuf", "nanopb", "fills a struct"),
    ("bson", "libbson", ""),
    ("json", "snprintf", "no escapes"),
    ("json", "jsmn", "tokens on a heap"),
    ("json", "cjson", "a document on a heap"),
];

/// The formats of the paper's tables.
const FORMATS: [&str; 6] = ["json", "bson", "msgpack", "protobuf", "pson", "xml"];

/// The formats of Figure 7, and today's.
const SIZES: [&str; 12] = [
    "json",
    "msgpack",
    "protobuf",
    "pson",
    "xml",
    "bson",
    "avro",
    "thrift-binary",
    "thrift-compact",
    "yaml",
    "cbor",
    "packed",
];

/// Prints everything.
pub fn print(measured: &[Record], quoted: &[Record]) {
    let reference = |record: &&Record| {
        record.options.as_deref().is_none_or(|options| options == crate::REFERENCE_OPTIONS)
    };
    let measured: Vec<_> = measured.iter().filter(reference).cloned().collect();
    println!(
        "\nTable 3 of the paper: ESP32 (Xtensa, 240 MHz), us of 1000 operations. Ours: {ESP32_CLASS}, instructions of one operation"
    );
    table(&measured, quoted, ("esp32-wrover-b", ESP32_CLASS, "instructions"), &tests());
    println!(
        "\nTable 4 of the paper: Arduino UNO (ATmega328P, 16 MHz), us of 1000 operations. Ours: the same, from simulated cycles.\n\
         Averages are over tests 01 and 04 to 10; tests 02 and 03 did not fit the paper's UNO."
    );
    let averaged: Vec<_> = AVERAGED.iter().map(|test| (*test).to_owned()).collect();
    table(&measured, quoted, ("arduino-uno", avr::TARGET, "time"), &averaged);
    println!(
        "The paper's serialize column includes building the document from which ArduinoJson and Protoson print; ours starts from a struct.\n\
         Its PSON column was not measured with the commit that it cites, which speaks an older wire format and is 4 to 10 times slower.\n\
         XML: only the paper's figures. BSON: measured on 32 bits only. See bench/mcu/README.md."
    );
    flash(&measured, quoted);
    sizes(&measured, quoted);
    for row in measured.iter().filter(|row| row.metric == "fits") {
        let note = row.note.as_deref().unwrap_or_default();
        println!("{} {} {} {}: {note}", row.target, row.library, row.operation, row.payload);
    }
}

fn tests() -> Vec<String> {
    (1..=10).map(|n| format!("Test{n:02}")).collect()
}

/// Prints a table of the paper, and ours under it. `places` are the paper's target, our target and our metric.
fn table(measured: &[Record], quoted: &[Record], places: (&str, &str, &str), averaged: &[String]) {
    let (their_target, our_target, metric) = places;
    print!("{:<44}", "");
    for test in tests() {
        print!("{:>9}", test.trim_start_matches("Test"));
    }
    println!("{:>11}", "average");
    for operation in ["serialize", "deserialize"] {
        for format in FORMATS {
            let theirs = |payload: &str| {
                let same = |r: &&Record| {
                    (r.target.as_str(), r.format.as_str(), r.metric.as_str())
                        == (their_target, format, "time")
                        && (r.operation.as_str(), r.payload.as_str()) == (operation, payload)
                };
                quoted.iter().find(same).map(|record| record.value)
            };
            // The average of the table itself.
            line(&format!("{operation} {format}, paper"), &theirs, theirs("average"));
            for (_, library, how) in LIBRARIES.iter().filter(|(own, ..)| *own == format) {
                let ours = |payload: &str| figure(measured, our_target, library, payload, operation, metric);
                let all: Option<Vec<_>> = averaged.iter().map(|test| ours(test)).collect();
                let average = all.map(|all| all.iter().sum::<f64>() / all.len() as f64);
                let how = if how.is_empty() { String::new() } else { format!(" ({how})") };
                line(&format!("{operation} {format}, {library}{how}"), &ours, average);
            }
        }
    }
}

/// Prints a line; nothing if it has no figure.
fn line(label: &str, figure: &dyn Fn(&str) -> Option<f64>, average: Option<f64>) {
    let figures: Vec<_> = tests().iter().map(|test| figure(test)).collect();
    if figures.iter().all(Option::is_none) {
        return;
    }
    print!("{label:<44}");
    figures.iter().for_each(|value| print!("{:>9}", cell(*value)));
    println!("{:>11}", cell(average));
}

fn cell(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.0}"))
}

/// Figures 5 and 6.
fn flash(measured: &[Record], quoted: &[Record]) {
    println!(
        "\nFigures 5 and 6 of the paper: the increase in the size of the program. Ours: bytes of flash for Test10 over the same firmware without\n\
         the library, and in percent of the paper's empty programs, 592 bytes on the UNO and 260710 on the ESP32"
    );
    for record in quoted.iter().filter(|r| r.metric.starts_with("flash")) {
        let Record { target, format, library, operation, metric, value, unit, .. } = record;
        println!("  paper, {target}, {format} ({library}), {operation}, {metric}: {value} {unit}");
    }
    println!("{:<40}{:>18}{:>18}{:>18}", "", "atmega328p", ESP32_CLASS, "lx106");
    for (format, library, _) in LIBRARIES {
        for operation in ["serialize", "deserialize", "serialize+deserialize"] {
            let bytes = |target| {
                let figure = |metric| figure(measured, target, library, "Test10", operation, metric);
                figure("flash").zip(figure("flash_increase")).map_or("-".into(), |(bytes, percent)| {
                    format!("{bytes:.0} {:>8}", format!("{percent:.1} %"))
                })
            };
            let columns = [avr::TARGET, ESP32_CLASS, "lx106"].map(bytes);
            if columns.iter().any(|cell| cell != "-") {
                let [avr, riscv, lx106] = columns;
                let label = format!("{format} {library} {operation}");
                println!("{label:<40}{avr:>18}{riscv:>18}{lx106:>18}");
            }
        }
    }
}

/// Figure 7.
fn sizes(measured: &[Record], quoted: &[Record]) {
    println!(
        "\nFigure 7 of the paper: bytes of each message. The schema of a schema-driven format is inferred from the message"
    );
    let size = |payload: &str, format: &str, floats: Floats| {
        let same = |r: &&Record| {
            (r.target.as_str(), r.payload.as_str(), r.format.as_str()) == ("host", payload, format)
                && r.floats.as_deref() == Some(floats.name())
        };
        measured.iter().find(same).map(|record| record.value)
    };
    let columns = SIZES.iter().map(|format| (*format, Floats::Lossless)).chain([("pson", Floats::Single)]);
    for (format, floats) in columns {
        let label = match floats {
            Floats::Lossless => format.to_owned(),
            Floats::Single => format!("{format}, floats as binary32"),
        };
        let all: Option<Vec<_>> = tests().iter().map(|test| size(test, format, floats)).collect();
        let average = all.map(|all| all.iter().sum::<f64>() / all.len() as f64);
        print!("{label:<30}");
        tests().iter().for_each(|test| print!("{:>6}", cell(size(test, format, floats))));
        println!("{:>8}", average.map_or("-".into(), |average| format!("{average:.1}")));
    }
    let of_figure = |r: &&Record| r.source == Source::Quoted && r.metric.starts_with("bytes");
    for Record { format, metric, value, unit, .. } in quoted.iter().filter(of_figure) {
        println!("  paper, average, {format}, {metric}: {value} {unit}");
    }
    println!(
        "  ({SUITE}: the paper's average is that of PSON with binary32 floats; it differs by one byte of 664)"
    );
}
