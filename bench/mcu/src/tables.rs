//! Prints our figures beside the peers'.

use crate::{
    figures::{Contender, Figures, Payload},
    payloads::Group,
    reference,
    results::Record,
    sizes::Sizes,
    summary::AVERAGED,
};

/// Targets, the unit that is counted on each, and the clock in MHz where times are printed.
const TARGETS: [(&str, &str, Option<f64>); 5] = [
    ("atmega328p", "cycles", Some(16.0)),
    ("cortex-m0plus", "instructions", None),
    ("cortex-m3", "instructions", None),
    ("cortex-m4", "instructions", None),
    ("rv32imc", "instructions", None),
];

const OPERATIONS: [&str; 3] = ["encode", "decode", "bind"];

/// Prints everything but goals and energy.
pub fn print(figures: &Figures, rows: &[Record], groups: &[Group]) {
    for payload in groups.iter().flat_map(|group| &group.payloads) {
        let text = serde_json::to_string(&payload.value).unwrap_or_default();
        let short: String = text.chars().take(40).collect();
        println!(
            "\n\"{}\", {} bytes of JSON: {short}{}",
            payload.name,
            text.len(),
            if text.len() > 40 { "..." } else { "" }
        );
        if let Some(sizes) = Sizes::of(&payload.value) {
            print_sizes(sizes);
        }
        for (target, counts, mhz) in TARGETS {
            print_payload(figures, rows, &payload.name, target, counts, mhz);
        }
    }
    for (target, counts, _) in TARGETS {
        for operation in OPERATIONS {
            print_matrix(figures, target, operation, counts);
        }
    }
    print_flash(figures);
    print_paper(figures, rows);
    print_better_peers(figures, groups);
}

fn percent(ours: f64, theirs: f64) -> String {
    format!("{:+.1} %", (ours / theirs - 1.0) * 100.0)
}

fn print_sizes(sizes: Sizes) {
    let pson = sizes.pson as f64;
    let peers =
        ["msgpack", "cbor", "json"].into_iter().filter_map(|format| Some((format, sizes.in_format(format)?)));
    let peers: Vec<_> =
        peers.map(|(format, size)| format!("{format} {size} {}", percent(pson, size as f64))).collect();
    println!("  size    {:>7} bytes; against {}", sizes.pson, peers.join(", "));
}

/// Prints the count of each operation, and its difference from each peer's.
fn print_payload(
    figures: &Figures,
    rows: &[Record],
    payload: &str,
    target: &str,
    counts: &str,
    mhz: Option<f64>,
) {
    for operation in OPERATIONS {
        let contenders = figures.contenders(target, operation, counts, Payload::One(payload));
        let Some((ours, count)) = contenders.first().filter(|(contender, _)| contender.is_ours()) else {
            if let Some(reason) = missing_reason(rows, payload, target, operation) {
                println!("  {operation:<7} {target}: {reason}");
            }
            continue;
        };
        let time = mhz.map_or(String::new(), |mhz| format!(", {:.0} us at {mhz} MHz", count / mhz));
        let stack = figures.figure(ours, target, operation, "stack", Payload::One(payload));
        let stack = stack.map_or(String::new(), |stack| format!(", {stack} bytes of stack"));
        println!("  {operation:<7} {count:>7} {counts} on {target}{time}{stack}");
        for (peer, value) in &contenders[1..] {
            println!(
                "          {value:>7} {:<40} {:<4} {:>9}",
                peer.label(),
                peer.mark(),
                percent(*count, *value)
            );
        }
    }
}

/// The reason that our library has no figure; `None` if no reason is recorded.
fn missing_reason<'a>(rows: &'a [Record], payload: &str, target: &str, operation: &str) -> Option<&'a str> {
    let fits = |row: &&Record| {
        (&*row.library, &*row.metric, &*row.target) == ("dunnage", "fits", target)
            && row.payload == payload
            && row.operation == operation
    };
    rows.iter().find(fits)?.note.as_deref()
}

fn cell(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.0}"))
}

