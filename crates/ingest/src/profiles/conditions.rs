//! The conditions on which profiles apply to a message.

use crate::profiles::{settings::Profile, subject::Subject};
use dunnage_base::name::fits;
use std::{borrow::Cow, fmt};

/// The pattern of all devices.
const ANY: &str = "*";

/// A condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The device's ID matches a pattern.
    Device(String),
    /// A text of the origin is there and matches a pattern.
    Text(Member, String),
    /// The port is one of these.
    Port(Vec<u8>),
    /// The device has a tag in the register, by its key, whose value matches a pattern.
    Tag(String, String),
}

/// A text of the origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Member {
    /// The device profile at the provider.
    Profile,
    /// The application at the provider.
    Application,
    /// The tenant at the provider.
    Tenant,
    /// The topic or subject.
    Topic,
}

/// All conditions of a profile. A profile without any matches no message.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Conditions(Vec<Condition>);

impl Conditions {
    /// Returns the conditions of `profile`. That on the device comes first: it costs the least.
    pub fn of(profile: &Profile) -> Conditions {
        let given = &profile.conditions;
        let short = Some(&profile.device).filter(|device| !device.is_empty());
        let device = short.or(given.device.as_ref()).cloned().map(Condition::Device);
        let texts = [
            (Member::Profile, &given.provider.profile),
            (Member::Application, &given.provider.application),
            (Member::Tenant, &given.provider.tenant),
            (Member::Topic, &given.topic),
        ];
        let port = Some(&given.port).filter(|ports| !ports.is_empty()).cloned().map(Condition::Port);
        let texts = texts.into_iter().filter_map(|(of, text)| Some(Condition::Text(of, text.clone()?)));
        let tags = given.tags.iter().map(|(key, value)| Condition::Tag(key.clone(), value.clone()));
        Conditions(device.into_iter().chain(port).chain(texts).chain(tags).collect())
    }

    /// Returns the conditions.
    pub fn all(&self) -> &[Condition] {
        &self.0
    }

    /// Returns whether there are conditions, and all hold.
    pub fn hold(&self, subject: &Subject<'_>) -> bool {
        !self.0.is_empty() && self.0.iter().all(|condition| condition.holds(subject))
    }

    /// Returns whether they may hold for a message of `device`, whatever its origin says.
    pub fn may_hold(&self, device: &str) -> bool {
        let may = |condition: &Condition| match condition {
            Condition::Device(pattern) => fits(pattern, device),
            Condition::Text(..) | Condition::Port(_) | Condition::Tag(..) => true,
        };
        !self.0.is_empty() && self.0.iter().all(may)
    }

    /// Returns whether every message that `later` matches is matched by these, too.
    pub fn cover(&self, later: &Conditions) -> bool {
        let (these, those) = (&self.0, &later.0);
        !these.is_empty() && !those.is_empty() && these.iter().all(|one| one.follows_from(those))
    }

    /// Returns whether some condition needs the origin of a message.
    pub fn need_origin(&self) -> bool {
        self.0.iter().any(|condition| matches!(condition, Condition::Text(..) | Condition::Port(_)))
    }

    /// Returns whether there is one on a tag.
    pub fn need_record(&self) -> bool {
        self.0.iter().any(|condition| matches!(condition, Condition::Tag(..)))
    }

    /// Returns whether there is one on the port.
    pub fn need_port(&self) -> bool {
        self.0.iter().any(|condition| matches!(condition, Condition::Port(_)))
    }

    /// Returns the pattern of devices, if that is the only condition.
    pub fn device_alone(&self) -> Option<&str> {
        match &self.0[..] {
            [Condition::Device(pattern)] => Some(pattern),
            _ => None,
        }
    }
}

