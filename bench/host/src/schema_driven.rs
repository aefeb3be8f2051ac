//! Codecs that use a schema at run time: packed, prost-reflect, and the other formats of this project.
//!
//! Each codec encodes a message from memory and decodes into memory. prost-reflect's message already holds the numbers of the exact mapping
//! (integers for decimals and for texts that hold numbers), so only prost-reflect itself is measured: it sets every field by name and
//! encodes, and it decodes and reads every field. Packed and the formats of `dunnage-formats` encode and return the JSON message, texts included.

use dunnage_codegen::{Mapped, Mapping};
use dunnage_formats::{Format, Id};
use dunnage_packed::Layout;
use dunnage_pson::Value;
use dunnage_schema::{Model, bundled_named};
use prost_reflect::prost::Message as _;
use prost_reflect::{DynamicMessage, MessageDescriptor, ReflectMessage as _, Value as Dynamic};
use protox::file::{File, FileResolver};
use std::hint::black_box;

/// The bundled schemas whose messages are measured.
pub const SCHEMAS: [&str; 3] = ["container", "weather", "meter"];
/// The crate that packed is compared with.
pub const PEER: &str = "prost-reflect";

/// A codec for the messages of one schema.
pub struct Codec {
    /// Its name in tables: the crate's or the format's.
    pub name: &'static str,
    /// The encoded message.
    pub bytes: Vec<u8>,
    kind: CodecKind,
}

enum CodecKind {
    Packed(Box<Layout>),
    Reflected(Box<DynamicMessage>),
    Format(Box<dyn Format>),
}

/// Returns the schema's first example, and every codec for it: packed first, prost-reflect second.
pub fn codecs(schema: &str) -> (Value, Vec<Codec>) {
    let text = bundled_named(schema).expect("a bundled schema");
    let model = Model::compile(text).expect("it compiles");
    let message = example(text);
    let layout = Box::new(Layout::new(&model).expect("a layout"));
    let mut codecs = vec![
        Codec::new("dunnage-packed", CodecKind::Packed(layout), &message),
        Codec::new(PEER, CodecKind::Reflected(Box::new(to_dynamic(&model, &message))), &message),
    ];
    for id in Id::all().filter(|id| id.name() != "packed") {
        let format = id.open(Some(&model), Mapping::Exact).expect("every format has every bundled schema");
        codecs.push(Codec::new(id.name(), CodecKind::Format(format), &message));
    }
    (message, codecs)
}

impl Codec {
    fn new(name: &'static str, kind: CodecKind, message: &Value) -> Codec {
        let mut codec = Codec { name, bytes: Vec::new(), kind };
        let mut bytes = Vec::new();
        codec.encode(message, &mut bytes);
        codec.bytes = bytes;
        codec
    }

    /// Appends the encoding of `message` to `out`. `message` must be the one that the codec was created for: prost-reflect encodes its own copy.
    pub fn encode(&self, message: &Value, out: &mut Vec<u8>) {
        match &self.kind {
            CodecKind::Packed(layout) => layout.encode(message, out).expect("it encodes"),
            CodecKind::Reflected(template) => build(template).encode(out).expect("there is room"),
            CodecKind::Format(format) => format.encode(message, out).expect("it encodes"),
        }
    }

    /// Decodes the bytes and reads every value, so that the compiler cannot remove the work.
    pub fn decode(&self) {
        let bytes = black_box(self.bytes.as_slice());
        match &self.kind {
            CodecKind::Packed(layout) => drop(black_box(layout.decode(bytes, None).expect("it decodes"))),
            CodecKind::Reflected(template) => {
                let message = DynamicMessage::decode(template.descriptor(), bytes).expect("it decodes");
                read_fields(&message);
            }
            CodecKind::Format(format) => drop(black_box(format.decode(bytes).expect("it decodes"))),
        }
    }
}

fn example(schema: &str) -> Value {
    let schema: serde_json::Value = serde_json::from_str(schema).expect("JSON");
    let text = schema["examples"][0].to_string();
    let json = Id::all().find(|id| id.name() == "json").expect("JSON is a format");
    let json = json.open(None, Mapping::Exact).expect("it needs no schema");
    json.decode(text.as_bytes()).expect("an example")
}

/// The message as prost-reflect holds it.
fn to_dynamic(model: &Model, message: &Value) -> DynamicMessage {
    let mapped = Mapped::of(model, Mapping::Exact);
    let descriptor = compile(dunnage_codegen::proto(&mapped));
    let protobuf = Id::all().find(|id| id.name() == "protobuf").expect("Protobuf is a format");
    let format = protobuf.open(Some(model), Mapping::Exact).expect("a definition");
    let mut bytes = Vec::new();
    format.encode(message, &mut bytes).expect("it encodes");
    DynamicMessage::decode(descriptor, bytes.as_slice()).expect("it decodes")
}

/// Resolves every file name to the one definition.
struct Definition(String);

impl FileResolver for Definition {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        File::from_source(name, &self.0)
    }
}

fn compile(definition: String) -> MessageDescriptor {
    let mut compiler = protox::Compiler::with_file_resolver(Definition(definition));
    compiler.open_file("message.proto").expect("it compiles");
    let file = compiler.descriptor_pool().get_file_by_name("message.proto");
    file.and_then(|file| file.messages().next()).expect("a message")
}

/// A new message with the fields of `template`, each set by its name.
fn build(template: &DynamicMessage) -> DynamicMessage {
    let mut message = DynamicMessage::new(template.descriptor());
    for (field, value) in template.fields() {
        message.set_field_by_name(field.name(), copy(value));
    }
    message
}

fn copy(value: &Dynamic) -> Dynamic {
    match value {
        Dynamic::Message(inner) => Dynamic::Message(build(inner)),
        Dynamic::List(items) => Dynamic::List(items.iter().map(copy).collect()),
        other => other.clone(),
    }
}

fn read_fields(message: &DynamicMessage) {
    for field in message.descriptor().fields() {
        match message.get_field_by_name(field.name()).as_deref() {
            Some(Dynamic::Message(inner)) => read_fields(inner),
            Some(Dynamic::List(items)) => items.iter().for_each(|item| match item {
                Dynamic::Message(inner) => read_fields(inner),
                other => drop(black_box(other.clone())),
            }),
            // Copied out of the message, because our decoders also return owned values.
            Some(other) => drop(black_box(other.clone())),
            None => {}
        }
    }
}
