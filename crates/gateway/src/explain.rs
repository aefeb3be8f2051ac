//! Explains which profile applies to a message, from the configuration alone.

use crate::{config::Config, operations::register, placed};
use dunnage_base::Document;
use dunnage_buffer::{Provenance, stored_register};
use dunnage_ingest::{
    Registered,
    profiles::{Chosen, Condition, Profiles, Rule, Subject, settings::Profile},
};
use dunnage_inputs::provider::{
    Provider, RuleSettings, Rules,
    envelope::{Content, Envelope},
};
use serde::Serialize;
use std::{collections::BTreeMap, fmt, sync::Arc};

/// The name of the input in the origin of a message that none has received.
const NO_INPUT: &str = "explain";

/// What is asked for.
pub enum Sample {
    /// A message of a device.
    Message {
        /// The device.
        device: String,
        /// The origin, a JSON object.
        origin: Option<String>,
        /// The `Content-Type`; empty if none is named.
        content_type: String,
    },
    /// An envelope. It is opened with the settings of the first input for its provider, if there is one.
    Envelope {
        /// The provider.
        provider: Provider,
        /// The topic or subject that carried it.
        topic: Option<String>,
        /// The envelope.
        body: Vec<u8>,
    },
}

/// The profile of a message, and why it is that one.
#[derive(Debug, Serialize)]
pub struct Explained {
    /// The device.
    pub device: String,
    /// What is known of the message besides: the keys of `match`, and its values.
    pub message: BTreeMap<String, String>,
    /// The profiles that were tried in vain.
    pub earlier: Vec<Tried>,
    /// The profile that applies; `None` if none does.
    pub profile: Option<Applied>,
    /// The format of the message; `codec` if the codec decodes it. `None` if it is rejected.
    pub format: Option<&'static str>,
    /// Why it is rejected.
    pub rejected: Option<String>,
}

/// A profile, and where it is.
#[derive(Debug, Serialize)]
pub struct Tried {
    /// Its number, from 1.
    pub number: usize,
    /// Its name.
    pub name: Option<String>,
    /// File, line and column.
    pub place: Option<String>,
    /// The first condition that does not hold; `None` for a profile that has none.
    pub condition: Option<String>,
    /// What the message has instead; `None` if it has nothing.
    pub value: Option<String>,
}

/// The profile that applies.
#[derive(Debug, Serialize)]
pub struct Applied {
    /// Its number, from 1.
    pub number: usize,
    /// Its name.
    pub name: Option<String>,
    /// File, line and column.
    pub place: Option<String>,
    /// Its conditions, as in the configuration, or that the register gives it to the device.
    pub conditions: String,
    /// The schema of its messages.
    pub schema: Option<String>,
    /// The file of the vendor's codec.
    pub codec: Option<String>,
    /// The formats that may be sent; empty for all.
    pub formats: Vec<&'static str>,
    /// The slots that may be sent; empty for all.
    pub slots: Vec<u8>,
    /// The link, if the sender names none.
    pub link: Option<String>,
    /// The JSON pointer to the position.
    pub position: Option<String>,
}

/// Returns which profile of `config` applies to `sample`. The error is the first mistake in the profiles, or what is wrong with the
/// envelope.
pub fn explain(config: &Config, sample: Sample) -> Result<Explained, String> {
    let path = &config.buffer.path;
    let records = stored_register(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let registered =
        Registered { register: Arc::new(register::load(records)), settings: config.register.clone() };
    let profiles = placed::profiles(config).map_err(|error| error.to_string())?;
    let profiles = Arc::new(profiles.with_register(Arc::clone(&registered.register)));
    let (mut provenance, content_type, bad) = match sample {
        Sample::Message { device, origin, content_type } => {
            let origin = origin.map(Into::into);
            (Provenance { origin, ..Provenance::new(device, 0, "") }, content_type, None)
        }
        Sample::Envelope { provider, topic, body } => {
            open(config, &profiles, provider, topic.as_deref(), &body)?
        }
    };
    let admitted = registered.admit(&mut provenance).map_err(|rejected| rejected.detail);
    let bad = bad.or(admitted.err());
    let chosen = Chosen::of(Arc::clone(&profiles), &mut provenance, &content_type);
    let record = profiles.record(&provenance.device);
    let named = record.as_ref().and_then(|record| record.profile.clone());
    let subject = Subject::from(&provenance).with_record(record);
    let decoding = bad.map_or_else(|| format(&chosen, &content_type), Err);
    let text = config.file.as_ref().and_then(|file| Some((file, std::fs::read_to_string(file).ok()?)));
    let places = text.as_ref().map(|(file, text)| (file, Document::read::<Config>(text).0));
    let place = |index: usize| {
        let (file, document) = places.as_ref()?;
        let (line, column) = document.place(document.find(&placed::path_of(&index.to_string(), "")).1?);
        Some(format!("{}:{line}:{column}", file.display()))
    };
    let by_register = named.is_some() && chosen.rule().is_some_and(|rule| rule.name == named);
    let tried_in_vain = if by_register { 0 } else { chosen.index().unwrap_or(config.profiles.len()) };
    let before = &profiles.rules()[..tried_in_vain];
    let tried = |(index, rule): (usize, &Rule)| {
        let failed = failed(rule, &subject);
        let (condition, value) =
            (failed.map(Condition::to_string), failed.and_then(|one| one.value(&subject)));
        let (name, value) = (config.profiles[index].name.clone(), value.map(|value| value.into_owned()));
        Tried { number: index + 1, name, place: place(index), condition, value }
    };
    Ok(Explained {
        device: provenance.device.clone(),
        message: message(&subject),
        earlier: before.iter().enumerate().map(tried).collect(),
        profile: chosen.index().map(|index| {
            let conditions = match by_register {
                true => "the register gives it to the device".into(),
                false => profiles.rules()[index].conditions.to_string(),
            };
            applied(&config.profiles[index], index, place(index), conditions)
        }),
        format: decoding.as_ref().ok().copied(),
        rejected: decoding.err(),
    })
}

/// Returns the format of a message, or why it is rejected.
fn format(chosen: &Chosen, content_type: &str) -> Result<&'static str, String> {
    let name = chosen.decoding(content_type).map(|how| how.name()).map_err(|rejected| rejected.detail)?;
    // That of a codec is no format.
    match (chosen.rule(), name.parse()) {
        (Some(rule), Ok(format)) => rule.check(format).map(|()| name),
        _ => Ok(name),
    }
}

