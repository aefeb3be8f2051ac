//! Chooses the codecs of a message by its format, its schema, and its device's profile.

mod codec_files;
mod every;
mod known;
pub mod schemas;
pub mod settings;
pub mod slots;

use crate::{
    encoding::{Decoding, Encoding},
    media_types::is_unnamed,
    rejected::Rejected,
};
use codec_files::CodecFiles;
use dunnage_base::name::{fits, is_name};
use dunnage_buffer::LayoutKey;
use dunnage_formats::{Avro, Definition, Error, Format, Id, Mapping, Protobuf};
use dunnage_register::{Record, Register};
use dunnage_schema::Model;
use dunnage_vendor_codec::Codec;
use known::KnownTexts;
use schemas::{Schema, Schemas};
use settings::{Duplicates, Profile, ProfileError, SchemaSettings};
use slots::{Slot, Slots};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, OnceLock},
};

/// The codecs of one schema and mapping. Each is created when it is first needed.
pub struct Codecs {
    /// The schema's name; `None` for messages without one.
    pub schema: Option<Arc<str>>,
    /// The schema.
    pub model: Option<Model>,
    /// The packed layouts of all versions of the schema.
    pub slots: Option<Arc<Slots>>,
    /// The time between two messages that the schema says, in microseconds.
    every: Option<i64>,
    /// The units of the values, by pointer.
    units: Arc<[(String, String)]>,
    mapping: Mapping,
    opened: Vec<OnceLock<Result<Box<dyn Format>, Error>>>,
}

impl Codecs {
    fn none() -> Self {
        let (mapping, units) = (Mapping::Exact, Arc::default());
        Codecs { schema: None, model: None, slots: None, every: None, units, mapping, opened: unopened() }
    }

    fn of(name: &str, schema: &Schema, mapping: Mapping) -> Self {
        let (slots, units) = (Some(Arc::clone(&schema.slots)), Arc::clone(&schema.units));
        let (schema, model) = (Some(name.into()), Some(schema.model.clone()));
        let every = model.as_ref().and_then(every::every);
        Codecs { schema, model, slots, every, units, mapping, opened: unopened() }
    }

    /// Returns the codec for `format`. An error says why this format cannot carry messages of this schema.
    pub fn get(&self, format: Id) -> Result<&dyn Format, &Error> {
        let open = || format.open(self.model.as_ref(), self.mapping_of(format));
        self.opened[format as usize].get_or_init(open).as_deref()
    }

    /// Returns the mapping for `format`. Only three formats have another one than the exact one.
    pub fn mapping_of(&self, format: Id) -> Mapping {
        match format {
            Id::Protobuf | Id::Struct | Id::StructZlib => self.mapping,
            _ => Mapping::Exact,
        }
    }
}

/// A profile, compiled.
pub struct Rule {
    pattern: String,
    codecs: Codecs,
    formats: Vec<Id>,
    /// The treatment of numbers in text that no value holds exactly.
    pub numbers: settings::Numbers,
    /// Whether numbers that are binary32 become the shortest decimals.
    pub shortens_binary32: bool,
    /// The link of their messages, if the sender names none.
    pub link: Option<String>,
    /// Whether a message without a key is a duplicate of an earlier one with the same bytes.
    pub dedup_by_payload: bool,
    /// How long after its last message a device counts as silent, in microseconds.
    silent_after: Option<i64>,
    path: Arc<str>,
    position: Option<String>,
    known: KnownTexts,
    /// The vendor's codec of messages that name no format.
    pub codec: Option<Arc<Codec>>,
}

impl Rule {
    /// Returns the texts of `device` that packed omits, if its profile has any.
    pub fn known(&self, device: &str) -> Option<&BTreeMap<String, String>> {
        self.known.get(device)
    }

    /// Rejects a format that these devices may not send. The error lists those that they may.
    pub fn check(&self, format: Id) -> Result<(), String> {
        if self.formats.is_empty() || self.formats.contains(&format) {
            return Ok(());
        }
        let names: Vec<_> = self.formats.iter().map(|format| format.name()).collect();
        Err(format!("devices that match {} may send {}, not {format}", self.pattern, names.join(", ")))
    }
}

/// All schemas and profiles.
pub struct Profiles {
    without_schema: Codecs,
    schemas: HashMap<String, Codecs>,
    rules: Vec<Rule>,
    /// Whether any rule watches for silent devices.
    watch: bool,
    /// Whether any rule gives the place of positions.
    places: bool,
    no_path: Arc<str>,
    register: Arc<Register>,
}

