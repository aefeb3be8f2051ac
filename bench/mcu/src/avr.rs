//! The ATmega328P of the Arduino UNO: 32 KB of flash, 2 KB of RAM, 8 bits. Cycles are exact.

use crate::{
    Failure,
    board::{Board, Missing, Simulator, Size},
    shape::Floats,
    toolchain::{self, run},
};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The name of this target in results.
pub const TARGET: &str = "atmega328p";

/// Bytes of RAM, and the address where it begins.
const RAM: u64 = 2048;
const RAM_START: u64 = 0x80_0100;

/// Ten seconds at 16 MHz. No message takes even one second.
const CYCLE_LIMIT: &str = "160000000";

/// The ATmega328P with its compiler and its simulator.
pub struct Avr {
    bin: PathBuf,
    simulator: PathBuf,
}

impl Avr {
    /// Installs the compiler and compiles the simulator where they are missing.
    pub fn new() -> Result<Avr, Failure> {
        Ok(Avr { bin: toolchain::avr_gcc()?, simulator: toolchain::simavr()? })
    }
}

impl Board for Avr {
    fn target(&self) -> &'static str {
        TARGET
    }

    fn floats(&self) -> Floats {
        Floats::Single
    }

    fn compiler(&self) -> Command {
        let mut command = Command::new(self.bin.join("avr-gcc"));
        command.arg("-mmcu=atmega328p");
        command
    }

    fn size_program(&self) -> Command {
        Command::new(self.bin.join("avr-size"))
    }

    fn c_library(&self) -> &'static str {
        "avr-libc"
    }

    fn start_files(&self) -> &'static [&'static str] {
        &["avr.c"]
    }

    fn simulator(&self) -> Option<&dyn Simulator> {
        Some(self)
    }
}

impl Simulator for Avr {
    fn name(&self) -> Result<String, Failure> {
        let version = run(Command::new("pkg-config").args(["--modversion", "simavr"]));
        // The version is not essential: some distributions have no simavr.pc.
        Ok(version.map_or("simavr".into(), |version| format!("simavr {}", version.trim())))
    }

    fn counts(&self) -> &'static str {
        "cycles"
    }

    fn loops(&self) -> [(usize, u64); 3] {
        [(0xff, 0), (0xfe, 300), (0xfd, 4001)]
    }

    fn run(&self, elf: &Path, size: Size) -> Result<String, Missing> {
        let ram = size.ram;
        if ram > RAM {
            return Err(Missing::DoesNotFit(format!("needs {ram} bytes of RAM and the stack, has {RAM}")));
        }
        let end = format!("{:x}", RAM_START + ram - 0x80_0000);
        let printed = run(Command::new(&self.simulator).arg(elf).args([TARGET, &end, CYCLE_LIMIT]));
        printed.map_err(|error| match error.to_string() {
            text if text.contains("the stack runs into") => {
                let reason = format!("needs {ram} bytes of RAM; the stack has no room in the rest of {RAM}");
                Missing::DoesNotFit(reason)
            }
            _ => Missing::Failed(error),
        })
    }
}
