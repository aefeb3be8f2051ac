//! Computes the answer for the messages of the user: a schema, sizes, costs, code.

use crate::{
    code::{self, Code},
    limits::sentence,
    messages::{self, Messages},
    mistake::Mistake,
    schema::{self, Compiled, Inferred},
    trained::{self, Trained},
};
use dunnage_formats::Id;
use dunnage_links::{Link, Load, LoadError, catalogue};
use dunnage_plan::{Advice, Fleet, Message, Report, Sizes, json};
use dunnage_schema::Model;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{
    ToSchema,
    openapi::{Array, ArrayBuilder, ObjectBuilder, Type},
};

/// The parameters of a computation.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// One JSON message, an array of messages, messages one after the other (NDJSON), or CSV with a header. At most 384 KiB and 1,000 messages.
    pub messages: String,
    /// The schema's text, at most 128 KiB; without it, a schema is inferred from the messages. References go nowhere outside of it.
    pub schema: Option<String>,
    /// The IDs of the links to plan for.
    #[serde(default)]
    #[schema(schema_with = link_ids)]
    pub links: Vec<String>,
    /// The number of devices.
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    pub devices: u64,
    /// The messages per day of one device.
    #[schema(minimum = 0, maximum = 86_400)]
    pub per_day: f64,
}

/// Describes a list of IDs of the catalogue's links.
fn link_ids() -> Array {
    let ids = catalogue().iter().map(|link| link.id.as_str());
    let id = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(ids));
    ArrayBuilder::new().description(Some("The IDs of the links to plan for.")).items(id).build()
}

/// The answer for the messages.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Answer {
    /// How many messages there are.
    messages: usize,
    /// How many of them cannot be read. The figures are of the others. After the 20th, the rest of the text is not read.
    unread: usize,
    /// How many of them break the schema. The figures are of the others.
    broken: usize,
    /// The mistakes in the texts. Of the messages that break the schema, the first 20.
    mistakes: Vec<Mistake>,
    /// The formats that are missing for lack of a schema, although there are messages. The plan then recommends nothing.
    #[schema(required)]
    without_schema: Option<WithoutSchema>,
    /// The inferred schema, if the request has no schema.
    #[schema(required)]
    inferred: Option<Inferred>,
    /// The formats that carry all messages, smallest first. Without a schema, or if all messages break it, only those that need none.
    formats: Vec<FormatSize>,
    /// The formats that do not.
    refused: Vec<Refused>,
    /// The mean of the messages as compact JSON, in bytes.
    #[schema(required)]
    json_bytes: Option<f64>,
    /// The packed messages after training, if there are 1,000 messages or more.
    #[schema(required)]
    trained: Option<Trained>,
    /// The plan for the fleet, as `dunnage plan --json` writes it (`docs/plan.md`).
    #[schema(required, value_type = Option<Object>)]
    plan: Option<Box<RawValue>>,
    /// The code for the schema.
    code: Vec<Code>,
}

/// The formats that are missing for lack of a schema.
#[derive(Debug, Serialize, ToSchema)]
struct WithoutSchema {
    /// Why they are missing, for people: `The schema has a mistake`.
    cause: &'static str,
    /// The formats.
    formats: Vec<&'static str>,
}

/// The bytes of the messages in a format.
#[derive(Debug, Serialize, ToSchema)]
struct FormatSize {
    /// For example `protobuf (float32)`.
    format: String,
    /// The mean of the messages.
    mean_bytes: f64,
    /// The largest of the messages.
    largest_bytes: usize,
    /// The largest message that the schema allows, where it can be computed.
    #[schema(required)]
    schema_max_bytes: Option<usize>,
    /// Whether every message decodes to the same value, and the mapping keeps every number.
    lossless: bool,
}

/// A format that cannot carry the messages.
#[derive(Debug, Serialize, ToSchema)]
struct Refused {
    /// The format.
    format: String,
    /// The first message that it cannot carry, and why.
    reason: String,
}

/// The reason why a question has no answer.
#[derive(Debug, Serialize, Deserialize)]
pub enum NoAnswer {
    /// The catalogue has no link of this ID.
    Link(String),
    /// The fleet's figures are out of range.
    Fleet(String),
    /// The plan cannot be written as JSON.
    Plan,
}

