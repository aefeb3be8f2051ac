//! Cortex-M0+, M3 and M4 in QEMU, which counts instructions, not cycles.

use crate::{
    Failure,
    board::{Board, Missing, Simulator, Size},
    qemu::Machine,
    shape::Floats,
};
use std::{path::Path, process::Command};

/// A core, and the machine that runs it.
#[derive(Debug, Clone, Copy)]
struct Core {
    target: &'static str,
    flags: &'static [&'static str],
    /// Memory sizes in bytes.
    flash: u64,
    ram: u64,
    machine: Machine,
}

/// QEMU has no Cortex-M0+; the microbit's Cortex-M0 has the same instructions (ARMv6-M), and both count the same.
const M0PLUS: Core = Core {
    target: "cortex-m0plus",
    flags: &["-mcpu=cortex-m0plus"],
    flash: 256 << 10,
    ram: 16 << 10,
    machine: Machine {
        arguments: &["-M", "microbit", SEMIHOSTING.0, SEMIHOSTING.1],
        report: 0x4002_1000,
        frequency: 16e6,
        ..M3.machine
    },
};

const M3: Core = Core {
    target: "cortex-m3",
    flags: &["-mcpu=cortex-m3"],
    flash: 4 << 20,
    ram: 4 << 20,
    machine: Machine {
        program: "qemu-system-arm",
        arguments: &["-M", "mps2-an385", SEMIHOSTING.0, SEMIHOSTING.1],
        rom: None,
        report: 0x4100_0000,
        timer: 0xe000_e018,
        frequency: 25e6,
        counts_down: true,
        timer_read: 5,
    },
};

const M4: Core = Core {
    target: "cortex-m4",
    flags: &["-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"],
    machine: Machine { arguments: &["-M", "mps2-an386", SEMIHOSTING.0, SEMIHOSTING.1], ..M3.machine },
    ..M3
};

/// The option with which the firmware can end QEMU.
const SEMIHOSTING: (&str, &str) = ("-semihosting-config", "enable=on,target=native");

/// A core with a policy for floats.
#[derive(Debug, Clone, Copy)]
pub struct Arm {
    core: Core,
    floats: Floats,
}

/// All cores, each with both policies for floats.
pub fn boards() -> impl Iterator<Item = Arm> {
    [M0PLUS, M3, M4]
        .into_iter()
        .flat_map(|core| [Floats::Single, Floats::Lossless].map(|floats| Arm { core, floats }))
}

impl Board for Arm {
    fn target(&self) -> &'static str {
        self.core.target
    }

    fn floats(&self) -> Floats {
        self.floats
    }

    fn compiler(&self) -> Command {
        let mut command = Command::new("arm-none-eabi-gcc");
        command.arg("-mthumb").args(self.core.flags);
        command
    }

    fn link_arguments(&self) -> Vec<String> {
        crate::qemu::link_arguments(0, self.core.flash, 0x2000_0000, self.core.ram)
    }

    fn size_program(&self) -> Command {
        Command::new("arm-none-eabi-size")
    }

    fn c_library(&self) -> &'static str {
        "newlib"
    }

    fn start_files(&self) -> &'static [&'static str] {
        &["cortexm.c", "qemu.c"]
    }

    fn simulator(&self) -> Option<&dyn Simulator> {
        Some(self)
    }
}

impl Simulator for Arm {
    fn name(&self) -> Result<String, Failure> {
        self.core.machine.name()
    }

    fn counts(&self) -> &'static str {
        "instructions"
    }

    fn loops(&self) -> [(usize, u64); 3] {
        crate::qemu::LOOPS
    }

    fn run(&self, elf: &Path, _: Size) -> Result<String, Missing> {
        Ok(self.core.machine.run(elf)?)
    }
}
