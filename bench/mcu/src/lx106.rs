//! Xtensa lx106, the core of the ESP8266. Only the code size is measured; Debian's QEMU could run it
//! (`qemu-system-xtensa -M sim -cpu lx106`).

use crate::{
    board::{Board, Simulator},
    shape::Floats,
};
use std::{path::Path, process::Command};

/// Functions that are not counted because every program has them, most of them in the chip's ROM: functions of the C library, and those
/// runtime functions of the compiler that this compiler lacks.
const ROM: [&str; 25] = [
    "memcpy",
    "memmove",
    "memset",
    "memchr",
    "memcmp",
    "strlen",
    "__addsf3",
    "__subsf3",
    "__mulsf3",
    "__adddf3",
    "__subdf3",
    "__muldf3",
    "__divdf3",
    "__extendsfdf2",
    "__truncdfsf2",
    "__fixunssfsi",
    "__fixdfsi",
    "__fixunsdfsi",
    "__floatsisf",
    "__floatunsisf",
    "__floatsidf",
    "__floatunsidf",
    "__udivdi3",
    "__umoddi3",
    "__muldi3",
];

/// The core with a policy for floats.
#[derive(Debug, Clone, Copy)]
pub struct Lx106 {
    floats: Floats,
}

/// The core with each policy for floats.
pub fn boards() -> impl Iterator<Item = Lx106> {
    [Floats::Single, Floats::Lossless].into_iter().map(|floats| Lx106 { floats })
}

impl Board for Lx106 {
    fn target(&self) -> &'static str {
        "lx106"
    }

    fn floats(&self) -> Floats {
        self.floats
    }

    fn compiler(&self) -> Command {
        let mut command = Command::new("xtensa-lx106-elf-gcc");
        // Places literals beside the code that uses them, so that unused functions leave none behind.
        command.args(["-ffreestanding", "-fbuiltin", "-mtext-section-literals", "-isystem"]);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("firmware/lx106"));
        command
    }

    fn link_arguments(&self) -> Vec<String> {
        let rom = ROM.iter().map(|name| format!("-Wl,--defsym={name}=0x1000"));
        ["-nostartfiles", "-nolibc", "-Wl,-e,reset", "-Wl,-Ttext=0x1000"]
            .into_iter()
            .map(Into::into)
            .chain(rom)
            .collect()
    }

    fn size_program(&self) -> Command {
        Command::new("xtensa-lx106-elf-size")
    }

    fn c_library(&self) -> &'static str {
        "none"
    }

    fn start_files(&self) -> &'static [&'static str] {
        &["lx106.c"]
    }

    fn simulator(&self) -> Option<&dyn Simulator> {
        None
    }
}
