//! The targets of the measurements: a microcontroller, its compiler, and the simulator of its firmware.

use crate::{Failure, shape::Floats, toolchain::run};
use std::{path::Path, process::Command};

/// A microcontroller for which firmware is built. A simulator may run it.
pub trait Board: Sync {
    /// Its name in results.
    fn target(&self) -> &'static str;

    /// How it stores numbers that are not integers.
    fn floats(&self) -> Floats;

    /// The compiler, with the options that it always needs.
    fn compiler(&self) -> Command;

    /// Additional arguments for linking.
    fn link_arguments(&self) -> Vec<String> {
        Vec::new()
    }

    /// The program that prints an ELF file's sections, as `size` does.
    fn size_program(&self) -> Command;

    /// Its C library: `avr-libc`, `newlib` or `picolibc`.
    fn c_library(&self) -> &'static str;

    /// The sources in `firmware/` that start the generated code.
    fn start_files(&self) -> &'static [&'static str];

    /// The simulator of its firmware; `None` when only the size is measured.
    fn simulator(&self) -> Option<&dyn Simulator>;
}

/// Runs firmware.
pub trait Simulator: Sync {
    /// Its name and version.
    fn name(&self) -> Result<String, Failure>;

    /// The unit that it counts: `cycles` or `instructions`.
    fn counts(&self) -> &'static str;

    /// The IDs and counts of the first regions of every firmware, which check the rig.
    fn loops(&self) -> [(usize, u64); 3];

    /// Runs the firmware `elf` and returns its report, for [`crate::report::regions`].
    fn run(&self, elf: &Path, size: Size) -> Result<String, Missing>;
}

/// Static sizes of a firmware in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// Code, constants, and the initial values of variables.
    pub flash: u64,
    /// Variables.
    pub ram: u64,
}

impl Size {
    /// The sizes of the ELF file `elf`.
    pub fn of(board: &dyn Board, elf: &Path) -> Result<Size, Failure> {
        let text = run(board.size_program().arg(elf))?;
        let numbers: Vec<u64> = text
            .lines()
            .nth(1)
            .map(|line| line.split_whitespace().take(3).filter_map(|word| word.parse().ok()).collect())
            .unwrap_or_default();
        let [text, data, bss] = numbers[..] else { return Err("`size` printed something else".into()) };
        Ok(Size { flash: text + data, ram: data + bss })
    }

    /// What a firmware adds to `empty`. A firmware without constants has up to three bytes of padding, which `size` counts as RAM.
    pub fn over(self, empty: Size) -> Size {
        Size { flash: self.flash - empty.flash, ram: self.ram.saturating_sub(empty.ram) }
    }
}

/// Why a figure is missing.
pub enum Missing {
    /// The firmware does not fit, for this reason. This is a result.
    DoesNotFit(String),
    /// The build or the run failed.
    Failed(Failure),
}

impl Missing {
    /// Returns the reason as an error, for firmware that must run.
    pub fn into_failure(self) -> Failure {
        match self {
            Missing::DoesNotFit(reason) => reason.into(),
            Missing::Failed(error) => error,
        }
    }
}

impl<E: Into<Failure>> From<E> for Missing {
    fn from(error: E) -> Self {
        Missing::Failed(error.into())
    }
}