/// A mistake in a schema or a profile.
pub struct Mistaken {
    /// The cause.
    pub error: ProfileError,
    /// The profile, from 0, and its key; `None` for a schema.
    pub profile: Option<(usize, &'static str)>,
}

/// The mistakes in a profile: key and reason.
type Wrong = Vec<(&'static str, String)>;

impl Profiles {
    /// Compiles the bundled schemas, those of `[schemas] path`, which take precedence, and the profiles. Fails with the first mistake.
    pub fn load(settings: &SchemaSettings, profiles: &[Profile]) -> Result<Profiles, ProfileError> {
        let (profiles, mistakes) = Profiles::load_all(settings, profiles);
        mistakes.into_iter().next().map_or(Ok(profiles), |mistaken| Err(mistaken.error))
    }

    /// Compiles the same as far as possible, and returns all mistakes.
    pub fn load_all(settings: &SchemaSettings, profiles: &[Profile]) -> (Profiles, Vec<Mistaken>) {
        let (schemas, errors) = schemas::load(settings);
        let mut mistakes: Vec<_> =
            errors.into_iter().map(|error| Mistaken { error, profile: None }).collect();
        let (mut rules, mut files) = (Vec::new(), CodecFiles::default());
        for (index, profile) in profiles.iter().enumerate() {
            let mut wrong = Vec::new();
            let earlier = &profiles[..index];
            if let Some(other) = earlier.iter().find(|other| fits(&other.device, &profile.device)) {
                let message = format!(
                    "no device reaches this profile: the earlier {:?} matches them all",
                    other.device
                );
                wrong.push(("device", message));
            }
            let codec = files.codec(profile, &mut wrong);
            rules.push(Rule { codec, ..rule(profile, &schemas, &mut wrong) });
            let origin = format!("[[profile]] device = {:?}", profile.device);
            let mistaken = |(key, message)| {
                let error = ProfileError { origin: origin.clone(), message };
                Mistaken { error, profile: Some((index, key)) }
            };
            mistakes.extend(wrong.into_iter().map(mistaken));
        }
        let codecs =
            |(name, schema): (&String, &Schema)| (name.clone(), Codecs::of(name, schema, Mapping::Exact));
        let schemas =
            schemas.iter().filter_map(|(name, schema)| Some((name, schema.as_ref()?))).map(codecs).collect();
        let watch = rules.iter().any(|rule| rule.silent_after.is_some());
        let places = rules.iter().any(|rule| rule.position.is_some());
        let profiles = Profiles {
            without_schema: Codecs::none(),
            schemas,
            rules,
            watch,
            places,
            no_path: "".into(),
            register: Arc::default(),
        };
        (profiles, mistakes)
    }

    /// Returns the profiles with the register that tells them about devices.
    pub fn with_register(self, register: Arc<Register>) -> Profiles {
        Profiles { register, ..self }
    }

    /// Returns the record of `device`, if it is registered.
    pub fn record(&self, device: &str) -> Option<Arc<Record>> {
        self.register.get(device)
    }

    /// Returns the layout that has replaced `key`: a different one in the same slot of the same schema.
    pub fn instead_of(&self, key: &LayoutKey) -> Option<&Slot> {
        let slots = self.schemas.get(&*key.schema)?.slots.as_ref()?;
        slots.all().iter().find(|slot| slot.key.slot == key.slot && *slot.key != *key)
    }

    /// Iterates over all packed layouts.
    pub fn layouts(&self) -> impl Iterator<Item = &LayoutKey> {
        let slots = self.schemas.values().filter_map(|codecs| codecs.slots.as_ref());
        slots.flat_map(|slots| slots.all()).map(|slot| &*slot.key)
    }

    /// Iterates over all schemas: their names and layouts.
    pub fn all(&self) -> impl Iterator<Item = (&str, &[Slot])> {
        self.schemas
            .iter()
            .map(|(name, codecs)| (&**name, codecs.slots.as_deref().map_or(&[][..], Slots::all)))
    }

    /// Iterates over the device patterns of the profiles that use `schema`.
    pub fn patterns_of<'p>(&'p self, schema: &'p str) -> impl Iterator<Item = &'p str> {
        let uses = move |rule: &&Rule| rule.codecs.schema.as_deref() == Some(schema);
        self.rules.iter().filter(uses).map(|rule| &*rule.pattern)
    }

    /// Returns the number of schemas.
    pub fn schemas(&self) -> usize {
        self.schemas.len()
    }

    /// Returns the first profile that matches `device`.
    pub fn rule(&self, device: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| fits(&rule.pattern, device))
    }

    /// Returns the encoding that `content_type` names; if it names none, the codec of the device's profile, or the encoding of the one format
    /// that the profile allows.
    pub fn decoding(&self, device: &str, content_type: &str) -> Result<Decoding, Rejected> {
        if is_unnamed(content_type) && self.rule(device).is_some_and(|rule| rule.codec.is_some()) {
            return Decoding::by_codec(content_type);
        }
        let only = |rule: &Rule| match rule.formats[..] {
            [format] => Some(format),
            _ => None,
        };
        Encoding::of(content_type, self.rule(device).and_then(only)).map(Decoding::Format)
    }

    /// Whether the profile of `device` lists `format`.
    pub fn lists(&self, device: &str, format: Id) -> bool {
        self.rule(device).is_some_and(|rule| rule.formats.contains(&format))
    }

    /// Returns the codecs for a message: those of the schema that it names, else those of its device's profile, else those that need no
    /// schema. Returns `None` for an unknown schema.
    pub fn pick<'p>(&'p self, rule: Option<&'p Rule>, schema: Option<&str>) -> Option<&'p Codecs> {
        let of_rule = rule.map(|rule| &rule.codecs);
        match schema {
            None => Some(of_rule.unwrap_or(&self.without_schema)),
            // If the profile has the same schema, use its codecs, which have its mapping, its slots and its .proto.
            Some(name) => {
                of_rule.filter(|c| c.schema.as_deref() == Some(name)).or_else(|| self.schemas.get(name))
            }
        }
    }

    /// Returns the schema of a message of `device`: the one that it names, else its profile's.
    pub fn schema_of<'a>(&'a self, device: &str, asked: Option<&'a str>) -> Option<&'a str> {
        asked.or_else(|| self.rule(device)?.codecs.schema.as_deref())
    }

    /// Whether a message of `device` without a key is a duplicate of an earlier one with the same bytes.
    pub fn dedup_by_payload(&self, device: &str) -> bool {
        self.rule(device).is_some_and(|rule| rule.dedup_by_payload)
    }

    /// Returns how long after its last message `device` counts as silent, in microseconds, if it is watched.
    pub fn silent_after(&self, device: &str) -> Option<i64> {
        if self.watch { self.rule(device)?.silent_after } else { None }
    }

    /// Returns the JSON pointer to the position in messages of `device`, if its profile has one.
    pub fn position(&self, device: &str) -> Option<&str> {
        if self.places { self.rule(device)?.position.as_deref() } else { None }
    }

    /// Returns the pattern of the profile of `device`, by which people know the profile.
    pub fn pattern(&self, device: &str) -> Option<&str> {
        self.rule(device).map(|rule| &*rule.pattern)
    }

    /// Returns the time between two messages of a device that `schema` says, in microseconds.
    pub fn every(&self, schema: &str) -> Option<i64> {
        self.schemas.get(schema)?.every
    }

    /// Returns the units of the values in messages of `schema`, by pointer.
    pub fn units(&self, schema: &str) -> &[(String, String)] {
        self.schemas.get(schema).map_or(&[], |codecs| &codecs.units)
    }

    /// Returns the path under which outputs deliver the messages of `device`; empty if its profile names none.
    pub fn output_path(&self, device: &str) -> Arc<str> {
        Arc::clone(self.rule(device).map_or(&self.no_path, |rule| &rule.path))
    }

    /// Iterates over the versions of `schema` that have a packed layout.
    pub fn versions<'a>(&'a self, schema: &str) -> impl Iterator<Item = &'a Model> + use<'a> {
        let slots = self.schemas.get(schema).and_then(|codecs| codecs.slots.as_ref());
        slots.into_iter().flat_map(|slots| slots.all()).map(|slot| slot.codec.layout().model())
    }

