//! Runs a firmware in QEMU and returns its report.
//!
//! The firmware (`firmware/measure_memory.h`) writes to addresses of a device and reads a timer, or writes what its own counter has; QEMU logs
//! each access with its value.
//! Every instruction takes 1024 ns of QEMU's time, so two readings of the timer give the number of instructions between them.

use crate::{
    Failure,
    toolchain::{run, work},
};
use std::{
    collections::HashMap,
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The binary logarithm of an instruction's duration in nanoseconds.
const ICOUNT_SHIFT: u32 = 10;
/// Timeout for a firmware, which normally takes less than one second.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The loops of `firmware/qemu.c`, and the instructions that they take.
pub const LOOPS: [(usize, u64); 3] = [(0xff, 0), (0xfe, 201), (0xfd, 1004)];

/// The linker's arguments with addresses and sizes, in bytes, of a machine's memory. `firmware/qemu.ld` contains the sections.
pub fn link_arguments(flash: u64, flash_size: u64, ram: u64, ram_size: u64) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("firmware/qemu.ld");
    let symbols = [("FLASH_AT", flash), ("FLASH_SIZE", flash_size), ("RAM_AT", ram), ("RAM_SIZE", ram_size)];
    let symbols = symbols.iter().map(|(name, value)| format!("-Wl,--defsym={name}=0x{value:x}"));
    ["-nostartfiles".into(), format!("-T{}", script.display())].into_iter().chain(symbols).collect()
}

/// A machine of QEMU with firmware that reports.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// The emulator.
    pub program: &'static str,
    /// Its arguments: the machine's name, and further options.
    pub arguments: &'static [&'static str],
    /// An ELF file in `target/mcu` that is loaded beside the firmware.
    pub rom: Option<&'static str>,
    /// The address that the firmware reports to: `REPORT_TO` in measure_memory.h.
    pub report: u64,
    /// The address of the timer in the log, or the one to which the firmware writes the value of its core's counter.
    pub timer: u64,
    /// The frequency of the timer in Hz.
    pub frequency: f64,
    /// Whether the timer counts down, in 24 bits.
    pub counts_down: bool,
    /// The number of instructions of a read of the timer: `TIMER_READ` in measure_memory.h.
    pub timer_read: u32,
}

impl Machine {
    /// The emulator's name and version.
    pub fn name(&self) -> Result<String, Failure> {
        let text = run(Command::new(self.program).arg("--version"))?;
        let version =
            text.split_whitespace().nth(3).ok_or_else(|| format!("{}: no version", self.program))?;
        Ok(format!("QEMU {version}"))
    }

    /// Runs the firmware `elf`, and returns its report in the format of `simavr/run.c`.
    pub fn run(&self, elf: &Path) -> Result<String, Failure> {
        // Firmware of several targets runs at the same time, so the name contains the target.
        let log = work().join(format!("qemu-{}.log", elf_name(elf)?));
        let result = self.start(elf, &log).and_then(|()| {
            let text = fs::read_to_string(&log)?;
            self.report(&text)
        });
        fs::remove_file(&log)?;
        result.map_err(|error| format!("{}: {error}", elf.display()).into())
    }