/// `device = "a*", port = 85`.
impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, condition) in self.0.iter().enumerate() {
            write!(f, "{}{condition}", if index > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl Condition {
    /// Returns whether the condition holds.
    pub fn holds(&self, subject: &Subject<'_>) -> bool {
        match self {
            Condition::Device(pattern) => fits(pattern, subject.device),
            Condition::Text(member, pattern) => member.of(subject).is_some_and(|text| fits(pattern, text)),
            Condition::Port(ports) => subject.facts().port.is_some_and(|port| ports.contains(&port)),
            Condition::Tag(key, pattern) => tag(subject, key).is_some_and(|value| fits(pattern, value)),
        }
    }

    /// Returns what the condition is compared with; `None` if the message does not have it.
    pub fn value<'s>(&self, subject: &'s Subject<'_>) -> Option<Cow<'s, str>> {
        match self {
            Condition::Device(_) => Some(subject.device.into()),
            Condition::Text(member, _) => member.of(subject).map(Into::into),
            Condition::Port(_) => subject.facts().port.map(|port| port.to_string().into()),
            Condition::Tag(key, _) => tag(subject, key).map(Into::into),
        }
    }

    /// Returns its key below `match`.
    pub fn key(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Condition::Tag(key, _) => return format!("tags.{key}").into(),
            Condition::Device(_) => "device",
            Condition::Text(Member::Profile, _) => "provider.profile",
            Condition::Text(Member::Application, _) => "provider.application",
            Condition::Text(Member::Tenant, _) => "provider.tenant",
            Condition::Text(Member::Topic, _) => "topic",
            Condition::Port(_) => "port",
        })
    }

    /// Returns whether the condition holds for every message for which all of `others` hold.
    fn follows_from(&self, others: &[Condition]) -> bool {
        let same = |other: &&Condition| other.key() == self.key();
        match (self, others.iter().find(same)) {
            (
                Condition::Device(pattern) | Condition::Text(_, pattern) | Condition::Tag(_, pattern),
                Some(other),
            ) => other.pattern().is_some_and(|other| fits(pattern, other)),
            // Every message has a device.
            (Condition::Device(pattern), None) => fits(pattern, ANY),
            (Condition::Port(ports), Some(Condition::Port(others))) => {
                others.iter().all(|port| ports.contains(port))
            }
            _ => false,
        }
    }

    fn pattern(&self) -> Option<&str> {
        match self {
            Condition::Device(pattern) | Condition::Text(_, pattern) | Condition::Tag(_, pattern) => {
                Some(pattern)
            }
            Condition::Port(_) => None,
        }
    }
}

/// As in the configuration: `provider.profile = "EM300-*"`.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = ", self.key())?;
        match self {
            Condition::Device(pattern) | Condition::Text(_, pattern) | Condition::Tag(_, pattern) => {
                write!(f, "{pattern:?}")
            }
            Condition::Port(ports) => match &ports[..] {
                [port] => write!(f, "{port}"),
                ports => write!(f, "{ports:?}"),
            },
        }
    }
}

/// Returns the value of a tag of the device.
fn tag<'s>(subject: &'s Subject<'_>, key: &str) -> Option<&'s str> {
    subject.record()?.tags.get(key)
}

