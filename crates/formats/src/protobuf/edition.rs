//! Files with an edition (2023 and 2024) instead of a syntax. protox parses only proto2 and proto3, so this module rewrites the few statements
//! that only editions have, and then turns the features of the parsed file into the labels and options of those syntaxes.
//!
//! Source: <https://protobuf.dev/editions/features/> and the two specifications of the language beside it.

use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FieldOptions, FileDescriptorProto,
    UninterpretedOption,
};
use protox::file::File;
use std::collections::HashSet;
use std::ops::Range;

/// Parses the text of a file, with an edition or a syntax.
pub(super) fn parse(name: &str, source: &str) -> Result<File, protox::Error> {
    let tokens = tokens(source);
    if !matches!(&tokens[..], [first, sign, ..] if first.text == "edition" && sign.text == "=") {
        return File::from_source(name, source);
    }
    let edition = tokens.get(2).map_or("", |token| token.text.trim_matches(['"', '\'']));
    if !["2023", "2024"].contains(&edition) {
        return Err(protox::Error::new(format!("{name}: edition {edition:?} is not 2023 or 2024")));
    }
    let parsed = File::from_source(name, &rewrite(source, &tokens))?;
    let mut file = parsed.file_descriptor_proto().clone();
    lower(&mut file).map_err(|reason| protox::Error::new(format!("{name}: {reason}")))?;
    Ok(File::from_file_descriptor_proto(file))
}

/// A word, a number, a text with its quotes, or one sign.
struct Token<'a> {
    text: &'a str,
    at: usize,
}

impl Token<'_> {
    fn range(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }
}

/// Divides a file into tokens, without comments. A text or comment without an end is left to the compiler.
fn tokens(source: &str) -> Vec<Token<'_>> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = bytes.get(at) {
        let rest = &bytes[at..];
        let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
        let length = match first {
            b'/' if rest.starts_with(b"//") => rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with(b"/*") => {
                rest.windows(2).skip(2).position(|end| end == b"*/").map_or(rest.len(), |end| end + 4)
            }
            quote @ (b'"' | b'\'') => quoted(rest, *quote),
            b if is_name(b) => rest.iter().position(|b| !is_name(b)).unwrap_or(rest.len()),
            _ => 1,
        };
        let is_token = !first.is_ascii_whitespace() && !rest.starts_with(b"//") && !rest.starts_with(b"/*");
        // Any other byte may be part of a character of several bytes.
        if let (true, Some(text)) = (is_token, source.get(at..at + length)) {
            tokens.push(Token { text, at });
        }
        at += length;
    }
    tokens
}

/// Returns the length of a text with its quotes.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        match *byte {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The name that replaces `default` in the options of a field. It has the same length, so columns in errors are right.
const DEFAULT: &str = "preset_";

/// Rewrites the statements that proto3 does not have. Lines keep their numbers.
fn rewrite(source: &str, tokens: &[Token<'_>]) -> String {
    let mut edits: Vec<(Range<usize>, String)> = vec![
        (tokens[0].range(), "syntax".to_owned()),
        (tokens.get(2).map_or(0..0, Token::range), "'proto3'".to_owned()),
    ];
    let mut brackets = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(3) {
        let begins = matches!(tokens[at - 1].text, ";" | "{" | "}");
        let next = tokens.get(at + 1);
        let statement = || tokens[at..].iter().take_while(|token| token.text != ";");
        match token.text {
            "[" => brackets += 1,
            "]" => brackets = brackets.saturating_sub(1),
            "default" if brackets == 1 && next.is_some_and(|next| next.text == "=") => {
                edits.push((token.range(), DEFAULT.to_owned()));
            }
            // Edition 2024 says which definitions other files may use.
            "export" | "local" if begins && next.is_some_and(|n| matches!(n.text, "message" | "enum")) => {
                edits.push((token.range(), String::new()));
            }
            "reserved" if begins => {
                let names = statement().skip(1).filter(|token| token.is_word() && token.text != "to");
                edits.extend(names.filter(|token| token.text != "max").map(quote));
            }
            "import" if begins && imports_only_options(statement()) => {
                edits.extend(statement().map(|token| (token.range(), String::new())));
            }
            _ => {}
        }
    }
    let mut rewritten = source.to_owned();
    for (range, text) in edits.into_iter().rev() {
        rewritten.replace_range(range, &text);
    }
    rewritten
}

fn quote(name: &Token<'_>) -> (Range<usize>, String) {
    (name.range(), format!("'{}'", name.text))
}

/// Whether an import provides only options: `import option` of edition 2024, or Google's features of a language.
fn imports_only_options<'a>(statement: impl Iterator<Item = &'a Token<'a>>) -> bool {
    let words: Vec<_> = statement.map(|token| token.text).collect();
    let is_features = |path: &str| {
        let path = path.trim_matches(['"', '\'']);
        path.starts_with("google/protobuf/") && path.ends_with("_features.proto")
    };
    words.get(1) == Some(&"option") || words.last().is_some_and(|path| is_features(path))
}