    fn start(&self, elf: &Path, log: &Path) -> Result<(), Failure> {
        let mut command = Command::new(self.program);
        if let Some(rom) = self.rom {
            command.arg("-device").arg(format!("loader,file={}", work().join(rom).display()));
        }
        let mut child = command
            .args(self.arguments)
            .args(["-nographic", "-serial", "none", "-monitor", "none"])
            .arg("-icount")
            .arg(format!("shift={ICOUNT_SHIFT}"))
            .args(["-trace", "memory_region_ops_write", "-trace", "memory_region_ops_read"])
            .arg("-D")
            .arg(log)
            .arg("-kernel")
            .arg(elf)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", self.program))?;
        let started = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return if status.success() {
                    Ok(())
                } else {
                    Err(format!("{}: {status}", self.program).into())
                };
            }
            if started.elapsed() > TIME_LIMIT {
                child.kill()?;
                child.wait()?;
                return Err(format!("timed out after {} s", TIME_LIMIT.as_secs()).into());
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Converts QEMU's log to the report. Fails if the firmware did not reach its end.
    fn report(&self, log: &str) -> Result<String, Failure> {
        let mut report = Report::default();
        for access in log.lines().filter_map(Access::parse) {
            if access.address == self.timer {
                report.read_timer(access.value, |from, to| self.instructions(from, to));
            } else if access.write && (self.report..self.report + 0x80).contains(&access.address) {
                report.handle(access.address - self.report, access.value)?;
            }
        }
        if !report.ended {
            return Err("the firmware did not finish".into());
        }
        Ok(report.lines)
    }

    fn instructions(&self, from: u32, to: u32) -> u64 {
        let ticks = if self.counts_down { from.wrapping_sub(to) & 0xff_ffff } else { to.wrapping_sub(from) };
        let ticks_each = f64::from(1 << ICOUNT_SHIFT) * 1e-9 * self.frequency;
        (f64::from(ticks) / ticks_each - f64::from(self.timer_read)).round().max(0.0) as u64
    }
}

fn elf_name(elf: &Path) -> Result<String, Failure> {
    let parts: Vec<_> = elf.iter().rev().take(5).map(|part| part.to_string_lossy()).collect();
    if parts.is_empty() { Err("no file".into()) } else { Ok(parts.join("-")) }
}

/// A line of QEMU's log: `memory_region_ops_write cpu 0 mr 0x... addr 0x41000044 value 0xff size 4 name 'VGA'`.
#[derive(Debug, PartialEq)]
struct Access {
    write: bool,
    address: u64,
    value: u32,
}

impl Access {
    fn parse(line: &str) -> Option<Access> {
        let mut words = line.split(' ');
        let write = match words.next()? {
            "memory_region_ops_write" => true,
            "memory_region_ops_read" => false,
            _ => return None,
        };
        let mut after = |name: &str| {
            words.find(|word| *word == name)?;
            u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()
        };
        Some(Access { write, address: after("addr")?, value: u32::try_from(after("value")?).ok()? })
    }
}

/// Folded text or bytes of which only address and size are known yet.
#[derive(Debug)]
struct Span {
    kind: char,
    at: u32,
    size: u32,
}

/// A line of the report, or a placeholder for one.
#[derive(Debug)]
enum Line {
    Ready(String),
    Span(Span),
}

/// The report while the log is being read.
#[derive(Debug, Default)]
struct Report {
    lines: String,
    /// Lines that wait for the report of the memory.
    waiting: Vec<Line>,
    region: Option<u32>,
    started: Option<u32>,
    instructions: Option<u64>,
    lower: u32,
    span: Option<(char, u32)>,
    memory: HashMap<u32, u8>,
    memory_at: u32,
    ended: bool,
}

impl Report {
    fn read_timer(&mut self, time: u32, instructions: impl Fn(u32, u32) -> u64) {
        let Some(region) = self.region else { return };
        match self.started.take() {
            None => {
                self.started = Some(time);
                self.line(format!("start {region}"));
            }
            Some(from) => self.instructions = Some(instructions(from, time)),
        }
    }

    /// Handles a value that the firmware reported. `what` is an offset of the enum in measure_memory.h.
    fn handle(&mut self, what: u64, value: u32) -> Result<(), Failure> {
        match what {
            0x00 => self.fold('u', &value.to_le_bytes()),
            0x0c => self.fold('i', &value.to_le_bytes()),
            0x18 => self.fold('f', &value.to_le_bytes()),
            0x04 | 0x10 | 0x1c => self.lower = value,
            0x08 => self.fold_64('u', value),
            0x14 => self.fold_64('i', value),
            0x20 => self.fold_64('f', value),
            0x24 => self.fold('b', &[value as u8]),
            0x28 => self.fold('z', &[]),
            0x2c => self.fold('m', &value.to_le_bytes()),
            0x30 => self.fold('a', &value.to_le_bytes()),
            0x34 => self.span = Some(('k', value)),
            0x38 => self.span = Some(('t', value)),
            0x3c => self.span = Some(('x', value)),
            0x40 => {
                let (kind, at) = self.span.take().ok_or("a size without its text")?;
                self.waiting.push(Line::Span(Span { kind, at, size: value }));
            }
            0x44 => {
                self.complete_lines()?;
                self.region = Some(value);
            }
            0x48 => {
                let region = self.region.take().ok_or("a region ended that had not started")?;
                let count = self.instructions.take().ok_or("a region without its time")?;
                self.line(format!("region {region} instructions {count} stack {value}"));
            }
            0x4c => {
                self.memory.clear();
                self.memory_at = value;
            }
            0x50 => {
                for byte in value.to_le_bytes() {
                    self.memory.insert(self.memory_at, byte);
                    self.memory_at += 1;
                }
            }
            0x54 => {
                self.complete_lines()?;
                self.lines.push_str("end\n");
                self.ended = true;
            }
            _ => return Err(format!("unknown report of the firmware: 0x{what:x}").into()),
        }
        Ok(())
    }

    fn line(&mut self, line: String) {
        self.waiting.push(Line::Ready(line));
    }

