//! Random schemas: JSON Schema texts with the keywords of `spec/schema.md`.

mod members;
mod scalars;
mod structure;

use crate::Random;
use dunnage_packed::Layout;
use dunnage_schema::Model;
use members::{Members, quoted};
pub(crate) use scalars::LOOSE;

/// The kind of schemas to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Schemas with a plain packed layout: every part is bounded.
    Plain,
    /// Schemas that may have unbounded text, arrays and objects, and may be recursive.
    Open,
}

/// Generates the text of a schema that compiles and whose layout is within `scope`.
pub fn schema(random: &mut Random, scope: Scope) -> String {
    loop {
        let mut maker =
            Maker { random: &mut *random, scope, definitions: Vec::new(), known: 0, recursive: false };
        let text = maker.whole();
        if let Ok(model) = Model::compile(&text)
            && (scope == Scope::Open || Layout::new(&model).expect("a layout").is_plain())
        {
            return text;
        }
    }
}

struct Maker<'a> {
    random: &'a mut Random,
    scope: Scope,
    /// Schemas in `$defs`, the targets of `$ref`.
    definitions: Vec<String>,
    /// The number of values that the receiver knows (`x-dunnage-known`).
    known: usize,
    /// Whether the schema refers to itself.
    recursive: bool,
}

impl Maker<'_> {
    fn whole(&mut self) -> String {
        for _ in 0..self.random.below(3) {
            let definition = self.scalar();
            self.definitions.push(definition);
        }
        let slot = 1 + self.random.below(63);
        let mut members = match self.random.below(8) {
            0 => Members(vec![("anyOf", format!("[{}]", self.any_kind(2)))]),
            _ => self.object_members(3, true),
        };
        members.0.insert(0, ("title", quoted("Random message")));
        members = members.with("x-dunnage-slot", slot);
        if self.random.once_in(3) {
            members = members.with("x-dunnage-check", 1 + self.random.below(2));
        }
        if !self.definitions.is_empty() {
            let named: Vec<String> = self
                .definitions
                .iter()
                .enumerate()
                .map(|(i, text)| format!("{}:{text}", quoted(&name(i))))
                .collect();
            members = members.with("$defs", format!("{{{}}}", named.join(",")));
        }
        members.object()
    }

    /// A schema of any kind, nested at most `depth` levels deep.
    fn any_kind(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.below(3) > 0 {
            return self.scalar();
        }
        let depth = depth - 1;
        match self.random.below(8) {
            0 | 1 => self.object_members(depth, false).object(),
            2 | 3 => self.array(depth),
            4 => self.tuple(depth),
            5 => self.nullable(depth),
            6 => self.union(depth),
            _ if self.is_open() && self.random.once_in(2) => {
                self.recursive = true;
                r##"{"anyOf":[{"$ref":"#"},{"type":"null"}]}"##.to_owned()
            }
            _ => self.nullable(depth),
        }
    }

    fn is_open(&self) -> bool {
        self.scope == Scope::Open
    }
}

fn name(at: usize) -> String {
    format!("part{at}")
}
