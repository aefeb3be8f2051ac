//! Compiles expressions.

use crate::limits;
use jaq_core::{
    Compiler,
    compile::Undefined,
    data,
    load::{self, Arena, File, Loader, lex},
};
use jaq_json::Val;
use serde::{Deserialize, Serialize};
use std::thread;

/// A compiled expression.
pub type Filter = jaq_core::Filter<data::JustLut<Val>>;

/// What depends on something else than the message, and what would write elsewhere or end the process.
const REMOVED: [&str; 11] = [
    "now",
    "env",
    "halt",
    "halt_error",
    "debug",
    "debug_empty",
    "stderr",
    "stderr_empty",
    "localtime",
    "strflocaltime",
    "mktime_local",
];

/// Further definitions.
const DEFINITIONS: &str = "
# The distance of two places on the surface of the Earth in metres, by the haversine formula with a mean radius of 6,371,008.8 m.
def meters($lat; $lon; $to_lat; $to_lon):
  def radians: . * 0.017453292519943295;
  def squared: . * .;
  ((($to_lat - $lat) / 2 | radians | sin | squared)
    + ($lat | radians | cos) * ($to_lat | radians | cos) * (($to_lon - $lon) / 2 | radians | sin | squared))
  | [., 1] | min | sqrt | asin * 12742017.6;
";

/// The expressions of an output, as their texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expressions {
    /// Whether a message is delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Whether the alarm of a device ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// What is delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<String>,
}

/// A mistake in an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct Mistake {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The reason.
    pub message: String,
}

impl Expressions {
    /// Returns the expressions that are set, with their keys.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [("when", &self.when), ("until", &self.until), ("map", &self.map)];
        all.into_iter().filter_map(|(key, text)| Some((key, text.as_deref()?)))
    }

    /// Returns whether none is set.
    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    /// Checks the syntax of all expressions, on a thread of its own, because reading takes as much of the stack as the process that evaluates
    /// has. An error has the key, and the place of the mistake.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if self.until.is_some() && self.when.is_none() {
            return Err(("until", "needs when".into()));
        }
        let compile_all = || {
            self.all().try_for_each(|(key, text)| match compile(text) {
                Ok(_) => Ok(()),
                Err(mistake) => Err((key, mistake.to_string())),
            })
        };
        thread::scope(|scope| {
            let checked = thread::Builder::new().stack_size(limits::STACK).spawn_scoped(scope, compile_all);
            let checked = checked.map_err(|error| error.to_string())?;
            checked.join().map_err(|_| "cannot be read".to_owned())
        })
        .map_err(|error| ("when", error))?
    }
}

/// Compiles an expression.
pub fn compile(text: &str) -> Result<Filter, Mistake> {
    let mistake = |part: &str, message: String| Mistake { message, ..place(text, part) };
    if text.len() > limits::EXPRESSION {
        return Err(mistake(text, format!("an expression has at most {} bytes", limits::EXPRESSION)));
    }
    let own = load::parse(DEFINITIONS, |parser| parser.defs()).unwrap_or_default();
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()).chain(own);
    let loader = Loader::new(definitions.filter(|definition| !REMOVED.contains(&definition.name)));
    let arena = Arena::default();
    let modules = loader.load(&arena, File { code: text, path: () }).map_err(|errors| {
        let (part, message) =
            errors.first().map_or((text, "is not an expression".into()), |(_, error)| unread(error, text));
        mistake(part, message)
    })?;
    let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
    let functions = functions.filter(|(name, ..)| !REMOVED.contains(name));
    Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
        let first = errors.iter().find_map(|(_, errors)| errors.first());
        first.map_or_else(
            || mistake(text, "cannot be compiled".into()),
            |(name, kind)| mistake(name, missing(name, kind)),
        )
    })
}

fn missing(name: &str, kind: &Undefined) -> String {
    match kind {
        Undefined::Filter(arguments) => format!("there is no filter {name}/{arguments}"),
        _ => format!("there is no {} {name}", kind.as_str()),
    }
}

/// Returns the part of `text` where reading failed, and the reason.
fn unread<'t>(error: &load::Error<&'t str>, text: &'t str) -> (&'t str, String) {
    let end = &text[text.len()..];
    match error {
        load::Error::Io(errors) => errors
            .first()
            .map_or((text, String::new()), |(part, _)| (*part, "modules cannot be loaded".into())),
        load::Error::Lex(errors) => errors.first().map_or((end, String::new()), |(expected, part)| {
            let expected = match expected {
                lex::Expect::Delim(_) => format!("the {} is missing", expected.as_str()),
                _ => format!("expected a {}", expected.as_str()),
            };
            (*part, expected)
        }),
        load::Error::Parse(errors) => errors.first().map_or((end, String::new()), |(expected, part)| {
            let found = if part.is_empty() {
                "the expression ends".into()
            } else {
                format!("found {:?}", first_of(part))
            };
            (*part, format!("expected {}, but {found}", expected.as_str()))
        }),
    }
}

/// Returns at most 20 characters of `part`.
fn first_of(part: &str) -> &str {
    part.char_indices().nth(20).map_or(part, |(end, _)| &part[..end])
}

/// Returns the place of `part` in `text`.
fn place(text: &str, part: &str) -> Mistake {
    // A definition of the standard library is no part of the text.
    let offset =
        (part.as_ptr().addr()).checked_sub(text.as_ptr().addr()).filter(|offset| *offset <= text.len());
    let before = text.get(..offset.unwrap_or(0)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    Mistake { line, column, message: String::new() }
}
