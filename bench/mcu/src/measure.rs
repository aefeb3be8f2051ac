//! Measures our library on a board.

use crate::{
    Failure,
    board::{Board, Missing, Simulator, Size},
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
};

/// The message whose flash is reported.
const FLASH_PAYLOAD: &str = "Test10";

/// What came of it.
#[derive(Default)]
pub struct Measured {
    /// The figures.
    pub rows: Vec<Row>,
    /// What went wrong: firmware that does not link, or computes something wrong.
    pub failures: Vec<Failure>,
}

/// A board with one set of compiler options.
struct Job<'a> {
    board: &'a dyn Board,
    options: &'a str,
}

impl Job<'_> {
    fn folder(&self) -> Result<PathBuf, Failure> {
        let floats = match self.board.floats() {
            Floats::Single => "binary32",
            Floats::Lossless => "binary64",
        };
        let folder = work().join(self.board.target()).join(floats).join(self.options.replace([' ', '-'], ""));
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    fn compiler(&self, key_size: usize) -> std::process::Command {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut command = self.board.compiler();
        command
            .args(["-std=gnu99", "-Wall", "-Wextra"])
            .args(self.options.split(' '))
            .args(["-ffunction-sections", "-fdata-sections"])
            .arg(format!("-DDN_KEY_SIZE={key_size}"))
            .arg("-I")
            .arg(here.join("firmware"))
            .arg("-I")
            .arg(here.join("firmware/dunnage"))
            .arg("-I")
            .arg(toolchain::root().join("c/src"));
        command
    }

    /// Compiles the library and what starts the firmware, gives the object files.
    fn library(&self, key_size: usize) -> Result<Vec<PathBuf>, Failure> {
        let folder = self.folder()?.join(format!("dunnage-{key_size}"));
        fs::create_dir_all(&folder)?;
        let mut sources: Vec<_> = fs::read_dir(toolchain::root().join("c/src"))?
            .map(|e| Ok(e?.path()))
            .collect::<Result<_, Failure>>()?;
        sources.retain(|path| path.extension().is_some_and(|e| e == "c"));
        sources.sort();
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("firmware");
        sources.extend(self.board.start_files().iter().map(|name| here.join(name)));
        let mut objects = Vec::new();
        for source in sources {
            let object = folder.join(source.file_name().unwrap_or_default()).with_extension("o");
            run(self.compiler(key_size).arg("-c").arg(source).arg("-o").arg(&object))?;
            objects.push(object);
        }
        Ok(objects)
    }

    /// Compiles and links a firmware, gives its ELF file.
    fn build(
        &self,
        name: &str,
        messages: &[Message],
        does: Does,
        objects: &[PathBuf],
    ) -> Result<PathBuf, Failure> {
        let elf = self.folder()?.join(format!("{name}.elf"));
        let source = elf.with_extension("c");
        fs::write(&source, firmware(messages, does)?)?;
        run(self
            .compiler(key_size(messages))
            .arg(&source)
            .args(objects)
            .arg("-Wl,--gc-sections")
            .args(self.board.link_arguments())
            .arg("-o")
            .arg(&elf))?;
        Ok(elf)
    }

    /// Runs a firmware and gives its regions, without those that check the rig.
    fn simulate(&self, simulator: &dyn Simulator, elf: &Path) -> Result<Vec<Region>, Missing> {
        let mut regions = report::regions(&simulator.run(elf, Size::of(self.board, elf)?)?)?;
        let loops = simulator.loops();
        for (region, (id, count)) in regions.iter().zip(loops) {
            if (region.id, region.count) != (id, count) {
                let (found, unit) = (region.count, simulator.counts());
                return Err(format!("the rig is wrong: a loop of {count} {unit} took {found}").into());
            }
        }
        if regions.len() < loops.len() {
            return Err(Missing::Failed("the rig did not check itself".into()));
        }
        regions.drain(..loops.len());
        Ok(regions)
    }

    fn operation(
        &self,
        simulator: &dyn Simulator,
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
                    rows.push(self.does_not_fit(&message.name, operation, reason));
                }
                can
            });
        }
        if messages.is_empty() {
            return Ok(rows);
        }
        let none_fits = |reason: &str| {
            messages.iter().map(|m| self.does_not_fit(&m.name, operation, reason)).collect::<Vec<_>>()
        };
        let does = Does {
            encode: operation == "encode",
            walk: operation == "decode",
            bind: operation == "bind",
            all_data: false,
        };
        let elf = match self.build(&format!("{group}-{operation}"), &messages, does, objects) {
            Ok(elf) => elf,
            Err(error) if error.to_string().contains("a table at most") => {
                rows.extend(none_fits(&error.to_string()));
                return Ok(rows);
            }
            Err(error) => return Err(error),
        };
        let regions = match self.simulate(simulator, &elf) {
            Ok(regions) => regions,
            Err(Missing::DoesNotFit(reason)) => {
                rows.extend(none_fits(&reason));
                return Ok(rows);
            }
            Err(Missing::Failed(error)) => return Err(error),
        };
        if regions.len() != messages.len() {
            return Err(format!("{} regions of {}", regions.len(), messages.len()).into());
        }
        let counts = simulator.counts();
        for (region, message) in regions.iter().zip(&messages) {
            check(region, message, operation).map_err(|error| format!("{} {error}", message.name))?;
            rows.push(self.row(&message.name, operation, counts, region.count, counts));
            rows.push(self.row(&message.name, operation, "stack", region.stack, "bytes"));
            if operation == "encode" {
                rows.push(self.row(&message.name, operation, "bytes", message.bytes.len() as u64, "bytes"));
            }
        }
        Ok(rows)
    }

    /// Flash and RAM of the code for one message, over a firmware with the same data that does nothing with it.
    fn flash(&self, messages: &[Message], objects: &[PathBuf]) -> Result<Vec<Row>, Failure> {
        let size = |name: &str, encode, walk, bind| {
            let does = Does { encode, walk, bind, all_data: true };
            Size::of(self.board, &self.build(&format!("flash-{name}"), messages, does, objects)?)
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
            rows.push(self.row(FLASH_PAYLOAD, operation, "flash", full.flash - empty.flash, "bytes"));
            rows.push(self.row(FLASH_PAYLOAD, operation, "ram", full.ram - empty.ram, "bytes"));
        }
        Ok(rows)
    }

    fn row(&self, payload: &str, operation: &str, metric: &str, value: u64, unit: &str) -> Row {
        Row {
            suite: "mcu".into(),
            target: self.board.target().into(),
            payload: payload.into(),
            format: "pson".into(),
            library: "dunnage".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            operation: operation.into(),
            metric: metric.into(),
            value: value as f64,
            unit: unit.into(),
            source: "measured".into(),
            options: self.options.into(),
            floats: self.board.floats(),
            note: None,
        }
    }

    fn does_not_fit(&self, payload: &str, operation: &str, reason: &str) -> Row {
        Row { note: Some(reason.into()), ..self.row(payload, operation, "fits", 0, "") }
    }
}

