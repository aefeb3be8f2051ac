//! 32-bit RISC-V with multiplication and compressed instructions, the class of the ESP32-C3, in QEMU, which counts instructions.

use crate::{
    Failure,
    board::{Board, Missing, Simulator, Size},
    qemu::Machine,
    shape::Floats,
};
use std::{path::Path, process::Command};

const VIRT: Machine = Machine {
    program: "qemu-system-riscv32",
    arguments: &["-M", "virt", "-bios", "none"],
    rom: None,
    report: 0x0200_4100,
    timer: 0x0200_bff8,
    frequency: 10e6,
    counts_down: false,
    timer_read: 2,
};

/// Bytes that the firmware may use for code, and for variables.
const MEMORY: u64 = 1 << 20;

/// The core with a policy for floats.
#[derive(Debug, Clone, Copy)]
pub struct RiscV {
    floats: Floats,
}

/// The core with each policy for floats.
pub fn boards() -> impl Iterator<Item = RiscV> {
    [Floats::Single, Floats::Lossless].into_iter().map(|floats| RiscV { floats })
}

impl Board for RiscV {
    fn target(&self) -> &'static str {
        "rv32imc"
    }

    fn floats(&self) -> Floats {
        self.floats
    }

    fn compiler(&self) -> Command {
        let mut command = Command::new("riscv64-unknown-elf-gcc");
        command.args(["--specs=picolibc.specs", "-march=rv32imc", "-mabi=ilp32"]);
        command
    }

    fn link_arguments(&self) -> Vec<String> {
        crate::qemu::link_arguments(0x8000_0000, MEMORY, 0x8000_0000 + MEMORY, MEMORY)
    }

    fn size_program(&self) -> Command {
        Command::new("riscv64-unknown-elf-size")
    }

    fn c_library(&self) -> &'static str {
        "picolibc"
    }

    fn start_files(&self) -> &'static [&'static str] {
        &["riscv.c", "qemu.c"]
    }

    fn simulator(&self) -> Option<&dyn Simulator> {
        Some(self)
    }
}

impl Simulator for RiscV {
    fn name(&self) -> Result<String, Failure> {
        VIRT.name()
    }

    fn counts(&self) -> &'static str {
        "instructions"
    }

    fn loops(&self) -> [(usize, u64); 3] {
        crate::qemu::LOOPS
    }

    fn run(&self, elf: &Path, _: Size) -> Result<String, Missing> {
        Ok(VIRT.run(elf)?)
    }
}
