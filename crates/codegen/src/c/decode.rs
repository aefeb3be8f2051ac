//! Generates the statements that read a message.

use super::{
    number::{Count, Whole, literal, unsigned},
    plan::{Content, Plan, Slot, SlotKind},
};
use dunnage_packed::Form;
use std::fmt::Write as _;

/// The statements that read a message.
pub(super) struct Statements {
    /// Their text.
    pub text: String,
    /// Whether some of them note a value that the schema does not allow in `outside` and `outside_field`. That counts only if the message
    /// has no other fault: what its bits do not rule out is checked when all of them are read.
    pub note_outside: bool,
}

/// Generates the statements for the message's struct, to which `m` points.
pub(super) fn decode(plan: &Plan) -> Statements {
    let mut reader = Reader { plan, out: String::new(), depth: 2, loops: 0, notes_outside: false };
    reader.content(&plan.root.content, "m->", 0);
    Statements { text: reader.out, note_outside: reader.notes_outside }
}

struct Reader<'a> {
    plan: &'a Plan,
    out: String,
    depth: usize,
    /// The number of loops around the current statement.
    loops: usize,
    /// See [`Statements::note_outside`].
    notes_outside: bool,
}

impl Reader<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", self.depth * 4);
    }

    fn open(&mut self, text: &str) {
        self.line(&format!("{text} {{"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// Returns a field number as the support functions accept it: its lower 8 bits. A statement sets `page` to the upper bits if the plan
    /// has pages.
    fn field(&mut self, field: usize) -> String {
        let constant = self.plan.fields[field].0.clone();
        if !self.plan.has_pages() {
            return constant;
        }
        self.line(&format!("if (!r.error) page = {};", field >> 8));
        format!("(uint8_t){constant}")
    }

    /// Reads the content of a struct. `scope` is the prefix of its members, and `field` is the struct's own number.
    fn content(&mut self, content: &Content, scope: &str, field: usize) {
        match content {
            Content::Object(fields) => {
                for (has, slot) in fields {
                    let Some(has) = has else {
                        self.slot(slot, scope, &format!("{scope}{}", slot.name));
                        continue;
                    };
                    self.flag(&format!("{scope}{has}"), slot.field);
                    if !matches!(slot.kind, SlotKind::Nothing) {
                        self.open(&format!("if ({scope}{has})"));
                        self.slot(slot, scope, &format!("{scope}{}", slot.name));
                        self.close();
                    }
                }
            }
            Content::Value(slot) => self.slot(slot, scope, &format!("{scope}{}", slot.name)),
            Content::Numbers(parts) => {
                for (name, count) in parts {
                    self.number(count, &format!("{scope}{name}"), field);
                }
            }
            Content::Tuple(tuple) => {
                if let Some(count) = &tuple.count {
                    self.count(&format!("{scope}{count}"), tuple.counter(), tuple.min, tuple.max, field);
                }
                for (i, slot) in tuple.items.iter().enumerate() {
                    let sure = i < tuple.min as usize;
                    if let (false, Some(count)) = (sure, &tuple.count) {
                        self.open(&format!("if ({scope}{count} > {i})"));
                    }
                    self.slot(slot, scope, &format!("{scope}{}", slot.name));
                    if !sure {
                        self.close();
                    }
                }
                if let Some((name, slot)) = &tuple.rest {
                    let (first, most) = (tuple.items.len() as u32, tuple.max - tuple.items.len() as u32);
                    let count = tuple.count.as_ref().map(|count| format!("{scope}{count}"));
                    self.elements(slot, &format!("{scope}{name}"), count.as_deref(), first, most);
                }
            }
            Content::Union(alternatives) => {
                self.choice(&format!("{scope}tag"), alternatives.len(), field);
                for alternative in alternatives.iter().filter(|a| !matches!(a.slot.kind, SlotKind::Nothing)) {
                    self.open(&format!("if ({scope}tag == {})", alternative.tag));
                    self.slot(&alternative.slot, scope, &format!("{scope}as.{}", alternative.slot.name));
                    self.close();
                }
            }
        }
    }

    /// Reads a value whose first member is `place`. `scope` is the prefix of its other members.
    fn slot(&mut self, slot: &Slot, scope: &str, place: &str) {
        if matches!(slot.kind, SlotKind::Nothing) {
            return;
        }
        let field = self.field(slot.field);
        match &slot.kind {
            SlotKind::Nothing => {}
            SlotKind::Bool => self.flag(place, slot.field),
            SlotKind::Number(count) => self.number(count, place, slot.field),
            SlotKind::Float(min, max) => {
                self.line(&format!("{place} = dunnage_get_float(&r, {field});"));
                let bounds = [
                    min.map(|min| format!("{place} < {min:e}")),
                    max.map(|max| format!("{place} > {max:e}")),
                ];
                let bounds: Vec<_> = bounds.into_iter().flatten().collect();
                if !bounds.is_empty() {
                    self.note_outside(&bounds.join(" || "), slot.field);
                }
            }
            SlotKind::Choice(choice) => self.choice(place, choice.values.len(), slot.field),
            SlotKind::Pattern(pattern) => {
                let index = pattern.index;
                let segments = self.plan.patterns[index].len();
                let tables = format!("pattern_{index}, inverse_{index}, {segments}");
                let Some((min, max)) = pattern.lengths else {
                    return self.line(&format!("dunnage_get_pattern(&r, {place}, {tables}, {field});"));
                };
                // The member may be too short for the longest text of the pattern: read into a temporary, then check the length.
                self.open("");
                self.line(&format!("char whole[{}];", pattern.longest + 1));
                self.line(&format!("dunnage_get_pattern(&r, whole, {tables}, {field});"));
                self.note_outside(&format!("!dunnage_has_length(whole, {min}, {max})"), slot.field);
                self.line(&format!("memcpy({place}, whole, {});", pattern.room()));
                self.close();
            }
            SlotKind::Text(text) => {
                let (get, min, max) = (if text.ascii { "ascii" } else { "text" }, text.min, text.max);
                self.line(&format!("dunnage_get_{get}(&r, {place}, {min}, {max}, {field});"));
            }
            SlotKind::Struct(inner) => self.content(&inner.content, &format!("{place}."), slot.field),
            SlotKind::Array(array) => {
                let count = array.count.as_ref().map(|count| format!("{scope}{count}"));
                if let Some(count) = &count {
                    self.count(count, array.counter(), array.min, array.max, slot.field);
                }
                self.elements(&array.item, place, count.as_deref(), 0, array.max);
            }
            SlotKind::Nullable(flag, inner) => {
                self.line(&format!("{scope}{flag} = !dunnage_get_small(&r, 1, {field});"));
                if !matches!(inner.kind, SlotKind::Nothing) {
                    self.open(&format!("if (!{scope}{flag})"));
                    self.slot(inner, scope, place);
                    self.close();
                }
            }
        }
    }

    /// Reads the elements of the array `place`: `count` - `first` of them, or `most` if `count` is `None`.
    fn elements(&mut self, item: &Slot, place: &str, count: Option<&str>, first: u32, most: u32) {
        if most == 0 || matches!(item.kind, SlotKind::Nothing) {
            return;
        }
        self.loops += 1;
        let i = format!("i{}", self.loops);
        let kind = if most > 255 { "uint16_t" } else { "uint8_t" };
        let end = match (count, first) {
            (None, _) => format!("{i} < {most}"),
            (Some(count), 0) => format!("{i} < {count}"),
            (Some(count), first) => format!("{i} + {first} < {count}"),
        };
        let before = self.out.len();
        self.open(&format!("for ({kind} {i} = 0; {end}; {i}++)"));
        if let SlotKind::Struct(inner) = &item.kind {
            let e = format!("e{}", self.loops);
            self.line(&format!("{} *{e} = &{place}[{i}];", inner.name));
            let inside = self.out.len();
            self.content(&inner.content, &format!("{e}->"), item.field);
            if self.out.len() == inside {
                // The elements hold nothing: remove the loop.
                self.out.truncate(before);
                self.depth -= 1;
                self.loops -= 1;
                return;
            }
        } else {
            self.slot(item, "", &format!("{place}[{i}]"));
        }
        self.close();
        self.loops -= 1;
    }

    /// Reads the number of elements.
    fn count(&mut self, place: &str, kind: Whole, min: u32, max: u32, field: usize) {
        let name = self.field(field);
        let most = i128::from(max - min);
        let index = format!("{}(&r, {}, {name})", get(most), unsigned(most));
        let text = match min {
            0 => format!("{place} = ({}){index};", kind.name()),
            min => format!("{place} = ({})({index} + {min}u);", kind.name()),
        };
        self.line(&text);
    }

    fn flag(&mut self, place: &str, field: usize) {
        let name = self.field(field);
        self.line(&format!("{place} = dunnage_get_small(&r, 1, {name}) != 0;"));
    }

    fn choice(&mut self, place: &str, values: usize, field: usize) {
        let kind = if values > 256 { "uint16_t" } else { "uint8_t" };
        let (max, name) = (values as i128 - 1, self.field(field));
        self.line(&format!("{place} = ({kind}){}(&r, {max}, {name});", get(max)));
    }

    fn reject(&mut self, condition: &str, kind: &str, field: usize) {
        let field = self.field(field);
        self.line(&format!("if ({condition}) dunnage_reject(&r, DUNNAGE_{kind}, {field});"));
    }

    /// Notes that a value is not allowed if the condition is true.
    fn note_outside(&mut self, condition: &str, field: usize) {
        self.notes_outside = true;
        self.open(&format!("if (!outside && ({condition}))"));
        self.line("outside = true;");
        if self.plan.has_pages() {
            self.line(&format!("outside_page = {};", field >> 8));
        }
        self.line(&format!("outside_field = (uint8_t){};", self.plan.fields[field].0));
        self.close();
    }

    fn number(&mut self, count: &Count, place: &str, field: usize) {
        let Some((first, last)) = count.usual else { return self.plain_number(count, place, field) };
        let (name, escape) = (self.field(field), last - first + 1);
        let kind = if escape > u32::MAX.into() { "uint64_t" } else { "uint32_t" };
        self.open("");
        self.line(&format!("{kind} usual = {}(&r, {}, {name});", get(escape), unsigned(escape)));
        self.line(&format!("{place} = {};", plus(count, "usual", first)));
        self.open(&format!("if (usual == {})", unsigned(escape)));
        self.plain_number(count, place, field);
        let inside = match (first > count.kind.range().0, last < count.kind.range().1) {
            (true, true) => format!("{place} >= {} && {place} <= {}", literal(first), literal(last)),
            (true, false) => format!("{place} >= {}", literal(first)),
            (false, true) => format!("{place} <= {}", literal(last)),
            (false, false) => "true".to_owned(),
        };
        self.reject(&inside, "MALFORMED", field);
        self.close();
        self.close();
    }

    fn plain_number(&mut self, count: &Count, place: &str, field: usize) {
        let name = self.field(field);
        let (min, max) = (count.min, count.max);
        match count.form {
            Form::Index(_) => {
                let index = format!("{}(&r, {}, {name})", get(max - min), unsigned(max - min));
                self.line(&format!("{place} = {};", plus(count, &index, min)));
            }
            Form::Offset => {
                self.open("");
                self.line(&format!("uint64_t sized = dunnage_get_sized(&r, {name});"));
                if max - min < u64::MAX.into() {
                    self.reject(&format!("sized > {}", unsigned(max - min)), "RANGE", field);
                }
                self.line(&format!("{place} = {};", plus(count, "sized", min)));
                self.close();
            }
            Form::Signed => {
                self.open("");
                self.line(&format!("bool negative = dunnage_get_small(&r, 1, {name}) != 0;"));
                self.line(&format!("uint64_t sized = dunnage_get_sized(&r, {name});"));
                let lowest = unsigned(-1 - min);
                let outside = match max {
                    0.. => format!("sized > (negative ? {lowest} : {})", unsigned(max)),
                    -1 => format!("!negative || sized > {lowest}"),
                    _ => format!("!negative || sized > {lowest} || sized < {}", unsigned(-1 - max)),
                };
                self.reject(&outside, "RANGE", field);
                self.line("sized = negative ? ~sized : sized;");
                self.line(&format!("{place} = ({})sized;", count.kind.name()));
                self.close();
            }
        }
    }
}

/// Returns the name of the function that reads an index up to `max`.
fn get(max: i128) -> &'static str {
    match max {
        0..=255 => "dunnage_get_small",
        _ if max > u32::MAX.into() => "dunnage_get_wide",
        _ => "dunnage_get_index",
    }
}

/// Adds `first` to the unsigned `value`, and casts the sum to the member's type.
fn plus(count: &Count, value: &str, first: i128) -> String {
    let (kind, raw) = (count.kind.name(), count.kind.unsigned());
    let cast = if count.kind.signed { format!("({kind})({raw})") } else { format!("({kind})") };
    match first {
        0 => format!("{cast}{value}"),
        first if first < 0 => format!("{cast}({value} - {})", unsigned(-first)),
        first => format!("{cast}({value} + {})", unsigned(first)),
    }
}