    /// Whether any device is watched for silence.
    pub fn watch(&self) -> bool {
        self.watch
    }
}

fn unopened() -> Vec<OnceLock<Result<Box<dyn Format>, Error>>> {
    Id::readable().map(|_| OnceLock::new()).collect()
}

/// Longest output path, in bytes.
const PATH: usize = 256;
/// Longest `silent_after_seconds`: a year.
const SILENT_AFTER: u64 = 366 * 86_400;

fn rule(profile: &Profile, schemas: &Schemas, wrong: &mut Wrong) -> Rule {
    if profile.link.as_deref().is_some_and(|link| !is_name(link)) {
        wrong.push(("link", "link must be 1 to 64 of A-Z a-z 0-9 . _ : -".into()));
    }
    let path = profile.path.as_deref().unwrap_or_default();
    if profile.path.is_some() && !is_path(path) {
        let message =
            format!("path must be names of A-Z a-z 0-9 . _ : - separated by /, at most {PATH} characters");
        wrong.push(("path", message));
    }
    if profile.position.as_deref().is_some_and(|pointer| !pointer.starts_with('/')) {
        wrong.push(("position", "position must be a JSON pointer, such as /gps or /status/location".into()));
    }
    if profile.silent_after_seconds.is_some_and(|seconds| !(1..=SILENT_AFTER).contains(&seconds)) {
        let message = format!("silent_after_seconds must be 1 to {SILENT_AFTER}");
        wrong.push(("silent_after_seconds", message));
    }
    let silent_after =
        profile.silent_after_seconds.map(|seconds| seconds.min(SILENT_AFTER) as i64 * 1_000_000);
    Rule {
        pattern: profile.device.clone(),
        codecs: codecs(profile, schemas, wrong),
        numbers: profile.numbers,
        shortens_binary32: profile.binary32 == settings::Binary32::Shortest,
        formats: profile.formats.iter().map(|format| format.0).collect(),
        link: profile.link.clone(),
        dedup_by_payload: profile.duplicates == Duplicates::Bytes,
        silent_after,
        path: path.into(),
        position: profile.position.clone(),
        known: known::read(profile, wrong),
        codec: None,
    }
}

