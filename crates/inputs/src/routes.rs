//! The topics in the settings of an input, and what their messages are.

use crate::topic::{Pattern, Said};
use dunnage_base::name::is_name;
use dunnage_formats::Id;
use dunnage_ingest::profiles::settings::FormatName;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};
use std::fmt;

/// A pattern of topics: `"tele/{device}/STATE"`, or a table that also says what the messages are, unless they say it themselves:
/// `{ topic = "tele/{device}/LWT", format = "text" }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct TopicSettings {
    /// The pattern.
    pub topic: String,
    /// The format of messages that do not name theirs, in place of the input's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<FormatName>,
    /// The schema of messages that do not name theirs, in place of the profile's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
}

impl From<&str> for TopicSettings {
    fn from(topic: &str) -> TopicSettings {
        TopicSettings { topic: topic.to_owned(), format: None, schema: None }
    }
}

impl Serialize for TopicSettings {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.format.is_none() && self.schema.is_none() {
            true => to.serialize_str(&self.topic),
            false => TopicSettings::serialize(self, to),
        }
    }
}

impl<'de> Deserialize<'de> for TopicSettings {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<TopicSettings, D::Error> {
        struct TextOrTable;

        impl<'de> Visitor<'de> for TextOrTable {
            type Value = TopicSettings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a pattern of topics, or a table with the keys topic, format and schema")
            }

            fn visit_str<E>(self, text: &str) -> Result<TopicSettings, E> {
                Ok(text.into())
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<TopicSettings, A::Error> {
                TopicSettings::deserialize(MapAccessDeserializer::new(table))
            }
        }

        from.deserialize_any(TextOrTable)
    }
}

/// A pattern of topics, with what their messages are unless they say it themselves.
#[derive(Debug)]
pub struct Route {
    pattern: Pattern,
    /// Their format.
    pub format: Option<Id>,
    /// Their schema.
    pub schema: Option<String>,
}

/// Where the device ID of a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceIn {
    /// In the topic.
    Topic,
    /// In the message, if it is not in the topic.
    Message,
    /// In the envelope, which has formats of its own.
    Envelope,
}

/// Parses all patterns. An error describes the mistake.
pub fn read(topics: &[TopicSettings], device_in: DeviceIn) -> Result<Vec<Route>, String> {
    topics.iter().map(|settings| Route::read(settings, device_in)).collect()
}

/// Returns the first route that `topic` takes, and what the topic says.
pub fn find<'r, 't>(routes: &'r [Route], topic: &'t str) -> Option<(&'r Route, Said<'t>)> {
    routes.iter().find_map(|route| Some((route, route.pattern.said(topic)?)))
}

impl Route {
    fn read(settings: &TopicSettings, device_in: DeviceIn) -> Result<Route, String> {
        let TopicSettings { topic, format, schema } = settings;
        let pattern = match device_in {
            DeviceIn::Topic => Pattern::read(topic)?,
            DeviceIn::Message | DeviceIn::Envelope => Pattern::of_envelopes(topic)?,
        };
        if device_in == DeviceIn::Envelope && (format.is_some() || schema.is_some()) {
            return Err(format!("{topic:?}: a topic of envelopes has no format and no schema of its own"));
        }
        for (given, level) in
            [(format.is_some(), "{format}"), (format.is_some(), "{field}"), (schema.is_some(), "{schema}")]
        {
            if given && topic.split('/').any(|word| word == level) {
                let key = if level == "{schema}" { "schema" } else { "format" };
                return Err(format!("{topic:?}: {key} must not be set with {level}"));
            }
        }
        if let Some(bad) = schema.as_deref().filter(|schema| !is_name(schema)) {
            return Err(format!("{topic:?}: {bad:?} is not a valid name of a schema"));
        }
        Ok(Route { pattern, format: format.map(|format| format.0), schema: schema.clone() })
    }

    /// Returns the topic filter to subscribe to.
    pub fn filter(&self) -> String {
        self.pattern.filter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Topics {
        topics: Vec<TopicSettings>,
    }

    #[test]
    fn a_topic_is_a_pattern_or_a_table() {
        let text = r#"topics = ["tele/{device}/STATE", { topic = "tele/{device}/LWT", format = "text", schema = "state" }]"#;
        let read: Topics = toml::from_str(text).unwrap();
        assert_eq!(read.topics[0], "tele/{device}/STATE".into());
        assert_eq!(toml::from_str::<Topics>(&toml::to_string(&read).unwrap()).unwrap(), read);
        let routes = super::read(&read.topics, DeviceIn::Topic).unwrap();
        let (route, said) = find(&routes, "tele/plug/LWT").unwrap();
        assert_eq!(
            (said.device, route.format, route.schema.as_deref()),
            ("plug", Some(Id::Text), Some("state"))
        );
        assert_eq!(find(&routes, "tele/plug/STATE").unwrap().0.format, None);
        assert!(find(&routes, "tele/plug/SENSOR").is_none());
        for (topics, part) in [
            (r"[{ topic = 'a/{device}', form = 'text' }]", "form"),
            (r"[{ format = 'text' }]", "topic"),
            (r"[{ topic = 'a/{device}', format = 'texts' }]", "texts"),
            (r"[7]", "a pattern of topics, or a table"),
        ] {
            let error = toml::from_str::<Topics>(&format!("topics = {topics}")).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        let error = |topic: &str, device_in| {
            let settings = TopicSettings { format: Some(FormatName(Id::Text)), ..topic.into() };
            read(&[settings], device_in).err()
        };
        assert_eq!(error("a/{device}", DeviceIn::Topic), None);
        assert_eq!(error("a", DeviceIn::Message), None);
        for (topic, device_in, part) in [
            ("a/{device}/{format}", DeviceIn::Topic, "{format}"),
            ("a/{device}/{field}", DeviceIn::Topic, "{field}"),
            ("a", DeviceIn::Topic, "{device}"),
            ("a", DeviceIn::Envelope, "envelopes"),
        ] {
            assert!(error(topic, device_in).unwrap().contains(part), "{topic}");
        }
        let schema = |topic: &str, schema: &str| {
            let settings = TopicSettings { schema: Some(schema.into()), ..topic.into() };
            read(&[settings], DeviceIn::Topic).err()
        };
        assert_eq!(schema("a/{device}", "state"), None);
        assert!(schema("a/{device}/{schema}", "state").unwrap().contains("{schema}"));
        assert!(schema("a/{device}", "a b").unwrap().contains("a b"));
    }
}