/// Prints a table of one operation: a row per library, a column per test of the paper.
fn print_matrix(figures: &Figures, target: &str, operation: &str, counts: &str) {
    let contenders = figures.contenders(target, operation, counts, Payload::One("Test10"));
    if contenders.is_empty() {
        return;
    }
    println!("\n{target}, {operation}, {counts}");
    print!("{:<42}{:<4}", "", "");
    for test in AVERAGED {
        print!("{:>7}", test.trim_start_matches("Test"));
    }
    println!("{:>8}{:>9}{:>7}", "average", "ours", "stack");
    let ours = figures.ours_and_best(target, operation, counts, Payload::Average).0;
    for (contender, _) in &contenders {
        let figure = |metric, payload| figures.figure(contender, target, operation, metric, payload);
        print!("{:<42}{:<4}", contender.label(), contender.mark());
        for test in AVERAGED {
            print!("{:>7}", cell(figure(counts, Payload::One(test))));
        }
        let average = figure(counts, Payload::Average);
        let change = match (ours, average) {
            (Some(ours), Some(theirs)) if !contender.is_ours() => percent(ours, theirs),
            _ => String::new(),
        };
        println!("{:>8}{change:>9}{:>7}", cell(average), cell(figure("stack", Payload::Maximum)));
    }
}

fn print_flash(figures: &Figures) {
    println!("\nBytes of flash (and of static RAM) over an empty firmware, Test10");
    println!(
        "{:<16}{:<42}{:<4}{:>8}{:>8}{:>16}{:>8}{:>14}{:>8}",
        "", "", "", "encode", "decode", "encode+decode", "bind", "encode+bind", "RAM"
    );
    let targets = TARGETS.iter().map(|(target, ..)| *target).chain(["lx106"]);
    for target in targets {
        for (contender, _) in figures.contenders(target, "encode+decode", "flash", Payload::One("Test10")) {
            let figure = |operation, metric| {
                cell(figures.figure(&contender, target, operation, metric, Payload::One("Test10")))
            };
            println!(
                "{target:<16}{:<42}{:<4}{:>8}{:>8}{:>16}{:>8}{:>14}{:>8}",
                contender.label(),
                contender.mark(),
                figure("encode", "flash"),
                figure("decode", "flash"),
                figure("encode+decode", "flash"),
                figure("bind", "flash"),
                figure("encode+bind", "flash"),
                figure("encode+decode", "ram"),
            );
        }
    }
}

/// Prints the paper's Table 4 in cycles, with our figures.
fn print_paper(figures: &Figures, rows: &[Record]) {
    println!(
        "\natmega328p, cycles: Table 4 of the PSON paper (Arduino UNO; serializing includes building the document), and ours"
    );
    print!("{:<32}", "");
    for test in AVERAGED {
        print!("{:>8}", test.trim_start_matches("Test"));
    }
    println!("{:>9}", "average");
    let line = |label: &str, figure: &dyn Fn(&str) -> Option<f64>| {
        print!("{label:<32}");
        let values: Vec<_> = AVERAGED.iter().map(|test| figure(test)).collect();
        values.iter().for_each(|value| print!("{:>8}", cell(*value)));
        let all = values.into_iter().collect::<Option<Vec<_>>>();
        println!("{:>9}", cell(all.map(|all| all.iter().sum::<f64>() / all.len() as f64)));
    };
    for (operation, theirs) in [("encode", "serialize"), ("decode", "deserialize"), ("bind", "deserialize")] {
        line(&format!("dunnage {operation}"), &|test| {
            figures.ours_and_best("atmega328p", operation, "cycles", Payload::One(test)).0
        });
        if operation == "decode" {
            continue;
        }
        for format in ["pson", "msgpack", "json"] {
            line(&format!("paper {format} {theirs} (ref)"), &|test| {
                let same = |row: &&Record| {
                    (&*row.library, &*row.format, &*row.operation)
                        == (reference::PAPER_LIBRARY, format, theirs)
                        && row.payload == test
                };
                rows.iter().find(same).map(|row| row.value)
            });
        }
    }
}

/// A figure in which a peer takes less than ours.
pub struct Better {
    /// Target, operation, payload and unit.
    pub place: String,
    /// The peer.
    pub peer: Contender,
    /// Our figure.
    pub ours: f64,
    /// The peer's.
    pub theirs: f64,
}

