//! Prints the measurements of a board.

use crate::{board::Board, library::Library, results::Record, shape::Floats};

/// The tests of the paper that fit the UNO with every library; averages are over these.
pub const AVERAGED: [&str; 8] =
    ["Test01", "Test04", "Test05", "Test06", "Test07", "Test08", "Test09", "Test10"];

const OPERATIONS: [&str; 5] = ["encode", "decode", "bind", "print", "parse"];

/// The measurements of a board.
struct Summary<'a> {
    rows: &'a [Record],
    /// The metric of time: cycles or instructions.
    counts: &'a str,
}

/// Prints cycles and stack of every payload, averages, flash and RAM, and then the reasons for missing figures.
pub fn print(rows: &[Record], board: &dyn Board, library: &Library, options: &str) {
    let counts = board.simulator().map_or("flash", |simulator| simulator.counts());
    let policy = match board.floats() {
        Floats::Single => "floats as binary32",
        Floats::Lossless => "floats exact",
    };
    let library = format!("{} {}", library.name, library.version);
    println!("\n{library} on {}, {options}, {policy}: {counts}, and bytes of stack", board.target());
    let summary = Summary { rows, counts };
    summary.print_payloads();
    summary.print_averages();
    summary.print_sizes();
    for row in rows.iter().filter(|row| row.metric == "fits") {
        println!("{}, {}: {}", row.payload, row.operation, row.note.as_deref().unwrap_or("does not fit"));
    }
}

impl Summary<'_> {
    fn find(&self, payload: &str, operation: &str, metric: &str) -> Option<f64> {
        let is_it = |r: &&Record| r.payload == payload && r.operation == operation && r.metric == metric;
        self.rows.iter().find(is_it).map(|r| r.value)
    }

    fn print_payloads(&self) {
        print!("{:<16}{:>6}", "", "bytes");
        for operation in OPERATIONS {
            print!("{operation:>9}{:>6}", "stack");
        }
        println!();
        let mut payloads: Vec<&str> = Vec::new();
        for row in self.rows {
            if !payloads.contains(&row.payload.as_str()) {
                payloads.push(&row.payload);
            }
        }
        for payload in &payloads {
            print!("{payload:<16}{:>6}", figure(self.find(payload, "encode", "bytes")));
            for operation in OPERATIONS {
                let cycles = self.find(payload, operation, self.counts);
                print!("{:>9}{:>6}", figure(cycles), figure(self.find(payload, operation, "stack")));
            }
            println!();
        }
    }

    fn print_averages(&self) {
        print!("{:<22}", "average 01, 04-10");
        for operation in OPERATIONS {
            let of = |metric| {
                AVERAGED
                    .iter()
                    .map(|payload| self.find(payload, operation, metric))
                    .collect::<Option<Vec<_>>>()
            };
            let cycles = of(self.counts).map(|all| all.iter().sum::<f64>() / all.len() as f64);
            let stack = of("stack").map(|all| all.into_iter().fold(0.0, f64::max));
            print!("{:>9}{:>6}", figure(cycles.map(f64::round)), figure(stack));
        }
        println!("  (stack: maximum)");
    }

    fn print_sizes(&self) {
        for row in self.rows.iter().filter(|row| row.metric == "flash") {
            let ram = self.find(&row.payload, &row.operation, "ram");
            println!(
                "{:<22}{:>9} bytes of flash, {} of RAM ({})",
                row.operation,
                row.value,
                figure(ram),
                row.payload
            );
        }
    }
}

fn figure(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| value.to_string())
}
