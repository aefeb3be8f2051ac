//! JSON to PSON and back: compares the C library with `dunnage-formats`.

use dunnage_formats::{Format, Json, Kind, Pson, Value};
use fastrand::Rng;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Number of random documents per test, unless `DUNNAGE_RANDOM` is set.
const DOCUMENTS: usize = 20_000;

/// The result of a conversion: bytes, or the kind and offset of an error.
type Outcome = Result<Vec<u8>, (String, usize)>;

/// A running `c/tests/json_convert.c`.
struct Converter {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Whether decimals in the last answer may have lost digits.
    rounded: bool,
}

impl Converter {
    fn start() -> Self {
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

    fn pson_from(&mut self, json: &[u8]) -> Outcome {
        self.ask('J', json)
    }

    fn json_from(&mut self, pson: &[u8]) -> Outcome {
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

fn root() -> PathBuf {
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

fn from_hex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")).collect()
}

fn documents() -> usize {
    std::env::var("DUNNAGE_RANDOM").map_or(DOCUMENTS, |n| n.parse().expect("DUNNAGE_RANDOM is a number"))
}

fn outcome(made: impl FnOnce(&mut Vec<u8>) -> Result<(), dunnage_formats::Error>) -> Outcome {
    let mut bytes = Vec::new();
    match made(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(e) => Err((e.kind().to_string(), e.offset())),
    }
}

fn pson_of(json: &[u8]) -> Outcome {
    outcome(|out| Pson.encode(&Json.decode(json)?, out))
}

fn json_of(pson: &[u8]) -> Outcome {
    outcome(|out| Json.encode(&Pson.decode(pson)?, out))
}

fn check_json(c: &mut Converter, json: &[u8]) {
    let (found, expected) = (c.pson_from(json), pson_of(json));
    if found == expected {
        return;
    }
    let shown = String::from_utf8_lossy(json);
    // For digits that no binary64 keeps, the device library takes the nearest binary64 and reports that it rounded, as dn_json.h
    // says. `dunnage-formats` returns an error.
    if Json.decode(json).is_err_and(|e| e.to_string().contains("does not keep this number")) {
        assert!(found.is_err() || c.rounded, "{shown}: {found:?}");
        return;
    }
    let Err(fault) = &expected else { panic!("{shown}: {found:?}, not {expected:?}") };
    let twice = Json.decode(json).is_err_and(|e| e.to_string().contains("stands twice"));
    match &found {
        // A streaming reader does not detect duplicate keys. A reader that checks the message does.
        Ok(pson) => {
            assert!(twice, "{shown}: not {fault:?}");
            assert!(Pson.decode(pson).is_err_and(|e| e.kind() == Kind::Malformed), "{shown}");
        }
        Err(first) if twice => assert!(first.1 > fault.1, "{shown}: {first:?}, not {fault:?}"),
        // The device library reports the first fault. `dunnage-formats` checks UTF-8 only at the end of a string.
        Err(first) => {
            let utf8 = str::from_utf8(json).expect_err("the same fault");
            assert!(
                first.0 == "malformed" && first.1 == utf8.valid_up_to(),
                "{shown}: {first:?}, not {fault:?}"
            );
            assert!(first.1 <= fault.1, "{shown}");
        }
    }
}

/// Whether both values are equal, or are the same binary32: the device library prints a binary32 in its shortest form, 0.1, and
/// `dunnage convert` prints its exact value, 0.10000000149011612.
fn same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && same(a, b))
        }
        (found, Value::F64(expected)) if f64::from(*expected as f32) == *expected => {
            let found = match found {
                Value::F64(found) => *found,
                whole => whole.as_integer().expect("a number") as f64,
            };
            found as f32 == *expected as f32 && found.is_sign_negative() == expected.is_sign_negative()
        }
        (found, expected) => found == expected,
    }
}

fn check_pson(c: &mut Converter, pson: &[u8]) {
    let (found, expected) = (c.json_from(pson), json_of(pson));
    match (&found, &expected) {
        (Ok(json), Ok(of_rust)) => {
            let [json, of_rust] = [json, of_rust].map(|text| {
                let shown = String::from_utf8_lossy(text);
                Json.decode(text).unwrap_or_else(|e| panic!("{shown}: {e:?}"))
            });
            assert!(same(&json, &of_rust), "{pson:02x?}: {found:?}, not {expected:?}");
        }
        (Ok(_), _) | (_, Ok(_)) => assert_eq!(found, expected, "{pson:02x?}"),
        // The JSON writer does not know the offset in the PSON, so only the kinds are compared.
        (Err(found), Err(expected)) => assert_eq!(found.0, expected.0, "{pson:02x?}"),
    }
}

