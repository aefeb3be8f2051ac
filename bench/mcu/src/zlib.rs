//! Struct+Zlib on 32-bit microcontrollers: flash, RAM and instructions to compress a struct, with miniz and with zlib.

use crate::{
    Failure,
    board::{Board, Missing, Size},
    registry,
    report::{self, Event},
    results::{Origin, Record},
    toolchain::{firmware_folder, run, work},
};
use dunnage_formats::{Format, Mapping, Struct};
use dunnage_pson::Value;
use dunnage_schema::{Model, bundled};
use rayon::prelude::*;
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// The name of the suite.
pub const SUITE: &str = "mcu-zlib";
const OPTIONS: &str = "-Os -flto";
/// For all contenders: zlib without the C library's heap but with its memcpy, miniz without what a microcontroller lacks.
const FLAGS: [&str; 12] = [
    "-ffunction-sections",
    "-fdata-sections",
    "-Wl,--gc-sections",
    "-DNDEBUG",
    "-DZ_SOLO",
    "-DHAVE_MEMCPY",
    "-include",
    "string.h",
    "-DMINIZ_NO_STDIO",
    "-DMINIZ_NO_ARCHIVE_APIS",
    "-DMINIZ_NO_TIME",
    "-DMINIZ_NO_MALLOC",
];
/// The targets: the cores of the ESP32-C3 and of the ESP8266.
const TARGETS: [&str; 2] = ["rv32imc", "lx106"];
/// The bundled schema whose first example is compressed.
const SCHEMA: &str = "container";

/// A compressor: its name with its settings, zlib's windowBits and memLevel, and its sources.
struct Contender {
    name: &'static str,
    version: &'static str,
    bits: u8,
    level: u8,
    folder: &'static str,
    sources: &'static [&'static str],
}

const ZLIB: &str = "libz-sys/src/zlib";
const ZLIB_FILES: [&str; 7] =
    ["adler32.c", "crc32.c", "deflate.c", "inffast.c", "inflate.c", "inftrees.c", "trees.c"];

const CONTENDERS: [Contender; 3] = [
    Contender {
        name: "miniz",
        version: "10.0.2",
        bits: 15,
        level: 9,
        folder: "miniz-sys",
        sources: &["miniz.c"],
    },
    Contender { name: "zlib", version: "1.3.2", bits: 15, level: 8, folder: ZLIB, sources: &ZLIB_FILES },
    Contender {
        name: "zlib, least memory",
        version: "1.3.2",
        bits: 9,
        level: 1,
        folder: ZLIB,
        sources: &ZLIB_FILES,
    },
];

/// Measures every compressor on those of `boards` that this suite has.
pub fn measure(boards: &[Box<dyn Board>]) -> Result<Vec<Record>, Failure> {
    let message = message()?;
    let sources = registry::cargo(&firmware_folder().join("zlib/deflate"))?;
    let mut jobs = Vec::new();
    for board in boards.iter().filter(|board| TARGETS.contains(&board.target())) {
        jobs.extend(CONTENDERS.iter().map(|contender| (board, contender)));
    }
    let rows = jobs.par_iter().map(|(board, contender)| {
        let place = format!("{} on {}", contender.name, board.target());
        contender.measure(&***board, &message, &sources).map_err(|error| format!("{place}: {error}").into())
    });
    Ok(rows.collect::<Result<Vec<_>, Failure>>()?.concat())
}

/// The struct of the container, with fractions as binary32.
fn message() -> Result<Vec<u8>, Failure> {
    let (_, text) = bundled().iter().find(|(name, _)| *name == SCHEMA).ok_or("no bundled container")?;
    let schema: serde_json::Value = serde_json::from_str(text)?;
    let example = schema.pointer("/examples/0").ok_or("a bundled schema without an example")?;
    let value: Value = serde_json::from_value(example.clone())?;
    let mut bytes = Vec::new();
    Struct::new(&Model::compile(text)?, Mapping::Float32).encode(&value, &mut bytes)?;
    Ok(bytes)
}

