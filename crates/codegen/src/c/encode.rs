//! Generates the statements that write a message.

use super::{
    number::{Count, unsigned},
    plan::{Content, Plan, Slot, SlotKind, Struct},
    put::{most, offset, put},
};
use dunnage_packed::Form;
use std::fmt::Write as _;

/// Generates the statements for the message's struct, to which `m` points. With `modes`, `w` points to the writer, which may be one of
/// records.
pub(super) fn encode(plan: &Plan, modes: bool) -> String {
    let w = if modes { "w" } else { "&w" };
    let mut writer = Writer { plan, modes, w, out: String::new(), depth: 1, loops: 0, members: Vec::new() };
    writer.content(&plan.root.content, "m->", 0);
    writer.flush();
    writer.out
}

struct Writer<'a> {
    plan: &'a Plan,
    /// Whether the statements also write records.
    modes: bool,
    /// The expression of the address of the writer.
    w: &'static str,
    out: String,
    depth: usize,
    /// The number of loops around the current statement.
    loops: usize,
    /// The members that follow each other and are not written yet.
    members: Vec<Member>,
}

/// A member of the message that is an index.
struct Member {
    /// The statement that writes it.
    statement: String,
    /// Its entry in a table of members.
    entry: String,
}

/// With this many members or more, a table takes less flash than calls.
const TABLE_MEMBERS: usize = 5;

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.flush();
        self.raw_line(text);
    }

    fn raw_line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", self.depth * 4);
    }

    /// Writes the members so far: many with a table.
    fn flush(&mut self) {
        let members = std::mem::take(&mut self.members);
        if members.len() < TABLE_MEMBERS {
            members.iter().for_each(|member| self.raw_line(&member.statement));
            return;
        }
        self.raw_line("{");
        self.depth += 1;
        self.raw_line(&format!("static const dunnage_member members[{}] DUNNAGE_FLASH = {{", members.len()));
        members.iter().for_each(|member| self.raw_line(&format!("    {},", member.entry)));
        self.raw_line("};");
        self.raw_line(&format!("dunnage_put_members(m, members, {}, {});", members.len(), self.w));
        self.depth -= 1;
        self.raw_line("}");
    }

    /// Writes `statement`, which writes the member `place` minus `first` as an index up to `max`.
    fn member(
        &mut self,
        statement: String,
        place: &str,
        (bytes, field): (u32, usize),
        (first, max): (i128, i128),
    ) {
        // A table has the places of the message's own members, and their fields as 8 bits.
        let has_table = self.modes && self.loops == 0 && bytes <= 4 && !self.plan.has_pages();
        let Some(path) = place.strip_prefix("m->").filter(|_| has_table) else {
            self.line(&statement);
            return;
        };
        let (name, field) = (&self.plan.name, &self.plan.fields[field].0);
        // What is subtracted is modulo 2^32.
        let (first, max) = (unsigned(i128::from(first as u32)), unsigned(max));
        let entry = format!("{{{first}, {max}, offsetof({name}, {path}), {bytes}, {field}}}");
        self.members.push(Member { statement, entry });
    }

    fn open(&mut self, text: &str) {
        self.line(&format!("{text} {{"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.flush();
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
        let error = if self.modes { "w->error" } else { "w.error" };
        self.line(&format!("if (!{error}) page = {};", field >> 8));
        format!("(uint8_t){constant}")
    }

    /// Writes the content of a struct. `scope` is the prefix of its members, and `field` is the struct's own number.
    fn content(&mut self, content: &Content, scope: &str, field: usize) {
        match content {
            Content::Object(fields) => {
                for (has, slot) in fields {
                    let Some(has) = has else {
                        self.slot(slot, scope, &format!("{scope}{}", slot.name));
                        continue;
                    };
                    self.index(&format!("{scope}{has}"), 1, slot.field);
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
                    self.count(&format!("{scope}{count}"), tuple.counter().bits, tuple.min, tuple.max, field);
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
                self.index(&format!("{scope}tag"), alternatives.len() - 1, field);
                for alternative in alternatives.iter().filter(|a| !matches!(a.slot.kind, SlotKind::Nothing)) {
                    self.open(&format!("if ({scope}tag == {})", alternative.tag));
                    self.slot(&alternative.slot, scope, &format!("{scope}as.{}", alternative.slot.name));
                    self.close();
                }
            }
        }
    }

    /// Writes a value whose first member is `place`. `scope` is the prefix of its other members.
    fn slot(&mut self, slot: &Slot, scope: &str, place: &str) {
        if matches!(slot.kind, SlotKind::Nothing) {
            return;
        }
        let w = self.w;
        let field = self.field(slot.field);
        match &slot.kind {
            SlotKind::Nothing => {}
            SlotKind::Bool => self.index(place, 1, slot.field),
            SlotKind::Number(count) => self.number(count, place, slot.field),
            SlotKind::Float(min, max) => self.float(*min, *max, place, &field),
            SlotKind::Choice(choice) => self.index(place, choice.values.len() - 1, slot.field),
            SlotKind::Pattern(pattern) => {
                let index = pattern.index;
                let segments = self.plan.patterns[index].len();
                if let Some((min, max)) = pattern.lengths {
                    self.line(&format!(
                        "if (!dunnage_has_length({place}, {min}, {max})) dunnage_refuse({w}, DUNNAGE_RANGE, {field});"
                    ));
                }
                self.line(&format!(
                    "dunnage_put_pattern({field}, {place}, pattern_{index}, {segments}, {w});"
                ));
            }
            SlotKind::Text(text) => {
                let (put, min, max) = (if text.ascii { "ascii" } else { "text" }, text.min, text.max);
                self.line(&format!("dunnage_put_{put}({field}, {place}, {min}, {max}, {w});"));
            }
            SlotKind::Struct(inner) => self.structure(inner, place, slot.field),
            SlotKind::Array(array) => {
                let count = array.count.as_ref().map(|count| format!("{scope}{count}"));
                if let Some(count) = &count {
                    self.count(count, array.counter().bits, array.min, array.max, slot.field);
                }
                self.elements(&array.item, place, count.as_deref(), 0, array.max);
            }
            SlotKind::Nullable(flag, inner) => {
                self.index(&format!("!{scope}{flag}"), 1, slot.field);
                if !matches!(inner.kind, SlotKind::Nothing) {
                    self.open(&format!("if (!{scope}{flag})"));
                    self.slot(inner, scope, place);
                    self.close();
                }
            }
        }
    }

    fn float(&mut self, min: Option<f64>, max: Option<f64>, place: &str, field: &str) {
        let w = self.w;
        let min = min.map(|min| format!("{place} >= {min:e}"));
        let max = max.map(|max| format!("{place} <= {max:e}"));
        let bounds: Vec<_> = min.into_iter().chain(max).collect();
        if !bounds.is_empty() {
            let bounds = bounds.join(" && ");
            self.line(&format!("if (!({bounds})) dunnage_refuse({w}, DUNNAGE_RANGE, {field});"));
        }
        if self.modes {
            self.line(&format!("if (w->coded) dunnage_put_coded_float({field}, {place}, w);"));
            self.line(&format!("else dunnage_put_float({field}, {place}, w);"));
        } else {
            self.line(&format!("dunnage_put_float({field}, {place}, {w});"));
        }
    }

    fn structure(&mut self, of: &Struct, place: &str, field: usize) {
        self.content(&of.content, &format!("{place}."), field);
    }

    /// Writes the elements of the array `place`: `count` - `first` of them, or `most` if `count` is `None`.
    fn elements(&mut self, item: &Slot, place: &str, count: Option<&str>, first: u32, most: u32) {
        if most == 0 || matches!(item.kind, SlotKind::Nothing) {
            return;
        }
        self.loops += 1;
        let i = format!("i{}", self.loops);
        let kind = if most > 255 { "uint16_t" } else { "uint8_t" };
        let end = match (count, first) {
            (None, _) => String::new(),
            (Some(count), 0) => format!(" && {i} < {count}"),
            (Some(count), first) => format!(" && {i} + {first} < {count}"),
        };
        let before = self.out.len();
        self.open(&format!("for ({kind} {i} = 0; {i} < {most}{end}; {i}++)"));
        if let SlotKind::Struct(inner) = &item.kind {
            let e = format!("e{}", self.loops);
            self.line(&format!("const {} *{e} = &{place}[{i}];", inner.name));
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

    /// Writes the number of elements.
    fn count(&mut self, place: &str, bits: u32, min: u32, max: u32, field: usize) {
        let w = self.w;
        let value = match min {
            0 => place.to_owned(),
            min => format!("(uint{bits}_t)({place} - {min}u)"),
        };
        let put = put((max - min).into(), bits);
        let (max, field) = (unsigned((max - min).into()), self.field(field));
        let text = format!("{put}({field}, {value}, {max}, {w});");
        self.line(&text);
    }

    /// Writes the index `value` in the fewest bits that hold `max`.
    fn index(&mut self, value: &str, max: usize, field: usize) {
        let w = self.w;
        let name = self.field(field);
        let bits = if max > 255 { 16 } else { 8 };
        let text = format!("{}({name}, {value}, {max}, {w});", put(max as i128, bits));
        self.member(text, value, (bits / 8, field), (0, max as i128));
    }

    fn number(&mut self, count: &Count, place: &str, field: usize) {
        let w = self.w;
        let Some((first, last)) = count.usual else { return self.plain_number(count, place, field) };
        let name = self.field(field);
        let escape = unsigned(last - first + 1);
        let put = put(last - first + 1, count.kind.bits);
        let most = most(put, last - first + 1);
        let offset = offset(count, place, first);
        // In a record, a number with statistics has one index.
        let is_plain = if self.modes && matches!(count.form, Form::Index(_)) { "!w->coded && " } else { "" };
        self.open(&format!("if ({is_plain}{offset} < {escape})"));
        self.line(&format!("{put}({name}, {offset}, {most}, {w});"));
        self.flush();
        self.depth -= 1;
        self.open("} else");
        let test = if is_plain.is_empty() { "" } else { "if (!w->coded) " };
        self.line(&format!("{test}{put}({name}, {escape}, {most}, {w});"));
        self.plain_number(count, place, field);
        self.close();
    }

    fn plain_number(&mut self, count: &Count, place: &str, field: usize) {
        let w = self.w;
        let name = self.field(field);
        let (min, max) = (count.min, count.max);
        match count.form {
            Form::Index(_) => {
                let put = put(max - min, count.kind.bits);
                let (offset, most) = (offset(count, place, min), most(put, max - min));
                let text = format!("{put}({name}, {offset}, {most}, {w});");
                match count.every {
                    Some(every) if self.modes => self.grown(&name, &offset, (max - min, every), &text),
                    _ => self.member(text, place, (count.kind.bits / 8, field), (min, max - min)),
                }
            }
            Form::Offset => {
                self.bound(count, place, field);
                self.line(&format!("dunnage_put_sized({name}, {}, {w});", offset(count, place, min)));
            }
            Form::Signed => {
                self.bound(count, place, field);
                self.line(&format!("dunnage_put_index({name}, {place} < 0, 1, {w});"));
                self.line(&format!(
                    "dunnage_put_sized({name}, (uint64_t)({place} < 0 ? -1 - {place} : {place}), {w});"
                ));
            }
        }
    }

    /// Writes a number that grows: with `plain`, or as its steps and its rest in a record.
    fn grown(&mut self, name: &str, offset: &str, (max, every): (i128, u64), plain: &str) {
        let (w, every) = (self.w, i128::from(every));
        self.open("if (w->coded)");
        // The same numbers for which `support/dunnage_modes.h` needs at most 32 bits.
        if every < 1 << 30 && 2 * ((max + 1) / every + 1) < 1 << 32 {
            let (steps, every) = (unsigned(max / every), unsigned(every));
            self.line(&format!("dunnage_put_grown({name}, {offset}, {every}, {steps}, {w});"));
        } else {
            for (operator, most) in [("/", max / every), ("%", every - 1)] {
                let most = self::most("dunnage_put_wide", most);
                let every = unsigned(every);
                self.line(&format!("dunnage_put_wide({name}, {offset} {operator} {every}, {most}, {w});"));
            }
        }
        self.depth -= 1;
        self.open("} else");
        self.line(plain);
        self.close();
    }

    /// Rejects values that the member's type can hold but that are out of range.
    fn bound(&mut self, count: &Count, place: &str, field: usize) {
        let (first, last) = count.kind.range();
        let below = (count.min > first).then(|| format!("{place} < {}", super::number::literal(count.min)));
        let above = (count.max < last).then(|| format!("{place} > {}", super::number::literal(count.max)));
        let tests: Vec<_> = below.into_iter().chain(above).collect();
        if !tests.is_empty() {
            let (w, field, tests) = (self.w, self.field(field), tests.join(" || "));
            self.line(&format!("if ({tests}) dunnage_refuse({w}, DUNNAGE_RANGE, {field});"));
        }
    }
}
