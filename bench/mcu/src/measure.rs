//! Measures a library on a board.

use crate::{
    Failure,
    board::{Board, Missing, Simulator, Size},
    generate::firmware,
    json,
    library::{Actions, Library, Style},
    message::{Message, binds},
    nanopb,
    payloads::{Group, PAPER_GROUP},
    report::{self, Event, Region},
    results::{Origin, Record},
    shape::Floats,
    toolchain::{firmware_folder, run, work},
};
use dunnage_pson::Value;
use rayon::prelude::*;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The message whose flash is reported.
const FLASH_PAYLOAD: &str = "Test10";

/// The results of a measurement.
#[derive(Default)]
pub struct Measured {
    /// The figures.
    pub rows: Vec<Record>,
    /// The failures: firmware that does not link, or computes wrong values.
    pub failures: Vec<Failure>,
}

/// A library on a board, with one set of compiler options.
struct Job<'a> {
    board: &'a dyn Board,
    library: &'a Library,
    options: &'a str,
    origin: Origin,
}

impl Job<'_> {
    fn folder(&self) -> Result<PathBuf, Failure> {
        let floats = match self.board.floats() {
            Floats::Single => "binary32",
            Floats::Lossless => "binary64",
        };
        let options = self.options.replace([' ', '-'], "");
        let folder = work().join(self.board.target()).join(floats).join(options).join(&self.library.name);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    fn compiler(&self) -> Command {
        let mut command = self.board.compiler();
        command
            .args(["-std=gnu99", "-Wall", "-Wextra"])
            .args(self.options.split(' '))
            .args(["-ffunction-sections", "-fdata-sections"])
            .arg("-I")
            .arg(firmware_folder());
        for folder in &self.library.include {
            command.arg("-I").arg(folder);
        }
        for define in &self.library.defines {
            command.arg(format!("-D{define}"));
        }
        command
    }

    /// Compiles the library and the sources that start the firmware. Returns the object files.
    fn library(&self) -> Result<Vec<PathBuf>, Failure> {
        let folder = self.folder()?.join("objects");
        fs::create_dir_all(&folder)?;
        let mut sources = self.library.sources.clone();
        sources.extend(self.board.start_files().iter().map(|name| firmware_folder().join(name)));
        sources
            .par_iter()
            .map(|source| {
                let object = folder.join(source.file_name().unwrap_or_default()).with_extension("o");
                run(self.compiler().arg("-c").arg(source).arg("-o").arg(&object))?;
                Ok(object)
            })
            .collect()
    }

    /// Compiles and links a firmware. Returns the ELF file.
    fn build(
        &self,
        name: &str,
        messages: &[Message],
        actions: Actions,
        objects: &[PathBuf],
    ) -> Result<PathBuf, Failure> {
        let folder = self.folder()?.join(name);
        fs::create_dir_all(&folder)?;
        let source = folder.join("firmware.c");
        fs::write(&source, firmware(messages, actions, self.library.style)?)?;
        let mut compiler = self.compiler();
        if self.library.style == Style::Nanopb {
            compiler.arg("-I").arg(&folder).arg(nanopb::tables(messages, &folder)?);
        }
        let c_library = self.board.c_library();
        compiler.args(self.library.link.get(c_library).into_iter().flatten());
        if actions.any() {
            compiler.args(self.library.conversions.get(c_library).into_iter().flatten());
        }
        let elf = folder.with_extension("elf");
        run(compiler
            .arg(&source)
            .args(objects)
            .arg("-Wl,--gc-sections")
            .args(self.board.link_arguments())
            .arg("-o")
            .arg(&elf))?;
        Ok(elf)
    }

    /// Runs a firmware, and returns its regions without those that check the rig. Fails if the check fails.
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
            return Err(Missing::Failed("the rig did not finish its self-check".into()));
        }
        regions.drain(..loops.len());
        Ok(regions)
    }

    fn group(&self, group: &Group, objects: &[PathBuf]) -> Measured {
        let mut measured = Measured::default();
        let mut messages = Vec::new();
        for payload in &group.payloads {
            match Message::new(payload, self.board.floats()) {
                Ok(message) => messages.push(message),
                Err(reason) => {
                    measured.rows.push(self.does_not_fit(&payload.name, "encode", &reason.to_string()));
                }
            }
        }
        if self.library.style == Style::Heap {
            json::prepare(&mut messages, self.library);
        } else if self.library.style != Style::Dunnage {
            // The size of a peer's encoding is not known yet, and the peer decodes its own encoding.
            for message in &mut messages {
                message.room += message.room / 4 + 16;
                message.bytes.clear();
            }
        }
        let mut collect_rows = |what: &str, result: Result<Vec<Record>, Failure>| match result {
            Ok(rows) => measured.rows.extend(rows),
            Err(error) => {
                let (library, target) = (&self.library.name, self.board.target());
                let place = format!("{library} on {target}, {}, {what}, {}", group.name, self.options);
                measured.failures.push(format!("{place}: {error}").into());
            }
        };
        if let Some(simulator) = self.board.simulator() {
            // JSON is compared only for the paper's messages.
            let json = |operation: &str| ["print", "parse"].contains(&operation);
            for operation in &self.library.operations {
                if json(operation) && group.name != PAPER_GROUP {
                    continue;
                }
                collect_rows(
                    operation,
                    self.operation(simulator, &group.name, &mut messages, operation, objects),
                );
            }
        }
        if let Some(message) = messages.iter().find(|message| message.name == FLASH_PAYLOAD) {
            collect_rows("flash", self.flash(std::slice::from_ref(message), objects));
        }
        measured
    }

    /// Measures one operation of all messages. Stores a peer's encoding in the messages, to be decoded later.
    fn operation(
        &self,
        simulator: &dyn Simulator,
        group: &str,
        messages: &mut [Message],
        operation: &str,
        objects: &[PathBuf],
    ) -> Result<Vec<Record>, Failure> {
        let mut rows = Vec::new();
        let mut supported = Vec::new();
        for message in messages {
            match self.obstacle(message, operation) {
                Some(reason) => rows.push(self.does_not_fit(&message.name, operation, reason)),
                None => supported.push(message),
            }
        }
        if supported.is_empty() {
            return Ok(rows);
        }
        let copies: Vec<Message> = supported.iter().map(|message| (*message).clone()).collect();
        let none_fit = |reason: &str| {
            copies.iter().map(|m| self.does_not_fit(&m.name, operation, reason)).collect::<Vec<_>>()
        };
        let elf = match self.build(
            &format!("{group}-{operation}"),
            &copies,
            self.library.actions(operation),
            objects,
        ) {
            Ok(elf) => elf,
            Err(error) if error.to_string().contains("a table at most") => {
                rows.extend(none_fit(&error.to_string()));
                return Ok(rows);
            }
            Err(error) => return Err(error),
        };
        let regions = match self.simulate(simulator, &elf) {
            Ok(regions) => regions,
            Err(Missing::DoesNotFit(reason)) => {
                rows.extend(none_fit(&reason));
                return Ok(rows);
            }
            Err(Missing::Failed(error)) => return Err(error),
        };
        if regions.len() != supported.len() {
            return Err(format!("{} regions of {}", regions.len(), supported.len()).into());
        }
        for (region, message) in regions.iter().zip(supported) {
            self.check(region, message, operation).map_err(|error| format!("{}: {error}", message.name))?;
            rows.extend(self.rows_of(region, message, operation, simulator.counts()));
        }
        Ok(rows)
    }

    /// Returns what was measured of one operation of `message`; `counts` is the unit of its time.
    fn rows_of(
        &self,
        region: &Region,
        message: &Message,
        operation: &str,
        counts: &'static str,
    ) -> Vec<Record> {
        let mut rows = Vec::new();
        let mut add = |metric: &str, value, unit| {
            rows.push(self.row(&message.name, operation, metric, value, unit));
        };
        add(counts, region.count, counts);
        add("stack", region.stack, "bytes");
        if let (Style::Heap, Some(heap)) = (self.library.style, json::heap(region)) {
            add("heap", heap, "bytes");
        }
        if operation == "encode" {
            add("bytes", message.bytes.len() as u64, "bytes");
        }
        rows
    }

    /// The reason, apart from memory, that the library cannot do this operation with the message.
    fn obstacle(&self, message: &Message, operation: &str) -> Option<&'static str> {
        match self.library.style {
            Style::Dunnage if operation == "bind" && !binds(message) => {
                Some("has nothing to bind: is neither a map with values nor an array of one type")
            }
            Style::Nanopb => nanopb::obstacle(message),
            Style::Heap => json::obstacle(self.library, self.board, message),
            _ => None,
        }
        .or_else(|| {
            let absent = operation != "encode" && message.bytes.is_empty();
            absent.then_some("could not be encoded here")
        })
    }

    /// Compares the reported values with the expected ones, because firmware with wrong results has no figures. Stores a peer's encoding in
    /// `message`.
    fn check(&self, region: &Region, message: &mut Message, operation: &str) -> Result<(), Failure> {
        let ok = Event::Value(Value::Bool(true));
        match (operation, self.library.style) {
            ("encode", Style::Dunnage) => {
                let expected = Event::Value(Value::Bytes(message.bytes.clone()));
                report::compare("wrong encoding", &region.after, &[expected])
            }
            ("print", _) => {
                let expected = Event::Value(Value::Bytes(message.printed.clone().into_bytes()));
                report::compare("wrong JSON text", &region.after, &[expected])
            }
            ("parse", _) => {
                let expected = Event::Value(Value::Bytes(message.parsed.clone()));
                report::compare("wrong parsed message", &region.after, &[expected])
            }
            ("encode", Style::Heap) => {
                json::check_encoding(region, message, self.library, self.board.floats())
            }
            ("decode", Style::Heap) => {
                let items = json::nearest(&region.inside, &report::walked(message), self.board);
                report::compare("wrong items", &items, &report::walked(message))?;
                report::compare("the reader failed", &region.after[..1], &[ok])
            }
            // The decoding firmware checks whether this encoding is right.
            ("encode", _) => match &region.after[..] {
                [Event::Value(Value::Bytes(bytes))] if !bytes.is_empty() => {
                    message.bytes.clone_from(bytes);
                    Ok(())
                }
                _ => Err("not encoded".into()),
            },
            ("decode", Style::Nanopb) => {
                let mut expected = vec![ok];
                expected.extend(report::walked(message).into_iter().filter(Event::is_in_struct));
                report::compare("wrong decoding", &region.after, &expected)
            }
            ("decode", _) => {
                report::compare("wrong items", &region.inside, &report::walked(message))?;
                report::compare("the reader failed", &region.after, &[ok])
            }
            _ => {
                let mut expected = vec![ok];
                expected.extend(report::bound_members(message));
                report::compare("wrong members", &region.after, &expected)
            }
        }
    }

    /// Flash and RAM of the code for one message: the increase over a firmware with the same data that does nothing with it.
    fn flash(&self, messages: &[Message], objects: &[PathBuf]) -> Result<Vec<Record>, Failure> {
        let size = |operation: &str| {
            let actions = Actions { all_data: true, ..self.library.actions(operation) };
            Size::of(self.board, &self.build(&format!("flash-{operation}"), messages, actions, objects)?)
        };
        let empty = size("nothing")?;
        let mut rows = Vec::new();
        let library = self.library;
        let mut operations: Vec<_> = library.operations.iter().map(String::as_str).collect();
        for (both, second) in [("encode+decode", "decode"), ("encode+bind", "bind")] {
            if library.has("encode") && library.has(second) {
                operations.push(both);
            }
        }
        for operation in operations {
            let added = size(operation)?.over(empty);
            rows.push(self.row(FLASH_PAYLOAD, operation, "flash", added.flash, "bytes"));
            rows.push(self.row(FLASH_PAYLOAD, operation, "ram", added.ram, "bytes"));
        }
        Ok(rows)
    }

    fn row(&self, payload: &str, operation: &str, metric: &str, value: u64, unit: &str) -> Record {
        let fills = operation == "decode" && self.library.style == Style::Nanopb;
        let Library { format, name, version, .. } = self.library;
        let subject = [payload, format, name];
        let mut row = self
            .origin
            .record("mcu", subject, operation, (metric, value as f64, unit))
            .version(version.as_str());
        row.note = fills.then(|| "fills a struct".into());
        row
    }

    fn does_not_fit(&self, payload: &str, operation: &str, reason: &str) -> Record {
        Record { note: Some(reason.into()), ..self.row(payload, operation, "fits", 0, "1") }
    }
}

/// Measures a library with one set of options: every group with a firmware for each operation, then the flash.
pub fn measure(
    board: &dyn Board,
    library: &Library,
    groups: &[Group],
    options: &str,
) -> Result<Measured, Failure> {
    let job = Job { board, library, options, origin: Origin::new(board, options)? };
    let objects = job.library()?;
    let parts: Vec<Measured> = groups.par_iter().map(|group| job.group(group, &objects)).collect();
    let mut all = Measured::default();
    for part in parts {
        all.rows.extend(part.rows);
        all.failures.extend(part.failures);
    }
    Ok(all)
}