    fn fold(&mut self, kind: char, bytes: &[u8]) {
        self.line(format!("fold {kind} {}", hex(bytes)));
    }

    fn fold_64(&mut self, kind: char, upper: u32) {
        let number = u64::from(upper) << 32 | u64::from(self.lower);
        self.fold(kind, &number.to_le_bytes());
    }

    /// Completes the waiting lines from the memory, which the firmware reports after the folds.
    fn complete_lines(&mut self) -> Result<(), Failure> {
        for line in std::mem::take(&mut self.waiting) {
            match line {
                Line::Ready(line) => {
                    self.lines.push_str(&line);
                    self.lines.push('\n');
                }
                Line::Span(Span { kind, at, size }) => {
                    let bytes: Option<Vec<u8>> =
                        (at..at.saturating_add(size)).map(|at| self.memory.get(&at).copied()).collect();
                    let bytes = bytes
                        .ok_or_else(|| format!("{size} bytes at 0x{at:x} are not in the static data"))?;
                    let _ = writeln!(self.lines, "fold {kind} {}", hex(&bytes));
                }
            }
        }
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MPS2: Machine = Machine {
        program: "qemu-system-arm",
        arguments: &[],
        rom: None,
        report: 0x4100_0000,
        timer: 0xe000_e018,
        frequency: 25e6,
        counts_down: true,
        timer_read: 5,
    };

    fn log(accesses: &[(char, u64, u32)]) -> String {
        let name = |kind| if kind == 'r' { "read" } else { "write" };
        accesses
            .iter()
            .map(|(kind, at, value)| {
                format!("memory_region_ops_{} cpu 0 mr 0x55ab4 addr 0x{at:x} value 0x{value:x} size 4 name 'VGA'\n", name(*kind))
            })
            .collect()
    }

    const TIMER: u64 = 0xe000_e018;
    const AT: u64 = 0x4100_0000;

    #[test]
    fn a_region_becomes_the_lines_of_a_report() {
        let log = log(&[
            ('w', AT + 0x4c, 0x2000_0000),
            ('w', AT + 0x50, 0x6463_6261),
            ('w', AT + 0x44, 3),
            ('r', TIMER, 0xff_0000),
            ('w', AT, 7),
            ('w', AT + 0x10, 0xffff_fffe),
            ('w', AT + 0x14, 0xffff_ffff),
            ('w', AT + 0x38, 0x2000_0001),
            ('w', AT + 0x40, 2),
            // (201 + 5) * 25.6 ticks
            ('r', TIMER, 0xff_0000 - 5274),
            ('w', AT + 0x48, 40),
            ('w', AT + 0x24, 1),
            ('w', AT + 0x54, 0),
        ]);
        let report = MPS2.report(&log).expect("the log is whole");
        let expected = "start 3\nfold u 07000000\nfold i feffffffffffffff\nfold t 6263\nregion 3 instructions 201 stack 40\nfold b 01\nend\n";
        assert_eq!(report, expected);
    }

    #[test]
    fn texts_are_read_from_the_memory_that_is_reported_after_them() {
        let log = log(&[
            ('w', AT + 0x4c, 0x100),
            ('w', AT + 0x50, 0x0000_0061),
            ('w', AT + 0x44, 0),
            ('r', TIMER, 100),
            ('r', TIMER, 0),
            ('w', AT + 0x48, 0),
            ('w', AT + 0x3c, 0x100),
            ('w', AT + 0x40, 1),
            ('w', AT + 0x4c, 0x100),
            ('w', AT + 0x50, 0x0000_0062),
            ('w', AT + 0x54, 0),
        ]);
        assert!(MPS2.report(&log).expect("the log is whole").contains("fold x 62\n"));
    }

    #[test]
    fn an_incomplete_log_is_an_error() {
        assert!(MPS2.report("").is_err());
        assert!(MPS2.report(&log(&[('w', AT + 0x40, 1)])).is_err());
        assert!(MPS2.report(&log(&[('w', AT + 0x48, 1)])).is_err());
        assert!(MPS2.report(&log(&[('w', AT + 0x44, 1), ('r', TIMER, 9), ('w', AT + 0x48, 1)])).is_err());
        // A text outside of the static data.
        assert!(MPS2.report(&log(&[('w', AT + 0x38, 5), ('w', AT + 0x40, 1), ('w', AT + 0x54, 0)])).is_err());
    }

    #[test]
    fn the_timer_may_wrap() {
        assert_eq!(MPS2.instructions(10, 0xff_ffff - 117), 0);
        let virt = Machine { counts_down: false, timer_read: 2, frequency: 10e6, ..MPS2 };
        assert_eq!(virt.instructions(0x13d63, 0x14582), 201);
    }
}
