//! Measures the C of `dunnage generate c --modes`: flash of modes 0, 1 and 2, and, where it can be simulated, RAM and time of sending the
//! messages of simulated containers over a link that loses some.
//!
//! The firmware decodes each message from its plain bytes, sends it, and learns which messages were acknowledged. The bytes that it sends
//! must equal those of `dunnage_packed::Sender`; otherwise the figures are withheld.

use crate::{
    Failure, avr,
    board::{Board, Missing, Size},
    report::{self, Event},
    results::{Origin, Record},
    toolchain::{firmware_folder, run, work},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_codegen::c::{self, Files};
use dunnage_links::fleet::Detail;
use dunnage_packed::{Layout, Sender, Training};
use dunnage_pson::Value;
use dunnage_schema::{Model, bundled_named};
use dunnage_simulate::{Containers, Network, train};
use serde_json::json;
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// The suite of the records.
pub const SUITE: &str = "mcu-modes";
/// The compiler options of the firmware. On AVR, the two others make calls and the saving of registers shorter.
const OPTIONS: &str = "-Os -flto";
const AVR_OPTIONS: &str = "-Os -flto -mrelax -mcall-prologues";
/// The schema of the messages. The receiver knows the container and its SIM.
const SCHEMA: &str = "container-voyage";
/// Seconds between two messages of a container.
const CADENCE_S: u32 = 900;
/// The containers that the statistics are trained on, and those whose messages are sent, are of different fleets.
const TRAINED: u64 = 1;
const MEASURED: u64 = 77;
/// The containers of the training with the messages of each, and the same of the measurement.
const TRAINING: (usize, usize) = (40, 2880);
const SENT: (usize, usize) = (4, 60);
/// A link that loses three of ten messages, and as many acknowledgements.
const LOSSY: Network = Network { loss: 0.3, ack_loss: 0.3, ack_every: 1, ack_delay: 0 };
const SEED: u64 = 9;
/// The number of acknowledged messages out of 100, if three of ten messages and three of ten acknowledgements are lost.
const ACKNOWLEDGED: u64 = 49;
/// Cycles of a millisecond at 16 MHz.
const CYCLES_PER_MS: f64 = 16_000.0;

/// The firmwares: their name, the statement that calls the code, and the operation in results. `send` is run.
const PARTS: [(&str, &str, &str); 4] = [
    ("nothing", "", ""),
    ("mode-0", "n = plain(m, to);", "mode 0"),
    ("modes-0-1", "n = prior(m, to);", "modes 0, 1"),
    ("modes-0-1-2", "n = send(&state, m, to); told(&state, n);", "modes 0, 1, 2"),
];
/// The name of the firmware that is run.
const RUN: &str = "send";

/// Upper limits on the ATmega328P: of which operation and metric, and in which unit.
const GOALS: [(&str, &str, f64, &str); 4] = [
    ("modes 0, 1, 2", "flash", 5120.0, "B"),
    ("send", "state+stack", 250.0, "B"),
    ("send", "mean", 8.0, "ms"),
    ("send", "most", 14.0, "ms"),
];

/// The messages and their code.
pub struct Subject {
    name: String,
    prefix: String,
    files: Files,
    state: usize,
    messages: Vec<Message>,
}

/// A message of a container.
struct Message {
    plain: Vec<u8>,
    /// The bytes of a sender for it.
    sent: Vec<u8>,
    is_acknowledged: bool,
}

/// Trains the statistics, and generates the code and messages.
pub fn subject() -> Result<Subject, Failure> {
    let layout = trained()?;
    let options = c::Options { modes: true, ..Default::default() };
    let files = c::c(&layout, &options).map_err(|faults| format!("C cannot represent {faults:?}"))?;
    let plan = c::plan(&layout).map_err(|faults| format!("C cannot represent {faults:?}"))?;
    let cost = files.modes.ok_or("no modes 1 and 2")?;
    println!(
        "{SCHEMA}: {} B of tables of mode 1, {} B more of mode 2; {} B of state",
        cost.prior_tables, cost.delta_tables, cost.state
    );
    let messages = messages(&layout)?;
    Ok(Subject { name: plan.name, prefix: plan.prefix, files, state: cost.state, messages })
}

fn fleet(seed: u64) -> Containers {
    Containers { seed, cadence_s: CADENCE_S.into(), jitter_s: 30.0, detail: Detail::Voyage }
}

fn trained() -> Result<Layout, Failure> {
    let mut schema: serde_json::Value = serde_json::from_str(bundled_named(SCHEMA).ok_or("no such schema")?)?;
    schema["properties"]["iso6346"]["x-dunnage-known"] = json!("device");
    schema["properties"]["msisdn"]["x-dunnage-known"] = json!("msisdn");
    schema["properties"]["time"]["x-dunnage-time"]["every"] = json!(CADENCE_S);
    let layout = Layout::untrained(&Model::compile(&schema.to_string())?);
    let mut training = Training::new(&layout)?;
    for number in 0..TRAINING.0 {
        train(&mut training, fleet(TRAINED).messages(number, TRAINING.1), LOSSY, (SEED, number as u64))?;
    }
    schema["x-dunnage-statistics"] = json!(BASE64_STANDARD.encode(training.finish().statistics));
    Ok(Layout::new(&Model::compile(&schema.to_string())?)?)
}

fn messages(layout: &Layout) -> Result<Vec<Message>, Failure> {
    let mut all = Vec::new();
    let mut random = SEED;
    for container in 0..SENT.0 {
        let mut sender = Sender::new(layout, 1);
        for message in fleet(MEASURED).messages(container, SENT.1) {
            let (mut plain, mut sent) = (Vec::new(), Vec::new());
            layout.encode_without_statistics(&message, &mut plain)?;
            sender.encode(&message, &mut sent)?;
            // A linear congruential generator, by its upper bits.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let is_acknowledged = (random >> 33) % 100 < ACKNOWLEDGED;
            if let Some(name) = sender.last().filter(|_| is_acknowledged) {
                sender.acknowledged(name);
            }
            all.push(Message { plain, sent, is_acknowledged });
        }
    }
    Ok(all)
}

/// Measures the code on `board`.
pub fn measure(board: &dyn Board, subject: &Subject) -> Result<Vec<Record>, Failure> {
    let folder = work().join("modes").join(board.target());
    fs::create_dir_all(&folder)?;
    let Files { name, header, source, .. } = &subject.files;
    let own = [(format!("{name}.h"), header.as_str()), (format!("{name}.c"), source.as_str())];
    let shared = c::SUPPORT.iter().copied().chain([c::MODES]).map(|(name, text)| (name.to_owned(), text));
    for (name, text) in own.into_iter().chain(shared) {
        fs::write(folder.join(name), text)?;
    }
    let origin = Origin::new(board, options(board))?;
    let mut rows = Vec::new();
    let mut row = |operation: &str, metric: &str, value: f64, unit: &str| {
        let record = origin.record(SUITE, [SCHEMA, "packed", "dunnage"], operation, (metric, value, unit));
        rows.push(record.version(env!("CARGO_PKG_VERSION")));
    };
    let mut empty = None;
    for (part, call, operation) in PARTS {
        let elf = build(board, subject, part, &sizes(subject, call), &folder)?;
        let size = Size::of(board, &elf)?;
        let nothing = *empty.get_or_insert(size.flash);
        if !operation.is_empty() {
            row(operation, "flash", (size.flash - nothing) as f64, "bytes");
        }
    }
    // The messages are in flash, which only this firmware reads as AVR does.
    if let (Some(simulator), avr::TARGET) = (board.simulator(), board.target()) {
        let elf = build(board, subject, RUN, &sending(subject), &folder)?;
        let printed = simulator.run(&elf, Size::of(board, &elf)?).map_err(Missing::into_failure)?;
        let regions = report::regions(&printed)?;
        let regions = &regions[simulator.loops().len()..];
        if regions.len() != subject.messages.len() {
            return Err(format!("{} messages were sent", regions.len()).into());
        }
        for (Message { sent, .. }, region) in subject.messages.iter().zip(regions) {
            report::compare("wrong message", &region.after, &[Event::Value(Value::Bytes(sent.clone()))])?;
        }
        let cycles = || regions.iter().map(|region| region.count as f64);
        let mean = cycles().sum::<f64>() / regions.len() as f64;
        let most = cycles().fold(0.0, f64::max);
        let stack = regions.iter().map(|region| region.stack).max().unwrap_or_default();
        row("send", "cycles", mean, "cycles");
        row("send", "mean", mean / CYCLES_PER_MS, "ms");
        row("send", "most", most / CYCLES_PER_MS, "ms");
        row("send", "stack", stack as f64, "bytes");
        row("send", "state+stack", (stack + subject.state as u64) as f64, "bytes");
    }
    Ok(rows)
}

fn options(board: &dyn Board) -> &'static str {
    if board.target() == avr::TARGET { AVR_OPTIONS } else { OPTIONS }
}

