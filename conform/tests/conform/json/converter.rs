//! Runs `c/tests/json_convert.c`, which converts with the C library.

use std::{
    fmt::Write as _,
    io::{BufRead, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// The result of a conversion: bytes, or the kind and offset of an error.
pub type Outcome = Result<Vec<u8>, (String, usize)>;

/// A running `c/tests/json_convert.c`.
pub struct Converter {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Whether decimals in the last answer may have lost digits.
    pub rounded: bool,
}

impl Converter {
    pub fn start() -> Self {
        static BUILT: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
        let program = BUILT.get_or_init(build);
        let mut process = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("json_convert runs");
        let requests = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        Converter { process, requests, answers, rounded: false }
    }

    fn ask(&mut self, direction: char, input: &[u8]) -> Outcome {
        let mut line = format!("{direction} ");
        for byte in input {
            write!(line, "{byte:02x}").expect("a string");
        }
        line.push('\n');
        self.requests.write_all(line.as_bytes()).expect("json_convert reads");
        line.clear();
        self.answers.read_line(&mut line).expect("json_convert answers");
        let answer = line.strip_suffix('\n').expect("a whole line");
        if let Some(error) = answer.strip_prefix("error ") {
            let (kind, offset) = error.split_once(' ').expect("kind and offset");
            return Err((kind.into(), offset.parse().expect("an offset")));
        }
        let rounded = answer.strip_prefix("rounded ");
        self.rounded = rounded.is_some();
        Ok(from_hex(rounded.unwrap_or(answer)))
    }

    pub fn pson_from(&mut self, json: &[u8]) -> Outcome {
        self.ask('J', json)
    }

    pub fn json_from(&mut self, pson: &[u8]) -> Outcome {
        self.ask('P', pson)
    }
}

impl Drop for Converter {
    fn drop(&mut self) {
        // The process has no state to lose. It would also exit at the end of its input.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn build() -> PathBuf {
    let c = root().join("c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("json_convert");
    let sources = std::fs::read_dir(c.join("src"))
        .expect("c/src")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"));
    let status = Command::new("cc")
        .args(["-std=c99", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-I"])
        .arg(c.join("src"))
        .arg("-o")
        .arg(&program)
        .arg(c.join("tests/json_convert.c"))
        .args(sources)
        .status()
        .expect("cc runs");
    assert!(status.success());
    program
}

pub fn from_hex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")).collect()
}
