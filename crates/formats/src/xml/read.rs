//! Turns an XML document into a message.

use super::{ATTRIBUTE, CONTENT, ENTRY, text};
use crate::entries::Entries;
use crate::{Budget, DUPLICATE_KEY, Error, Kind, Numbers, Value, json, limits};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use quick_xml::XmlVersion::Implicit1_0;
use quick_xml::errors::{Error as XmlError, IllFormedError, SyntaxError};
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesDecl, BytesRef, BytesStart, BytesText, Event};
use std::fmt::Display;

/// Reads the message of an XML document.
pub(super) fn message(document: &str, budget: &Budget, numbers: Numbers<'_>) -> Result<Value, Error> {
    let mut xml = quick_xml::Reader::from_str(document);
    xml.config_mut().enable_all_checks(true);
    xml.config_mut().expand_empty_elements = true;
    Reader { document, xml, offset: 0, budget, numbers }.message()
}

/// The most attributes of an element.
const ATTRIBUTES: usize = 256;

struct Reader<'a> {
    document: &'a str,
    xml: quick_xml::Reader<&'a [u8]>,
    /// The offset of the last event.
    offset: usize,
    budget: &'a Budget,
    numbers: Numbers<'a>,
}

/// The content of a start tag.
struct Tag {
    offset: usize,
    key: String,
    shape: Shape,
    /// The attributes without a meaning of their own, with the keys that they have in the message.
    attributes: Vec<(String, String)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// No `type`: an object if it contains elements, else text.
    Open,
    Null,
    Boolean,
    Number,
    Bytes,
    Escaped,
    Array,
    Object,
}

/// The content between a start tag and its end tag.
enum Content {
    Text(String),
    Items(Vec<Value>),
    Entries(Entries),
}

impl<'a> Reader<'a> {
    fn message(&mut self) -> Result<Value, Error> {
        if let Some((offset, _)) = self.document.char_indices().find(|(_, c)| !text::is_char(*c)) {
            return Err(malformed(offset, "a character that XML does not allow"));
        }
        let root = loop {
            match self.event()? {
                Event::Start(start) => break self.tag(&start)?,
                Event::Decl(declaration) if self.offset == 0 => self.check_declaration(&declaration)?,
                Event::Eof => return Err(self.truncated()),
                other => self.expect_nothing(&other)?,
            }
        };
        let value = self.value(&root, 0)?;
        loop {
            match self.event()? {
                Event::Eof => return Ok(value),
                other => self.expect_nothing(&other)?,
            }
        }
    }

