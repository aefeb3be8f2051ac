//! Builds the C side of a layout.

use super::{
    Prefix, SUPPORT,
    alternative::{alternative, word},
    initial::initial,
    names::{Scope, capitals, member, type_word},
    number::Count,
    place::Place,
    plan::{self, Alternative, Array, Choice, Content, Fault, Pattern, Plan, Slot, SlotKind, Struct, Tuple},
    union::disjoint,
};
use dunnage_packed::{ArrayNode, Layout, Node, Number, Shape};
use dunnage_pson::Value;
use dunnage_schema::{Segment, Text, Type};
use std::collections::BTreeSet;

/// Maximum number of elements of an array, characters of a text, and segments of a pattern.
const MAX_COUNT: u32 = 16_383;

/// Plans the C side of a plain layout. All names begin with `library`; those of modes 1 and 2 are reserved if there are `modes`. Errors:
/// the parts that C cannot represent.
pub(super) fn plan(layout: &Layout, library: &Prefix, modes: bool) -> Result<Plan, Vec<Fault>> {
    let mut faults = layout.open_parts();
    if !faults.is_empty() {
        return Err(faults);
    }
    let name = format!("{library}{}", type_word(layout.name()));
    let prefix = capitals(&name);
    let mut builder = Builder::new(layout, &name, &prefix);
    if modes {
        builder.reserve_modes(&name);
    }
    let at = Place { path: String::new(), stem: prefix.clone(), kind_name: name.clone() };
    let root = builder.message(layout.model().root(), layout.root(), &at);
    faults.append(&mut builder.faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    let Builder { fields, patterns, .. } = builder;
    Ok(Plan { name, prefix, root, fields, patterns })
}

struct Builder<'l> {
    layout: &'l Layout,
    prefix: String,
    macros: Scope,
    types: Scope,
    fields: Vec<(String, String)>,
    patterns: Vec<Vec<Segment>>,
    faults: Vec<Fault>,
}