impl Contender {
    fn measure(&self, board: &dyn Board, message: &[u8], sources: &Path) -> Result<Vec<Record>, Failure> {
        let folder = work().join("zlib").join(board.target()).join(self.name.replace([' ', ','], "_"));
        fs::create_dir_all(&folder)?;
        self.write_message(message, &folder)?;
        let origin = Origin::new(board, OPTIONS)?;
        let row = |operation: &str, metric: &str, value: u64, unit: &str| {
            let figure = (metric, value as f64, unit);
            origin.record(SUITE, [SCHEMA, "struct-zlib", self.name], operation, figure).version(self.version)
        };
        let source = sources.join(self.folder);
        let empty = Size::of(board, &self.build(board, "nothing", &folder, &source)?)?;
        let mut rows = Vec::new();
        for operation in ["compress", "decompress"] {
            let flash = Size::of(board, &self.build(board, operation, &folder, &source)?)?.over(empty).flash;
            rows.push(row(operation, "flash", flash, "bytes"));
        }
        let simulator = board.simulator().ok_or("no simulator")?;
        let elf = self.build(board, "both", &folder, &source)?;
        let printed = simulator.run(&elf, Size::of(board, &elf)?).map_err(Missing::into_failure)?;
        let regions = report::regions(&printed)?;
        let [compress, decompress] = &regions[simulator.loops().len()..] else {
            return Err("not two regions".into());
        };
        let [Event::Value(Value::Bytes(compressed)), Event::Value(heap)] = &compress.after[..] else {
            return Err("nothing was compressed".into());
        };
        rows.push(row("compress", "bytes", compressed.len() as u64, "bytes"));
        let [Event::Value(Value::Bytes(restored)), Event::Value(heap_after)] = &decompress.after[..] else {
            return Err("nothing was decompressed".into());
        };
        if restored != message {
            return Err("the message is not restored".into());
        }
        for (operation, region, heap) in
            [("compress", compress, heap), ("decompress", decompress, heap_after)]
        {
            let heap = heap.as_integer().and_then(|heap| u64::try_from(heap).ok()).ok_or("no heap")?;
            rows.push(row(operation, "heap", heap, "bytes"));
            rows.push(row(operation, "stack", region.stack, "bytes"));
            rows.push(row(operation, simulator.counts(), region.count, simulator.counts()));
        }
        Ok(rows)
    }

    fn write_message(&self, message: &[u8], folder: &Path) -> Result<(), Failure> {
        let mut text = format!("#define BITS {}\n#define LEVEL {}\n", self.bits, self.level);
        let allocated = if self.name == "miniz" { "size_t" } else { "unsigned" };
        let _ = writeln!(text, "#define ALLOCATED {allocated}");
        let bytes: Vec<_> = message.iter().map(u8::to_string).collect();
        let _ = writeln!(text, "static uint8_t message[] = {{{}}};", bytes.join(","));
        fs::write(folder.join("zlib_message.h"), text)?;
        Ok(())
    }

    fn build(&self, board: &dyn Board, part: &str, folder: &Path, source: &Path) -> Result<PathBuf, Failure> {
        let own = firmware_folder().join("zlib");
        let elf = folder.join(part).with_extension("elf");
        let mut compiler = board.compiler();
        compiler.args(["-std=gnu11", "-w"]).args(OPTIONS.split(' '));
        compiler.args(FLAGS);
        if self.name == "miniz" {
            compiler.arg("-DMINIZ");
        }
        compiler.args(["compress", "both"].contains(&part).then_some("-DCOMPRESSES"));
        compiler.args(["decompress", "both"].contains(&part).then_some("-DRESTORES"));
        for include in [folder, source, &firmware_folder()] {
            compiler.arg("-I").arg(include);
        }
        run(compiler
            .arg(own.join("zlib.c"))
            .args(self.sources.iter().map(|name| source.join(name)))
            .args(board.start_files().iter().map(|name| firmware_folder().join(name)))
            .args(board.link_arguments())
            .arg("-o")
            .arg(&elf))?;
        Ok(elf)
    }
}

/// Prints the figures.
pub fn print(rows: &[Record]) -> Result<(), Failure> {
    let raw = message()?.len();
    println!("\nStruct+Zlib of the {SCHEMA}, whose struct has {raw} bytes, {OPTIONS}: RAM is heap and stack");
    println!(
        "{:<36}{:<12}{:>7}{:>8}{:>9}{:>8}{:>14}",
        "", "", "bytes", "flash", "heap", "stack", "instructions"
    );
    for row in rows.iter().filter(|row| row.metric == "flash") {
        let figure = |metric: &str| {
            let same = |other: &&Record| {
                (&other.target, &other.library, &other.operation)
                    == (&row.target, &row.library, &row.operation)
                    && other.metric == metric
            };
            rows.iter().find(same).map_or("-".into(), |found| format!("{}", found.value))
        };
        let place = format!("{} {} {}", row.target, row.library, row.version.as_deref().unwrap_or_default());
        let [bytes, flash, heap, stack, count] =
            ["bytes", "flash", "heap", "stack", "instructions"].map(figure);
        println!("{place:<36}{:<12}{bytes:>7}{flash:>8}{heap:>9}{stack:>8}{count:>14}", row.operation);
    }
    Ok(())
}