/// Opens an envelope. Returns its message, its `Content-Type`, and why it cannot be decoded.
fn open(
    config: &Config,
    profiles: &Profiles,
    provider: Provider,
    topic: Option<&str>,
    body: &[u8],
) -> Result<(Provenance, String, Option<String>), String> {
    let of_input = |input: &dunnage_inputs::InputSettings| {
        let rules = input.rules().transpose()?;
        let is_its = rules.as_ref().is_ok_and(|rules| rules.provider == provider);
        is_its.then(|| rules.map(|rules| (input.name.clone(), rules)))
    };
    let (input, rules) = match config.inputs.iter().find_map(of_input) {
        Some(found) => found?,
        None => {
            let (formats, names) = Default::default();
            let settings = RuleSettings {
                payload: None,
                format: None,
                formats: &formats,
                names: &names,
                pointers: None,
            };
            (NO_INPUT.to_owned(), Rules::new(provider, &settings)?)
        }
    };
    let envelope = Envelope { event: None, content_type: "", headers: None, bytes: body };
    let uplink = match rules.open(&envelope, None) {
        Ok(Content::Uplink(uplink)) => *uplink,
        // The first one stands for all: they differ in the device at most.
        Ok(Content::Packets(packets)) => match packets.into_iter().next() {
            Some(packet) => packet.opened.map_err(|rejected| rejected.detail)?,
            None => return Err("the envelope holds no messages".into()),
        },
        Ok(Content::Event(event)) => {
            return Err(format!("the envelope has no message: it is the event {event}"));
        }
        Err(rejected) => return Err(rejected.detail),
    };
    let message = rules.message((profiles, usize::MAX), &input, topic, &uplink);
    let message = message.ok_or("the envelope has no message: it has no bytes")?;
    let provenance = Provenance { origin: message.origin, ..Provenance::new(rules.device(&uplink), 0, "") };
    Ok((provenance, message.content_type, message.bad.map(|rejected| rejected.detail)))
}

/// Returns the first condition of `rule` that does not hold.
fn failed<'r>(rule: &'r Rule, subject: &Subject<'_>) -> Option<&'r Condition> {
    rule.conditions.all().iter().find(|condition| !condition.holds(subject))
}

/// Returns what conditions can ask for besides the device, by their keys.
fn message(subject: &Subject<'_>) -> BTreeMap<String, String> {
    let facts = subject.facts();
    let texts = [
        ("provider.profile", &facts.profile),
        ("provider.application", &facts.application),
        ("provider.tenant", &facts.tenant),
        ("topic", &facts.topic),
    ];
    let texts =
        texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text.as_deref()?.to_owned())));
    let tags = subject.record().into_iter().flat_map(|record| record.tags.iter());
    let tags = tags.map(|(key, value)| (format!("tags.{key}"), value.to_owned()));
    texts.chain(facts.port.map(|port| ("port".to_owned(), port.to_string()))).chain(tags).collect()
}

fn applied(profile: &Profile, index: usize, place: Option<String>, conditions: String) -> Applied {
    Applied {
        number: index + 1,
        name: profile.name.clone(),
        place,
        conditions,
        schema: profile.schema.clone(),
        codec: profile.codec.as_ref().map(|path| path.display().to_string()),
        formats: profile.formats.iter().map(|format| format.0.name()).collect(),
        slots: profile.slots.clone(),
        link: profile.link.clone(),
        position: profile.position.clone(),
    }
}

/// `port = 85, but it is 2`.
impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.condition, &self.value) {
            (None, _) => f.write_str("no condition"),
            (Some(condition), Some(value)) => write!(f, "{condition}, but it is {value}"),
            (Some(condition), None) => write!(f, "{condition}, but the message has none"),
        }
    }
}