impl<'l> Builder<'l> {
    fn new(layout: &'l Layout, name: &str, prefix: &str) -> Builder<'l> {
        let (mut macros, mut types) = (Scope::default(), Scope::default());
        for word in support_names() {
            macros.claim(word, &[]);
        }
        for word in [
            "H",
            "MAX_SIZE",
            "MIN_SIZE",
            "SLOT",
            "FINGERPRINT",
            "CHECK_SIZE",
            "INIT",
            "FIELD_MESSAGE",
            "LINK_LIMIT",
        ] {
            macros.claim(&format!("{prefix}_{word}"), &[]);
        }
        types.claim(name, &["_encode", "_decode", "_field", "_field_name", "_fits_link"]);
        Builder {
            layout,
            prefix: prefix.to_owned(),
            macros,
            types,
            fields: vec![(format!("{prefix}_FIELD_MESSAGE"), String::new())],
            patterns: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Reserves the names of modes 1 and 2.
    fn reserve_modes(&mut self, name: &str) {
        for word in ["RECORD_SIZE", "STATE_SIZE", "PENDING"] {
            self.macros.claim(&format!("{}_{word}", self.prefix), &[]);
        }
        let functions =
            ["_state", "_encode_fit", "_encode_prior", "_send", "_acked", "_acked_last", "_forget", "_write"];
        functions.iter().for_each(|ending| drop(self.types.claim(&format!("{name}{ending}"), &[])));
    }

    fn message(&mut self, kind: &Type, node: &Node, at: &Place) -> Struct {
        let name = at.kind_name.clone();
        if let (Type::Object(_), Shape::Object(_)) = (kind.unchecked(), &node.shape) {
            return Struct { name, content: self.object(kind, node, at) };
        }
        let mut scope = Scope::default();
        let inner = at.inner("value", "value", &mut self.macros);
        let slot = self.slot(kind, node, "value", &inner, 0, &mut scope);
        Struct { name, content: Content::Value(Box::new(slot)) }
    }

    fn object(&mut self, kind: &Type, node: &Node, at: &Place) -> Content {
        let (Type::Object(kind), Shape::Object(object)) = (kind.unchecked(), &node.shape) else {
            return Content::Object(Vec::new());
        };
        let mut scope = Scope::default();
        let mut fields = Vec::new();
        for (kind, field) in kind.fields.iter().zip(&object.fields) {
            let stem = member(&field.name);
            let name = scope.claim(&stem, if field.optional { &["_count", "_is_null"] } else { &[] });
            let has =
                field.optional.then(|| scope.claim(&format!("has_{}", name.trim_end_matches('_')), &[]));
            let inner = at.inner(&name, &field.name, &mut self.macros);
            let id = self.field(&inner, &name, at);
            let mut slot = self.slot(&kind.kind, &field.node, &name, &inner, id, &mut scope);
            if let Some(default) = &kind.default.0 {
                set_default(&mut slot, &kind.kind, &field.node, default);
            }
            slot.drop = field.drop;
            if let Some(description) = &field.description {
                slot.notes.insert(0, description.clone());
            }
            fields.push((has, slot));
        }
        Content::Object(fields)
    }

    /// Registers the field at `inner`, in the object at `at`, and returns its number.
    fn field(&mut self, inner: &Place, name: &str, at: &Place) -> usize {
        let stem = at.stem.strip_prefix(&self.prefix).unwrap_or_default();
        let constant = self.macros.claim(&format!("{}_FIELD{stem}_{}", self.prefix, capitals(name)), &[]);
        self.fields.push((constant, inner.path.clone()));
        self.fields.len() - 1
    }

    /// Makes the slot of a member called `name`, whose field has the number `field`.
    fn slot(
        &mut self,
        kind: &Type,
        node: &Node,
        name: &str,
        at: &Place,
        field: usize,
        scope: &mut Scope,
    ) -> Slot {
        let mut unseen = Vec::new();
        let kind = see_through(kind, &mut unseen);
        let mut slot = Slot {
            name: name.to_owned(),
            constant: at.stem.clone(),
            field,
            notes: unseen,
            kind: SlotKind::Nothing,
            initial: String::new(),
            drop: None,
        };
        slot.kind = match (&node.shape, kind) {
            (Shape::Bool, _) => SlotKind::Bool,
            (Shape::Number(number), _) => SlotKind::Number(self.number(number, at)),
            (Shape::Float, Type::Float(float)) => SlotKind::Float(float.min, float.max),
            (Shape::Choice(values), _) => {
                let name = self.types.claim(&at.kind_name, &[]);
                SlotKind::Choice(Choice { name, values: self.constants(values, at) })
            }
            (Shape::Pattern(segments), Type::Text(text)) => self.pattern(segments, text, at),
            (Shape::Text(_), Type::Text(text)) => self.text(text, at, &mut slot.notes),
            (Shape::Array(array), Type::Array(of)) => {
                SlotKind::Array(self.array((array, &of.items), name, at, field, scope))
            }
            (Shape::Nullable(inner), Type::Nullable(of)) => {
                let flag = scope.claim(&format!("{}_is_null", name.trim_end_matches('_')), &[]);
                let inner = self.slot(of, inner, name, at, field, scope);
                SlotKind::Nullable(flag, Box::new(inner))
            }
            (Shape::Union(_), Type::Text(_)) => {
                self.fault(
                    at,
                    "is text of a format with several notations".into(),
                    "give it an anchored pattern of the one that the device writes",
                );
                SlotKind::Nothing
            }
            _ => match self.content(kind, node, at, field) {
                Some(content) => SlotKind::Struct(self.structure(at, content)),
                None => SlotKind::Nothing,
            },
        };
        slot.initial = initial(&slot.kind, kind, node, None);
        slot
    }

    fn array(
        &mut self,
        (array, of): (&ArrayNode, &Type),
        name: &str,
        at: &Place,
        field: usize,
        scope: &mut Scope,
    ) -> Array {
        let max = self.elements(array.max, at);
        let item = self.element(of, &array.item, &at.element(), field);
        let count =
            (array.min < max).then(|| scope.claim(&format!("{}_count", name.trim_end_matches('_')), &[]));
        Array { count, min: array.min, max, item: Box::new(item), series: array.series }
    }

    /// Returns the members of the struct of a node, if it has one.
    fn content(&mut self, kind: &Type, node: &Node, at: &Place, field: usize) -> Option<Content> {
        Some(match (&node.shape, kind) {
            (Shape::Numbers(numbers), _) => {
                let mut scope = Scope::default();
                let part =
                    |(name, part): &(String, Number)| (scope.claim(&member(name), &[]), Count::of(part));
                Content::Numbers(numbers.parts.iter().map(part).collect())
            }
            (Shape::Object(_), Type::Object(_)) => self.object(kind, node, at),
            (Shape::Tuple(tuple), Type::Tuple(of)) => self.tuple(tuple, of, at, field),
            (Shape::Union(nodes), Type::Union(kinds)) => self.union(kinds, nodes, at, field),
            _ => return None,
        })
    }

    fn number(&mut self, number: &Number, at: &Place) -> Count {
        let count = Count::of(number);
        if count.min < count.kind.range().0 || count.max > count.kind.range().1 {
            let fault = format!("is from {} to {}, which no C type holds", number.min, number.max);
            self.fault(at, fault, "add minimum or maximum");
        }
        count
    }

    /// Returns the maximum number of elements, limited to [`MAX_COUNT`].
    fn elements(&mut self, max: Option<u32>, at: &Place) -> u32 {
        self.bounded(max.unwrap_or(u32::MAX), at, "has more elements than C arrays here", "lower maxItems")
    }

    fn structure(&mut self, at: &Place, content: Content) -> Struct {
        let endings: &[&str] = if matches!(content, Content::Union(_)) { &["_tag"] } else { &[] };
        Struct { name: self.types.claim(&at.kind_name, endings), content }
    }

    /// Makes the slot of an element of an array or a union: it has exactly one member, or none.
    fn element(&mut self, kind: &Type, node: &Node, at: &Place, field: usize) -> Slot {
        let mut scope = Scope::default();
        let slot = self.slot(kind, node, "value", at, field, &mut scope);
        if slot.kind.is_single() || matches!(slot.kind, SlotKind::Nothing) {
            return Slot { name: String::new(), ..slot };
        }
        let (constant, notes) = (slot.constant.clone(), Vec::new());
        let kind = SlotKind::Struct(self.structure(at, Content::Value(Box::new(slot))));
        Slot { name: String::new(), constant, field, notes, kind, initial: String::new(), drop: None }
    }

    fn tuple(
        &mut self,
        tuple: &dunnage_packed::TupleNode,
        of: &dunnage_schema::Tuple,
        at: &Place,
        field: usize,
    ) -> Content {
        let first = tuple.items.len() as u32;
        let max = self.elements(tuple.max, at);
        let mut scope = Scope::default();
        let count = (tuple.min < max).then(|| scope.claim("count", &[]));
        let mut items = Vec::new();
        for (i, (kind, item)) in of.items.iter().zip(&tuple.items).enumerate().take(max as usize) {
            let name = scope.claim(&format!("item_{i}"), &["_count", "_is_null"]);
            let inner = at.inner(&name, &i.to_string(), &mut self.macros);
            let slot = self.element(kind, item, &inner, field);
            items.push(Slot { name, ..slot });
        }
        let rest = match (&of.rest, &tuple.rest) {
            (Some(kind), Some(rest)) if max > first => {
                let inner = at.inner("rest", "", &mut self.macros);
                Some(("rest".to_owned(), Box::new(self.element(kind, rest, &inner, field))))
            }
            _ => None,
        };
        Content::Tuple(Tuple { count, min: tuple.min, max, items, rest })
    }

    fn union(&mut self, kinds: &[Type], nodes: &[Node], at: &Place, field: usize) -> Content {
        let mut scope = Scope::default();
        let mut alternatives = Vec::new();
        for (i, (kind, node)) in kinds.iter().zip(nodes).enumerate() {
            if let Some(earlier) = nodes[..i].iter().position(|other| !disjoint(self.layout, other, node)) {
                let fault = format!("has types {} and {} that a value may have both", earlier + 1, i + 1);
                self.fault(at, fault, "make the types of anyOf exclude each other, as different const do");
            }
            let name = scope.claim(&alternative(kind, kinds), &[]);
            let inner = at.inner(&name, "", &mut self.macros);
            let slot = self.element(kind, node, &inner, field);
            let tag = self.macros.claim(&format!("{}_IS_{}", at.stem, capitals(&name)), &[]);
            alternatives.push(Alternative { tag, slot: Slot { name, ..slot } });
        }
        Content::Union(alternatives)
    }

    /// Names the constants of an enumeration.
    fn constants(&mut self, values: &[Value], at: &Place) -> Vec<String> {
        let mut named =
            |(i, value): (usize, &Value)| self.macros.claim(&format!("{}_{}", at.stem, word(value, i)), &[]);
        values.iter().enumerate().map(&mut named).collect()
    }

    fn pattern(&mut self, segments: &[Segment], text: &Text, at: &Place) -> SlotKind {
        if segments.iter().any(|s| s.chars.iter().any(|c| !c.is_ascii())) {
            self.fault(
                at,
                "has a pattern with characters beyond ASCII".into(),
                "write another pattern, or maxLength without one",
            );
        }
        if segments.iter().any(|s| s.chars.contains(&'\0')) {
            self.fault(at, "has a pattern that allows U+0000".into(), "exclude it: C text ends there");
        }
        let sum = |of: fn(&Segment) -> u32| segments.iter().fold(0u32, |sum, s| sum.saturating_add(of(s)));
        let (shortest, longest) = (sum(|s| s.min), sum(|s| s.max));
        let longest =
            self.bounded(longest, at, "is longer than C texts here", "lower the counts of its pattern");
        let lengths = (text.min_length.max(shortest), text.max_length.unwrap_or(longest).min(longest));
        let index = self.patterns.iter().position(|known| known == segments).unwrap_or_else(|| {
            self.patterns.push(segments.to_vec());
            self.patterns.len() - 1
        });
        SlotKind::Pattern(Pattern {
            index,
            longest,
            lengths: (lengths != (shortest, longest)).then_some(lengths),
        })
    }

    fn text(&mut self, text: &Text, at: &Place, notes: &mut Vec<String>) -> SlotKind {
        if let Some(pattern) = &text.pattern {
            notes.push(format!("Not checked here: pattern {}", pattern.source));
        }
        if let Some(format) = text.asserted_format() {
            notes.push(format!("Not checked here: format {}", format.name()));
        }
        let max = self.bounded(
            text.max_length.unwrap_or(u32::MAX),
            at,
            "is longer than C texts here",
            "lower maxLength",
        );
        SlotKind::Text(plan::Text { min: text.min_length, max, ascii: text.is_ascii() })
    }

    /// Returns `count` limited to [`MAX_COUNT`], and records a fault if it is larger.
    fn bounded(&mut self, count: u32, at: &Place, fault: &str, remedy: &'static str) -> u32 {
        if count > MAX_COUNT {
            self.fault(at, format!("{fault} ({count}, at most {MAX_COUNT})"), remedy);
        }
        count.min(MAX_COUNT)
    }

    fn fault(&mut self, at: &Place, fault: String, remedy: &'static str) {
        let field = if at.path.is_empty() { "$".to_owned() } else { at.path.clone() };
        self.faults.push(Fault { field, fault, remedy });
    }
}

/// Returns the type without keywords that only restrict it, and adds a note if there are any.
fn see_through<'a>(kind: &'a Type, notes: &mut Vec<String>) -> &'a Type {
    let inner = kind.unchecked();
    if !std::ptr::eq(inner, kind) {
        notes.push("Not checked here: the keywords that only restrict, see the schema".to_owned());
    }
    inner
}

/// Returns the names in capitals that the support header uses.
fn support_names() -> BTreeSet<&'static str> {
    let (_, header) = SUPPORT[0];
    header
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("DUNNAGE_"))
        .collect()
}

/// Initialises the members of the slot with `default`, as far as they can hold it.
fn set_default(slot: &mut Slot, kind: &Type, node: &Node, default: &Value) {
    let kind = kind.unchecked();
    slot.initial = initial(&slot.kind, kind, node, Some(default));
    if let (SlotKind::Nullable(_, inner), Type::Nullable(kind), Shape::Nullable(node)) =
        (&mut slot.kind, kind, &node.shape)
    {
        set_default(inner, kind, node, default);
    }
}
