//! Random schemas as C, with random messages: the C code must encode each message to the bytes of `dunnage-packed`, and decode
//! these to the same values.
//!
//! `DUNNAGE_RANDOM` sets the number of messages, 40000 by default, 2000 for a schema. `CC` sets the compiler.

mod driver;
mod tokens;
mod vectors;

use dunnage_codegen::c::{self, Plan};
use dunnage_conform::{Random, Scope, instance, schema};
use dunnage_packed::Layout;
use dunnage_schema::Model;
use std::{
    collections::BTreeMap,
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
    thread,
};

/// Messages of a random schema.
const MESSAGES: usize = 2000;

/// Messages of all random schemas.
fn messages() -> usize {
    env::var("DUNNAGE_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(40_000)
}

/// The text, model, layout and plan of a random schema that C supports.
fn random_schema(random: &mut Random) -> (String, Model, Layout, Plan) {
    loop {
        let text = schema(random, Scope::Plain);
        let model = Model::compile(&text).expect("random schemas compile");
        let layout = Layout::new(&model).expect("a layout");
        if let Ok(plan) = c::plan(&layout) {
            return (text, model, layout, plan);
        }
    }
}

/// Compiler flags that end the program at the first error of memory or undefined behavior.
const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// Flags of all compilations.
const FLAGS: [&str; 6] = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic"];

fn compiler(flags: &[&str]) -> Command {
    let mut command = Command::new(env::var("CC").unwrap_or_else(|_| "cc".into()));
    command.args(FLAGS).arg("-Werror").args(flags);
    command
}

fn succeed(command: &mut Command) {
    let output = command.output().expect("a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the compiled code that all messages share. It is compiled once for each set of flags, because it takes longer than a message.
fn shared(flags: &[&str]) -> PathBuf {
    static OBJECTS: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut objects = OBJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    let number = objects.len();
    let object = objects.entry(flags.join(" ")).or_insert_with(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("generated-c-{number}"));
        fs::create_dir_all(&folder).expect("the target folder can be written");
        for (name, text) in c::SUPPORT {
            fs::write(folder.join(name), text).expect("the shared files");
        }
        let object = folder.join("dunnage_message.o");
        succeed(
            compiler(flags).args(["-c", "dunnage_message.c", "-o", "dunnage_message.o"]).current_dir(&folder),
        );
        object
    });
    object.clone()
}

/// Compiles the C code of `layout` with its driver, with strict warnings. Returns the path of the program.
fn compile(layout: &Layout, plan: &Plan, folder: &Path, flags: &[&str]) -> PathBuf {
    let files = c::c(layout, &c::Options::default()).expect("a plan has C");
    fs::write(folder.join(format!("{}.h", files.name)), files.header).expect("a header");
    let source = folder.join(format!("{}.c", files.name));
    fs::write(&source, files.source).expect("a source");
    let (name, header) = c::SUPPORT[0];
    fs::write(folder.join(name), header).expect("the shared header");
    let main = folder.join("driver.c");
    fs::write(&main, driver::driver(plan, &files.name)).expect("a driver");
    let program = folder.join("driver");
    succeed(compiler(flags).args([&source, &main, &shared(flags), Path::new("-o"), &program]));
    program
}

/// Sends `lines` to `program` and returns its answers.
fn ask(program: &Path, lines: &str) -> Vec<String> {
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the driver");
    let mut stdin = child.stdin.take().expect("its input");
    let answers = thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(lines.as_bytes()).expect("the driver reads"));
        child.wait_with_output().expect("the driver ends")
    });
    assert!(answers.status.success(), "{:?}", answers.status);
    String::from_utf8(answers.stdout)
        .expect("answers are ASCII")
        .lines()
        .map(|line| line.trim_start().to_owned())
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares `count` messages of the random schema with this seed.
fn compare(seed: u64, count: usize, flags: &[&str]) {
    let mut random = Random::new(seed);
    let (text, model, layout, plan) = random_schema(&mut random);
    let folder = tempfile::tempdir().expect("a folder");
    let program = compile(&layout, &plan, folder.path(), flags);
    let (mut requests, mut expected) = (String::new(), Vec::new());
    let mut longest = 0;
    while expected.len() < 2 * count {
        let instance = instance(&mut random, &model);
        let Some(values) = tokens::message(&layout, &plan, &instance.message) else {
            panic!("no C values for {:?} of {text}", instance.message)
        };
        if values.iter().any(|token| token == "x-nul") {
            continue;
        }
        let values = values.join(" ");
        let mut bytes = Vec::new();
        layout.encode(&instance.message, &mut bytes).expect("a message of the schema");
        longest = longest.max(bytes.len());
        requests += &format!("e {values}\nd {}\n", hex(&bytes));
        expected.push(hex(&bytes));
        expected.push(values);
    }
    assert!(Some(longest as u64) <= layout.max_bytes());
    let answers = ask(&program, &requests);
    assert_eq!(answers.len(), expected.len(), "{text}");
    for ((answer, expected), request) in answers.iter().zip(&expected).zip(requests.lines()) {
        assert_eq!(answer, expected, "seed {seed}\n{request}\n{text}");
    }
}

