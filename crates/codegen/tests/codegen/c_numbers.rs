//! The macros that convert values to counts: their results and their code size.

use dunnage_codegen::c;
use dunnage_packed::Layout;
use dunnage_schema::Model;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Writes the C of the tested fields into the folder `name`.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("the target folder can be written");
    let model = Model::compile(include_str!("../numbers.json")).expect("the schema compiles");
    let files = c::c(&Layout::new(&model).expect("a layout"), &c::Options::default())
        .expect("C can represent the schema");
    fs::write(folder.join("numbers.h"), files.header).expect("the file can be written");
    for &(name, text) in c::SUPPORT {
        fs::write(folder.join(name), text).expect("the file can be written");
    }
    folder
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn macros_return_the_nearest_count() {
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

/// Processors without floating-point arithmetic: how to compile and link for them, and the maximum size of a macro in bytes, for a float
/// and for an integer, which needs a division.
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
fn macros_for_binary32_use_no_floating_point_arithmetic() {
    let folder = folder("cost");
    for (compiler, size, flags, limits) in TARGETS {
        if Command::new(compiler).arg("--version").output().is_err() {
            continue;
        }
        let bytes = |statement: &str| -> u64 {
            let source = "#include \"numbers.h\"\nvolatile float in;\nvolatile int32_t whole;\nvolatile int16_t out;\nint main(void) { STATEMENT; return 0; }\n";
            fs::write(folder.join("main.c"), source.replace("STATEMENT", statement))
                .expect("the file can be written");
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
        assert!(macros <= limits[0] && integers <= limits[1], "{compiler}: {macros}, {integers}");
        // The compiler evaluates the macro for a literal.
        let constants =
            "out = NUMBERS_TENTH(23.5); out = NUMBERS_COUNTS(0.7); out = NUMBERS_STEP_FROM_DECIMAL(9995, 2)";
        assert!(bytes(constants) <= bytes("(void)in; out = 235; out = 1; out = 1999"), "{compiler}");
    }
}
