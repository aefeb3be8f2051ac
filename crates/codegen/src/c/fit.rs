//! Generates the function that writes as much of a message as fits: `spec/packed.md`, "Messages that fit".

use super::plan::{Array, Content, Plan, Slot, SlotKind};
use std::{cmp::Reverse, collections::BTreeMap, fmt::Write as _};

/// The parts of a message that can be left out.
pub(super) struct Cuts {
    /// The series outside of arrays, with the expressions of their counts.
    series: Vec<(String, Array)>,
    /// The statements that leave out the properties of a rank, and the paths of these, from the highest rank on.
    drops: BTreeMap<Reverse<u8>, (String, Vec<String>)>,
    /// The most loops inside each other.
    loops: usize,
}

/// Returns what can be left out; `None` if nothing can.
pub(super) fn cuts(plan: &Plan) -> Option<Cuts> {
    let mut cuts = Cuts { series: Vec::new(), drops: BTreeMap::new(), loops: 0 };
    cuts.content(plan, &plan.root.content, "m->", &[]);
    (!cuts.series.is_empty() || !cuts.drops.is_empty()).then_some(cuts)
}

impl Cuts {
    /// Adds what can be left out of a struct. `loops` are the numbers of elements of the arrays around it.
    fn content(&mut self, plan: &Plan, content: &Content, scope: &str, loops: &[u32]) {
        match content {
            Content::Object(fields) => {
                for (has, slot) in fields {
                    if let (Some(has), Some(rank)) = (has, slot.drop) {
                        self.leave_out(rank, &format!("{scope}{has}"), &plan.fields[slot.field].1, loops);
                    }
                    self.slot(plan, slot, scope, &format!("{scope}{}", slot.name), loops);
                }
            }
            Content::Value(slot) => self.slot(plan, slot, scope, &format!("{scope}{}", slot.name), loops),
            Content::Tuple(tuple) => {
                // Its elements are in an array, whose series stay.
                for slot in &tuple.items {
                    self.slot(plan, slot, scope, &format!("{scope}{}", slot.name), &[loops, &[1]].concat());
                }
                if let Some((name, slot)) = &tuple.rest {
                    let most = tuple.max - tuple.items.len() as u32;
                    self.elements(plan, slot, &format!("{scope}{name}"), most, loops);
                }
            }
            Content::Numbers(_) | Content::Union(_) => {}
        }
    }

    fn slot(&mut self, plan: &Plan, slot: &Slot, scope: &str, place: &str, loops: &[u32]) {
        match &slot.kind {
            SlotKind::Struct(inner) => self.content(plan, &inner.content, &format!("{place}."), loops),
            SlotKind::Nullable(_, inner) => self.slot(plan, inner, scope, place, loops),
            SlotKind::Array(array) => {
                if let (Some(count), true, true) = (&array.count, array.series, loops.is_empty()) {
                    self.series.push((format!("{scope}{count}"), array.clone()));
                }
                self.elements(plan, &array.item, place, array.max, loops);
            }
            _ => {}
        }
    }

    fn elements(&mut self, plan: &Plan, slot: &Slot, place: &str, most: u32, loops: &[u32]) {
        let place = format!("{place}[i{}]", loops.len());
        self.slot(plan, slot, &format!("{place}."), &place, &[loops, &[most]].concat());
    }

    /// Adds the statements that clear the flag `has`, in all elements of the arrays around it.
    fn leave_out(&mut self, rank: u8, has: &str, path: &str, loops: &[u32]) {
        let (statements, paths) = self.drops.entry(Reverse(rank)).or_default();
        statements.push_str("            ");
        for (at, most) in loops.iter().enumerate().filter(|(at, _)| has.contains(&format!("[i{at}]"))) {
            let _ = write!(statements, "for (i{at} = 0; i{at} < {most}; i{at}++) ");
            self.loops = self.loops.max(at + 1);
        }
        let _ = writeln!(statements, "{has} = false;");
        paths.push(path.to_owned());
    }

    /// Returns the declaration of the function.
    pub fn declaration(&self, Plan { name, .. }: &Plan) -> String {
        let series = match self.series.is_empty() {
            true => "",
            false => " or else the first readings of its series, as many as fit;",
        };
        let steps: Vec<String> = self.drops.values().map(|(_, paths)| paths.join(", ")).collect();
        let drops = match steps.is_empty() {
            true => String::new(),
            false => format!(
                "\n * or else without these, as many steps as needed:\n *     {}",
                super::structs::comment(&steps.join("; then "))
            ),
        };
        format!(
            "/* Writes as much of `message` as `size` bytes hold: all of it;{series}{drops}
 * Changes `message` to what was written: its flags and counts. Gives the bytes of the message; 0 when there is a fault, as
 * {name}_encode, which is DUNNAGE_TRUNCATED if the smallest form is too large. The counts are then as before, the flags are not.
 * `fault` may be NULL. */
size_t {name}_encode_fit({name} *message, uint8_t *buffer, size_t size, dunnage_fault *fault);

"
        )
    }

    /// Returns the function.
    pub fn definition(&self, Plan { name, .. }: &Plan) -> String {
        let mut locals = String::from(
            "    dunnage_fault found;\n    size_t bytes;\n    uint16_t keep, most = 0;\n    uint8_t step;\n",
        );
        let (mut counts, mut reset, mut set) = (String::new(), String::new(), String::new());
        for (at, (count, array)) in self.series.iter().enumerate() {
            let (kind, min) = (array.counter().name(), array.min.max(1));
            let _ = writeln!(locals, "    const {kind} count_{at} = {count};");
            let _ = writeln!(counts, "    if (count_{at} > most) most = count_{at};");
            let _ = writeln!(reset, "        {count} = count_{at};");
            let _ = writeln!(
                set,
                "            if (count_{at} > keep) {count} = ({kind})(keep > {min} ? keep : {min});"
            );
        }
        for at in 0..self.loops {
            let _ = writeln!(locals, "    uint16_t i{at};");
        }
        let mut cases = String::new();
        for (at, (statements, _)) in self.drops.values().enumerate() {
            let _ = writeln!(cases, "        case {}:\n{statements}            break;", at + 1);
        }
        let steps = self.drops.len();
        let restore = match reset.is_empty() {
            true => String::new(),
            false => format!("    if (!bytes) {{\n{reset}    }}\n"),
        };
        let switch = if steps == 0 {
            String::new()
        } else {
            format!("        switch (step) {{\n{cases}        default: break;\n        }}\n")
        };
        format!(
            "
size_t {name}_encode_fit({name} *m, uint8_t *buffer, size_t size, dunnage_fault *fault)
{{
{locals}{counts}    for (step = 0;; step++) {{
{switch}{reset}        keep = most;
        do {{
{set}            bytes = {name}_encode(m, buffer, size, &found);
        }} while (!bytes && found.kind == DUNNAGE_TRUNCATED && keep-- > 1);
        if (bytes || found.kind != DUNNAGE_TRUNCATED || step == {steps}) break;
    }}
{restore}    if (fault) *fault = found;
    return bytes;
}}
"
        )
    }
}
