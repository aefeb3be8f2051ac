//! Tests the C of modes 1 and 2 with random messages, losses and acknowledgements: it must do what `dunnage_packed::Sender` does, byte
//! for byte, and a receiver must decode what it is sent. `crates/codegen/tests/modes.c` answers each line with a line.

use crate::trained::Trained;
use anyhow::{Context, Result, bail};
use dunnage_codegen::c;
use dunnage_conform::Random;
use dunnage_packed::{Kind, Layout, Reference, Sender, Value};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// One in this many times, a device loses its state.
const LOST: usize = 60;
/// One in this many times, a device is told to forget its reference.
const FORGOTTEN: usize = 80;

/// The code of a layout, compiled.
pub struct Compiled {
    program: PathBuf,
}

impl Compiled {
    /// Compiles the C of a layout, in which `depth` messages may wait for their acknowledgement. `None` if the generator rejects the
    /// schema.
    pub fn new(layout: &Layout, depth: usize) -> Result<Option<Compiled>> {
        let Ok(files) = c::c(layout, &c::Options { modes: true, ..Default::default() }) else {
            return Ok(None);
        };
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/conform-modes");
        fs::create_dir_all(&folder)?;
        let (header, source) = (format!("{}.h", files.name), format!("{}.c", files.name));
        let own = [(header.as_str(), files.header.as_str()), (source.as_str(), files.source.as_str())];
        for (name, text) in own.iter().chain(c::SUPPORT).chain([&c::MODES]) {
            fs::write(folder.join(name), text)?;
        }
        let plan = c::plan(layout).map_err(|faults| anyhow::anyhow!("{faults:?}"))?;
        let output = Command::new("gcc")
            .args(["-std=c99", "-g", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"])
            .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", "program"])
            .arg(format!("-DHEADER=\"{header}\""))
            .arg(format!("-DNAME={}", plan.name))
            .arg(format!("-DMOST={}_MAX_SIZE", plan.prefix))
            .arg(format!("-D{}_PENDING={depth}", plan.prefix))
            .args([&source, "dunnage_message.c", "-I."])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/codegen/tests/modes.c"))
            .current_dir(&folder)
            .output()?;
        if !output.status.success() {
            bail!("{}\n{}", layout.name(), String::from_utf8_lossy(&output.stderr));
        }
        Ok(Some(Compiled { program: folder.join("program") }))
    }

    /// Sends the lines, and returns an answer for each.
    pub fn ask(&self, lines: &str) -> Result<Vec<String>> {
        let mut process = Command::new(&self.program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut input = process.stdin.take().context("no stdin")?;
        let lines = lines.to_owned();
        let writing = std::thread::spawn(move || input.write_all(lines.as_bytes()));
        let output = process.wait_with_output()?;
        writing.join().map_err(|_| anyhow::anyhow!("the requests were not written"))??;
        if !output.status.success() {
            bail!("the program of modes 1 and 2 failed: {}", output.status);
        }
        Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
    }
}

/// A line for the program, and the expected answer.
struct Request {
    line: String,
    expected: String,
}

/// The state of one conversation.
struct Conversation<'a> {
    layout: &'a Layout,
    sender: Sender<&'a Layout>,
    depth: usize,
    known: BTreeMap<String, String>,
    /// The messages that the receiver has, and those that the sender may still hear of.
    received: Vec<Reference>,
    names: Vec<u16>,
    requests: Vec<Request>,
}

/// Sends `messages` messages. Returns the number of wrong answers, after printing the first.
pub fn compare(
    compiled: &Compiled,
    trained: &Trained,
    depth: usize,
    messages: usize,
    random: &mut Random,
) -> Result<(usize, usize)> {
    let layout = &trained.layout;
    let mut conversation = Conversation {
        layout,
        sender: Sender::new(layout, depth),
        depth,
        known: BTreeMap::new(),
        received: Vec::new(),
        names: Vec::new(),
        requests: Vec::new(),
    };
    conversation.say("fill 170".into(), String::new());
    let mut last = trained.instance(random);
    for _ in 0..messages {
        let next = trained.instance(random);
        let message = match random.below(3) {
            0 => next.message.clone(),
            _ => mixed(&last.message, &next.message, random),
        };
        last = next;
        conversation.known.clone_from(&last.known);
        conversation.send(&message, random)?;
        conversation.answer(random);
    }
    let lines = conversation.requests.iter().fold(String::new(), |mut all, request| {
        let _ = writeln!(all, "{}", request.line);
        all
    });
    let answers = compiled.ask(&lines)?;
    let mut wrong = 0;
    for (at, request) in conversation.requests.iter().enumerate() {
        let answer = answers.get(at).map_or("nothing", String::as_str);
        if answer != request.expected {
            wrong += 1;
            if wrong == 1 {
                for before in &conversation.requests[at.saturating_sub(8)..at] {
                    println!("    {} -> {}", before.line, before.expected);
                }
                println!(
                    "{}\n    request  {}\n    expected {}\n    answered {answer}",
                    layout.canonical(),
                    request.line,
                    request.expected
                );
            }
        }
    }
    Ok((conversation.requests.len(), wrong))
}

impl Conversation<'_> {
    fn say(&mut self, line: String, expected: String) {
        self.requests.push(Request { line, expected });
    }

    /// Sends a message, which the receiver may not get.
    fn send(&mut self, message: &Value, random: &mut Random) -> Result<()> {
        let (mut plain, mut prior, mut sent) = (Vec::new(), Vec::new(), Vec::new());
        // Text of C ends at its first NUL.
        if has_nul(message) || self.layout.encode_without_statistics(message, &mut plain).is_err() {
            return Ok(());
        }
        self.layout.encode(message, &mut prior)?;
        self.sender.encode(message, &mut sent)?;
        self.say(format!("prior {}", hex(&plain)), hex(&prior));
        self.say(format!("send {}", hex(&plain)), hex(&sent));
        self.names.extend(self.sender.last());
        if random.below(10) < 3 {
            return Ok(());
        }
        let decoded = match self.layout.decode(&sent, &self.known) {
            Err(error) if error.kind() == Kind::Reference => {
                let latest = self.received.iter().rev();
                self.layout.decode_delta(&sent, latest, [], &self.known)?.value
            }
            other => other?,
        };
        let reference = self.layout.reference(&decoded)?;
        if Some(reference.name()) != self.sender.last()
            || decoded != self.layout.decode(&plain, &self.known)?
        {
            bail!("{}\n{message:?} was decoded to {decoded:?}", self.layout.canonical());
        }
        self.received.push(reference);
        Ok(())
    }

    /// Acknowledges a message that the receiver has, or one that it does not have, or nothing. May lose the state.
    fn answer(&mut self, random: &mut Random) {
        let has_last = self.received.last().map(Reference::name) == self.sender.last();
        match random.below(10) {
            0..=4 if has_last && self.depth == 1 => {
                let name = self.sender.last().unwrap_or_default();
                let news = self.sender.acknowledged(name);
                self.say("last".into(), u8::from(news).to_string());
            }
            0..=4 if !self.received.is_empty() => {
                let late = random.below(self.received.len().min(self.depth + 1));
                self.acknowledge(self.received[self.received.len() - 1 - late].name());
            }
            5 => self.acknowledge(random.below(1 << 16) as u16),
            _ => {}
        }
        if random.below(FORGOTTEN) == 0 {
            self.sender.forget();
            self.say("forget".into(), String::new());
        }
        if random.below(LOST) == 0 {
            self.sender = Sender::new(self.layout, self.depth);
            let line = match random.below(2) {
                0 => format!("fill {}", random.below(256)),
                _ => format!("flip {}", random.below(1 << 14)),
            };
            self.say(line, String::new());
        }
    }

    fn acknowledge(&mut self, name: u16) {
        let news = self.sender.acknowledged(name);
        self.say(format!("acked {name}"), u8::from(news).to_string());
    }
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::Text(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Map(entries) => entries.iter().any(|(_, value)| has_nul(value)),
        _ => false,
    }
}

/// Returns `one` with some of the properties of `other`, as a later message would have them.
fn mixed(one: &Value, other: &Value, random: &mut Random) -> Value {
    match (one, other) {
        (Value::Map(entries), Value::Map(_)) => {
            let entry = |(key, value): &(String, Value)| {
                let new = other.get(key).filter(|_| random.below(4) == 0);
                (key.clone(), new.unwrap_or(value).clone())
            };
            Value::Map(entries.iter().map(entry).collect())
        }
        (one, _) => one.clone(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
