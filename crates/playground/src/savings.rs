//! The changes of the schema that make packed messages smaller, as `dunnage schema shrink` lists them.

use crate::{limits::sentence, messages, schema};
use dunnage_formats::Value;
use dunnage_packed::{Saving, Sizes, savings};
use dunnage_schema::shrink::Cost;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use utoipa::ToSchema;

/// Most changes of a field, and of all.
const OF_A_FIELD: usize = 3;
const MOST: usize = 12;

/// The messages to make smaller.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SavingsQuestion {
    /// The messages, as for `POST /api/play`. Those that break the schema do not count.
    pub messages: String,
    /// The schema's text.
    pub schema: String,
}

/// Changes that make the packed messages smaller.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Savings {
    /// The bytes of the largest message that the schema allows, where it can be computed.
    #[schema(required)]
    schema_max_bytes: Option<u64>,
    /// The bytes of the largest of the messages.
    largest_bytes: usize,
    /// Up to three changes of a field and twelve in all, each measured alone, the best first.
    changes: Vec<ChangeObject>,
}

/// A change of the schema of one field. It allows what the messages have, and little or nothing more, so others are rejected.
#[derive(Debug, Serialize, ToSchema)]
struct ChangeObject {
    /// The field: `position.latitude`, `readings[].value`; `$` is the message itself.
    field: String,
    /// The addition of the new schema, for people.
    what: String,
    /// The line of the schema to paste in place of the field's.
    line: String,
    /// Whether it rounds values.
    rounds: bool,
    /// The bytes of the largest message that the schema then allows.
    #[schema(required)]
    schema_max_bytes: Option<u64>,
    /// The bytes of the largest of the messages.
    largest_bytes: usize,
}

/// Computes the changes; none if the texts have mistakes.
pub fn list(question: &SavingsQuestion) -> Savings {
    let Ok(compiled) = schema::compile(&question.schema) else { return Savings::default() };
    let values = messages::read(&question.messages).found.into_iter().map(|found| found.message.value);
    let valid: Vec<Value> = values.filter(|value| compiled.model.validate(value).is_ok()).collect();
    if valid.is_empty() {
        return Savings::default();
    }
    let Ok((before, savings)) = savings(&question.schema, &valid) else { return Savings::default() };
    let mut of_field: HashMap<String, usize> = HashMap::new();
    let best = savings.into_iter().filter(|saving| {
        let count = of_field.entry(saving.change.field.clone()).or_default();
        *count += 1;
        *count <= OF_A_FIELD
    });
    let changes = best.take(MOST).map(ChangeObject::of).collect();
    Savings { schema_max_bytes: max_bytes(&before), largest_bytes: before.seen, changes }
}

fn max_bytes(sizes: &Sizes) -> Option<u64> {
    sizes.largest.map(|bits| bits.div_ceil(8))
}

impl ChangeObject {
    fn of(Saving { change, sizes, .. }: Saving) -> ChangeObject {
        ChangeObject {
            field: sentence(&change.field),
            what: sentence(&change.what),
            line: change.line,
            rounds: change.cost == Cost::Decimals,
            schema_max_bytes: max_bytes(&sizes),
            largest_bytes: sizes.seen,
        }
    }
}
