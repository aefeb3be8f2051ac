//! The tables in the device library's README.

use crate::{
    Failure,
    figures::{Contender, Figures, OPTIONS, Payload},
    tables::{Better, better_peers},
    toolchain::root,
};
use std::{fmt::Write as _, fs};

const FILE: &str = "c/README.md";
const BEGIN: &str = "<!-- begin footprint table -->\n";
const END: &str = "<!-- end footprint table -->";

/// Targets: ID, name, the counted unit, and the tools that produce the figures.
const TARGETS: [(&str, &str, &str, &str); 6] = [
    ("atmega328p", "ATmega328P", "cycles", "avr-gcc 7.3.0, simavr"),
    ("cortex-m0plus", "Cortex-M0+", "instructions", "gcc 12.2, QEMU"),
    ("cortex-m3", "Cortex-M3", "instructions", "gcc 12.2, QEMU"),
    ("cortex-m4", "Cortex-M4", "instructions", "gcc 12.2, QEMU"),
    ("rv32imc", "RV32IMC", "instructions", "gcc 12.2, QEMU"),
    ("lx106", "Xtensa lx106", "instructions", "gcc 12.2, QEMU"),
];

const TEST10: Payload = Payload::One("Test10");

/// Writes the tables into the README. Fails if the README lacks the marks.
pub fn write(figures: &Figures) -> Result<(), Failure> {
    let path = root().join(FILE);
    let text = fs::read_to_string(&path)?;
    fs::write(&path, replace_tables(&text, &tables(figures))?)?;
    println!("wrote the footprint table in {FILE}");
    Ok(())
}

/// `text` with `tables` between its marks.
fn replace_tables(text: &str, tables: &str) -> Result<String, Failure> {
    let (head, rest) = text.split_once(BEGIN).ok_or_else(|| format!("no {} in {FILE}", BEGIN.trim()))?;
    let (_, tail) = rest.split_once(END).ok_or_else(|| format!("no {END} in {FILE}"))?;
    Ok(format!("{head}{BEGIN}{tables}{END}{tail}"))
}

fn tables(figures: &Figures) -> String {
    let mut out = String::new();
    ours(figures, &mut out);
    peers(figures, &mut out);
    ratios(figures, &mut out);
    json(figures, &mut out);
    better(figures, &mut out);
    out
}

fn cell(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.0}"))
}

fn ours(figures: &Figures, out: &mut String) {
    let ram = TARGETS
        .iter()
        .filter_map(|(target, ..)| figures.ours_and_best(target, "encode+decode", "ram", TEST10).0);
    let ram = ram.reduce(f64::max).map_or("not measured".into(), |most| format!("{most} bytes at most"));
    let _ = writeln!(
        out,
        "Cost of the paper's Test10 (7 fields, 69 bytes), compiled with `{OPTIONS}`, numbers as binary32. Flash is the increase over an \
         empty program; static RAM is {}. `make bench-full SUITES=mcu` measures, `cargo run --release -p dunnage-bench-mcu -- docs` writes this.\n",
        ram
    );
    out.push_str("| | | encode | walk | fill a struct | stack | flash: encode + walk | encode + fill |\n");
    out.push_str("|---|---|---:|---:|---:|---:|---:|---:|\n");
    for (target, name, counts, tools) in TARGETS {
        let figure = |operation, metric| figures.ours_and_best(target, operation, metric, TEST10).0;
        let stacks = ["encode", "decode", "bind"].map(|operation| cell(figure(operation, "stack")));
        let _ = writeln!(
            out,
            "| {name} ({tools}) | {counts} | {} | {} | {} | {} | {} | {} |",
            cell(figure("encode", counts)),
            cell(figure("decode", counts)),
            cell(figure("bind", counts)),
            stacks.join(" / "),
            cell(figure("encode+decode", "flash")),
            cell(figure("encode+bind", "flash")),
        );
    }
}

/// The peers on the ATmega328P, where most of them were measured.
fn peers(figures: &Figures, out: &mut String) {
    out.push_str(
        "\nCompared with other libraries on the ATmega328P: average cycles over tests 01 and 04 to 10, maximum stack, flash of encoder and \
         decoder for Test10. Those with * are quoted, from `bench/mcu/reference`, because no registry has that version; \"fill\" is decoding into a \
         document or struct.\n\n",
    );
    out.push_str("| | encode | walk | fill | stack | flash |\n|---|---:|---:|---:|---:|---:|\n");
    let at = "atmega328p";
    let of = |operation| {
        figures
            .contenders(at, operation, "cycles", Payload::Average)
            .into_iter()
            .map(|(contender, _)| contender)
    };
    let mut contenders: Vec<_> = of("encode").collect();
    contenders.extend(of("decode").filter(|contender| of("encode").all(|other| other != *contender)));
    contenders.retain(|contender| !figures.is_outdated(contender));
    for contender in contenders {
        let figure = |operation, metric, payload| figures.figure(&contender, at, operation, metric, payload);
        let fill = figure("bind", "cycles", Payload::Average);
        let walk = figure("decode", "cycles", Payload::Average).filter(|walk| fill != Some(*walk));
        let reading = if walk.is_some() { "decode" } else { "bind" };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} / {} | {} |",
            label(&contender),
            cell(figure("encode", "cycles", Payload::Average)),
            cell(walk),
            cell(fill),
            cell(figure("encode", "stack", Payload::Maximum)),
            cell(figure(reading, "stack", Payload::Maximum)),
            cell(figure("encode+decode", "flash", TEST10)),
        );
    }
}

