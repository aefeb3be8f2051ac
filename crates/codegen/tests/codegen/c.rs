//! Compares the C of some schemas with golden files, which `BLESS=1` rewrites. The C compiles without a warning with every installed
//! compiler, and has no data in RAM.

use dunnage_codegen::c;
use dunnage_packed::Layout;
use dunnage_schema::Model;
use std::{env, fs, path::Path, process::Command};

/// A schema with every construct that C can represent.
const EVERYTHING: &str = include_str!("../everything.json");

fn generated(schema: &str, options: &c::Options<'_>) -> c::Files {
    let text = dunnage_schema::bundled_named(schema).unwrap_or(EVERYTHING);
    let model = Model::compile(text).expect("the schema compiles");
    c::c(&Layout::new(&model).expect("a layout"), options).expect("C can represent the schema")
}

fn fitting(name: &str, limit: usize) -> c::Options<'_> {
    c::Options { link: Some(c::Link { name, limit }), ..Default::default() }
}

/// Writes the files of a message, and those that all messages share.
pub fn write(folder: &Path, files: &c::Files) {
    fs::create_dir_all(folder).expect("the target folder can be written");
    fs::write(folder.join(format!("{}.h", files.name)), &files.header).expect("the file can be written");
    fs::write(folder.join(format!("{}.c", files.name)), &files.source).expect("the file can be written");
    for (name, text) in c::SUPPORT {
        fs::write(folder.join(name), text).expect("the file can be written");
    }
}

pub fn assert_golden(name: &str, text: &str) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/c").join(name);
    if env::var_os("BLESS").is_some() {
        fs::write(&golden, text).expect("the golden file can be written");
    }
    let expected = fs::read_to_string(&golden).expect("the golden file");
    assert!(text == expected, "{name} has changed: BLESS=1 cargo test -p dunnage-codegen");
}

const SCHEMAS: [&str; 4] = ["container", "weather", "meter", "everything"];

#[test]
fn generated_c_matches_the_golden_files() {
    for schema in SCHEMAS {
        let files = generated(schema, &c::Options::default());
        assert_golden(&format!("{}.h", files.name), &files.header);
        assert_golden(&format!("{}.c", files.name), &files.source);
    }
}

/// Compilers, and the flags that choose their machine and language. C++98 has no `long long`, which the compilers nevertheless have. Without
/// an option, avr-g++ 5.4 compiles C++98; the C libraries of AVR and ARM then lack the macros of `stdint.h`.
pub const COMPILERS: [(&str, &[&str]); 13] = [
    ("gcc", &["-std=c99"]),
    ("clang", &["-std=c99"]),
    ("g++", &["-x", "c++", "-std=c++98", "-Wno-long-long"]),
    ("g++", &["-x", "c++", "-std=c++11", "-fsyntax-only"]),
    ("g++", &["-x", "c++", "-std=c++20", "-fsyntax-only"]),
    ("clang++", &["-x", "c++", "-std=c++98", "-fsyntax-only", "-Wno-long-long"]),
    ("clang++", &["-x", "c++", "-std=c++20", "-fsyntax-only"]),
    ("avr-gcc", &["-mmcu=atmega328p", "-std=c99"]),
    ("avr-g++", &["-mmcu=atmega328p", "-x", "c++", "-fsyntax-only", "-Wno-long-long"]),
    ("arm-none-eabi-gcc", &["-mcpu=cortex-m0plus", "-mthumb", "-std=c11"]),
    (
        "arm-none-eabi-g++",
        &["-mcpu=cortex-m0plus", "-mthumb", "-x", "c++", "-std=gnu++98", "-fsyntax-only", "-Wno-long-long"],
    ),
    ("riscv64-unknown-elf-gcc", &["--specs=picolibc.specs", "-march=rv32imac", "-mabi=ilp32", "-std=c99"]),
    ("s390x-linux-gnu-gcc", &["-std=c99"]),
];