// ---- Random documents -------------------------------------------------------------------------------------------------------------

fn text(rng: &mut Rng) -> String {
    (0..rng.usize(..12))
        .map(|_| match rng.u8(..10) {
            0 => rng.char('\0'..' '),
            1 => '"',
            2 => '\\',
            3 => '/',
            4 => rng.char('\u{7f}'..='\u{7ff}'),
            5 => rng.char('\u{800}'..='\u{ffff}'),
            6 => rng.char('\u{10000}'..='\u{10ffff}'),
            _ => rng.char('a'..='z'),
        })
        .collect()
}

fn float(rng: &mut Rng) -> f64 {
    let f = match rng.u8(..5) {
        0 => f64::from_bits(rng.u64(..)),
        1 => f64::from(f32::from_bits(rng.u32(..))),
        2 => rng.u64(..1_000_000) as f64 / 100.0,
        3 => rng.u64(..) as f64,
        _ => f64::from_bits(u64::from(rng.u16(..)) << 48),
    };
    if f.is_finite() { f } else { -0.0 }
}

fn value(rng: &mut Rng, depth: u8) -> Value {
    match rng.u8(..if depth < 5 { 9 } else { 7 }) {
        0 => Value::Null,
        1 => Value::Bool(rng.bool()),
        2 => Value::U64(rng.u64(..) >> rng.u8(..64)),
        3 => Value::from(-((rng.u64(..) >> 1 >> rng.u8(..63)) as i64)),
        4 | 5 => Value::F64(float(rng)),
        6 => Value::Text(text(rng)),
        7 => Value::Array(
            (0..rng.usize(..if depth == 0 { 40 } else { 7 })).map(|_| value(rng, depth + 1)).collect(),
        ),
        _ => {
            let mut entries: Vec<(String, Value)> = Vec::new();
            for _ in 0..rng.usize(..6) {
                let key = text(rng);
                if entries.iter().all(|(k, _)| *k != key) {
                    entries.push((key, value(rng, depth + 1)));
                }
            }
            Value::Map(entries)
        }
    }
}

/// `json` with random white space between its parts and unnecessary escapes.
fn loosened(json: &str, rng: &mut Rng) -> String {
    let mut loose = String::new();
    let (mut inside, mut escaped) = (false, false);
    let mut chars = json.chars();
    while let Some(c) = chars.next() {
        if inside && !escaped && c != '"' && c != '\\' && rng.u8(..4) == 0 {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(loose, "\\u{unit:04x}").expect("a string");
            }
            continue;
        }
        let between = !inside && matches!(c, '{' | '}' | '[' | ']' | ',' | ':');
        if between && rng.bool() {
            loose.push(*rng.choice(&[' ', '\t', '\r', '\n']).expect("one"));
        }
        loose.push(c);
        if escaped && c == 'u' {
            loose.extend(chars.by_ref().take(4));
        }
        if between && rng.bool() {
            loose.push(' ');
        }
        if c == '"' && !escaped {
            inside = !inside;
        }
        escaped = inside && c == '\\' && !escaped;
    }
    loose
}

/// A number in JSON syntax with up to 1,000 digits.
fn number(rng: &mut Rng) -> String {
    let most = if rng.u8(..20) == 0 { 1000 } else { 25 };
    let digits = |rng: &mut Rng, most| -> String {
        let zeros = rng.bool();
        (0..rng.usize(1..=most))
            .map(|_| if zeros && rng.bool() { '0' } else { rng.char('0'..='9') })
            .collect()
    };
    let mut text = String::from(if rng.bool() { "-" } else { "" });
    match digits(rng, most).trim_start_matches('0') {
        "" => text.push('0'),
        whole => text.push_str(whole),
    }
    if rng.bool() {
        text.push('.');
        text.push_str(&digits(rng, most));
    }
    if rng.bool() {
        text.push_str(rng.choice(&["e", "E", "e+", "e-", "E-"]).expect("one"));
        text.push_str(&digits(rng, 3));
    }
    text
}

fn changed(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = rng.usize(..bytes.len());
    match rng.u8(..4) {
        0 => bytes.truncate(at),
        1 => drop(bytes.remove(at)),
        2 => bytes[at] = rng.u8(..),
        _ => bytes.insert(at, *rng.choice(b"\"\\,:[]{}0-+.eE tfnu\x80\xed\xf4").expect("one")),
    }
}

// ---- Tests ------------------------------------------------------------------------------------------------------------------------

