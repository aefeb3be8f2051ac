//! Translates the keywords that only restrict values to functions of the runtime.

use super::{
    expression::{Emitter, most},
    literal, regexp,
    runtime::Piece,
};
use dunnage_packed::{Node, Shape};
use dunnage_schema::{Assertion, Checked, Text, Type};

impl Emitter<'_> {
    /// Wraps `codec` in the checks that the encoding of the text does not imply.
    pub fn text(&mut self, text: &Text, node: &Node, codec: String) -> String {
        let mut checks = Vec::new();
        match (&node.shape, &text.pattern) {
            (Shape::Pattern(segments), _) => {
                let sum = |bound: fn(&dunnage_schema::Segment) -> u32| -> u64 {
                    segments.iter().map(|segment| u64::from(bound(segment))).sum()
                };
                let told = sum(|s| s.min) >= text.min_length.into()
                    && text.max_length.is_none_or(|max| sum(|s| s.max) <= max.into());
                if !told {
                    checks.push(
                        self.call(Piece::Lengths, &[text.min_length.to_string(), most(text.max_length)]),
                    );
                }
            }
            (_, Some(pattern)) => match regexp::literal(pattern.translated()) {
                Some(expression) => checks.push(self.call(Piece::Matches, &[expression])),
                None => self
                    .refuse("has a pattern that JavaScript does not have", "write it without \\B or flags"),
            },
            _ => {}
        }
        if let Some(format) = text.asserted_format() {
            checks.push(self.call(Piece::Format, &[literal::string(format.name())]));
        }
        if checks.is_empty() {
            return codec;
        }
        self.call(Piece::Checked, &[codec, format!("[{}]", checks.join(", "))])
    }

    /// Returns the functions for the keywords beside a type.
    pub fn keywords(&mut self, checked: &Checked, depth: usize) -> Vec<String> {
        self.used.insert(Piece::Keywords);
        checked
            .assertions
            .iter()
            .flat_map(|assertion| self.keyword(assertion, &checked.kind, depth))
            .collect()
    }

    fn keyword(&mut self, assertion: &Assertion, kind: &Type, depth: usize) -> Vec<String> {
        vec![match assertion {
            Assertion::AllOf(kinds) => self.list("allOf", kinds, depth),
            Assertion::AnyOf(kinds) => self.list("anyOf", kinds, depth),
            Assertion::OneOf(kinds) => self.list("oneOf", kinds, depth),
            Assertion::OneMember if kind.members().is_empty() => return Vec::new(),
            Assertion::OneMember => self.list("oneOf", kind.members(), depth),
            Assertion::Not(kind) => format!("not({})", self.unlaid(kind, depth)),
            Assertion::If(condition) => {
                let test = self.unlaid(&condition.test, depth);
                let mut branch = |kind: &Option<Type>| {
                    kind.as_ref().map_or("null".to_owned(), |kind| self.unlaid(kind, depth))
                };
                let (then, otherwise) = (branch(&condition.then), branch(&condition.otherwise));
                format!("when({test}, {then}, {otherwise})")
            }
            Assertion::UniqueItems => "unique".to_owned(),
            Assertion::Contains { kind, min, max } => {
                format!("contains({}, {min}, {})", self.unlaid(kind, depth), most(*max))
            }
            Assertion::Properties { min, max } => format!("properties({min}, {})", most(*max)),
            Assertion::PropertyNames(kind) => format!("propertyNames({})", self.unlaid(kind, depth)),
            Assertion::DependentRequired(names) => {
                let one = |(name, others): &(String, Vec<String>)| {
                    format!("dependentRequired({}, [{}])", literal::string(name), strings(others))
                };
                return names.iter().map(one).collect();
            }
            Assertion::DependentSchemas(kinds) => {
                let mut one = |(name, kind): &(String, Type)| {
                    format!("dependentSchemas({}, {})", literal::string(name), self.unlaid(kind, depth))
                };
                return kinds.iter().map(&mut one).collect();
            }
            Assertion::Absent(names) => format!("absent([{}])", strings(names)),
            Assertion::Others { .. } => {
                self.refuse(
                    "has properties that a pattern of their names decides on",
                    "list them under properties",
                );
                return Vec::new();
            }
        }]
    }

    fn list(&mut self, function: &str, kinds: &[Type], depth: usize) -> String {
        let codecs: Vec<_> = kinds.iter().map(|kind| self.unlaid(kind, depth)).collect();
        format!("{function}([{}])", codecs.join(", "))
    }
}

fn strings(texts: &[String]) -> String {
    texts.iter().map(|text| literal::string(text)).collect::<Vec<_>>().join(", ")
}
