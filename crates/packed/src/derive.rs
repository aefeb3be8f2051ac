//! Derives the tree of nodes from a model, and decides whether their bits alone make a message valid.

use crate::node::{
    ArrayNode, FieldNode, Node, Number, NumbersNode, ObjectNode, Shape, Source, TextNode, TupleNode, is_exact,
};
use crate::notation::{Notations, notations};
use dunnage_schema::{Decimal, Model, NumberText, Segment, Text, TextFormat, Type};

/// Returns the tree of the message, and the trees of the definitions in the order of their first use.
pub(crate) fn derive(model: &Model) -> (Node, Vec<Node>) {
    let mut derivation = Derivation { next: 0, used: Vec::new() };
    let root = derivation.node(model.root());
    let mut definitions = Vec::new();
    // A definition may be the first to use others, which are then appended.
    while let Some(kind) = derivation.used.get(definitions.len()).and_then(|&at| model.definitions().get(at))
    {
        definitions.push(derivation.node(kind));
    }
    (root, definitions)
}

struct Derivation {
    /// The number of the next node.
    next: u32,
    /// The indices of the model's definitions, in the order of their first use.
    used: Vec<usize>,
}

impl Derivation {
    fn id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn node(&mut self, kind: &Type) -> Node {
        Node { id: self.id(), shape: self.shape(kind) }
    }

    fn boxed(&mut self, kind: &Type) -> Box<Node> {
        Box::new(self.node(kind))
    }

    fn shape(&mut self, kind: &Type) -> Shape {
        match kind {
            Type::Any => Shape::Any,
            Type::Null => Shape::Constant(dunnage_pson::Value::Null),
            Type::Const(value) => Shape::Constant(value.clone()),
            Type::Bool => Shape::Bool,
            Type::Integer(n) => Shape::Number(Box::new(
                Number::new((n.min, n.max, n.step), n.usual, Source::Integer)
                    .growing(n.every)
                    .changing(n.changes.map(|changes| changes as f64 / n.step as f64)),
            )),
            Type::Decimal(decimal) => {
                Shape::Number(Box::new(number(decimal, Source::Decimal(decimal.clone()))))
            }
            Type::NumberText(text) => Shape::Number(Box::new(number_text(text))),
            Type::TimeText(time) => {
                let (min, max) = time.range();
                Shape::Number(Box::new(
                    Number::new((min, max, 1), None, Source::Time(time.clone())).growing(time.every),
                ))
            }
            Type::NumbersText(text) => Shape::Numbers(NumbersNode {
                separator: text.separator.clone(),
                parts: text.parts.iter().map(|(name, part)| (name.clone(), number_text(part))).collect(),
            }),
            Type::Float(_) => Shape::Float,
            Type::Enum(values) => Shape::Choice(values.clone()),
            Type::Text(text) => match text.pattern.as_ref().and_then(|p| p.segments.as_ref()) {
                Some(segments) if is_exact(segments) => Shape::Pattern(segments.clone()),
                _ => self.text(text),
            },
            Type::Array(array) => Shape::Array(ArrayNode {
                item: self.boxed(&array.items),
                min: array.min,
                max: array.max,
                series: array.series,
            }),
            Type::Tuple(tuple) => Shape::Tuple(TupleNode {
                items: tuple.items.iter().map(|item| self.node(item)).collect(),
                rest: tuple.rest.as_ref().map(|rest| self.boxed(rest)),
                min: tuple.min,
                max: tuple.max,
            }),
            Type::Object(object) => self.object(object),
            Type::Nullable(inner) => Shape::Nullable(self.boxed(inner)),
            Type::Union(kinds) => Shape::Union(kinds.iter().map(|kind| self.node(kind)).collect()),
            Type::Definition(at) => {
                let index = self.used.iter().position(|used| used == at).unwrap_or(self.used.len());
                if index == self.used.len() {
                    self.used.push(*at);
                }
                Shape::Definition(index)
            }
            Type::Checked(checked) => self.shape(&checked.kind),
            Type::Known(name, _) => Shape::Known(name.clone()),
        }
    }