fn build(
    board: &dyn Board,
    subject: &Subject,
    part: &str,
    text: &str,
    folder: &Path,
) -> Result<PathBuf, Failure> {
    let source = folder.join(format!("{part}.firmware.c"));
    fs::write(&source, text)?;
    let elf = folder.join(format!("{part}.elf"));
    let mut compiler = board.compiler();
    compiler.args(["-std=gnu99", "-Wall", "-Wextra"]).args(options(board).split(' '));
    compiler.args(["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]);
    for include in [folder, &firmware_folder()] {
        compiler.arg("-I").arg(include);
    }
    run(compiler
        .arg(&source)
        .arg(folder.join(format!("{}.c", subject.files.name)))
        .arg(folder.join(c::SUPPORT[1].0))
        .args(board.start_files().iter().map(|name| firmware_folder().join(name)))
        .args(board.link_arguments())
        .arg("-o")
        .arg(&elf))?;
    Ok(elf)
}

/// The source of a firmware that executes a statement with a message, or does nothing with the same data.
fn sizes(subject: &Subject, call: &str) -> String {
    format!(
        "{}
void measure_all(void) {{
    uint8_t *to = room;
    message_type *m = &message;
    size_t n = 0;
    HIDE(to);
    HIDE(m);
    {call}
    (void)n;
    fold_bytes(to, n);
}}
",
        declarations(subject)
    )
}

fn declarations(Subject { name, prefix, files, .. }: &Subject) -> String {
    format!(
        "/* Generated by dunnage-bench-mcu. */
#include \"measure.h\"
#include \"{}.h\"
#include <string.h>
#define NOINLINE static __attribute__((noinline, noclone, unused))
typedef {name} message_type;
typedef {name}_state state_type;
NOINLINE size_t plain(const message_type *m, uint8_t *to) {{ return {name}_encode(m, to, {prefix}_MAX_SIZE, NULL); }}
NOINLINE size_t prior(const message_type *m, uint8_t *to) {{ return {name}_encode_prior(m, to); }}
NOINLINE size_t send(state_type *state, const message_type *m, uint8_t *to) {{ return {name}_send(state, m, to); }}
NOINLINE void told(state_type *state, size_t n) {{
    if (n & 1 ? {name}_acked_last(state) : {name}_acked(state, (uint16_t)n)) {name}_forget(state);
}}
void measure_all(void);
static __attribute__((used)) uint8_t room[{prefix}_MAX_SIZE];
static __attribute__((used)) message_type message;
static __attribute__((used)) state_type state;
",
        files.name
    )
}

/// The source of the firmware that sends the messages. The first byte of each is its size, and 128 if it is acknowledged.
fn sending(subject: &Subject) -> String {
    let mut wire = String::new();
    for Message { plain, is_acknowledged, .. } in &subject.messages {
        let _ = write!(wire, "{},", plain.len() + if *is_acknowledged { 128 } else { 0 });
        plain.iter().for_each(|byte| {
            let _ = write!(wire, "{byte},");
        });
    }
    let Subject { name, prefix, messages, .. } = subject;
    format!(
        "{}
static const uint8_t wires[] PROGMEM = {{{wire}}};
static uint8_t wire[{prefix}_MAX_SIZE];

void measure_all(void) {{
    const uint8_t *at = wires;
    uint16_t i;
    for (i = 0; i < {}; i++) {{
        uint8_t head = pgm_read_byte(at++), size = head & 127;
        uint8_t *to = room;
        message_type *m = &message;
        size_t n;
        /* A device that has just started: its memory may have any content. */
        if (i % {} == 0) memset(&state, 0xaa, sizeof state);
        memcpy_P(wire, at, size);
        at += size;
        if (!{name}_decode(m, wire, size, NULL)) return;
        HIDE(to);
        HIDE(m);
        MEASURE(0, n = send(&state, m, to));
        fold_bytes(to, n);
        if (head & 128) (void){name}_acked_last(&state);
    }}
}}
",
        declarations(subject),
        messages.len(),
        SENT.1
    )
}

/// Prints the figures with their goals.
pub fn print(rows: &[Record]) {
    println!("\nModes 1 and 2 of {SCHEMA}, {OPTIONS}; on AVR {AVR_OPTIONS}");
    for row in rows {
        let is_goal = |(operation, metric, ..): &&(&str, &str, f64, &str)| {
            row.target == avr::TARGET && row.operation == *operation && row.metric == *metric
        };
        let goal = GOALS.iter().find(is_goal).map_or(String::new(), |(_, _, limit, unit)| {
            let verdict = if row.value <= *limit { "hit" } else { "MISS" };
            format!("  goal {limit} {unit}  {verdict}")
        });
        let value = if row.unit == "ms" { format!("{:.2}", row.value) } else { format!("{:.0}", row.value) };
        println!("{:<16}{:<16}{:<13}{value:>8} {:<8}{goal}", row.target, row.operation, row.metric, row.unit);
    }
}
