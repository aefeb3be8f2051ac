//! Generates the code of modes 1 and 2: the parts with their tables, and functions around `support/dunnage_modes.h`.

use super::{
    Cost, MODES,
    parts::{Needs, Parts, parts},
    plan::{Fault, Plan},
};
use dunnage_packed::Layout;
use std::fmt::Write as _;

/// The texts of modes 1 and 2 that the generators write.
pub(super) struct Modes {
    parts: Parts,
    name_seed: u16,
    pub cost: Cost,
}

/// Numbers in a line of an array.
const PER_LINE: usize = 24;

/// Prepares modes 1 and 2 of `layout`. Errors: the schema has no statistics, or has some that C cannot represent, or has a series.
pub(super) fn modes(layout: &Layout) -> Result<Modes, Vec<Fault>> {
    let Some(trained) = layout.trained_leaves() else {
        return Err(vec![Fault {
            field: "$".to_owned(),
            fault: "has no statistics, which modes 1 and 2 need".to_owned(),
            remedy: "run `dunnage schema train`, and use the schema that it writes",
        }]);
    };
    if layout.has_series() {
        return Err(vec![Fault {
            field: "$".to_owned(),
            fault: "has x-dunnage-series, which C writes in mode 0 alone".to_owned(),
            remedy: "leave out --modes",
        }]);
    }
    let parts = parts(layout, trained)?;
    let record = parts.record_bits.div_ceil(8) as usize;
    let cost = Cost {
        prior_tables: parts.bytes.len() + parts.tables.len() - parts.delta_bytes,
        delta_tables: parts.delta_bytes,
        record,
        state: 4 + 2 * (2 + record),
    };
    Ok(Modes { parts, name_seed: trained.name_seed(), cost })
}

impl Modes {
    /// Returns the end of the source.
    pub fn source(&self, plan: &Plan, layout: &Layout) -> String {
        format!("\n{}{}\n{}", self.arrays(plan), self.definitions(plan, layout), functions(plan))
    }

    fn arrays(&self, Plan { name, .. }: &Plan) -> String {
        let Parts { bytes, tables, .. } = &self.parts;
        // C has no empty array.
        let tables = if tables.is_empty() { &[0] } else { &tables[..] };
        format!(
            "/* The parts of the message and their tables, see {}. */\n{}{}",
            MODES.0,
            array(&format!("{name}_parts"), bytes),
            array(&format!("{name}_tables"), tables)
        )
    }

    fn definitions(&self, Plan { name, prefix, .. }: &Plan, layout: &Layout) -> String {
        let check = layout.check();
        let mut text = format!(
            "#define DUNNAGE_MESSAGE {name}
#define DUNNAGE_WRITE {name}_write
#define DUNNAGE_PARTS {name}_parts
#define DUNNAGE_TABLES {name}_tables
#define DUNNAGE_SLOT {prefix}_SLOT
#define DUNNAGE_MOST {prefix}_MAX_SIZE
#define DUNNAGE_RECORD {prefix}_RECORD_SIZE
#define DUNNAGE_PENDING {prefix}_PENDING
#define DUNNAGE_NAME_SEED {:#06x}u
#define DUNNAGE_SELECTORS {}
#define DUNNAGE_CHECK {}
",
            self.name_seed,
            self.parts.selectors,
            check.map_or(0, |check| check.bytes()),
        );
        if let Some(check) = check {
            let (seed, polynomial) = (check.seed(), check.polynomial());
            let _ = write!(
                text,
                "#define DUNNAGE_CHECK_SEED {seed:#06x}u\n#define DUNNAGE_CHECK_POLYNOMIAL {polynomial:#06x}u\n"
            );
        }
        let Needs { wide, weights, wide_selectors, number_selectors, pieces, every, opaque, texts, branches } =
            self.parts.needs;
        for (what, has) in [
            ("WIDE", wide),
            ("WEIGHTS", weights),
            ("WIDE_SELECTORS", wide_selectors),
            ("NUMBER_SELECTORS", number_selectors),
            ("PIECES", pieces),
            ("EVERY", every),
            ("OPAQUE", opaque),
            ("TEXTS", texts),
            ("BRANCHES", branches),
        ] {
            let _ = writeln!(text, "#define DUNNAGE_HAS_{what} {}", u8::from(has));
        }
        let _ = writeln!(text, "#include \"{}\"", MODES.0);
        text
    }
}

fn array(name: &str, bytes: &[u8]) -> String {
    let mut text = format!("static const uint8_t {name}[] DUNNAGE_FLASH = {{\n");
    for line in bytes.chunks(PER_LINE) {
        let numbers: Vec<_> = line.iter().map(u8::to_string).collect();
        let _ = writeln!(text, "    {},", numbers.join(", "));
    }
    text.push_str("};\n\n");
    text
}

fn functions(Plan { name, prefix, .. }: &Plan) -> String {
    format!(
        "size_t {name}_encode_prior(const {name} *message, uint8_t out[{prefix}_MAX_SIZE]) {{ return dunnage_encode_prior(message, out); }}

size_t {name}_send({name}_state *state, const {name} *message, uint8_t out[{prefix}_MAX_SIZE]) {{ return dunnage_send(state->bytes, message, out); }}

bool {name}_acked({name}_state *state, uint16_t name) {{ return dunnage_acked(state->bytes, name); }}

bool {name}_acked_last({name}_state *state) {{ return dunnage_acked_last(state->bytes); }}

void {name}_forget({name}_state *state) {{ dunnage_forget(state->bytes); }}
"
    )
}