pub fn is_installed(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Compiles `source` in `folder`. Returns the messages of the compiler if it fails.
pub fn compile(compiler: &str, flags: &[&str], folder: &Path, source: &str) -> Result<(), String> {
    let output: &[&str] = if flags.contains(&"-fsyntax-only") { &[] } else { &["-c", "-o", "out.o"] };
    let output = Command::new(compiler)
        .args(["-Os", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"])
        .args(flags)
        .args(output)
        .arg(source)
        .current_dir(folder)
        .output()
        .expect("the compiler runs");
    output.status.success().then_some(()).ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A program that uses each macro of a header.
pub fn program(files: &c::Files) -> String {
    let names = files.header.lines().find_map(|line| line.strip_prefix("size_t ")?.split_once("_encode("));
    let (message, _) = names.expect("a function that encodes");
    let (mut initial, mut uses) = (String::new(), String::new());
    for line in files.header.lines().filter_map(|line| line.strip_prefix("#define ")) {
        let Some((name, _)) = line.split_once([' ', '(']) else { continue };
        let arguments = [("(value) ", "(1.5f)"), ("(n, places) ", "(15, 1)"), ("(n) ", "(1)"), (" ", "")];
        let found = arguments.iter().find(|(parameters, _)| line[name.len()..].starts_with(parameters));
        let (_, given) = found.unwrap_or_else(|| panic!("other parameters: {line}"));
        if name.ends_with("_INIT") {
            initial = format!("{message} initial = {name};");
        } else {
            uses.push_str(&format!("    (void)({name}{given});\n"));
        }
    }
    format!(
        "#include <stdint.h>\n#include \"{}.h\"\n{initial}\nint main(void)\n{{\n{uses}    return 0;\n}}\n",
        files.name
    )
}

#[test]
fn every_compiler_accepts_the_c_without_a_warning() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c");
    for (compiler, flags) in COMPILERS.into_iter().filter(|(compiler, _)| is_installed(compiler)) {
        for schema in SCHEMAS {
            let files = generated(schema, &fitting("a link", 1024));
            write(&folder, &files);
            fs::write(folder.join("program.c"), program(&files)).expect("the file can be written");
            // The code that all messages share is compiled once.
            let shared = ["dunnage_message.c"].into_iter().filter(|_| schema == SCHEMAS[0]);
            for source in shared.chain(["program.c", &format!("{}.c", files.name)]) {
                if let Err(messages) = compile(compiler, flags, &folder, source) {
                    panic!("{compiler}: {messages}");
                }
            }
            if compiler == "avr-gcc" {
                let size =
                    Command::new("avr-size").arg("out.o").current_dir(&folder).output().expect("avr-size");
                let size = String::from_utf8_lossy(&size.stdout).into_owned();
                let columns: Vec<_> = size.lines().nth(1).unwrap_or_default().split_whitespace().collect();
                assert_eq!(columns[1..3], ["0", "0"], "{schema} has data in RAM: {size}");
            }
        }
    }
}

#[test]
fn a_message_that_does_not_fit_its_link_does_not_compile() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("narrow");
    write(&folder, &generated("container", &fitting("Kinéis", 30)));
    for (compiler, flags) in COMPILERS.into_iter().filter(|(compiler, _)| is_installed(compiler)) {
        assert!(compile(compiler, flags, &folder, "container.c").is_err(), "{compiler}");
    }
}

#[test]
fn errors_name_what_c_cannot_represent_and_a_remedy() {
    let errors = |schema| {
        let layout = Layout::new(&Model::compile(schema).expect("a schema")).expect("a layout");
        c::c(&layout, &c::Options::default())
            .expect_err("C cannot represent the schema")
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        errors(
            r#"{"type":"object","properties":{"n":{"type":"integer"},"o":{"anyOf":[{"type":"integer"},{"type":"number"}]},
            "p":{"type":"string","pattern":"^[\u00e0-\u00ff]{3}$"}},"additionalProperties":false}"#
        ),
        [
            "n is from -9223372036854775808 to 18446744073709551615, which no C type holds: add minimum or maximum",
            "o is from -9223372036854775808 to 18446744073709551615, which no C type holds: add minimum or maximum",
            "o has types 1 and 2 that a value may have both: make the types of anyOf exclude each other, as different const do",
            "p has a pattern with characters beyond ASCII: write another pattern, or maxLength without one",
        ]
    );
}

/// A device has a clock in UTC, and texts with an offset count in their own time.
#[test]
fn the_epoch_of_a_time_with_an_offset_is_the_one_that_a_clock_in_utc_needs() {
    for (end, epoch) in [("Z", 1_767_225_600), ("+01:00", 1_767_222_000), ("-0530", 1_767_245_400)] {
        let schema = format!(
            r#"{{"title":"Tide","type":"object","properties":{{"t":{{"type":"string","x-dunnage-time":{{"notation":"YYYY-MM-DDThh:mm:ss{end}","epoch":"2026-01-01T00:00:00Z"}}}}}},"required":["t"],"additionalProperties":false}}"#
        );
        let layout = Layout::new(&Model::compile(&schema).unwrap()).unwrap();
        let header = c::c(&layout, &c::Options::default()).unwrap().header;
        assert!(header.contains(&format!("#define TIDE_T_EPOCH {epoch}L ")), "{end}: {header}");
    }
}

#[test]
fn what_the_code_does_not_check_is_listed_at_the_functions() {
    let schema = r#"{"title":"Rest","type":"object","properties":{
        "all":{"type":"array","items":{"type":"integer","minimum":0,"maximum":9},"maxItems":4,"uniqueItems":true},
        "code":{"type":"string","pattern":"^(?:ab|cd)$"},
        "id":{"type":"string","pattern":"^[a-f]{4}$"},
        "more":{"type":"object","properties":{"n":{"type":"number","multipleOf":0.01}},"additionalProperties":false,"minProperties":1}
        },"required":["all","code","id"],"additionalProperties":false,"maxProperties":3,"if":{"required":["more"]},"then":{"not":{"properties":{"code":{"const":"ab"}}}}}"#;
    let layout = Layout::new(&Model::compile(schema).unwrap()).unwrap();
    let checks: Vec<String> = c::device_checks(&layout).iter().map(ToString::to_string).collect();
    assert_eq!(
        checks,
        [
            "$: if, maxProperties",
            "all: uniqueItems",
            "code: pattern",
            "more: minProperties",
            "more.n: at most 15 digits"
        ]
    );
    let header = c::c(&layout, &c::Options::default()).unwrap().header;
    for check in checks {
        assert!(header.contains(&format!(" *     {check}")), "{check}: {header}");
    }
    assert!(!header.contains("Only what the schema allows is accepted"), "{header}");
    assert!(
        generated("container", &c::Options::default())
            .header
            .contains("Only what the schema allows is accepted")
    );
}
