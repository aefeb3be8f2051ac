//! Tests a library that interprets exported layouts: `spec/packed.md`, "Exported layouts". An executor of it answers each line with a line,
//! as README.md describes.

use crate::{
    Arguments, damaged,
    trained::{self, Trained},
    vectors,
};
use anyhow::{Context, Result, bail};
use dunnage_conform::{Instance, Random, Scope, instance, schema, words};
use dunnage_packed::{Error, Layout, Value};
use dunnage_schema::Model;
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::Instant,
};

/// One in this many messages is also decoded from each of its prefixes.
const PREFIXES: usize = 8;
/// One in this many schemas has its slot from the port of the link.
const PORTS: usize = 6;
/// Of modelled layouts, this many times fewer messages are asked, because each takes that much longer.
const SLOWER: usize = 200;
/// Number of differences that are printed.
const SHOWN: usize = 20;

/// The executor of a library.
struct Executor {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// A line for the executor, and the expected answer.
struct Request {
    line: String,
    expected: String,
}

/// The requests so far.
#[derive(Default)]
struct Tally {
    schemas: usize,
    refused: usize,
    asked: usize,
    wrong: usize,
}

/// Compares a library with crates/packed: all vectors, then random schemas without and with statistics. Returns the number of wrong
/// answers.
pub fn compare(command: &[String], arguments: &Arguments) -> Result<usize> {
    let mut executor = Executor::start(command)?;
    let start = Instant::now();
    let mut random = Random::new(arguments.seed);
    let mut all = Tally::default();
    let modelled = if arguments.modelled { vectors::modelled()? } else { Vec::new() };
    for (layout, known, bytes) in vectors::messages()?.into_iter().chain(modelled) {
        let layout = layout.exported();
        let mut requests = vec![decode(&layout, &bytes, &known)];
        if let Ok(message) = layout.decode(&bytes, &known) {
            requests.push(encode(&layout, &message));
        }
        executor.ask(&layout, &requests, &mut all)?;
    }
    println!("vectors: {}", all.text());
    let mut wrong = all.wrong;
    for is_trained in [false, true] {
        let mut all = Tally::default();
        // Some with every part that statistics are about, then random ones.
        let mut chosen = if is_trained { trained::SCHEMAS.as_slice() } else { &[] }.iter();
        while all.schemas < arguments.schemas {
            let text =
                chosen.next().map_or_else(|| schema(&mut random, Scope::Plain), |text| (*text).to_owned());
            let count = arguments.messages / arguments.schemas;
            let (layout, requests) = if is_trained {
                let trained = Trained::new(&text, &mut random)?;
                let layout = trained.layout.exported();
                let next = |random: &mut Random| trained.instance(random);
                let requests = (0..count).flat_map(|_| questions(&layout, next(&mut random), &mut random));
                (layout.clone(), requests.collect::<Vec<_>>())
            } else {
                let layout = at_port(&text, &mut random)?.exported();
                let next = |random: &mut Random| instance(random, layout.model());
                let requests = (0..count).flat_map(|_| questions(&layout, next(&mut random), &mut random));
                (layout.clone(), requests.collect::<Vec<_>>())
            };
            executor.ask(&layout, &requests, &mut all)?;
        }
        println!("{} schemas: {}", if is_trained { "trained" } else { "random" }, all.text());
        wrong += all.wrong;
    }
    if arguments.modelled {
        wrong += compare_modelled(&mut executor, arguments, &mut random)?;
    }
    println!("seed {}, {:.1?}", arguments.seed, start.elapsed());
    Ok(wrong)
}

/// Compares a library with crates/packed on random modelled layouts, none of which it may refuse. Returns the number of wrong answers.
fn compare_modelled(executor: &mut Executor, arguments: &Arguments, random: &mut Random) -> Result<usize> {
    let mut all = Tally::default();
    while all.schemas + all.refused < arguments.schemas {
        let layout = Layout::new(&Model::compile(&schema(random, Scope::Open))?)?.exported();
        if layout.is_plain() {
            continue;
        }
        let count = (arguments.messages / arguments.schemas).div_ceil(SLOWER);
        let mut requests = Vec::new();
        for _ in 0..count {
            let instance = instance(random, layout.model());
            requests.extend(questions(&layout, instance, random));
        }
        executor.ask(&layout, &requests, &mut all)?;
    }
    println!("modelled schemas: {}", all.text());
    Ok(all.wrong + all.refused)
}

/// Returns the layout of a schema, sometimes with the slot from the port.
fn at_port(text: &str, random: &mut Random) -> Result<Layout> {
    if random.once_in(PORTS) {
        let of_port = text.replacen('{', r#"{"x-dunnage-slot-from":"port","#, 1);
        // Messages without bits, or of which one is empty, need the byte.
        if let Ok(layout) = Layout::new(&Model::compile(&of_port)?) {
            return Ok(layout);
        }
    }
    Ok(Layout::new(&Model::compile(text)?)?)
}

/// Returns the requests about one message: itself, an invalid one like it, its bytes, damaged bytes, and sometimes all prefixes.
fn questions(layout: &Layout, instance: Instance, random: &mut Random) -> Vec<Request> {
    let Instance { mut message, known, .. } = instance;
    let mut bytes = Vec::new();
    let _ = layout.encode(&message, &mut bytes);
    let mut all = vec![encode(layout, &message), decode(layout, &bytes, &known)];
    all.push(decode(layout, &damaged(&bytes, random), &known));
    if random.once_in(PREFIXES) {
        all.extend((0..bytes.len()).map(|end| decode(layout, &bytes[..end], &known)));
    }
    spoil(&mut message, random);
    all.push(encode(layout, &message));
    all
}

fn encode(layout: &Layout, message: &Value) -> Request {
    let mut line = "encode".to_owned();
    words::value(&mut line, message, false);
    let mut bytes = Vec::new();
    let mut expected = String::new();
    match layout.encode(message, &mut bytes) {
        Ok(()) => {
            expected.push_str("ok ");
            words::hex(&mut expected, &bytes);
        }
        Err(error) => {
            expected = format!("error {} ", error.kind());
            words::hex(&mut expected, error.pointer().as_bytes());
        }
    }
    Request { line, expected }
}

fn decode(layout: &Layout, bytes: &[u8], known: &BTreeMap<String, String>) -> Request {
    let mut line = "decode ".to_owned();
    words::hex(&mut line, bytes);
    line.push(' ');
    line.push_str(&serde_json::json!(known).to_string());
    let expected = match layout.decode(bytes, known) {
        Ok(message) => answer(layout, message),
        Err(error) => failed(&error),
    };
    Request { line, expected }
}

fn failed(error: &Error) -> String {
    format!("error {} {}", error.kind(), error.offset().unwrap_or_default())
}

/// Returns the answer with a value. Plain messages have no order of their own, and objects of JavaScript have keys that look like indices
/// first, so the keys of these are sorted.
fn answer(layout: &Layout, mut value: Value) -> String {
    if layout.is_plain() {
        sort(&mut value);
    }
    let mut text = "ok".to_owned();
    words::value(&mut text, &value, false);
    text
}

fn sort(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(sort),
        Value::Map(entries) => {
            entries.iter_mut().for_each(|(_, value)| sort(value));
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        _ => {}
    }
}

/// Changes a part of a message, so that the layout mostly does not allow it.
fn spoil(value: &mut Value, random: &mut Random) {
    match value {
        Value::Map(entries) if !entries.is_empty() && random.below(5) > 0 => {
            let at = random.below(entries.len());
            match random.below(8) {
                0 => drop(entries.remove(at)),
                1 => entries.push(("another one~/".to_owned(), Value::Bool(true))),
                _ => spoil(&mut entries[at].1, random),
            }
        }
        Value::Array(items) if !items.is_empty() && random.below(5) > 0 => {
            let at = random.below(items.len());
            match random.below(6) {
                0 => items.push(items[at].clone()),
                1 => drop(items.pop()),
                _ => spoil(&mut items[at], random),
            }
        }
        Value::U64(n) if random.below(3) > 0 => *n = n.wrapping_add(random.magnitude()).wrapping_add(1),
        Value::I64(n) if random.below(3) > 0 => *n = n.saturating_sub(1 + (random.magnitude() >> 2) as i64),
        Value::F64(f) if random.below(3) > 0 => *f *= [-1.0, 1e6, 0.1, 3.0][random.below(4)],
        Value::Text(text) if random.below(3) > 0 => match random.below(4) {
            0 => drop(text.pop()),
            1 => text.push('7'),
            2 => text.insert(0, '-'),
            _ => text.push('é'),
        },
        other => *other = any(random),
    }
}

fn any(random: &mut Random) -> Value {
    let all = [
        Value::Null,
        Value::Bool(true),
        Value::U64(random.magnitude()),
        Value::from(-(random.magnitude() as i64 >> 1).abs()),
        Value::F64(0.5),
        Value::F64(-0.0),
        Value::F64(f64::NAN),
        Value::F64(1e300),
        Value::F64(f64::from_bits(random.bits())),
        Value::Text("1.5".to_owned()),
        Value::Text(String::new()),
        Value::Array(vec![Value::Null]),
        Value::Map(Vec::new()),
    ];
    random.pick(&all).clone()
}

impl Executor {
    fn start(command: &[String]) -> Result<Executor> {
        let (program, arguments) = command.split_first().context("no command")?;
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let requests = process.stdin.take().context("no stdin")?;
        let answers = BufReader::new(process.stdout.take().context("no stdout")?);
        Ok(Executor { process, requests, answers })
    }

    /// Loads a layout and sends requests about it. Prints the first wrong answers of all.
    fn ask(&mut self, layout: &Layout, requests: &[Request], all: &mut Tally) -> Result<()> {
        let export = format!("load {}", export(layout));
        let [loaded] = &self.exchange(&[export.as_str()])?[..] else { bail!("no answer") };
        if loaded.starts_with("refused ") {
            all.refused += 1;
            return Ok(());
        }
        if loaded != "ok" {
            bail!("{loaded}\n{export}");
        }
        all.schemas += 1;
        all.asked += requests.len();
        let lines: Vec<&str> = requests.iter().map(|request| request.line.as_str()).collect();
        for (request, answer) in requests.iter().zip(self.exchange(&lines)?) {
            let is_value = request.line.starts_with("decode") && answer.starts_with("ok ");
            let value = is_value.then(|| words::parse(&mut answer[3..].split(' '))).flatten();
            let answer = value.map_or(answer, |value| self::answer(layout, value));
            if answer != request.expected {
                all.wrong += 1;
                if all.wrong <= SHOWN {
                    let Request { line, expected } = request;
                    println!("{export}\n    request  {line}\n    expected {expected}\n    answered {answer}");
                }
            }
        }
        Ok(())
    }

    /// Sends the lines and reads one answer per line. An empty line says that the answers so far are needed.
    fn exchange(&mut self, lines: &[&str]) -> Result<Vec<String>> {
        let (requests, answers) = (&mut self.requests, &mut self.answers);
        thread::scope(|scope| {
            let writing = scope.spawn(|| -> std::io::Result<()> {
                for line in lines {
                    requests.write_all(line.as_bytes())?;
                    requests.write_all(b"\n")?;
                }
                requests.write_all(b"\n")?;
                requests.flush()
            });
            let mut all = Vec::with_capacity(lines.len());
            for line in lines {
                let mut answer = String::new();
                if answers.read_line(&mut answer)? == 0 {
                    bail!("the executor exited at: {line}");
                }
                all.push(answer.trim_end_matches('\n').to_owned());
            }
            match writing.join() {
                Ok(written) => written.map(|()| all).map_err(Into::into),
                Err(_) => bail!("the requests were not written"),
            }
        })
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Tally {
    fn text(&self) -> String {
        let Tally { schemas, refused, asked, wrong } = self;
        format!("{schemas} layouts ({refused} refused), {asked} requests, {wrong} wrong")
    }
}

/// Returns what `dunnage schema layout --json` exports, as far as libraries need it.
fn export(layout: &Layout) -> String {
    let fingerprint: String = layout.fingerprint().iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        r#"{{"packed":{{"slot":{},"fingerprint":"{fingerprint}"}},"layout":{},"rounded":{:?}}}"#,
        layout.slot(),
        layout.canonical(),
        layout.rounded()
    )
}