#[test]
fn random_documents_convert_alike() {
    let (mut c, mut rng) = (Converter::start(), Rng::with_seed(1));
    for _ in 0..documents() {
        let value = value(&mut rng, 0);
        let pson = outcome(|out| Pson.encode(&value, out)).expect("PSON");
        check_pson(&mut c, &pson);
        let json = outcome(|out| Json.encode(&value, out)).expect("JSON");
        let json = String::from_utf8(json).expect("text");
        assert_eq!(c.pson_from(json.as_bytes()).as_ref(), Ok(&pson), "{json}");
        let loose = loosened(&json, &mut rng);
        assert_eq!(c.pson_from(loose.as_bytes()).as_ref(), Ok(&pson), "{loose}");
    }
}

#[test]
fn numbers_convert_alike() {
    let (mut c, mut rng) = (Converter::start(), Rng::with_seed(2));
    for _ in 0..documents() {
        check_json(&mut c, number(&mut rng).as_bytes());
        for bits in [rng.u64(..), u64::from(rng.u16(..)) << 48, rng.u64(..) & (u64::MAX >> 12)] {
            let mut pson = vec![0x41];
            pson.extend_from_slice(&bits.to_le_bytes());
            check_pson(&mut c, &pson);
        }
        let mut pson = vec![0x40];
        pson.extend_from_slice(&rng.u32(..).to_le_bytes());
        check_pson(&mut c, &pson);
    }
}

#[test]
fn faults_are_reported_alike() {
    let (mut c, mut rng) = (Converter::start(), Rng::with_seed(3));
    for _ in 0..documents() {
        let value = Value::Array(vec![value(&mut rng, 3), value(&mut rng, 3)]);
        let mut json = outcome(|out| Json.encode(&value, out)).expect("JSON");
        if rng.bool() {
            json = loosened(str::from_utf8(&json).expect("text"), &mut rng).into_bytes();
        }
        for _ in 0..=rng.u8(..2) {
            if !json.is_empty() {
                changed(&mut json, &mut rng);
            }
        }
        check_json(&mut c, &json);
    }
}

/// Bytes, infinities, NaN and non-canonical forms: PSON that JSON cannot represent, or represents in one form only.
#[test]
fn values_that_json_lacks_convert_alike() {
    let (mut c, mut rng) = (Converter::start(), Rng::with_seed(4));
    for pson in [
        "20",
        "4000004042",
        "410000000000004840",
        "400000c07f",
        "400000807f",
        "a10f",
        "3fffffffffffffffffff01",
        "3f8080808080808080800100",
    ] {
        check_pson(&mut c, &from_hex(pson));
    }
    for _ in 0..documents() {
        let value = Value::Array((0..rng.usize(1..4)).map(|_| value(&mut rng, 4)).collect());
        let mut pson = outcome(|out| Pson.encode(&value, out)).expect("PSON");
        let at = rng.usize(..pson.len());
        pson[at] = rng.u8(..);
        // If decoding fails, both a read error and a write error may occur, and the implementations may report different ones.
        if Pson.decode(&pson).is_ok() {
            check_pson(&mut c, &pson);
        } else {
            let _ = c.json_from(&pson);
        }
    }
}

#[test]
fn the_corpus_converts_alike() {
    let mut c = Converter::start();
    let mut files = 0;
    for entry in std::fs::read_dir(root().join("bench/corpus")).expect("the corpus") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "json") {
            files += 1;
            let json = std::fs::read(&path).expect("a file");
            let pson = c.pson_from(&json).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
            assert_eq!(Ok(&pson), pson_of(&json).as_ref(), "{}", path.display());
            check_pson(&mut c, &pson);
        }
    }
    assert!(files > 10);
}

/// Documents and their bytes from a third implementation.
#[test]
fn interop_vectors_have_their_bytes() {
    let mut c = Converter::start();
    let file = std::fs::read(root().join("spec/vectors/interop.json")).expect("the vectors");
    let Ok(vectors) = Json.decode(&file) else { panic!("the vectors are JSON") };
    let Some(Value::Array(vectors)) = vectors.get("vectors") else { panic!("a list of vectors") };
    assert_eq!(vectors.len(), 300);
    for vector in vectors {
        let (Some(document), Some(Value::Text(hex))) = (vector.get("json"), vector.get("hex")) else {
            panic!("json and hex")
        };
        let json = outcome(|out| Json.encode(document, out)).expect("JSON");
        let pson = c.pson_from(&json).expect("PSON");
        assert_eq!(pson, from_hex(hex));
        check_pson(&mut c, &pson);
    }
}
