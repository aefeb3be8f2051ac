//! The ATmega328P of the Arduino UNO: 32 KB of flash, 2 KB of RAM, 8 bits. Cycles are exact.

use crate::{
    Failure,
    generate::{Does, Message, binds, firmware},
    payloads::Group,
    report::{self, Event, Region},
    results::Row,
    shape::Floats,
    toolchain::{self, run, work},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The name of this target in results.
pub const TARGET: &str = "atmega328p";

/// Bytes of RAM, and the address where it begins.
const RAM: u64 = 2048;
const RAM_START: u64 = 0x80_0100;

/// Ten seconds at 16 MHz; no message takes as much as one.
const CYCLE_LIMIT: &str = "160000000";

/// The sets of options that are measured; the first is the reference.
pub const OPTIONS: [&str; 4] = ["-Os -flto", "-Os", "-O2 -flto", "-O2"];

/// The message whose flash is reported.
const FLASH_PAYLOAD: &str = "Test10";

/// Regions that avr.c measures to check the rig, and their cycles.
const LOOPS: [(usize, u64); 3] = [(0xff, 0), (0xfe, 300), (0xfd, 4001)];

/// The compiler and the simulator.
pub struct Avr {
    bin: PathBuf,
    simulator: PathBuf,
}

/// Static sizes of a firmware in bytes.
#[derive(Debug, Clone, Copy)]
struct Size {
    flash: u64,
    ram: u64,
}

/// What came of it.
#[derive(Default)]
pub struct Measured {
    /// The figures.
    pub rows: Vec<Row>,
    /// What went wrong: firmware that does not link, or computes something wrong.
    pub failures: Vec<Failure>,
}

/// Why there is no figure.
enum Missing {
    /// For this reason, which is a result.
    DoesNotFit(String),
    /// Something is wrong.
    Failed(Failure),
}

impl<E: Into<Failure>> From<E> for Missing {
    fn from(error: E) -> Self {
        Missing::Failed(error.into())
    }
}

impl Avr {
    /// Makes both ready.
    pub fn new() -> Result<Avr, Failure> {
        Ok(Avr { bin: toolchain::avr_gcc()?, simulator: toolchain::simavr()? })
    }

    fn tool(&self, name: &str) -> Command {
        Command::new(self.bin.join(name))
    }

    fn compiler(&self, options: &str, key_size: usize) -> Command {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut command = self.tool("avr-gcc");
        command
            .args(["-mmcu=atmega328p", "-std=gnu99", "-Wall", "-Wextra"])
            .args(options.split(' '))
            .args(["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"])
            .arg(format!("-DDN_KEY_SIZE={key_size}"))
            .arg("-I")
            .arg(here.join("firmware"))
            .arg("-I")
            .arg(here.join("firmware/dunnage"))
            .arg("-I")
            .arg(toolchain::root().join("c/src"));
        command
    }

    /// Compiles the library, gives its object files.
    fn library(&self, options: &str, key_size: usize) -> Result<Vec<PathBuf>, Failure> {
        let folder = folder(options)?.join(format!("dunnage-{key_size}"));
        fs::create_dir_all(&folder)?;
        let mut objects = Vec::new();
        let mut sources: Vec<_> = fs::read_dir(toolchain::root().join("c/src"))?
            .map(|e| Ok(e?.path()))
            .collect::<Result<_, Failure>>()?;
        sources.sort();
        for source in sources.iter().filter(|path| path.extension().is_some_and(|e| e == "c")) {
            let object = folder.join(source.file_name().unwrap_or_default()).with_extension("o");
            run(self.compiler(options, key_size).arg("-c").arg(source).arg("-o").arg(&object))?;
            objects.push(object);
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("firmware/avr.c");
        objects.push(folder.join("main.o"));
        run(self.compiler(options, key_size).arg("-c").arg(source).arg("-o").args(objects.last()))?;
        Ok(objects)
    }

    /// Compiles and links a firmware, gives its ELF file.
    fn build(
        &self,
        options: &str,
        name: &str,
        messages: &[Message],
        does: Does,
        objects: &[PathBuf],
    ) -> Result<PathBuf, Failure> {
        let elf = folder(options)?.join(format!("{name}.elf"));
        let source = elf.with_extension("c");
        fs::write(&source, firmware(messages, does)?)?;
        run(self.compiler(options, key_size(messages)).arg(&source).args(objects).arg("-o").arg(&elf))?;
        Ok(elf)
    }

    fn size(&self, elf: &Path) -> Result<Size, Failure> {
        let text = run(self.tool("avr-size").arg(elf))?;
        let numbers: Vec<u64> = text
            .lines()
            .nth(1)
            .map(|line| line.split_whitespace().take(3).filter_map(|word| word.parse().ok()).collect())
            .unwrap_or_default();
        let [text, data, bss] = numbers[..] else { return Err("avr-size printed something else".into()) };
        Ok(Size { flash: text + data, ram: data + bss })
    }

    /// Runs a firmware and gives its regions, without those that check the rig.
    fn simulate(&self, elf: &Path) -> Result<Vec<Region>, Missing> {
        let size = self.size(elf)?;
        if size.ram > RAM {
            return Err(Missing::DoesNotFit(format!(
                "needs {} bytes of RAM and the stack, has {RAM}",
                size.ram
            )));
        }
        let end = format!("{:x}", RAM_START + size.ram - 0x80_0000);
        let printed = run(Command::new(&self.simulator).arg(elf).args([TARGET, &end, CYCLE_LIMIT]));
        let printed = printed.map_err(|error| match error.to_string() {
            text if text.contains("the stack runs into") => Missing::DoesNotFit(format!(
                "needs {} bytes of RAM; the stack has no room in the rest of {RAM}",
                size.ram
            )),
            _ => Missing::Failed(error),
        })?;
        let mut regions = report::regions(&printed)?;
        for (region, (id, cycles)) in regions.iter().zip(LOOPS) {
            if (region.id, region.cycles) != (id, cycles) {
                let found = region.cycles;
                return Err(Missing::Failed(
                    format!("the rig is wrong: a loop of {cycles} cycles took {found}").into(),
                ));
            }
        }
        if regions.len() < LOOPS.len() {
            return Err(Missing::Failed("the rig did not check itself".into()));
        }
        regions.drain(..LOOPS.len());
        Ok(regions)
    }
}

fn folder(options: &str) -> Result<PathBuf, Failure> {
    let folder = work().join("avr").join(options.replace([' ', '-'], ""));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn key_size(messages: &[Message]) -> usize {
    messages.iter().map(Message::longest_key).max().unwrap_or(0).max(15) + 1
}

/// Measures our library with one set of options: every group, each operation in a firmware of its own; then the flash.
pub fn measure(avr: &Avr, groups: &[Group], options: &str) -> Result<Measured, Failure> {
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    let mut keep = |result: Result<Vec<Row>, Failure>, rows: &mut Vec<Row>| match result {
        Ok(more) => rows.extend(more),
        Err(failure) => failures.push(failure),
    };
    let mut libraries: Vec<(usize, Vec<PathBuf>)> = Vec::new();
    let mut jobs = Vec::new();
    for group in groups {
        let mut messages = Vec::new();
        for payload in &group.payloads {
            match Message::new(payload, Floats::Single) {
                Ok(message) => messages.push(message),
                Err(reason) => rows.push(does_not_fit(options, &payload.name, "encode", &reason.to_string())),
            }
        }
        let size = key_size(&messages);
        if !libraries.iter().any(|(other, _)| *other == size) {
            libraries.push((size, avr.library(options, size)?));
        }
        jobs.push((group, messages, size));
    }
    for (group, messages, size) in &jobs {
        let Some((_, objects)) = libraries.iter().find(|(other, _)| other == size) else { continue };
        for operation in ["encode", "decode", "bind"] {
            let measured = measure_operation(avr, options, &group.name, messages, operation, objects);
            let place = |error| format!("{}, {operation}, {options}: {error}", group.name).into();
            keep(measured.map_err(place), &mut rows);
        }
        if let Some(message) = messages.iter().find(|message| message.name == FLASH_PAYLOAD) {
            keep(measure_flash(avr, options, std::slice::from_ref(message), objects), &mut rows);
        }
    }
    Ok(Measured { rows, failures })
}

fn measure_operation(
    avr: &Avr,
    options: &str,
    group: &str,
    messages: &[Message],
    operation: &str,
    objects: &[PathBuf],
) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    let mut messages = messages.to_vec();
    if operation == "bind" {
        messages.retain(|message| {
            let can = binds(message);
            if !can {
                let reason = "is no map, and no array of one type";
                rows.push(does_not_fit(options, &message.name, operation, reason));
            }
            can
        });
    }
    if messages.is_empty() {
        return Ok(rows);
    }
    let does = Does {
        encode: operation == "encode",
        walk: operation == "decode",
        bind: operation == "bind",
        all_data: false,
    };
    let elf = match avr.build(options, &format!("{group}-{operation}"), &messages, does, objects) {
        Ok(elf) => elf,
        Err(error) if error.to_string().contains("a table at most") => {
            rows.extend(
                messages.iter().map(|m| does_not_fit(options, &m.name, operation, &error.to_string())),
            );
            return Ok(rows);
        }
        Err(error) => return Err(error),
    };
    let regions = match avr.simulate(&elf) {
        Ok(regions) => regions,
        Err(Missing::DoesNotFit(reason)) => {
            rows.extend(messages.iter().map(|m| does_not_fit(options, &m.name, operation, &reason)));
            return Ok(rows);
        }
        Err(Missing::Failed(error)) => return Err(error),
    };
    if regions.len() != messages.len() {
        return Err(format!("{} regions of {}", regions.len(), messages.len()).into());
    }
    for (region, message) in regions.iter().zip(&messages) {
        check(region, message, operation).map_err(|error| format!("{} {error}", message.name))?;
        rows.push(row(options, &message.name, operation, "cycles", region.cycles, "cycles"));
        rows.push(row(options, &message.name, operation, "stack", region.stack, "bytes"));
        if operation == "encode" {
            rows.push(row(options, &message.name, operation, "bytes", message.bytes.len() as u64, "bytes"));
        }
    }
    Ok(rows)
}

/// A firmware that computes something wrong has no figures.
fn check(region: &Region, message: &Message, operation: &str) -> Result<(), Failure> {
    use dunnage_pson::Value;
    let ok = Event::Value(Value::Bool(true));
    match operation {
        "encode" => report::compare(
            "encodes wrongly",
            &region.after,
            &[Event::Value(Value::Bytes(message.bytes.clone()))],
        ),
        "decode" => {
            report::compare("reads wrongly", &region.inside, &report::walked(message))?;
            report::compare("has an error", &region.after, &[ok])
        }
        _ => {
            let mut expected = vec![ok];
            expected.extend(report::bound_members(message));
            report::compare("binds wrongly", &region.after, &expected)
        }
    }
}

/// Flash and RAM of the code for one message, over a firmware with the same data that does nothing with it.
fn measure_flash(
    avr: &Avr,
    options: &str,
    messages: &[Message],
    objects: &[PathBuf],
) -> Result<Vec<Row>, Failure> {
    let size = |name: &str, encode, walk, bind| {
        let does = Does { encode, walk, bind, all_data: true };
        avr.size(&avr.build(options, &format!("flash-{name}"), messages, does, objects)?)
    };
    let empty = size("empty", false, false, false)?;
    let mut rows = Vec::new();
    for (operation, encode, walk, bind) in [
        ("encode", true, false, false),
        ("decode", false, true, false),
        ("encode+decode", true, true, false),
        ("bind", false, false, true),
        ("encode+bind", true, false, true),
    ] {
        let full = size(operation, encode, walk, bind)?;
        rows.push(row(options, FLASH_PAYLOAD, operation, "flash", full.flash - empty.flash, "bytes"));
        rows.push(row(options, FLASH_PAYLOAD, operation, "ram", full.ram - empty.ram, "bytes"));
    }
    Ok(rows)
}

fn row(options: &str, payload: &str, operation: &str, metric: &str, value: u64, unit: &str) -> Row {
    Row {
        suite: "mcu".into(),
        target: TARGET.into(),
        payload: payload.into(),
        format: "pson".into(),
        library: "dunnage".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        operation: operation.into(),
        metric: metric.into(),
        value: value as f64,
        unit: unit.into(),
        source: "measured".into(),
        options: options.into(),
        note: None,
    }
}

fn does_not_fit(options: &str, payload: &str, operation: &str, reason: &str) -> Row {
    Row { note: Some(reason.into()), ..row(options, payload, operation, "fits", 0, "") }
}
