//! The C program that drives generated C code: it reads words into the struct and writes the struct as words.

use dunnage_codegen::c::{Content, Plan, Slot, SlotKind};
use std::fmt::Write as _;

/// The program for the header `file`.h. It answers the line `e WORDS` with the bytes in hex and `d HEX` with the words, or with
/// `error KIND`.
pub fn driver(plan: &Plan, file: &str) -> String {
    let mut take = Walk { out: String::new(), shows: false, loops: 0 };
    take.content(&plan.root.content, "m->");
    let mut show = Walk { out: String::new(), shows: true, loops: 0 };
    show.content(&plan.root.content, "m->");
    include_str!("driver.c")
        .replace("TAKE\n", &take.out)
        .replace("SHOW\n", &show.out)
        .replace("FILE", file)
        .replace("PREFIX", &plan.prefix)
        .replace("NAME", &plan.name)
}

struct Walk {
    out: String,
    /// Whether to generate code that writes the words, not code that reads them.
    shows: bool,
    loops: usize,
}

impl Walk {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "    {text}");
    }

    fn whole(&mut self, place: &str, kind: &str) {
        let signed = kind.starts_with("int");
        let text = match (self.shows, signed) {
            (true, true) => format!("show_signed({place});"),
            (true, false) => format!("show_unsigned({place});"),
            (false, true) => format!("{place} = ({kind})strtoll(word(), NULL, 10);"),
            (false, false) => format!("{place} = ({kind})strtoull(word(), NULL, 10);"),
        };
        self.line(&text);
    }

    fn flag(&mut self, place: &str) {
        let text = match self.shows {
            true => format!("show_unsigned({place});"),
            false => format!("{place} = word()[0] == '1';"),
        };
        self.line(&text);
    }

    fn content(&mut self, content: &Content, scope: &str) {
        match content {
            Content::Object(fields) => {
                for (has, slot) in fields {
                    if let Some(has) = has {
                        self.flag(&format!("{scope}{has}"));
                        self.line(&format!("if ({scope}{has}) {{"));
                    }
                    self.slot(slot, scope, &format!("{scope}{}", slot.name));
                    if has.is_some() {
                        self.line("}");
                    }
                }
            }
            Content::Value(slot) => self.slot(slot, scope, &format!("{scope}{}", slot.name)),
            Content::Numbers(parts) => {
                for (name, count) in parts {
                    self.whole(&format!("{scope}{name}"), &count.kind.name());
                }
            }
            Content::Tuple(tuple) => {
                let count =
                    tuple.count.as_ref().map_or(tuple.max.to_string(), |count| format!("{scope}{count}"));
                if tuple.count.is_some() {
                    self.whole(&count, &tuple.counter().name());
                }
                for (i, slot) in tuple.items.iter().enumerate() {
                    self.line(&format!("if ({count} > {i}) {{"));
                    self.slot(slot, scope, &format!("{scope}{}", slot.name));
                    self.line("}");
                }
                if let Some((name, slot)) = &tuple.rest {
                    self.elements(slot, &format!("{scope}{name}"), &count, tuple.items.len());
                }
            }
            Content::Union(alternatives) => {
                self.whole(&format!("{scope}tag"), "uint8_t");
                for alternative in alternatives {
                    self.line(&format!("if ({scope}tag == {}) {{", alternative.tag));
                    self.slot(&alternative.slot, scope, &format!("{scope}as.{}", alternative.slot.name));
                    self.line("}");
                }
            }
        }
    }

    fn slot(&mut self, slot: &Slot, scope: &str, place: &str) {
        match &slot.kind {
            SlotKind::Nothing => {}
            SlotKind::Bool => self.flag(place),
            SlotKind::Number(count) => self.whole(place, &count.kind.name()),
            SlotKind::Choice(choice) => {
                self.whole(place, if choice.values.len() > 256 { "uint16_t" } else { "uint8_t" });
            }
            SlotKind::Float(..) => {
                self.line(&if self.shows {
                    format!("show_float({place});")
                } else {
                    format!("{place} = take_float();")
                });
            }
            SlotKind::Pattern(_) | SlotKind::Text(_) => {
                let verb = if self.shows { "show" } else { "take" };
                self.line(&format!("{verb}_text({place});"));
            }
            SlotKind::Struct(inner) => self.content(&inner.content, &format!("{place}.")),
            SlotKind::Array(array) => {
                let count =
                    array.count.as_ref().map_or(array.max.to_string(), |count| format!("{scope}{count}"));
                if array.count.is_some() {
                    self.whole(&count, &array.counter().name());
                }
                self.elements(&array.item, place, &count, 0);
            }
            SlotKind::Nullable(flag, inner) => {
                self.flag(&format!("{scope}{flag}"));
                self.line(&format!("if (!{scope}{flag}) {{"));
                self.slot(inner, scope, place);
                self.line("}");
            }
        }
    }

    fn elements(&mut self, item: &Slot, place: &str, count: &str, first: usize) {
        if matches!(item.kind, SlotKind::Nothing) {
            return;
        }
        self.loops += 1;
        let i = format!("i{}", self.loops);
        self.line(&format!("for (unsigned {i} = 0; {i} + {first} < {count}; {i}++) {{"));
        self.slot(item, "", &format!("{place}[{i}]"));
        self.line("}");
        self.loops -= 1;
    }
}