    fn event(&mut self) -> Result<Event<'a>, Error> {
        self.offset = self.xml.buffer_position() as usize;
        self.xml.read_event().map_err(|e| self.error(&e))
    }

    /// Accepts only white space and comments.
    fn expect_nothing(&self, event: &Event<'_>) -> Result<(), Error> {
        match event {
            Event::Comment(_) => Ok(()),
            Event::Text(text) if is_blank(text) => Ok(()),
            Event::PI(_) => Err(Error::new(Kind::Type, self.offset, "a processing instruction")),
            Event::DocType(_) => Err(malformed(self.offset, "a document type is not accepted")),
            _ => Err(malformed(self.offset, "nothing but white space may stand here")),
        }
    }

    fn check_declaration(&self, declaration: &BytesDecl<'_>) -> Result<(), Error> {
        let start = BytesStart::from_content(&**declaration, "xml".len());
        self.check_spaces(&start)?;
        let mut names = ["version", "encoding", "standalone"].into_iter();
        let (mut is_right, mut has_version) = (true, false);
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|e| malformed(self.offset, e))?;
            let name = names.find(|name| *name == attribute.key.as_ref());
            has_version |= name == Some("version");
            is_right &= match (name, attribute.value.as_ref()) {
                (Some("version"), version) => version == "1.0",
                (Some("encoding"), encoding) => encoding.eq_ignore_ascii_case("utf-8"),
                (Some(_), standalone) => matches!(standalone, "yes" | "no"),
                (None, _) => false,
            };
        }
        match is_right && has_version {
            true => Ok(()),
            false => Err(malformed(self.offset, "not the declaration of XML 1.0 in UTF-8")),
        }
    }

    /// Checks for white space between attributes, which the library does not require.
    fn check_spaces(&self, start: &BytesStart<'_>) -> Result<(), Error> {
        let mut rest = start.attributes_raw();
        while let Some((_, quoted)) = rest.split_once(['"', '\'']) {
            let quote = &rest[rest.len() - quoted.len() - 1..][..1];
            let Some((_, after)) = quoted.split_once(quote) else { break };
            if !after.is_empty() && !after.starts_with([' ', '\t', '\r', '\n']) {
                return Err(malformed(self.offset, "no white space before an attribute"));
            }
            rest = after;
        }
        Ok(())
    }

    fn tag(&self, start: &BytesStart<'_>) -> Result<Tag, Error> {
        let offset = self.offset;
        let name = start.name();
        let name = name.as_ref();
        self.check_spaces(start)?;
        let mut tag = Tag { offset, key: name.into(), shape: Shape::Open, attributes: Vec::new() };
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|e| malformed(offset, e))?;
            if attribute.value.contains('<') {
                return Err(malformed(offset, "< in an attribute; it is written &lt; there"));
            }
            let value = attribute.normalized_value(Implicit1_0).map_err(|e| malformed(offset, e))?;
            match (attribute.key.as_ref(), Shape::named(&value)) {
                ("type", Some(shape)) => tag.shape = shape,
                ("key", _) if name == ENTRY => {
                    tag.key =
                        text::unescape(&value).ok_or_else(|| malformed(offset, "a wrong escape in a key"))?;
                }
                (other, _) if text::is_qualified_name(other) => {
                    // The library compares each attribute with all others.
                    if tag.attributes.len() == ATTRIBUTES {
                        let reason = format!("an element has at most {ATTRIBUTES} attributes");
                        return Err(Error::new(Kind::Limit, offset, reason));
                    }
                    self.budget.value(offset)?;
                    self.budget.content(other.len() + ATTRIBUTE.len(), offset)?;
                    self.budget.content(value.len(), offset)?;
                    tag.attributes.push((format!("{ATTRIBUTE}{other}"), value.into_owned()));
                }
                _ => return Err(malformed(offset, "not the name of an attribute")),
            }
        }
        if !text::is_qualified_name(name) {
            return Err(malformed(offset, "not the name of an element"));
        }
        Ok(tag)
    }

    /// Reads the value of the element whose start tag was just read, up to its end tag.
    fn value(&mut self, tag: &Tag, depth: usize) -> Result<Value, Error> {
        self.budget.value(tag.offset)?;
        if !tag.attributes.is_empty() {
            return self.with_attributes(tag, depth);
        }
        Ok(match self.content(tag, depth)? {
            Content::Items(items) => Value::Array(items),
            Content::Entries(entries) => entries.into_value(),
            Content::Text(text) => self.scalar(tag, text)?,
        })
    }

    /// Reads an element with attributes: an object of them, followed by its entries, or by its other content under a key of its own.
    fn with_attributes(&mut self, tag: &Tag, depth: usize) -> Result<Value, Error> {
        let around = if tag.shape == Shape::Array { self.inside(tag, depth)? } else { depth };
        let content = self.content(tag, around)?;
        let mut object = Entries::default();
        for (key, text) in &tag.attributes {
            object.push(key.clone(), Value::Text(text.clone()));
        }
        let value = match content {
            Content::Entries(entries) => {
                for (key, value) in entries.into_entries() {
                    if !object.is_new(&key) {
                        return Err(malformed(tag.offset, "a key that is also that of an attribute"));
                    }
                    object.push(key, value);
                }
                return Ok(object.into_value());
            }
            Content::Text(text) => {
                self.inside(tag, depth)?;
                if text.is_empty() && tag.shape == Shape::Open {
                    return Ok(object.into_value());
                }
                self.scalar(tag, text)?
            }
            Content::Items(items) => Value::Array(items),
        };
        self.budget.value(tag.offset)?;
        self.budget.content(CONTENT.len(), tag.offset)?;
        object.push(CONTENT.to_owned(), value);
        Ok(object.into_value())
    }

    /// Returns the value of an element that contains only text.
    fn scalar(&self, tag: &Tag, text: String) -> Result<Value, Error> {
        let value = scalar(tag, text, self.numbers)?;
        match &value {
            Value::Text(text) => self.budget.content(text.len(), tag.offset)?,
            Value::Bytes(bytes) => self.budget.content(bytes.len(), tag.offset)?,
            _ => {}
        }
        Ok(value)
    }

    fn content(&mut self, tag: &Tag, depth: usize) -> Result<Content, Error> {
        let mut content = match tag.shape {
            Shape::Array => Content::Items(Vec::new()),
            Shape::Object => Content::Entries(Entries::default()),
            _ => Content::Text(String::new()),
        };
        let mut inside = match content {
            Content::Text(_) => depth,
            _ => self.inside(tag, depth)?,
        };
        loop {
            match (self.event()?, &mut content) {
                (Event::End(_), _) => return Ok(content),
                (Event::Eof, _) => return Err(self.truncated()),
                (Event::Start(start), Content::Items(items)) => {
                    let item = self.tag(&start)?;
                    items.push(self.value(&item, inside)?);
                }
                (Event::Start(start), Content::Entries(entries)) => {
                    self.entry(&start, entries, inside)?;
                }
                (Event::Start(start), Content::Text(text)) if tag.shape == Shape::Open && is_blank(text) => {
                    inside = self.inside(tag, depth)?;
                    let mut entries = Entries::default();
                    self.entry(&start, &mut entries, inside)?;
                    content = Content::Entries(entries);
                }
                (Event::Text(piece), Content::Text(text)) => self.append(&piece, text)?,
                (Event::CData(piece), Content::Text(text)) => text.push_str(&piece.xml10_content()),
                (Event::GeneralRef(reference), Content::Text(text)) => {
                    self.append_reference(&reference, text)?;
                }
                (other, _) => self.expect_nothing(&other)?,
            }
        }
    }

    /// Returns the depth inside the array or object that begins with `tag`.
    fn inside(&self, tag: &Tag, depth: usize) -> Result<usize, Error> {
        self.budget.container(tag.offset)?;
        limits::deeper(depth, tag.offset)
    }

    fn entry(&mut self, start: &BytesStart<'_>, entries: &mut Entries, depth: usize) -> Result<(), Error> {
        let tag = self.tag(start)?;
        self.budget.content(tag.key.len(), tag.offset)?;
        if !entries.is_new(&tag.key) {
            return Err(malformed(tag.offset, DUPLICATE_KEY));
        }
        let value = self.value(&tag, depth)?;
        entries.push(tag.key, value);
        Ok(())
    }

    fn append(&self, piece: &BytesText<'_>, text: &mut String) -> Result<(), Error> {
        if let Some(at) = piece.find("]]>") {
            return Err(malformed(self.offset + at, "]]> in a text; > is written &gt; there"));
        }
        text.push_str(&piece.xml10_content());
        Ok(())
    }

    fn append_reference(&self, reference: &BytesRef<'_>, text: &mut String) -> Result<(), Error> {
        match reference.resolve_char_ref().map_err(|e| malformed(self.offset, e))? {
            Some(c) if text::is_char(c) => text.push(c),
            Some(_) => return Err(malformed(self.offset, "a character that XML does not allow")),
            None => match resolve_xml_entity(reference) {
                Some(replacement) => text.push_str(replacement),
                None => return Err(malformed(self.offset, "an entity that is not defined")),
            },
        }
        Ok(())
    }

    fn truncated(&self) -> Error {
        Error::new(Kind::Truncated, self.document.len(), "the text ends before the message does")
    }

    fn error(&self, e: &XmlError) -> Error {
        let offset = self.xml.error_position() as usize;
        let rest = self.document.get(offset..).unwrap_or_default();
        let cut_off = match e {
            XmlError::Syntax(SyntaxError::InvalidBangMarkup) => {
                ["<!--", "<![CDATA[", "<!DOCTYPE"].iter().any(|markup| markup.starts_with(rest))
            }
            XmlError::Syntax(_) => true,
            XmlError::IllFormed(IllFormedError::UnclosedReference) => {
                rest.chars().skip(1).all(|c| c == '#' || text::is_name_char(c))
            }
            _ => false,
        };
        if cut_off { self.truncated() } else { malformed(offset, e) }
    }
}