/// Our figures divided by the best peer's, measured or quoted.
fn ratios(figures: &Figures, out: &mut String) {
    for (contender, remark) in figures.remarks() {
        let _ = writeln!(out, "\n{}: {remark}.", label(&contender));
    }
    out.push_str("\nOurs divided by the best peer's, including quoted ones (below 1: ours is smaller):\n\n");
    out.push_str("| | encode | walk | flash: encoder | decoder | both |\n|---|---:|---:|---:|---:|---:|\n");
    for (target, name, counts, _) in TARGETS {
        let cells = [
            ("encode", counts, Payload::Average),
            ("decode", counts, Payload::Average),
            ("encode", "flash", TEST10),
            ("decode", "flash", TEST10),
            ("encode+decode", "flash", TEST10),
        ]
        .map(|(operation, metric, payload)| {
            match figures.ours_and_best(target, operation, metric, payload) {
                (Some(ours), Some((peer, theirs))) => format!("{:.2} {}", ours / theirs, label(&peer)),
                _ => "-".into(),
            }
        });
        if cells.iter().any(|cell| cell != "-") {
            let _ = writeln!(out, "| {name} | {} |", cells.join(" | "));
        }
    }
}

/// JSON on the ATmega328P, compared with ArduinoJson, the most common library for it.
fn json(figures: &Figures, out: &mut String) {
    out.push_str(
        "\nJSON on the ATmega328P, Test10: a message printed as JSON text, and JSON text parsed to a message. ArduinoJson prints from a document and \
         parses into one, which needs additional RAM. A fraction is parsed to the nearest binary64, by ArduinoJson to a binary32.\n\n\
         | | print, cycles | parse, cycles | stack | flash: print | parse |\n|---|---:|---:|---:|---:|---:|\n",
    );
    let at = "atmega328p";
    let ours = |operation, metric| cell(figures.ours_and_best(at, operation, metric, TEST10).0);
    let _ = writeln!(
        out,
        "| **dunnage** | {} | {} | {} / {} | {} | {} |",
        ours("print", "cycles"),
        ours("parse", "cycles"),
        ours("print", "stack"),
        ours("parse", "stack"),
        ours("print", "flash"),
        ours("parse", "flash"),
    );
    let encoders = figures.contenders(at, "encode", "cycles", TEST10);
    for (contender, print) in encoders.into_iter().filter(|(contender, _)| contender.format == "json") {
        let figure =
            |operation, metric, payload| cell(figures.figure(&contender, at, operation, metric, payload));
        let _ = writeln!(
            out,
            "| {} | {print:.0} | {} | {} / {} | - | {} (both) |",
            label(&contender),
            figure("decode", "cycles", TEST10),
            figure("encode", "stack", Payload::Maximum),
            figure("decode", "stack", Payload::Maximum),
            figure("encode+decode", "flash", TEST10),
        );
    }
}

/// The figures in which a peer takes less.
fn better(figures: &Figures, out: &mut String) {
    let better = better_peers(figures);
    if better.is_empty() {
        out.push_str("\nNo compared peer takes less.\n");
        return;
    }
    out.push_str("\nWhere a compared peer takes less, on all targets but the lx106:\n\n| | peer | theirs | ours |\n|---|---|---:|---:|\n");
    for Better { place, peer, ours, theirs } in better {
        let _ = writeln!(out, "| {place} | {} | {theirs:.0} | {ours:.0} |", label(&peer));
    }
}

fn label(contender: &Contender) -> String {
    let Contender { library, version, format, .. } = contender;
    if contender.is_ours() {
        format!("**{library} {version}** ({format})")
    } else {
        let mark = if contender.reference { "*" } else { "" };
        format!("{library} {version} ({format}){mark}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{figures::tests::row, reference, summary::AVERAGED};

    #[test]
    fn only_the_text_between_the_marks_is_replaced() {
        let text = format!("a\n{BEGIN}old\n{END}\nb\n");
        assert_eq!(
            replace_tables(&text, "new\n").expect("both marks are there"),
            format!("a\n{BEGIN}new\n{END}\nb\n")
        );
        assert!(replace_tables("nothing", "new").is_err());
        assert!(replace_tables(BEGIN, "new").is_err());
    }

    #[test]
    fn our_library_is_first_and_every_peer_is_listed() {
        let mut rows = reference::records().expect("the files can be read");
        rows.extend(AVERAGED.iter().map(|name| row("dunnage", name, "encode", 700.0)));
        let text = tables(&Figures::new(&rows));
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with("| **dunnage 1")).collect();
        assert_eq!(
            lines,
            ["| **dunnage 1** (pson) | 700 | - | - | 700 / - | - |"]
                .map(|line| line.replace("700 / -", "- / -"))
        );
        for peer in [
            "mpack (speed) 1.1.1 (msgpack)* | 917 | 2837 | - | 40 / 168 | 5216",
            "qcbor 025286c (cbor)* | 5250 | 7989 | - | 203 / 325 | 5028",
            "nanocbor 99c0cee (cbor)* | 3980 | - | - | 73 / - | 4802",
            "nanopb 0.4.7 (protobuf)* | 4950 | - | 6565 | 185 / 215 | 12264",
        ] {
            assert!(text.contains(peer), "{text}");
        }
        // Rows of the newest run replace older rows of the same library.
        assert!(
            !text.contains("\n| mpack 1.1.1") && !text.contains("thinger-pson 2026-11 (pson)* | 2427"),
            "{text}"
        );
        assert!(text.contains("reads 48.75 as 2.6e-18"), "{text}");
        assert!(text.contains("| ATmega328P | 0.76 mpack (speed) 1.1.1 (msgpack)* |"), "{text}");
        assert!(text.contains("arduinojson 6.18 (json)* | 37476 | 20962 |"), "{text}");
        assert!(text.contains("arduinojson 6.18 (msgpack)* | 2068 | - | 3641 | 86 / 139 | 4242"), "{text}");
    }
}