fn run(schemas: usize, messages: usize, first: u64, flags: &[&str]) {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(schemas) as u64;
    thread::scope(|scope| {
        for worker in 0..workers {
            scope.spawn(move || {
                for seed in (worker..schemas as u64).step_by(workers as usize) {
                    compare(first + seed, messages.div_ceil(schemas), flags);
                }
            });
        }
    });
}

#[test]
fn random_messages_have_the_same_bytes_in_c() {
    run(messages() / MESSAGES, messages(), 1, &[]);
}

/// An initialised struct is a valid message: C encodes it, and `dunnage-packed` decodes it.
#[test]
fn initialisers_are_messages() {
    for seed in 3000..3020 {
        let (text, _, layout, plan) = random_schema(&mut Random::new(seed));
        let folder = tempfile::tempdir().expect("a folder");
        let program = compile(&layout, &plan, folder.path(), &[]);
        let answers = ask(&program, "i\n");
        let bytes: Option<Vec<u8>> = (0..answers[0].len() / 2)
            .map(|i| u8::from_str_radix(&answers[0][2 * i..2 * i + 2], 16).ok())
            .collect();
        let bytes = bytes.unwrap_or_else(|| panic!("seed {seed}: {} of {text}", answers[0]));
        // The initialiser does not consider keywords that only restrict values, so schemas with such keywords are not checked.
        if !tokens::is_unchecked(&layout) {
            let texts = ["device", "serial"].map(|name| (name.to_owned(), name.to_owned())).into();
            let message = layout.decode(&bytes, &texts);
            assert!(message.is_ok(), "seed {seed}: {message:?} of {text}");
        }
    }
}

/// Also covers the arithmetic of 8-bit machines, which avoids division (`BYTEWISE`).
#[test]
fn random_messages_pass_the_sanitizers() {
    let flags = [SANITIZERS[0], SANITIZERS[1], "-g", "-DBYTEWISE=1"];
    run(8, messages() / 50, 1000, &flags);
}

/// For damaged messages, C accepts what `dunnage-packed` accepts, and reports the same error kind for the others.
#[test]
fn damaged_messages_give_the_same_errors_in_c() {
    for seed in 2000..2008 {
        let mut random = Random::new(seed);
        let (text, model, layout, plan) = random_schema(&mut random);
        if tokens::is_unchecked(&layout) {
            continue;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let program = compile(&layout, &plan, folder.path(), &SANITIZERS);
        let (mut requests, mut expected) = (String::new(), Vec::new());
        for _ in 0..messages() / 200 {
            let instance = instance(&mut random, &model);
            let mut bytes = Vec::new();
            layout.encode(&instance.message, &mut bytes).expect("a message of the schema");
            damage(&mut bytes, &mut random);
            let answer = match layout.decode(&bytes, &instance.known) {
                Ok(message) => match tokens::message(&layout, &plan, &message) {
                    Some(values) if values.iter().all(|token| token != "x-nul") => values.join(" "),
                    _ => continue,
                },
                Err(error) => format!("error {}", error.kind()),
            };
            requests += &format!("d {}\n", hex(&bytes));
            expected.push(answer);
        }
        let answers = ask(&program, &requests);
        for ((answer, expected), request) in answers.iter().zip(&expected).zip(requests.lines()) {
            assert_eq!(answer, expected, "seed {seed}\n{request}\n{text}");
        }
    }
}

fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    match random.below(5) {
        0 => bytes.truncate(random.below(bytes.len() + 1)),
        1 => bytes.push(random.byte()),
        _ => {
            for _ in 0..=random.below(2) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            if random.below(4) == 0 {
                bytes.truncate(random.below(bytes.len() + 1));
            }
        }
    }
}