/// All figures in which a peer takes less, among those that were compared.
pub fn better_peers(figures: &Figures) -> Vec<Better> {
    let mut found = Vec::new();
    let mut compare_peers = |target: &str, operation: &str, metric: &str, payload, place: String| {
        let contenders = figures.contenders(target, operation, metric, payload);
        let Some((_, ours)) = contenders.iter().find(|(contender, _)| contender.is_ours()) else { return };
        for (peer, theirs) in contenders.iter().filter(|(peer, theirs)| !peer.is_ours() && theirs < ours) {
            found.push(Better { place: place.clone(), peer: peer.clone(), ours: *ours, theirs: *theirs });
        }
    };
    for (target, counts, _) in TARGETS {
        for operation in OPERATIONS {
            for test in AVERAGED {
                let place = format!("{target}, {operation}, {test}, {counts}");
                compare_peers(target, operation, counts, Payload::One(test), place);
            }
            let place = format!("{target}, {operation}, average, {counts}");
            compare_peers(target, operation, counts, Payload::Average, place);
            compare_peers(
                target,
                operation,
                "stack",
                Payload::Maximum,
                format!("{target}, {operation}, bytes of stack"),
            );
        }
        for (operation, part) in
            [("encode", "encoder"), ("decode", "decoder"), ("encode+decode", "encoder and decoder")]
        {
            compare_peers(
                target,
                operation,
                "flash",
                Payload::One("Test10"),
                format!("{target}, flash of {part}"),
            );
        }
    }
    found
}

/// Payloads that take fewer bytes in another format than in PSON: name, format, bytes in that format, bytes in PSON.
pub fn smaller_formats(groups: &[Group]) -> Vec<(String, &'static str, usize, usize)> {
    let mut found = Vec::new();
    for payload in groups.iter().flat_map(|group| &group.payloads) {
        let Some(sizes) = Sizes::of(&payload.value) else { continue };
        for format in ["msgpack", "cbor", "json"] {
            if let Some(size) = sizes.in_format(format).filter(|size| *size < sizes.pson) {
                found.push((payload.name.clone(), format, size, sizes.pson));
            }
        }
    }
    found
}

fn print_better_peers(figures: &Figures, groups: &[Group]) {
    println!("\nWhere peers are better");
    for Better { place, peer, ours, theirs } in better_peers(figures) {
        let (label, mark, change) = (peer.label(), peer.mark(), percent(ours, theirs));
        println!("  {place}: {label} {theirs:.0} {mark}, ours {ours:.0} ({change})");
    }
    for (payload, format, theirs, ours) in smaller_formats(groups) {
        println!(
            "  {payload}, bytes: {format} {theirs}, pson {ours} ({})",
            percent(ours as f64, theirs as f64)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::row;

    #[test]
    fn a_peer_is_better_only_when_it_takes_less() {
        let rows = [
            row("dunnage", "Test05", "encode", 300.0),
            row("a", "Test05", "encode", 200.0),
            row("b", "Test05", "encode", 300.0),
            row("a", "Test06", "encode", 1.0),
        ];
        let better = better_peers(&Figures::new(&rows));
        assert_eq!(better.len(), 1);
        let Better { place, peer, ours, theirs } = &better[0];
        assert_eq!(place, "atmega328p, encode, Test05, cycles");
        assert_eq!((peer.library.as_str(), *ours, *theirs), ("a", 300.0, 200.0));
    }

    #[test]
    fn a_smaller_format_is_listed() {
        // 48 takes one byte in MessagePack, two in PSON; 24 takes two in CBOR, one in PSON.
        let payload = |name: &str, text| crate::payloads::Payload {
            name: name.into(),
            value: serde_json::from_str(text).expect("it is JSON"),
        };
        let payloads = vec![payload("a", r#"{"n":48}"#), payload("b", r#"{"n":24}"#)];
        let found = smaller_formats(&[Group { name: "both".into(), payloads }]);
        assert_eq!(found, [("a".into(), "msgpack", 4, 5)]);
    }

    #[test]
    fn less_is_a_negative_percentage() {
        assert_eq!(percent(75.0, 100.0), "-25.0 %");
        assert_eq!(percent(110.0, 100.0), "+10.0 %");
    }
}