/// The features that labels and options of the other syntaxes can express.
#[derive(Clone, Copy)]
struct Features<'a> {
    presence: Presence,
    packed: bool,
    /// Whether a message inside is between two tags, as a group, and not after its length.
    delimited: bool,
    /// The names of the types in the file that are never groups: enumerations and the entries of maps.
    no_groups: &'a HashSet<String>,
    /// Whether the file becomes proto2, because one of its enumerations does not begin with 0.
    proto2: bool,
}

#[derive(Clone, Copy)]
enum Presence {
    Explicit,
    Implicit,
    Required,
}

impl Features<'_> {
    /// Takes the features out of the options. A feature that they do not name is that of the enclosing scope.
    fn within(mut self, options: Option<&mut Vec<UninterpretedOption>>) -> Result<Self, String> {
        for option in options.into_iter().flat_map(|all| all.extract_if(.., |option| is_feature(option))) {
            let name = option.name.get(1).map(|part| part.name_part.clone()).unwrap_or_default();
            match (option.identifier_value, option.aggregate_value) {
                (Some(value), _) => self.set(&name, &value)?,
                (None, Some(all)) => {
                    let words: Vec<_> = tokens(&all).into_iter().filter(Token::is_word).collect();
                    for pair in words.chunks_exact(2) {
                        self.set(pair[0].text, pair[1].text)?;
                    }
                }
                (None, None) => return Err(format!("features.{name} has no value")),
            }
        }
        Ok(self)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match (name, value) {
            ("field_presence", "EXPLICIT") => self.presence = Presence::Explicit,
            ("field_presence", "IMPLICIT") => self.presence = Presence::Implicit,
            ("field_presence", "LEGACY_REQUIRED") => self.presence = Presence::Required,
            ("repeated_field_encoding", "PACKED") => self.packed = true,
            ("repeated_field_encoding", "EXPANDED") => self.packed = false,
            ("message_encoding", "DELIMITED") => self.delimited = true,
            ("message_encoding", "LENGTH_PREFIXED") => self.delimited = false,
            ("field_presence" | "repeated_field_encoding" | "message_encoding", _) => {
                return Err(format!("features.{name} has no value {value}"));
            }
            // The others, as enum_type or utf8_validation, concern generated code: all numbers are read, and all text is checked.
            _ => {}
        }
        Ok(())
    }
}

fn is_feature(option: &UninterpretedOption) -> bool {
    option.name.first().is_some_and(|part| !part.is_extension && part.name_part == "features")
}

/// Writes what the features mean into the file.
fn lower(file: &mut FileDescriptorProto) -> Result<(), String> {
    let mut no_groups = file.enum_type.iter().map(|values| values.name().to_owned()).collect();
    file.message_type.iter().for_each(|message| collect_no_groups(message, &mut no_groups));
    let proto2 = file.enum_type.iter().any(begins_above_zero) || file.message_type.iter().any(has_such_enum);
    if proto2 {
        file.syntax = None;
    }
    let (presence, no_groups) = (Presence::Explicit, &no_groups);
    let around = Features { presence, packed: true, delimited: false, no_groups, proto2 };
    let around = around.within(file.options.as_mut().map(|options| &mut options.uninterpreted_option))?;
    file.extension.iter_mut().try_for_each(|field| lower_field(field, around))?;
    file.enum_type.iter_mut().try_for_each(|values| lower_enum(values, around))?;
    file.message_type.iter_mut().try_for_each(|message| lower_message(message, around))
}

