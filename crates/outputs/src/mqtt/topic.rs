//! The topics of messages.

use crate::Message;
use std::fmt::Write;

/// The level that stands for a value that is empty or missing. Every other percent sign is followed by two digits.
const NOTHING: &str = "%";

/// A template of topics.
#[derive(Debug, PartialEq)]
pub struct Template(Vec<Level>);

#[derive(Debug, PartialEq)]
enum Level {
    /// The path of the device's profile: any number of levels.
    Path,
    /// One level.
    One(Vec<Piece>),
}

#[derive(Debug, PartialEq)]
enum Piece {
    Text(String),
    Device,
    Schema,
    Link,
    Tag(String),
}

impl Template {
    /// Parses a template. An error follows its text.
    pub fn parse(text: &str) -> Result<Template, String> {
        // The key of a tag may have a slash.
        let mut inside = false;
        let levels = text.split(|character| {
            inside = if inside { character != '}' } else { character == '{' };
            character == '/' && !inside
        });
        let levels = levels.map(|level| match level {
            "{path}" => Ok(Level::Path),
            level => pieces(level).map(Level::One),
        });
        let levels: Vec<_> = levels.collect::<Result<_, _>>()?;
        if text.is_empty() || levels.iter().all(|level| *level == Level::Path) {
            return Err("must have a level that is not {path}".into());
        }
        if text.starts_with('$') {
            return Err("must not begin with $, as the topics of brokers do".into());
        }
        Ok(Template(levels))
    }

    /// Returns whether each device has topics of its own.
    pub fn has_device(&self) -> bool {
        self.has(&Piece::Device)
    }

    /// Returns whether the topic may change from message to message of a device.
    pub fn has_link(&self) -> bool {
        self.has(&Piece::Link)
    }

    fn has(&self, piece: &Piece) -> bool {
        self.0.iter().any(|level| matches!(level, Level::One(pieces) if pieces.contains(piece)))
    }

    /// Returns the topic of `message`.
    pub fn topic(&self, message: &Message) -> String {
        let mut levels = Vec::new();
        for level in &self.0 {
            match level {
                Level::Path => {
                    levels.extend(message.path.split('/').filter(|name| !name.is_empty()).map(level_of));
                }
                Level::One(pieces) => levels.push(pieces.iter().map(|piece| piece.text(message)).collect()),
            }
        }
        levels.join("/")
    }
}

impl Piece {
    fn text(&self, message: &Message) -> String {
        let value = match self {
            Piece::Text(text) => return text.clone(),
            Piece::Device => Some(&*message.device),
            Piece::Schema => message.schema.as_deref(),
            Piece::Link => message.link.as_deref(),
            Piece::Tag(key) => message.tags().and_then(|tags| tags.get(key)),
        };
        level_of(value.unwrap_or_default())
    }
}

fn pieces(level: &str) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut rest) = (Vec::new(), level);
    while !rest.is_empty() {
        let (text, after) = rest.split_once('{').map_or((rest, None), |(text, after)| (text, Some(after)));
        if text.contains(['+', '#', '}']) || text.contains(char::is_control) {
            return Err("must not contain +, #, control characters, or } without {".into());
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text.into()));
        }
        let Some(after) = after else { break };
        let (name, after) = after.split_once('}').ok_or("has a { without }")?;
        pieces.push(match (name, name.strip_prefix("tag:")) {
            ("device", _) => Piece::Device,
            ("schema", _) => Piece::Schema,
            ("link", _) => Piece::Link,
            ("path", _) => return Err("must have {path} as a whole level".into()),
            (_, Some(key)) if !key.is_empty() => Piece::Tag(key.into()),
            _ => {
                let known = "{device}, {schema}, {link}, {path} and {tag:KEY}";
                return Err(format!("has {{{name}}}; known are {known}"));
            }
        });
        rest = after;
    }
    Ok(pieces)
}

/// Returns `value` as one level of a topic. Two values never have the same level.
///
/// Percent-encoded are the characters that separate levels (`/`), are wildcards (`+`, `#`), begin the topics of brokers (`$`) or an encoded
/// character (`%`), and those that a broker may refuse (MQTT 5, section 1.5.4: control characters and non-characters).
pub fn level_of(value: &str) -> String {
    if value.is_empty() {
        return NOTHING.to_owned();
    }
    let mut level = String::with_capacity(value.len());
    for character in value.chars() {
        match "/+#$%".contains(character) || is_unusual(character) {
            false => level.push(character),
            true => {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a String does not fail.
                    let _ = write!(level, "%{byte:02X}");
                }
            }
        }
    }
    level
}

/// Returns whether a broker may refuse a text with this character.
pub fn is_unusual(character: char) -> bool {
    let code = u32::from(character);
    character.is_control() || (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_register::{Record, Tags};
    use std::sync::Arc;

    fn message(device: &str) -> Message {
        let mut message = Message::default();
        message.stored.device = device.into();
        message
    }

    #[test]
    fn a_topic_has_the_values_of_its_message() {
        let template = Template::parse("a b/{path}/{schema}-{link}/{device}/{tag:room/nr}").unwrap();
        let mut message = message("urn:x");
        assert_eq!(template.topic(&message), "a b/%-%/urn:x/%");
        message.stored.schema = Some("soil".into());
        message.stored.link = Some("lora".into());
        message.path = "/pisa//roof+1/".into();
        let mut tags = Tags::default();
        tags.insert("room/nr".into(), "1/2".into());
        message.record = Some(Arc::new(Record { tags, ..Record::default() }));
        assert_eq!(template.topic(&message), "a b/pisa/roof%2B1/soil-lora/urn:x/1%2F2");
    }

    #[test]
    fn no_value_leaves_its_level_and_no_two_share_one() {
        let template = Template::parse("{device}/x").unwrap();
        let long = "/".repeat(200);
        let ids = [
            "",
            "%",
            "%25",
            "a/b",
            "a%2Fb",
            "a+b",
            "#",
            "+",
            "..",
            "$SYS",
            "\0",
            "a\u{7f}",
            "\u{85}",
            "\u{ffff}",
            "\u{1fffe}",
            "\u{fdd0}",
            "Käse 1",
            "a b",
            &long,
        ];
        let mut topics: Vec<_> = ids.iter().map(|id| template.topic(&message(id))).collect();
        for topic in &topics {
            assert_eq!(topic.matches('/').count(), 1, "{topic}");
            assert!(!topic.starts_with('$') && !topic.contains(['+', '#']), "{topic}");
            assert!(!topic.contains(is_unusual), "{topic}");
        }
        assert!(topics.contains(&"a%2Fb/x".into()) && topics.contains(&"Käse 1/x".into()), "{topics:?}");
        assert!(topics.contains(&"%F0%9F%BF%BE/x".into()), "{topics:?}");
        topics.sort();
        topics.dedup();
        assert_eq!(topics.len(), ids.len());
    }

    #[test]
    fn errors_say_what_is_wrong_with_a_template() {
        for (text, why) in [
            ("", "must have a level"),
            ("{path}", "must have a level"),
            ("a/+/{device}", "must not contain +"),
            ("#", "must not contain +"),
            ("a}", "must not contain +"),
            ("a\0{device}", "must not contain +"),
            ("{device", "has a { without }"),
            ("{devices}", "has {devices}; known are"),
            ("{tag:}", "has {tag:}; known are"),
            ("x{path}/{device}", "whole level"),
            ("$SYS/{device}", "must not begin with $"),
        ] {
            let error = Template::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