fn codecs(profile: &Profile, schemas: &Schemas, wrong: &mut Wrong) -> Codecs {
    let Some(name) = &profile.schema else {
        let alone = [
            ("slots", !profile.slots.is_empty()),
            ("known", profile.known.is_some()),
            ("avro_header", profile.avro_header != settings::AvroHeader::None),
            ("mapping", profile.mapping != settings::Mapping::Exact),
        ];
        let given = alone.iter().filter(|(_, given)| *given);
        wrong.extend(given.map(|(key, _)| (*key, format!("{key} needs a schema"))));
        return with_proto(Codecs::none(), profile, wrong);
    };
    let schema = match schemas.get(name) {
        Some(Some(schema)) => schema,
        // The mistake in it has been reported.
        Some(None) => return Codecs::none(),
        None => {
            let names: Vec<_> = schemas.keys().map(String::as_str).collect();
            wrong.push(("schema", format!("there is no schema {name:?}; there are {}", names.join(", "))));
            return Codecs::none();
        }
    };
    let mut codecs = Codecs::of(name, schema, profile.mapping.into());
    if !profile.slots.is_empty() {
        match schema.slots.only(&profile.slots) {
            Ok(slots) => codecs.slots = Some(Arc::new(slots)),
            Err(message) => wrong.push(("slots", message)),
        }
    }
    if profile.avro_header != settings::AvroHeader::None {
        let avro = Avro::new(&schema.model).map(|avro| avro.with_header(profile.avro_header.into()));
        let _ = codecs.opened[Id::Avro as usize].set(avro.map(|avro| Box::new(avro) as Box<dyn Format>));
    }
    with_proto(codecs, profile, wrong)
}

/// Sets the codec of Protobuf to that of the profile's own definition, if it has one.
fn with_proto(codecs: Codecs, profile: &Profile, wrong: &mut Wrong) -> Codecs {
    let Some(path) = &profile.proto else {
        let alone = [
            ("proto_message", profile.proto_message.is_some()),
            ("proto_path", !profile.proto_path.is_empty()),
        ];
        let given = alone.iter().filter(|(_, given)| *given);
        wrong.extend(given.map(|(key, _)| (*key, format!("{key} needs proto"))));
        return codecs;
    };
    let definition = Definition::read(path, &profile.proto_path, profile.proto_message.as_deref());
    match definition.and_then(|definition| Protobuf::from_definition(&definition, codecs.model.as_ref())) {
        Ok(protobuf) => {
            let _ = codecs.opened[Id::Protobuf as usize].set(Ok(Box::new(protobuf)));
        }
        Err(e) => wrong.push(("proto", format!("{}: {}", path.display(), e.reason()))),
    }
    codecs
}

/// Whether `path` is a valid output path: names with `/` between them.
fn is_path(path: &str) -> bool {
    path.len() <= PATH && path.split('/').all(is_name)
}
