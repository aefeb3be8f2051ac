//! The macros that make counts of values: what they compute, and what they cost.

use dunnage_codegen::c;
use dunnage_packed::Layout;
use dunnage_schema::Model;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Writes the C of the fields that are tested into a folder of this name.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let model = Model::compile(include_str!("numbers.json")).expect("the schema compiles");
    let files = c::c(&Layout::new(&model), c::Options::default()).expect("C can have it");
    fs::write(folder.join("numbers.h"), files.header).expect("written");
    for (name, text) in c::SUPPORT {
        fs::write(folder.join(name), text).expect("written");
    }
    folder
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn every_count_is_the_nearest_one() {
    let folder = folder("numbers");
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/numbers.c");
    let program = folder.join("numbers");
    run(Command::new("gcc")
        .args([
            "-std=gnu99",
            "-O2",
            "-Wall",
            "-Wextra",
            "-fsanitize=undefined",
            "-fno-sanitize-recover=all",
            "-I",
        ])
        .arg(&folder)
        .arg(driver)
        .args(["-lm", "-o"])
        .arg(&program));
    run(&mut Command::new(program));
}

/// A processor that has no floating-point arithmetic: how to compile and link for it, and the most bytes that a macro takes
/// for a float and for an integer, which is divided.
const TARGETS: [(&str, &str, &[&str], [u64; 2]); 2] = [
    (
        "arm-none-eabi-gcc",
        "arm-none-eabi-size",
        &["-mcpu=cortex-m0plus", "-mthumb", "-nostartfiles", "-Wl,-e,main"],
        [100, 350],
    ),
    ("avr-gcc", "avr-size", &["-mmcu=atmega328p"], [350, 350]),
];

#[test]
fn a_macro_of_binary32_takes_no_floating_point_arithmetic() {
    let folder = folder("cost");
    for (compiler, size, flags, most) in TARGETS {
        if Command::new(compiler).arg("--version").output().is_err() {
            continue;
        }
        let bytes = |statement: &str| -> u64 {
            let source = "#include \"numbers.h\"\nvolatile float in;\nvolatile int32_t whole;\nvolatile int16_t out;\nint main(void) { STATEMENT; return 0; }\n";
            fs::write(folder.join("main.c"), source.replace("STATEMENT", statement)).expect("written");
            run(Command::new(compiler)
                .args([
                    "-std=c99",
                    "-Os",
                    "-ffunction-sections",
                    "-Wl,--gc-sections",
                    "main.c",
                    "-o",
                    "main.elf",
                ])
                .args(flags)
                .current_dir(&folder));
            let sizes = run(Command::new(size).arg("main.elf").current_dir(&folder));
            sizes
                .lines()
                .nth(1)
                .and_then(|line| line.split_whitespace().next()?.parse().ok())
                .expect("a size")
        };
        let nothing = bytes("(void)in; out = 0");
        let macros = bytes("out = NUMBERS_TENTH(in)") - nothing;
        let integers = bytes("out = NUMBERS_TENTH_FROM_DECIMAL(whole, 3)") - nothing;
        println!("{compiler} -Os: NUMBERS_TENTH {macros} bytes, NUMBERS_TENTH_FROM_DECIMAL {integers} bytes");
        assert!(macros <= most[0] && integers <= most[1], "{compiler}: {macros}, {integers}");
        // A literal is a constant, whatever its arithmetic would be.
        let constants =
            "out = NUMBERS_TENTH(23.5); out = NUMBERS_COUNTS(0.7); out = NUMBERS_STEP_FROM_DECIMAL(9995, 2)";
        assert!(bytes(constants) <= bytes("(void)in; out = 235; out = 1; out = 1999"), "{compiler}");
    }
}
