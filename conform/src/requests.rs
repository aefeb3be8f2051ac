//! Requests and their expected answers.

use crate::{answers, structure};
use anyhow::{Context, Result};
use dunnage_conform::Random;
use dunnage_conform::words;
use dunnage_pson::{Floats, Options, Value};
use std::fmt;

/// A request line and its expected answer.
pub struct Request {
    /// The vector's name, or "random".
    pub name: String,
    /// The line, including the newline.
    pub line: String,
    pub expected: String,
}

/// The limits of a library, from its answer to `hello`.
#[derive(Clone, Copy)]
pub struct Limits {
    pub nesting: usize,
    pub size: usize,
    pub float_bits: usize,
    /// Maximum length of a request in bytes, without the newline.
    pub line: usize,
}

impl Limits {
    /// The limits of spec/pson.md.
    pub const SPECIFIED: Limits = Limits { nesting: 32, size: 1 << 20, float_bits: 64, line: usize::MAX };

    pub fn parse(answer: &str) -> Result<Limits> {
        let number = |word: &str| -> Result<usize> {
            let mut words = answer.split_whitespace().skip_while(|found| *found != word);
            let number =
                words.nth(1).with_context(|| format!("no {word} in the answer to hello: {answer}"))?;
            Ok(number.parse()?)
        };
        Ok(Limits {
            nesting: number("nesting")?,
            size: number("size")?,
            float_bits: number("float")?,
            line: number("line")?,
        })
    }

    pub fn options(&self, strict: bool) -> Options {
        Options::new().strict(strict).max_nesting(self.nesting).max_size(self.size)
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nesting {}, {} bytes, floats of {} bits", self.nesting, self.size, self.float_bits)
    }
}

/// A request about `message`. `what` is the request's name and its argument.
pub fn about(name: &str, what: &str, message: &[u8], expected: String) -> Request {
    let mut line = String::with_capacity(what.len() + 2 + 2 * message.len());
    line.push_str(what);
    line.push(' ');
    words::hex(&mut line, message);
    line.push('\n');
    Request { name: name.into(), line, expected }
}

/// Appends all kinds of requests about a message.
pub fn about_message(message: &[u8], limits: &Limits, random: &mut Random, out: &mut Vec<Request>) {
    let mut ask = |what: &str, answer| out.push(about("random", what, message, answers::line(answer)));
    for (mode, strict) in [("lenient", false), ("strict", true)] {
        let options = limits.options(strict);
        ask(&format!("decode {mode}"), answers::decode(message, options));
        ask(&format!("walk {mode}"), answers::walk(message, options));
    }
    let strict = random.once_in(2);
    let (mode, options) = (if strict { "strict" } else { "lenient" }, limits.options(strict));
    ask(&format!("skip {mode}"), answers::skip(message, options));

    let lenient = limits.options(false);
    let first = message.first().copied().unwrap_or(0);
    let read_as = random.pick(&answers::TYPES);
    let read_as = if first >= 0xe0 { format!("[{read_as}]") } else { (*read_as).into() };
    ask(&format!("read {read_as}"), answers::read(message, &read_as, lenient));
    if (0xc0..0xe0).contains(&first) || random.once_in(32) {
        ask(&format!("struct {mode}"), structure::answer(message, options));
        let key = *random.pick(&["a", "b", "k1", "u", "s", "absent", ""]);
        let mut what = String::from("find ");
        words::hex(&mut what, key.as_bytes());
        ask(&what, answers::find(message, key, lenient));
    }
}

/// Appends requests that encode `value` in every way.
pub fn about_value(value: &Value, limits: &Limits, random: &mut Random, out: &mut Vec<Request>) {
    out.push(encode("random", value, Floats::Lossless, limits));
    out.push(encode("random", value, Floats::Single, limits));
    if random.once_in(8) {
        let mut line = String::from("buffers");
        words::value(&mut line, value, true);
        line.push('\n');
        out.push(Request { name: "random".into(), line, expected: "ok".into() });
    }
}

/// A request that encodes `value` with a float policy.
pub fn encode(name: &str, value: &Value, floats: Floats, limits: &Limits) -> Request {
    let mut line = String::from(if floats == Floats::Single { "encode single" } else { "encode lossless" });
    words::value(&mut line, value, true);
    line.push('\n');
    let answer = limits.options(false).floats(floats).to_vec(value).map(|bytes| {
        let mut told = String::from(" ");
        words::hex(&mut told, &bytes);
        told
    });
    Request { name: name.into(), line, expected: answers::line(answer) }
}
