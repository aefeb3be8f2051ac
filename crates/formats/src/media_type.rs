//! The media types of the formats: the one that is written, and all that are read.

use crate::Id;

/// Other names of formats. Most are registered or were before registration; the others are what common clients send.
const OTHERS: [(&str, Id); 28] = [
    ("text/json", Id::Json),
    ("application/x-json", Id::Json),
    ("text/x-json", Id::Json),
    ("application/vnd.msgpack", Id::Msgpack),
    ("application/x-msgpack", Id::Msgpack),
    ("application/messagepack", Id::Msgpack),
    ("application/x-messagepack", Id::Msgpack),
    ("application/vnd.messagepack", Id::Msgpack),
    ("application/x-cbor", Id::Cbor),
    ("application/x-bson", Id::Bson),
    ("application/vnd.bson", Id::Bson),
    ("text/xml", Id::Xml),
    ("application/x-xml", Id::Xml),
    ("text/yaml", Id::Yaml),
    ("text/x-yaml", Id::Yaml),
    ("text/vnd.yaml", Id::Yaml),
    ("application/x-yaml", Id::Yaml),
    ("application/vnd.yaml", Id::Yaml),
    ("application/x-yml", Id::Yaml),
    ("text/x-yml", Id::Yaml),
    ("application/protobuf", Id::Protobuf),
    ("application/vnd.google.protobuf", Id::Protobuf),
    ("application/x-google-protobuf", Id::Protobuf),
    ("application/x-protobuffer", Id::Protobuf),
    ("application/x-avro", Id::Avro),
    ("application/avro-binary", Id::Avro),
    ("application/vnd.apache.avro", Id::Avro),
    ("avro/binary", Id::Avro),
];

/// The structured syntax suffixes (RFC 6839, 4.2.8 of RFC 6838): whatever the type says, its syntax is that of the format.
const SUFFIXES: [(&str, Id); 6] = [
    ("+json", Id::Json),
    ("+cbor", Id::Cbor),
    ("+xml", Id::Xml),
    ("+yaml", Id::Yaml),
    ("+msgpack", Id::Msgpack),
    ("+protobuf", Id::Protobuf),
];

/// Types with a suffix whose content means something else than the format alone: SenML in XML, and changes of a SenML pack (RFC 8790).
const OF_THEIR_OWN: [&str; 4] = [
    "application/senml+xml",
    "application/sensml+xml",
    "application/senml-etch+json",
    "application/senml-etch+cbor",
];

impl Id {
    /// Finds the format of a `Content-Type`. Parameters (`; charset=utf-8`) are ignored, and case does not matter.
    ///
    /// ```
    /// # use dunnage_formats::Id;
    /// assert_eq!(Id::from_media_type("Application/CBOR"), Some(Id::Cbor));
    /// assert_eq!(Id::from_media_type("application/geo+json; charset=utf-8"), Some(Id::Json));
    /// assert_eq!(Id::from_media_type("image/png"), None);
    /// ```
    pub fn from_media_type(content_type: &str) -> Option<Id> {
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        let is = |name: &str| name.eq_ignore_ascii_case(media_type);
        if OF_THEIR_OWN.iter().any(|name| is(name)) {
            return None;
        }
        let named = Id::readable().find(|id| is(id.media_type()));
        let other = || OTHERS.iter().find(|(name, _)| is(name)).map(|(_, id)| *id);
        named.or_else(other).or_else(|| from_suffix(media_type))
    }

    /// Returns every media type that [`Id::from_media_type`] finds, without those that have only a suffix in common.
    pub fn media_types() -> impl Iterator<Item = &'static str> {
        Id::readable().map(Id::media_type).chain(OTHERS.iter().map(|(name, _)| *name))
    }

    /// Returns the suffixes by which [`Id::from_media_type`] finds a format: `+json` and others.
    pub fn media_type_suffixes() -> impl Iterator<Item = &'static str> {
        SUFFIXES.iter().map(|(suffix, _)| *suffix)
    }
}

fn from_suffix(media_type: &str) -> Option<Id> {
    let plus = media_type.rfind('+')?;
    let (of, suffix) = media_type.split_at(plus);
    let is_type = of.split_once('/').is_some_and(|(kind, name)| !kind.is_empty() && !name.is_empty());
    let format = SUFFIXES.iter().find(|(name, _)| name.eq_ignore_ascii_case(suffix))?.1;
    is_type.then_some(format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_media_type_has_one_format() {
        let names: HashSet<_> = Id::media_types().map(str::to_ascii_lowercase).collect();
        assert_eq!(names.len(), Id::media_types().count());
        for id in Id::readable() {
            assert_eq!(Id::from_media_type(id.media_type()), Some(id));
        }
    }

    #[test]
    fn names_of_clients_suffixes_and_parameters_are_known() {
        for (name, format) in [
            ("Application/VND.msgpack", Some(Id::Msgpack)),
            ("application/x-msgpack", Some(Id::Msgpack)),
            ("application/protobuf; proto=a.B", Some(Id::Protobuf)),
            ("application/vnd.google.protobuf", Some(Id::Protobuf)),
            ("text/xml;charset=\"utf-8\"", Some(Id::Xml)),
            ("text/x-yaml", Some(Id::Yaml)),
            (" text/json ; charset=UTF-8", Some(Id::Json)),
            ("application/ld+json", Some(Id::Json)),
            ("application/vnd.company.sensor+JSON; v=1", Some(Id::Json)),
            ("model/x.y+cbor", Some(Id::Cbor)),
            ("application/soap+xml", Some(Id::Xml)),
            ("application/vnd.oai.openapi+yaml", Some(Id::Yaml)),
            ("application/senml+json", Some(Id::SenmlJson)),
            ("application/sensml+cbor", Some(Id::SensmlCbor)),
            ("application/vnd.dunnage.struct+zlib", Some(Id::StructZlib)),
            ("application/senml+xml", None),
            ("application/senml-etch+json", None),
            ("application/json-seq", None),
            ("application/x+json-seq", None),
            ("application/+json", None),
            ("+json", None),
            ("json", None),
            ("application/octet-stream", None),
            ("", None),
        ] {
            assert_eq!(Id::from_media_type(name), format, "{name}");
        }
    }
}
