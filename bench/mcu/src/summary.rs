//! Prints the measurements of a board.

use crate::{board::Board, library::Library, results::Record, shape::Floats};

/// The tests of the paper that fit the UNO with every library; averages are over these.
pub const AVERAGED: [&str; 8] =
    ["Test01", "Test04", "Test05", "Test06", "Test07", "Test08", "Test09", "Test10"];

const OPERATIONS: [&str; 5] = ["encode", "decode", "bind", "print", "parse"];

/// Prints cycles and stack of every payload, averages, flash and RAM, and then the reasons for missing figures.
pub fn print(rows: &[Record], board: &dyn Board, library: &Library, options: &str) {
    let counts = board.simulator().map_or("flash", |simulator| simulator.counts());
    let policy = match board.floats() {
        Floats::Single => "floats as binary32",
        Floats::Lossless => "floats exact",
    };
    let find = |payload: &str, operation: &str, metric: &str| {
        let mut rows = rows.iter();
        rows.find(|r| r.payload == payload && r.operation == operation && r.metric == metric).map(|r| r.value)
    };
    let library = format!("{} {}", library.name, library.version);
    println!("\n{library} on {}, {options}, {policy}: {counts}, and bytes of stack", board.target());
    println!(
        "{:<16}{:>6}{:>9}{:>6}{:>9}{:>6}{:>9}{:>6}{:>9}{:>6}{:>9}{:>6}",
        "",
        "bytes",
        "encode",
        "stack",
        "decode",
        "stack",
        "bind",
        "stack",
        "print",
        "stack",
        "parse",
        "stack"
    );
    let mut payloads: Vec<&str> = Vec::new();
    for row in rows {
        if !payloads.contains(&row.payload.as_str()) {
            payloads.push(&row.payload);
        }
    }
    for payload in &payloads {
        print!("{payload:<16}{:>6}", figure(find(payload, "encode", "bytes")));
        for operation in OPERATIONS {
            let cycles = find(payload, operation, counts);
            print!("{:>9}{:>6}", figure(cycles), figure(find(payload, operation, "stack")));
        }
        println!();
    }
    print!("{:<22}", "average 01, 04-10");
    for operation in OPERATIONS {
        let of = |metric| {
            AVERAGED.iter().map(|payload| find(payload, operation, metric)).collect::<Option<Vec<_>>>()
        };
        let cycles = of(counts).map(|all| all.iter().sum::<f64>() / all.len() as f64);
        let stack = of("stack").map(|all| all.into_iter().fold(0.0, f64::max));
        print!("{:>9}{:>6}", figure(cycles.map(f64::round)), figure(stack));
    }
    println!("  (stack: maximum)");
    let sizes = rows.iter().filter(|row| row.metric == "flash");
    for row in sizes {
        let ram = find(&row.payload, &row.operation, "ram");
        println!(
            "{:<22}{:>9} bytes of flash, {} of RAM ({})",
            row.operation,
            row.value,
            figure(ram),
            row.payload
        );
    }
    for row in rows.iter().filter(|row| row.metric == "fits") {
        println!("{}, {}: {}", row.payload, row.operation, row.note.as_deref().unwrap_or("does not fit"));
    }
}

fn figure(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| value.to_string())
}
