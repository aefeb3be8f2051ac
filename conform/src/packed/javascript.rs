//! Runs TS013 codecs in Node.js. `crates/codegen/tests/ts013/executor.js` answers each line with a line.

use crate::language::{Answer, Language, Request};
use anyhow::{Context, Result, bail};
use dunnage_codegen::ts013;
use dunnage_packed::{Kind, Layout, Node, Shape};
use dunnage_pson::Value;
use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
};

/// The mode of a delta, in the two highest bits of its first byte.
const DELTA: u8 = 2;

/// A Node.js process that runs the executor.
pub struct JavaScript {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl JavaScript {
    pub fn start() -> Result<JavaScript> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/codegen/tests/ts013/executor.js");
        let mut process = Command::new("node")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start node")?;
        let requests = process.stdin.take().context("no stdin")?;
        let answers = BufReader::new(process.stdout.take().context("no stdout")?);
        Ok(JavaScript { process, requests, answers })
    }

    /// Sends the lines and reads one answer per line.
    fn exchange(&mut self, lines: &[String]) -> Result<Vec<String>> {
        let (requests, answers) = (&mut self.requests, &mut self.answers);
        thread::scope(|scope| {
            let writing = scope.spawn(|| -> std::io::Result<()> {
                for line in lines {
                    requests.write_all(line.as_bytes())?;
                    requests.write_all(b"\n")?;
                }
                requests.flush()
            });
            let mut all = Vec::with_capacity(lines.len());
            for line in lines {
                let mut answer = String::new();
                if answers.read_line(&mut answer)? == 0 {
                    bail!("the executor exited at: {line}");
                }
                all.push(answer.trim_end().to_owned());
            }
            match writing.join() {
                Ok(written) => written.map(|()| all).map_err(Into::into),
                Err(_) => bail!("the requests were not written"),
            }
        })
    }
}

impl Drop for JavaScript {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Language for JavaScript {
    fn name(&self) -> &str {
        "TS013 JavaScript"
    }

    fn load(&mut self, layout: &Layout) -> Result<bool> {
        let Ok(codec) = ts013(layout, "a random schema") else { return Ok(false) };
        let line = format!("load {}", serde_json::to_string(&codec)?);
        match self.exchange(&[line])?.as_slice() {
            [answer] if answer == "ok" => Ok(true),
            answer => bail!("the codec does not load: {answer:?}\n{codec}"),
        }
    }

    fn ask(&mut self, requests: &[Request]) -> Result<Vec<Answer>> {
        let line = |request: &Request| -> Result<String> {
            Ok(match request {
                Request::Encode { message, .. } => format!("encode {}", serde_json::to_string(message)?),
                Request::Decode { bytes, .. } => format!("decode {}", serde_json::to_string(bytes)?),
            })
        };
        let lines = requests.iter().map(line).collect::<Result<Vec<_>>>()?;
        self.exchange(&lines)?.iter().map(|line| answer(line)).collect()
    }

    /// A codec omits the known texts, and its numbers are JavaScript's, which are all floats.
    /// It passes deltas on if the schema has statistics, and knows no mode 2 otherwise.
    fn expected(&self, layout: &Layout, request: &Request) -> Answer {
        match request {
            Request::Encode { bytes, .. } => Answer::Bytes(bytes.clone()),
            Request::Decode { bytes, .. } if layout.has_slot_byte() && is_delta(bytes) => {
                match layout.has_statistics() {
                    true => Answer::Message(delta()),
                    false => Answer::Error { kind: Kind::Malformed.to_string(), offset: Some(0) },
                }
            }
            Request::Decode { bytes, known } => match layout.decode(bytes, known) {
                Ok(mut message) => {
                    remove_known(layout.root(), &mut message);
                    Answer::Message(rounded(message))
                }
                Err(error) => Answer::Error { kind: error.kind().to_string(), offset: error.offset() },
            },
        }
    }
}

fn is_delta(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| first >> 6 == DELTA)
}

/// Parses an answer: `bytes [1,2]`, `message JSON`, or `error kind: reason at byte N`.
fn answer(line: &str) -> Result<Answer> {
    let (word, rest) = line.split_once(' ').with_context(|| format!("invalid answer: {line}"))?;
    Ok(match word {
        "bytes" => Answer::Bytes(serde_json::from_str(rest)?),
        "message" => Answer::Message(rounded(serde_json::from_str(rest)?)),
        _ => {
            let kind = rest.split(':').next().unwrap_or_default().to_owned();
            let digits = |tail: &str| tail.split(',').next().and_then(|digits| digits.parse().ok());
            Answer::Error { kind, offset: rest.rsplit_once(" at byte ").and_then(|(_, tail)| digits(tail)) }
        }
    })
}

/// Returns the data of every delta.
fn delta() -> Value {
    Value::Map(vec![("dunnage".to_owned(), Value::Text("delta".to_owned()))])
}

fn remove_known(node: &Node, value: &mut Value) {
    let (Shape::Object(object), Value::Map(entries)) = (&node.shape, value) else { return };
    entries.retain(|(key, _)| {
        !object.fields.iter().any(|field| field.name == *key && matches!(field.node.shape, Shape::Known(_)))
    });
    for (key, value) in entries {
        if let Some(field) = object.fields.iter().find(|field| field.name == *key) {
            remove_known(&field.node, value);
        }
    }
}

/// Converts whole numbers beyond 2^53 to floats, as JavaScript represents them.
fn rounded(value: Value) -> Value {
    match value {
        Value::U64(n) if n > 1 << 53 => Value::F64(n as f64),
        Value::I64(n) if n < -(1 << 53) => Value::F64(n as f64),
        Value::Array(items) => Value::Array(items.into_iter().map(rounded).collect()),
        Value::Map(entries) => {
            Value::Map(entries.into_iter().map(|(key, value)| (key, rounded(value))).collect())
        }
        other => other,
    }
}
