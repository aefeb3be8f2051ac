//! Translates the schema to an expression of the runtime's codecs.

use super::{literal, literal::MAX_EXACT, runtime::Piece, tables::Tables};
use dunnage_packed::{
    Layout, Node, Number, ObjectNode, OpenPart, Shape, Source, TrainedLeaves, pattern_pieces,
};
use dunnage_schema::{Decimal, Float, Model, NumberText, TimeText, Type};
use std::collections::BTreeSet;

/// Scaled numbers up to this one map to distinct binary64 values, with room for the rounding of a product.
const MAX_SCALED: i128 = 1 << 50;

/// Translates a schema, and collects what it needs.
#[derive(Default)]
pub(super) struct Emitter<'a> {
    /// The pieces that the expression calls.
    pub used: BTreeSet<Piece>,
    /// The parts that JavaScript cannot represent.
    pub refused: Vec<OpenPart>,
    /// The keys that lead to the current value.
    path: Vec<String>,
    /// Whether values are only checked, so that they need no bits.
    checking: bool,
    /// The statistics, if the schema has any.
    pub tables: Option<Tables<'a>>,
    /// The node at hand, and which of the numbers in its text, for its leaves.
    place: (u32, usize),
}

impl<'a> Emitter<'a> {
    /// Creates an emitter of the codec of `layout`.
    pub fn new(layout: &'a Layout) -> Emitter<'a> {
        Emitter { tables: Tables::of(layout), ..Emitter::default() }
    }

    /// Returns the expression for the whole message.
    pub fn message(&mut self, layout: &Layout) -> String {
        let root = layout.model().root();
        if !is_object(root) {
            self.refuse("is not an object, which a codec's data is", "put it into an object");
        }
        self.codec(root, layout.root(), 0)
    }

    /// Returns the codec for values of `kind` with the layout `node`. `depth` is the nesting level of its lines.
    fn codec(&mut self, kind: &Type, node: &Node, depth: usize) -> String {
        let id = node.id;
        match (kind, &node.shape) {
            (Type::Checked(checked), _) => {
                let codec = self.codec(&checked.kind, node, depth);
                let keywords = self.keywords(checked, depth);
                self.call(Piece::Checked, &[codec, format!("[{}]", keywords.join(", "))])
            }
            (Type::Nullable(inner), Shape::Nullable(node)) => {
                let codec = self.codec(inner, node, depth);
                let codec = self.call(Piece::Nullable, &[codec]);
                self.at(codec, |trained| trained.nullable(id))
            }
            (Type::Union(kinds), Shape::Union(nodes)) => {
                let codecs = kinds.iter().zip(nodes);
                let codecs: Vec<_> = codecs.map(|(kind, node)| self.codec(kind, node, depth + 1)).collect();
                let codec = self.call(Piece::Union, &[list(&codecs, depth)]);
                self.at(codec, |trained| trained.form(id))
            }
            (Type::Array(array), Shape::Array(node)) => {
                self.path.push("[]".to_owned());
                let item = self.codec(&array.items, &node.item, depth);
                self.path.pop();
                let codec = self.array(&[], Some(item), array.min, array.max);
                self.at(codec, |trained| trained.count(id, 0))
            }
            (Type::Tuple(tuple), Shape::Tuple(node)) => {
                self.path.push("[]".to_owned());
                let items = tuple.items.iter().zip(&node.items);
                let items: Vec<_> = items.map(|(kind, node)| self.codec(kind, node, depth)).collect();
                let rest = tuple.rest.as_ref().zip(node.rest.as_ref());
                let rest = rest.map(|(kind, node)| self.codec(kind, node, depth));
                self.path.pop();
                let codec = self.array(&items, rest, tuple.min, tuple.max);
                self.at(codec, |trained| trained.count(id, 0))
            }
            (Type::Object(object), Shape::Object(node)) => self.object(object, node, depth),
            (Type::Known(name, inner), _) => {
                let codec = self.unlaid(inner, depth);
                self.call(Piece::Known, &[codec, literal::string(super::known_noun(name))])
            }
            _ => self.leaf(kind, node),
        }
    }

    /// Returns a codec that only checks values, for a type that is never on the wire.
    pub fn unlaid(&mut self, kind: &Type, depth: usize) -> String {
        let model = Model::of_types(kind.clone(), Vec::new());
        let before = std::mem::replace(&mut self.checking, true);
        let codec = self.codec(kind, Layout::untrained(&model).root(), depth);
        self.checking = before;
        codec
    }

    fn leaf(&mut self, kind: &Type, node: &Node) -> String {
        let id = node.id;
        self.place = (id, 0);
        match (kind, &node.shape) {
            (_, Shape::Constant(value)) => self.choice(std::slice::from_ref(value)),
            (_, Shape::Choice(values)) => {
                let codec = self.choice(values);
                self.at(codec, |trained| trained.value(id, 0))
            }
            (Type::Bool, _) => {
                self.used.insert(Piece::Bool);
                self.at("bool".to_owned(), |trained| trained.value(id, 0))
            }
            (Type::Integer(_), Shape::Number(number)) => {
                let numbers = self.numbers(number, number.min, number.max);
                self.call(Piece::Integer, &[numbers])
            }
            (Type::Decimal(decimal), Shape::Number(number)) => {
                let largest = decimal.max.max(-decimal.min);
                if self.checking && decimal.round {
                    self.refuse("rounds numbers that are only checked", "remove x-dunnage-round there");
                }
                if !self.checking && decimal.places > 0 && largest > MAX_SCALED {
                    self.refuse(
                        "has more digits than JavaScript tells apart",
                        "give it minimum and maximum within 15 digits",
                    );
                }
                let numbers = self.scaled(decimal, number);
                self.call(Piece::Decimal, &[numbers, decimal.places.to_string()])
            }
            (Type::NumberText(text), Shape::Number(number)) => self.digits(text, number),
            (Type::NumbersText(_), _) => self.notation(node),
            (Type::TimeText(time), Shape::Number(number)) => self.time(time, number),
            (Type::Float(float), _) => {
                let codec = self.float(float);
                self.at_each(codec, |trained| vec![trained.form(id), trained.sign(id, 0), trained.places(id)])
            }
            (Type::Text(text), _) => {
                let codec = self.notation(node);
                self.text(text, node, codec)
            }
            (Type::Any, _) if self.checking => {
                self.used.insert(Piece::Keywords);
                "anything".to_owned()
            }
            // A plain layout has none of the other types, but a type that is only checked may refer to itself.
            _ => {
                self.refuse(
                    "is checked against a schema that refers to itself",
                    "write the levels out that there are",
                );
                String::new()
            }
        }
    }

    /// Returns the codec of a text's notation, or of several notations if its format has several.
    fn notation(&mut self, node: &Node) -> String {
        let id = node.id;
        self.place = (id, 0);
        match &node.shape {
            Shape::Pattern(segments) => {
                let literals = segments.iter().map(|s| {
                    let characters: String = s.chars.iter().collect();
                    format!("[{}, {}, {}]", literal::string(&characters), s.min, s.max)
                });
                let literals = format!("[{}]", literals.collect::<Vec<_>>().join(", "));
                let codec = self.call(Piece::Pattern, &[literals]);
                self.at_each(codec, |trained| {
                    let counts = segments.iter().enumerate().filter(|(_, segment)| segment.min < segment.max);
                    let pieces = (0..pattern_pieces(segments).len()).map(|nth| trained.value(id, nth));
                    counts.map(|(nth, _)| trained.count(id, nth)).chain(pieces).collect()
                })
            }
            Shape::Text(laid) => self.call(Piece::Text, &[laid.min.to_string(), most(laid.max)]),
            Shape::Numbers(numbers) => {
                let parts = numbers.parts.iter().enumerate().filter_map(|(nth, (_, number))| {
                    self.place = (id, nth);
                    match &number.source {
                        Source::Text(text) => Some(self.digits(text, number)),
                        _ => None,
                    }
                });
                let parts = format!("[{}]", parts.collect::<Vec<_>>().join(", "));
                self.call(Piece::Numbers, &[literal::string(&numbers.separator), parts])
            }
            Shape::Union(nodes) => {
                let codecs: Vec<_> = nodes.iter().map(|node| self.notation(node)).collect();
                let codec = self.call(Piece::Union, &[format!("[{}]", codecs.join(", "))]);
                self.at(codec, |trained| trained.form(id))
            }
            _ => String::new(),
        }
    }

    fn object(&mut self, object: &dunnage_schema::Object, node: &ObjectNode, depth: usize) -> String {
        let mut fields = Vec::new();
        for (field, laid) in object.fields.iter().zip(&node.fields) {
            self.path.push(field.name.clone());
            let mut codec = self.codec(&field.kind, &laid.node, depth + 1);
            if laid.optional {
                codec = self.optional(laid.node.id, &codec);
            }
            self.path.pop();
            fields.push(format!("[{}, {codec}]", literal::string(&field.name)));
        }
        if !literal::in_order(object.fields.iter().map(|field| field.name.as_str())) {
            self.refuse(
                "has properties named by whole numbers, which JavaScript puts first",
                "put them first, in ascending order",
            );
        }
        let mut arguments = vec![list(&fields, depth)];
        if let Some((kind, node)) = object.additional.as_ref().zip(node.additional.as_ref()) {
            arguments.push(self.codec(kind, node, depth));
        }
        self.call(Piece::Object, &arguments)
    }

    fn choice(&mut self, values: &[dunnage_pson::Value]) -> String {
        let list = literal::list(values);
        if list.is_none() {
            self.refuse(
                "has a value that JavaScript does not hold: a number beyond 2^53 - 1, or properties named by whole numbers that are not first",
                "write it as text",
            );
        }
        self.call(Piece::Choice, &[list.unwrap_or_default()])
    }

    fn array(&mut self, items: &[String], rest: Option<String>, min: u32, max: Option<u32>) -> String {
        let items = format!("[{}]", items.join(", "));
        let rest = rest.unwrap_or_else(|| "null".to_owned());
        self.call(Piece::Array, &[items, rest, min.to_string(), most(max)])
    }

    fn digits(&mut self, text: &NumberText, number: &Number) -> String {
        let numbers = self.scaled(&text.number, number);
        self.call(Piece::Digits, &[numbers, text.digits.max(1).to_string(), text.number.places.to_string()])
    }

    fn time(&mut self, time: &TimeText, number: &Number) -> String {
        let numbers = self.numbers(number, number.min, number.max);
        let pieces: Vec<_> =
            time.notation.iter().map(|part| literal::string(&part.write(time.places))).collect();
        let notation = format!("[{}]", pieces.join(", "));
        self.call(Piece::Time, &[numbers, notation, time.epoch.to_string(), time.places.to_string()])
    }

    fn float(&mut self, float: &Float) -> String {
        let min = float.min.map_or("-Infinity".to_owned(), |f| format!("{f:?}"));
        let max = float.max.map_or("Infinity".to_owned(), |f| format!("{f:?}"));
        self.used.insert(Piece::Number);
        self.call(Piece::Float, &[min, max])
    }

    /// Returns the numbers of a decimal: counts of its step or of its quantum.
    fn scaled(&mut self, decimal: &Decimal, number: &Number) -> String {
        let numbers = self.numbers(number, decimal.min, decimal.max);
        let Some(quantum) = &decimal.quantum else { return numbers };
        let unit = 10i128.pow(quantum.places - decimal.places) * i128::from(quantum.divisor.get());
        let base = i128::from(quantum.offset) * i128::from(quantum.divisor.get());
        let most = decimal.max.max(-decimal.min).saturating_mul(unit);
        let largest = most.saturating_add(2 * base.abs() + i128::from(quantum.mantissa) + unit);
        if largest > MAX_EXACT {
            self.refuse(
                "has a quantum of too many digits for its range",
                "give the quantum fewer decimals, or narrow the range",
            );
        }
        self.call(
            Piece::Quantum,
            &[numbers, quantum.mantissa.to_string(), unit.to_string(), base.to_string()],
        )
    }

    /// Returns the integers on the wire, which represent values from `min` to `max`.
    fn numbers(&mut self, number: &Number, min: i128, max: i128) -> String {
        let span = max - min > MAX_EXACT || number.max - number.min > MAX_EXACT;
        if !self.checking && (max > MAX_EXACT || min < -MAX_EXACT || span) {
            self.refuse(
                "has numbers beyond 2^53 - 1, which JavaScript does not hold",
                "give it a narrower minimum and maximum, a coarser step, or until",
            );
        }
        let Number { min, max, step, usual, .. } = number;
        let all = self.call(Piece::Number, &[min.to_string(), max.to_string(), step.to_string()]);
        let numbers = match usual {
            Some((a, b)) => self.call(Piece::Usual, &[all, a.to_string(), b.to_string(), step.to_string()]),
            None => all,
        };
        let (node, nth) = self.place;
        self.at(numbers, |trained| trained.value(node, nth))
    }

    /// Returns the codec with the leaf of its first index, if there are statistics about it.
    fn at(&self, codec: String, leaf: impl FnOnce(&TrainedLeaves<'_>) -> Option<usize>) -> String {
        let Some(tables) = self.tables.as_ref().filter(|_| !self.checking) else { return codec };
        let leaf = leaf(&tables.trained);
        match (tables.number(leaf), tables.every(leaf)) {
            (Some(number), Some(every)) => format!("at({number}, {codec}, {every})"),
            (Some(number), None) => format!("at({number}, {codec})"),
            (None, _) => codec,
        }
    }

    /// Returns the codec with the leaves of its indexes, if there are statistics about one of them.
    fn at_each(
        &self,
        codec: String,
        leaves: impl FnOnce(&TrainedLeaves<'_>) -> Vec<Option<usize>>,
    ) -> String {
        let Some(tables) = self.tables.as_ref().filter(|_| !self.checking) else { return codec };
        let numbers: Vec<_> = leaves(&tables.trained).into_iter().map(|leaf| tables.number(leaf)).collect();
        if numbers.iter().all(Option::is_none) {
            return codec;
        }
        let text = |number: &Option<usize>| number.map_or("-1".to_owned(), |number| number.to_string());
        format!("at([{}], {codec})", numbers.iter().map(text).collect::<Vec<_>>().join(", "))
    }

    /// Returns the codec of an optional property whose value is of the node `id`.
    fn optional(&self, id: u32, codec: &str) -> String {
        let tables = self.tables.as_ref().filter(|_| !self.checking);
        match tables.and_then(|tables| tables.number(tables.trained.presence(id))) {
            Some(number) => format!("presence({number}, optional({codec}))"),
            None => format!("optional({codec})"),
        }
    }

    pub fn call(&mut self, piece: Piece, arguments: &[String]) -> String {
        self.used.insert(piece);
        format!("{}({})", piece.name(), arguments.join(", "))
    }

    pub fn refuse(&mut self, fault: &str, remedy: &'static str) {
        let field =
            if self.path.is_empty() { "$".to_owned() } else { self.path.join(".").replace(".[]", "[]") };
        // Report only the first reason for a field.
        if self.refused.iter().all(|part| part.field != field) {
            self.refused.push(OpenPart { field, fault: fault.to_owned(), remedy });
        }
    }
}

/// Whether all values of `kind` are objects.
fn is_object(kind: &Type) -> bool {
    match kind.unchecked() {
        Type::Object(_) => true,
        Type::Union(kinds) => kinds.iter().all(is_object),
        Type::Const(value) => matches!(value, dunnage_pson::Value::Map(_)),
        Type::Enum(values) => values.iter().all(|value| matches!(value, dunnage_pson::Value::Map(_))),
        _ => false,
    }
}

/// Formats an optional upper bound.
pub(super) fn most(max: Option<u32>) -> String {
    max.map_or("Infinity".to_owned(), |max| max.to_string())
}

/// Formats a list with one item per line, inside a call at the nesting level `depth`.
fn list(items: &[String], depth: usize) -> String {
    if items.is_empty() {
        return "[]".to_owned();
    }
    let indent = "  ".repeat(depth + 1);
    let items: Vec<_> = items.iter().map(|item| format!("{indent}{item}")).collect();
    format!("[\n{}\n{}]", items.join(",\n"), "  ".repeat(depth))
}