/// Bytes that tables need for a key and its NUL.
fn key_size(messages: &[Message]) -> usize {
    messages.iter().map(Message::longest_key).max().unwrap_or(0).max(15) + 1
}

/// Measures our library with one set of options: every group, each operation in a firmware of its own; then the flash.
pub fn measure(board: &dyn Board, groups: &[Group], options: &str) -> Result<Measured, Failure> {
    let job = Job { board, options };
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    let mut keep = |result: Result<Vec<Row>, Failure>, rows: &mut Vec<Row>| match result {
        Ok(more) => rows.extend(more),
        Err(failure) => failures.push(failure),
    };
    let mut libraries: Vec<(usize, Vec<PathBuf>)> = Vec::new();
    let mut messages_of = Vec::new();
    for group in groups {
        let mut messages = Vec::new();
        for payload in &group.payloads {
            match Message::new(payload, board.floats()) {
                Ok(message) => messages.push(message),
                Err(reason) => rows.push(job.does_not_fit(&payload.name, "encode", &reason.to_string())),
            }
        }
        let size = key_size(&messages);
        if !libraries.iter().any(|(other, _)| *other == size) {
            libraries.push((size, job.library(size)?));
        }
        messages_of.push((group, messages, size));
    }
    for (group, messages, size) in &messages_of {
        let Some((_, objects)) = libraries.iter().find(|(other, _)| other == size) else { continue };
        let place = |what: &str, error| {
            format!("{}: {}, {what}, {options}: {error}", board.target(), group.name).into()
        };
        if let Some(simulator) = board.simulator() {
            for operation in ["encode", "decode", "bind"] {
                let measured = job.operation(simulator, &group.name, messages, operation, objects);
                keep(measured.map_err(|error| place(operation, error)), &mut rows);
            }
        }
        if let Some(message) = messages.iter().find(|message| message.name == FLASH_PAYLOAD) {
            let measured = job.flash(std::slice::from_ref(message), objects);
            keep(measured.map_err(|error| place("flash", error)), &mut rows);
        }
    }
    Ok(Measured { rows, failures })
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