fn begins_above_zero(values: &EnumDescriptorProto) -> bool {
    values.value.first().is_some_and(|value| value.number() != 0)
}

fn has_such_enum(message: &DescriptorProto) -> bool {
    message.enum_type.iter().any(begins_above_zero) || message.nested_type.iter().any(has_such_enum)
}

fn collect_no_groups(message: &DescriptorProto, into: &mut HashSet<String>) {
    into.extend(message.enum_type.iter().map(|values| values.name().to_owned()));
    for inner in &message.nested_type {
        if is_map_entry(inner) {
            into.insert(inner.name().to_owned());
        }
        collect_no_groups(inner, into);
    }
}

fn is_map_entry(message: &DescriptorProto) -> bool {
    message.options.as_ref().is_some_and(|options| options.map_entry())
}

fn lower_message(message: &mut DescriptorProto, around: Features<'_>) -> Result<(), String> {
    // An entry of a map is written as in any other file.
    if is_map_entry(message) {
        return Ok(());
    }
    let around = around.within(message.options.as_mut().map(|options| &mut options.uninterpreted_option))?;
    for oneof in &mut message.oneof_decl {
        around.within(oneof.options.as_mut().map(|options| &mut options.uninterpreted_option))?;
    }
    message.field.iter_mut().try_for_each(|field| lower_field(field, around))?;
    message.extension.iter_mut().try_for_each(|field| lower_field(field, around))?;
    message.enum_type.iter_mut().try_for_each(|values| lower_enum(values, around))?;
    message.nested_type.iter_mut().try_for_each(|message| lower_message(message, around))
}

/// Removes the features. Whether the enumeration is open does not matter: a number without a name is always read.
fn lower_enum(values: &mut EnumDescriptorProto, around: Features<'_>) -> Result<(), String> {
    around.within(values.options.as_mut().map(|options| &mut options.uninterpreted_option))?;
    for value in &mut values.value {
        around.within(value.options.as_mut().map(|options| &mut options.uninterpreted_option))?;
    }
    Ok(())
}

fn lower_field(field: &mut FieldDescriptorProto, around: Features<'_>) -> Result<(), String> {
    let options = field.options.as_mut().map(|options| &mut options.uninterpreted_option);
    let features = around.within(options)?;
    let presets = field.options.iter_mut().flat_map(|options| {
        let is_preset = |option: &mut UninterpretedOption| {
            option.name.first().is_some_and(|part| part.name_part == DEFAULT)
        };
        options.uninterpreted_option.extract_if(.., is_preset)
    });
    if let Some(preset) = presets.last() {
        field.default_value =
            Some(preset_text(preset, field.r#type() == Type::Bytes && field.r#type.is_some()));
    }
    let type_name = field.type_name().rsplit('.').next().unwrap_or_default();
    let is_message = field.r#type.is_none() && !features.no_groups.contains(type_name);
    if features.delimited && is_message {
        field.set_type(Type::Group);
    }
    if field.label() == Label::Repeated {
        // The default of proto3 is to pack, that of proto2 is not to.
        if features.packed == features.proto2 {
            field.options.get_or_insert_with(FieldOptions::default).packed = Some(features.packed);
        }
        return Ok(());
    }
    if field.oneof_index.is_none() {
        match features.presence {
            Presence::Implicit if features.proto2 && !is_message => {
                let name = field.name();
                return Err(format!(
                    "{name}: IMPLICIT is not supported in a file with an enumeration that does not begin with 0"
                ));
            }
            Presence::Implicit => {}
            _ if features.proto2 => {}
            _ => field.proto3_optional = Some(true),
        }
        if matches!(features.presence, Presence::Required) {
            field.set_label(Label::Required);
        }
    }
    Ok(())
}

/// Returns a default value as descriptors have it.
fn preset_text(preset: UninterpretedOption, bytes: bool) -> String {
    let numbers = [
        preset.positive_int_value.map(|n| n.to_string()),
        preset.negative_int_value.map(|n| n.to_string()),
        preset.double_value.map(|n| n.to_string().to_lowercase()),
    ];
    match preset.string_value {
        Some(text) if bytes => text.escape_ascii().to_string(),
        Some(text) => String::from_utf8_lossy(&text).into_owned(),
        None => numbers.into_iter().flatten().next().or(preset.identifier_value).unwrap_or_default(),
    }
}