impl Shape {
    fn named(name: &str) -> Option<Shape> {
        Some(match name {
            "null" => Shape::Null,
            "boolean" => Shape::Boolean,
            "number" => Shape::Number,
            "bytes" => Shape::Bytes,
            "escaped" => Shape::Escaped,
            "array" => Shape::Array,
            "object" => Shape::Object,
            _ => return None,
        })
    }
}

/// Returns the value of an element that contains only text.
fn scalar(tag: &Tag, text: String, numbers: Numbers<'_>) -> Result<Value, Error> {
    let value = match (tag.shape, text.trim_ascii()) {
        (Shape::Escaped, _) => text::unescape(&text).map(Value::Text),
        (Shape::Null, "") => Some(Value::Null),
        (Shape::Boolean, "true") => Some(Value::Bool(true)),
        (Shape::Boolean, "false") => Some(Value::Bool(false)),
        (Shape::Number, "NaN") => Some(Value::F64(f64::NAN)),
        (Shape::Number, "INF") => Some(Value::F64(f64::INFINITY)),
        (Shape::Number, "-INF") => Some(Value::F64(f64::NEG_INFINITY)),
        (Shape::Number, digits) => match json::read(digits.as_bytes(), &Budget::default(), numbers) {
            Ok(value @ (Value::U64(_) | Value::I64(_) | Value::F64(_))) => Some(value),
            Err(e) if e.kind() == Kind::Range => {
                return Err(Error::new(Kind::Range, tag.offset, e.message()).readable_with(e.numbers()));
            }
            _ => None,
        },
        (Shape::Bytes, base64) => BASE64_STANDARD.decode(base64).ok().map(Value::Bytes),
        (Shape::Open, _) => Some(Value::Text(text)),
        _ => None,
    };
    value.ok_or_else(|| malformed(tag.offset, "this content is not of the type that the element has"))
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
}

fn malformed(offset: usize, reason: impl Display) -> Error {
    Error::new(Kind::Malformed, offset, reason.to_string())
}