    /// Returns the shape of text without an exact pattern. For an asserted format it is the only notation of the format, or a
    /// union of its notations and any other text.
    fn text(&mut self, text: &Text) -> Shape {
        let date_time = text.format == Some(TextFormat::DateTime) && !text.asserts_format;
        let any = Shape::Text(TextNode { min: text.min_length, max: text.max_length, date_time });
        let Some(format) = text.asserted_format() else { return any };
        let Notations { mut shapes, are_all } = notations(format);
        if are_all && shapes.len() == 1 {
            return shapes.remove(0);
        }
        shapes.push(any);
        Shape::Union(shapes.into_iter().map(|shape| Node { id: self.id(), shape }).collect())
    }

    fn object(&mut self, object: &dunnage_schema::Object) -> Shape {
        let field = |field: &dunnage_schema::Field| FieldNode {
            name: field.name.clone(),
            optional: !field.required,
            node: self.node(&field.kind),
            description: field.description.clone(),
            drop: field.drop.0,
        };
        let fields = object.fields.iter().map(field).collect();
        let additional = object.additional.as_ref().map(|kind| self.boxed(kind));
        Shape::Object(ObjectNode { fields, additional })
    }
}

fn number_text(text: &NumberText) -> Number {
    number(&text.number, Source::Text(text.clone()))
}

fn number(decimal: &Decimal, source: Source) -> Number {
    let changes = |step: f64| decimal.changes.map(|changes| changes as f64 / step);
    let Some(quantum) = decimal.quantum else {
        let range = (decimal.min, decimal.max, decimal.step);
        return Number::new(range, decimal.usual, source).changing(changes(decimal.step as f64));
    };
    let (min, max) = decimal.counts();
    let usual = decimal.usual.map(|(first, last)| (decimal.count_near(first), decimal.count_near(last)));
    let unit = 10f64.powi((quantum.places - decimal.places) as i32) * f64::from(quantum.divisor.get());
    Number::new((min, max, 1), usual, source).changing(changes(quantum.mantissa as f64 / unit))
}

/// Returns whether the schema has rules that must be checked in addition to the bits.
pub(crate) fn has_more_than_bits(model: &Model) -> bool {
    !(is_told(model.root()) && model.definitions().iter().all(is_told))
}

fn is_told(kind: &Type) -> bool {
    match kind {
        Type::Any | Type::Null | Type::Bool | Type::Enum(_) | Type::Const(_) | Type::Definition(_) => true,
        Type::Integer(_) | Type::Decimal(_) => true,
        Type::NumberText(_) | Type::NumbersText(_) | Type::TimeText(_) => true,
        Type::Float(float) => float.min.is_none() && float.max.is_none(),
        Type::Text(text) => is_text_told(text),
        Type::Array(array) => is_told(&array.items),
        Type::Tuple(tuple) => tuple.items.iter().chain(tuple.rest.as_deref()).all(is_told),
        Type::Object(object) => {
            object.fields.iter().map(|field| &field.kind).chain(object.additional.as_deref()).all(is_told)
        }
        Type::Nullable(inner) => is_told(inner),
        Type::Union(kinds) => kinds.iter().all(is_told),
        Type::Checked(_) | Type::Known(_, _) => false,
    }
}

fn is_text_told(text: &Text) -> bool {
    let Some(pattern) = &text.pattern else { return text.asserted_format().is_none() };
    let Some(segments) = pattern.segments.as_deref().filter(|segments| is_exact(segments)) else {
        return false;
    };
    let length = |bound: fn(&Segment) -> u32| -> u64 {
        segments.iter().map(|segment| u64::from(bound(segment))).sum()
    };
    let fits = text.max_length.is_none_or(|max| length(|segment| segment.max) <= max.into());
    text.asserted_format().is_none() && fits && length(|segment| segment.min) >= text.min_length.into()
}