/// Computes the answer.
pub fn answer(question: &Question) -> Result<Answer, NoAnswer> {
    let links: Vec<&'static Link> = question.links.iter().map(|id| link(id)).collect::<Result<_, _>>()?;
    // Checked first, because there may be no messages to plan for.
    Load::new(&[1], question.per_day, question.devices).map_err(out_of_range)?;
    let mut answer = Answer::default();
    let messages = messages::read(&question.messages);
    let compiled = match &question.schema {
        Some(text) => schema::compile(text).map(Some),
        None if !messages.found.is_empty() => infer(&question.messages, &messages, &mut answer).map(Some),
        None => Ok(None),
    };
    let compiled = compiled.unwrap_or_else(|mistake| {
        answer.mistakes.push(mistake);
        None
    });
    if let Some(compiled) = &compiled {
        answer.code = code::all(compiled);
    }
    answer.measure(question, &links, compiled.as_ref(), messages)?;
    Ok(answer)
}

fn out_of_range(error: LoadError) -> NoAnswer {
    NoAnswer::Fleet(error.to_string())
}

fn link(id: &str) -> Result<&'static Link, NoAnswer> {
    dunnage_links::link(id).ok_or_else(|| NoAnswer::Link(id.to_owned()))
}

fn infer(source: &str, messages: &Messages<'_>, answer: &mut Answer) -> Result<Compiled, Mistake> {
    let inferred = schema::of_messages(source, messages)?;
    let compiled = schema::compile(&inferred.schema);
    answer.inferred = Some(inferred);
    compiled
}

impl Answer {
    fn measure(
        &mut self,
        question: &Question,
        links: &[&'static Link],
        compiled: Option<&Compiled>,
        mut messages: Messages<'_>,
    ) -> Result<(), NoAnswer> {
        (self.messages, self.unread) = (messages.count(), messages.unread);
        self.mistakes.append(&mut messages.mistakes);
        let model = compiled.map(|compiled| &compiled.model);
        let (model, messages) = self.valid(&question.messages, model, messages);
        if messages.is_empty() {
            return Ok(());
        }
        let sizes = Sizes::measure(model, &messages);
        let json: usize = messages.iter().map(|message| message.text.len()).sum();
        self.json_bytes = Some(json as f64 / messages.len() as f64);
        self.trained = model.and_then(|model| trained::train(model, &messages));
        self.formats = sizes.formats.iter().map(FormatSize::of).collect();
        let refused = sizes.refused.iter();
        self.refused = refused
            .map(|(format, reason)| Refused { format: format.clone(), reason: sentence(reason) })
            .collect();
        let fleet =
            Fleet { devices: question.devices, per_day: question.per_day, battery_joules: None, hops: 1 };
        let name = model.map_or("none", |model| model.name());
        let mut report = Report::new(name, &messages, sizes, links, fleet).map_err(out_of_range)?;
        if model.is_none() {
            report.advice = self.recommend_nothing(match (compiled, &question.schema) {
                (Some(_), _) => "All messages break the schema",
                (None, Some(_)) => "The schema has a mistake",
                (None, None) => "No schema can be inferred from the messages",
            });
        }
        if !links.is_empty() {
            let plan = json::render(&report).and_then(|text| Ok(RawValue::from_string(text)?));
            self.plan = Some(plan.map_err(|_| NoAnswer::Plan)?);
        }
        Ok(())
    }

    /// Returns the messages of `source` that keep to the schema; without a model if none does, and all messages then.
    fn valid<'m>(
        &mut self,
        source: &str,
        model: Option<&'m Model>,
        messages: Messages<'_>,
    ) -> (Option<&'m Model>, Vec<Message>) {
        let mut broken = Vec::new();
        if let Some(model) = model {
            let mistakes;
            (broken, mistakes) = schema::violations(source, model, &messages);
            self.broken = broken.iter().filter(|is_broken| **is_broken).count();
            self.mistakes.extend(mistakes);
        }
        let all: Vec<Message> = messages.found.into_iter().map(|found| found.message).collect();
        if self.broken == all.len() {
            return (None, all);
        }
        let mut broken = broken.into_iter();
        (model, all.into_iter().filter(|_| !broken.next().unwrap_or_default()).collect())
    }

    /// Notes the formats that are missing without a schema. The best of the others may be far from the best of all.
    fn recommend_nothing(&mut self, cause: &'static str) -> Advice {
        let formats: Vec<_> = Id::all().filter(|id| id.needs_schema()).map(Id::name).collect();
        let missing = formats.join(", ");
        let reason = format!("{cause}, so these formats are missing, and none is recommended: {missing}.");
        self.without_schema = Some(WithoutSchema { cause, formats });
        Advice { choices: Vec::new(), sentences: vec![reason] }
    }
}

impl FormatSize {
    fn of(sizes: &dunnage_plan::FormatSizes) -> FormatSize {
        FormatSize {
            format: sizes.format.clone(),
            mean_bytes: sizes.mean(),
            largest_bytes: sizes.largest(),
            schema_max_bytes: sizes.schema_max,
            lossless: sizes.lossless,
        }
    }
}