impl Member {
    fn of<'s>(self, subject: &'s Subject<'_>) -> Option<&'s str> {
        let facts = subject.facts();
        let text = match self {
            Member::Profile => &facts.profile,
            Member::Application => &facts.application,
            Member::Tenant => &facts.tenant,
            Member::Topic => &facts.topic,
        };
        text.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_register::Record;

    const ORIGIN: &str = r#"{"input":"lora","provider":"chirpstack","profile":"EM300-TH","application":"farm","tenant":"Käse \"AG\"","port":85,"topic":"a/b"}"#;

    fn of(table: &str) -> Conditions {
        Conditions::of(&toml::from_str(table).unwrap())
    }

    #[test]
    fn every_condition_must_hold() {
        let subject = Subject::new("em-1", Some(ORIGIN));
        for table in [
            "device = 'em-*'",
            "match.device = '*1'",
            "match = { provider.profile = 'EM300-*' }",
            "match.provider = { application = 'farm', tenant = 'Käse \"*' }",
            "match.port = 85",
            "match.port = [2, 85]",
            "match.topic = '*/b'",
            "device = 'em-*'\nmatch = { provider.profile = 'EM300-TH', port = [85], topic = 'a/b' }",
        ] {
            assert!(of(table).hold(&subject), "{table}");
            let alone = of(table).hold(&"em-1".into());
            assert_eq!(alone, of(table).device_alone().is_some(), "{table}");
        }
        for table in [
            "device = 'x*'",
            "match.provider.profile = 'EM300'",
            "match.provider.application = 'yard'",
            "match.provider.tenant = 'Käse'",
            "match.port = [84, 86]",
            "match.port = 0",
            "match.topic = 'a'",
            "device = 'em-*'\nmatch = { provider.profile = 'EM300-TH', port = 1 }",
            "name = 'nobody'",
        ] {
            assert!(!of(table).hold(&subject), "{table}");
        }
    }

    #[test]
    fn a_tag_of_the_register_must_match() {
        let record = Record::from_json(r#"{"device":"d","tags":{"kind":"soil","site":"pisa-2"}}"#).unwrap();
        let subject = || Subject::new("d", None).with_record(Some(record.clone().into()));
        for table in
            ["match.tags.kind = 'soil'", "match = { device = 'd', tags = { kind = '*', site = 'pisa-*' } }"]
        {
            assert!(of(table).hold(&subject()), "{table}");
            assert!(!of(table).hold(&"d".into()), "{table}");
            assert!(of(table).need_record() && !of(table).need_origin(), "{table}");
        }
        for table in ["match.tags.kind = 'air'", "match.tags = { kind = 'soil', floor = '*' }"] {
            assert!(!of(table).hold(&subject()), "{table}");
        }
        assert!(of("match.tags.a = 'x*'").cover(&of("match.tags = { a = 'xy', b = '*' }")));
        assert!(!of("match.tags.a = '*'").cover(&of("match.tags.b = '*'")));
        assert_eq!(of("match.tags.a = 'x'").to_string(), "tags.a = \"x\"");
    }

    #[test]
    fn a_member_of_another_type_is_missing_and_the_others_count() {
        let origin = r#"{"profile":7,"application":null,"topic":["a"],"tenant":"t","port":"85"}"#;
        let subject = Subject::new("d", Some(origin));
        assert!(of("match.provider.tenant = 't'").hold(&subject));
        for table in ["match.provider.profile = '*'", "match.topic = '*'", "match.port = 85"] {
            assert!(!of(table).hold(&subject), "{table}");
        }
        for damaged in ["", "[]", "{", r#"{"port":256}"#, r#"{"port":1,"port":85}"#] {
            assert!(!of("match.port = [85, 0, 1]").hold(&Subject::new("d", Some(damaged))), "{damaged}");
        }
    }

    #[test]
    fn conditions_cover_those_that_imply_them() {
        for (earlier, later) in [
            ("device = '*'", "device = 'a*'"),
            ("device = '*'", "match.port = 85"),
            ("device = 'a*'", "device = 'ab*'\nmatch.port = 85"),
            ("match.port = [1, 2, 3]", "match.port = [3, 1]"),
            ("match.provider.profile = 'EM*'", "match = { provider.profile = 'EM300-*', topic = 'x' }"),
            ("match.topic = 'a/*'", "match.topic = 'a/b/*'"),
        ] {
            assert!(of(earlier).cover(&of(later)), "{earlier} | {later}");
        }
        for (earlier, later) in [
            ("device = 'a*'", "device = '*'"),
            ("device = 'a*'", "match.port = 85"),
            ("match.port = [1, 2]", "match.port = [1, 3]"),
            ("match.port = 1", "device = 'a'"),
            ("match.topic = '*'", "device = 'a'"),
            ("match.provider.profile = 'EM*'", "match.provider.application = 'EM*'"),
            ("device = 'a*'\nmatch.port = 85", "device = 'ab*'"),
            ("device = '*'", "name = 'n'"),
            ("name = 'n'", "device = 'a'"),
        ] {
            assert!(!of(earlier).cover(&of(later)), "{earlier} | {later}");
        }
    }

    #[test]
    fn conditions_are_shown_as_in_the_configuration() {
        let conditions = of("match = { device = 'a*', provider.tenant = 't', port = [2, 85], topic = '*' }");
        let shown = r#"device = "a*", port = [2, 85], provider.tenant = "t", topic = "*""#;
        assert_eq!(conditions.to_string(), shown);
        assert_eq!(of("match.port = 85").to_string(), "port = 85");
    }
}
