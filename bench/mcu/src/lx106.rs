//! Xtensa lx106, the core of the ESP8266, in QEMU, which counts instructions.

use crate::{
    Failure,
    board::{Board, Missing, Simulator, Size},
    qemu::{self, Machine},
    registry,
    shape::Floats,
    toolchain::{run, work},
};
use rayon::prelude::*;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The functions that programs find in the chip's ROM, which are not counted as flash: of the C library, and of the compiler's runtime, which
/// this compiler lacks. `firmware/lx106/rom.c` has the latter.
const ROM: [&str; 29] = [
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
    "__udivsi3",
    "__umodsi3",
    "__divsi3",
    "__udivdi3",
    "__umoddi3",
    "__umulsidi3",
    "__muldi3",
];

/// The files of Berkeley SoftFloat that `firmware/lx106/rom.c` needs, without `.c`.
const SOFTFLOAT: [&str; 43] = [
    "f32_add",
    "f32_sub",
    "f32_mul",
    "f64_add",
    "f64_sub",
    "f64_mul",
    "f64_div",
    "f32_to_f64",
    "f64_to_f32",
    "f32_to_ui32_r_minMag",
    "f64_to_i32_r_minMag",
    "f64_to_ui32_r_minMag",
    "i32_to_f32",
    "ui32_to_f32",
    "i32_to_f64",
    "ui32_to_f64",
    "softfloat_state",
    "s_addMagsF32",
    "s_subMagsF32",
    "s_addMagsF64",
    "s_subMagsF64",
    "s_roundPackToF32",
    "s_roundPackToF64",
    "s_normRoundPackToF32",
    "s_normRoundPackToF64",
    "s_normSubnormalF32Sig",
    "s_normSubnormalF64Sig",
    "s_mul64To128",
    "s_countLeadingZeros8",
    "s_countLeadingZeros32",
    "s_countLeadingZeros64",
    "s_shiftRightJam32",
    "s_shiftRightJam64",
    "s_shortShiftRightJam64",
    "s_approxRecip32_1",
    "s_approxRecip_1Ks",
    "8086-SSE/s_propagateNaNF32UI",
    "8086-SSE/s_propagateNaNF64UI",
    "8086-SSE/s_commonNaNToF32UI",
    "8086-SSE/s_commonNaNToF64UI",
    "8086-SSE/s_f32UIToCommonNaN",
    "8086-SSE/s_f64UIToCommonNaN",
    "8086-SSE/softfloat_raiseFlags",
];

/// The ROM, in `target/mcu`.
const ROM_FILE: &str = "lx106-rom/rom.elf";

/// Bytes of the ROM, before the firmware's code: calls reach 512 KB.
const ROM_SIZE: u64 = 128 << 10;

const KC705: Machine = Machine {
    program: "qemu-system-xtensa",
    arguments: &["-M", "kc705-nommu", "-cpu", "lx106", "-no-reboot"],
    rom: Some(ROM_FILE),
    report: 0x9d02_0100,
    timer: 0x9d02_0080,
    frequency: 40e6,
    counts_down: false,
    timer_read: 6,
};

/// The core with a policy for floats.
#[derive(Debug, Clone, Copy)]
pub struct Lx106 {
    floats: Floats,
}

/// The core with each policy for floats. Builds the ROM if it is missing, or older than its source or this program.
pub fn boards() -> Result<impl Iterator<Item = Lx106>, Failure> {
    let modified = |file: PathBuf| fs::metadata(file)?.modified();
    let rom = modified(work().join(ROM_FILE)).ok();
    let sources = [folder().join("rom.c"), folder().join("platform.h"), std::env::current_exe()?];
    for source in sources {
        if rom < Some(modified(source)?) {
            build_rom()?;
            break;
        }
    }
    Ok([Floats::Single, Floats::Lossless].into_iter().map(|floats| Lx106 { floats }))
}

fn compiler() -> Command {
    let mut command = Command::new("xtensa-lx106-elf-gcc");
    // A volatile access needs no barrier on this core.
    command.args(["--specs=/usr/lib/xtensa-lx106-elf/picolibc.specs", "-mno-serialize-volatile"]);
    command
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("firmware/lx106")
}

fn build_rom() -> Result<(), Failure> {
    let own = folder();
    let source = registry::cargo(&own.join("softfloat"))?.join("softfloat-sys/berkeley-softfloat-3/source");
    let folder = work().join(ROM_FILE).parent().map(Path::to_owned).unwrap_or_default();
    fs::create_dir_all(&folder)?;
    let mut files: Vec<PathBuf> = SOFTFLOAT.map(|name| source.join(name).with_extension("c")).into();
    files.push(own.join("rom.c"));
    let objects = files.par_iter().map(|file| {
        let object = folder.join(file.file_name().unwrap_or_default()).with_extension("o");
        let mut command = compiler();
        command.args(["-O2", "-fno-builtin", "-ffunction-sections", "-fdata-sections", "-c"]).arg(file);
        for include in [&own, &source.join("include"), &source.join("8086-SSE")] {
            command.arg("-I").arg(include);
        }
        run(command.arg("-o").arg(&object))?;
        Ok(object)
    });
    let objects = objects.collect::<Result<Vec<_>, Failure>>()?;
    let linked = folder.join("linked.elf");
    // Its variables are in the last bytes of the RAM. None needs an initial value.
    let memory = qemu::link_arguments(0x4000_0000, ROM_SIZE, 0x3fff_ff00, 0x100);
    let mut command = compiler();
    command.args(memory).args(["-Wl,--gc-sections", "-Wl,-e,0"]);
    command.args(ROM.map(|name| format!("-Wl,-u,{name}"))).args(objects);
    run(command.arg("-lgcc").arg("-o").arg(&linked))?;
    let mut command = Command::new("xtensa-lx106-elf-objcopy");
    command.args(ROM.map(|name| format!("--keep-global-symbol={name}")));
    run(command.arg(linked).arg(work().join(ROM_FILE)))?;
    Ok(())
}

impl Board for Lx106 {
    fn target(&self) -> &'static str {
        "lx106"
    }

    fn floats(&self) -> Floats {
        self.floats
    }

    fn compiler(&self) -> Command {
        compiler()
    }

    fn link_arguments(&self) -> Vec<String> {
        let mut arguments =
            qemu::link_arguments(0x4000_0000 + ROM_SIZE, (1 << 20) - ROM_SIZE, 0x3ff8_0000, 0x7_ff00);
        arguments.push("-Wl,-e,start".into());
        arguments.push(format!("-Wl,--just-symbols={}", work().join(ROM_FILE).display()));
        arguments
    }

    fn size_program(&self) -> Command {
        Command::new("xtensa-lx106-elf-size")
    }

    fn c_library(&self) -> &'static str {
        "picolibc"
    }

    fn start_files(&self) -> &'static [&'static str] {
        &["lx106.c", "qemu.c"]
    }

    fn simulator(&self) -> Option<&dyn Simulator> {
        Some(self)
    }
}

impl Simulator for Lx106 {
    fn name(&self) -> Result<String, Failure> {
        KC705.name()
    }

    fn counts(&self) -> &'static str {
        "instructions"
    }

    fn loops(&self) -> [(usize, u64); 3] {
        qemu::LOOPS
    }

    fn run(&self, elf: &Path, _: Size) -> Result<String, Missing> {
        Ok(KC705.run(elf)?)
    }
}
