//! Patterns for MQTT topics that are not the gateway's own, such as `yard/{device}/{format}`.

/// A pattern of topics. Each level is a literal or a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    levels: Vec<Level>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Level {
    Word(String),
    Device,
    /// `{+device}`: the rest of the topic, with its slashes.
    DeviceToEnd,
    Format,
    Schema,
    /// The key of a value.
    Field,
    /// `+`
    Any,
    /// `#`
    Rest,
}

/// The parts of a topic that a pattern names.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Said<'t> {
    pub device: &'t str,
    pub format: Option<&'t str>,
    pub schema: Option<&'t str>,
    /// The key under which the payload is a value of the message.
    pub field: Option<&'t str>,
}

impl Pattern {
    /// Parses a pattern that names the device. The error describes the mistake.
    pub fn read(text: &str) -> Result<Pattern, String> {
        let pattern = Pattern::of_envelopes(text)?;
        match pattern.levels.iter().any(|level| matches!(level, Level::Device | Level::DeviceToEnd)) {
            true => Ok(pattern),
            false => Err(format!("{text:?}: must have {{device}} once")),
        }
    }

    /// Parses a pattern of topics whose messages name their device themselves. The error describes the mistake.
    pub fn of_envelopes(text: &str) -> Result<Pattern, String> {
        let level = |level: &str| match level {
            "{device}" => Ok(Level::Device),
            "{+device}" => Ok(Level::DeviceToEnd),
            "{field}" => Ok(Level::Field),
            "{format}" => Ok(Level::Format),
            "{schema}" => Ok(Level::Schema),
            "+" => Ok(Level::Any),
            "#" => Ok(Level::Rest),
            word if word.contains(['{', '}', '+', '#', '\0']) => Err(format!(
                "{text:?}: {word:?} is not a level: use a word, {{device}}, {{+device}}, {{format}}, {{schema}}, {{field}}, + or #"
            )),
            word => Ok(Level::Word(word.to_owned())),
        };
        let levels = text.split('/').map(level).collect::<Result<Vec<_>, _>>()?;
        let count = |wanted: &Level| levels.iter().filter(|level| *level == wanted).count();
        let devices = count(&Level::Device) + count(&Level::DeviceToEnd);
        if devices > 1 || [Level::Format, Level::Schema, Level::Field].iter().any(|level| count(level) > 1) {
            return Err(format!(
                "{text:?}: must have each of {{device}}, {{format}}, {{schema}} and {{field}} at most once"
            ));
        }
        if count(&Level::Field) + count(&Level::Format) > 1 {
            return Err(format!("{text:?}: a value of a {{field}} has no {{format}}"));
        }
        let is_last = |level: &Level| matches!(level, Level::Rest | Level::DeviceToEnd);
        if levels.iter().position(is_last).is_some_and(|at| at + 1 < levels.len()) {
            return Err(format!("{text:?}: # and {{+device}} must be the last level"));
        }
        if text.len() > usize::from(u16::MAX) / 2 || text.starts_with('$') {
            return Err(format!("{text:?}: is not a valid topic"));
        }
        Ok(Pattern { levels })
    }

    /// Returns the topic filter to subscribe to.
    pub fn filter(&self) -> String {
        let levels = self.levels.iter().map(|level| match level {
            Level::Word(word) => word,
            Level::Device | Level::Format | Level::Schema | Level::Field | Level::Any => "+",
            Level::Rest | Level::DeviceToEnd => "#",
        });
        levels.collect::<Vec<_>>().join("/")
    }

    /// Returns the parts of `topic`, or `None` if it does not match.
    pub fn said<'t>(&self, topic: &'t str) -> Option<Said<'t>> {
        let mut said = Said::default();
        let mut rest = Some(topic);
        for level in &self.levels {
            match level {
                Level::Rest => return Some(said),
                Level::DeviceToEnd => {
                    said.device = rest?;
                    return Some(said);
                }
                _ => {}
            }
            let part = match rest?.split_once('/') {
                Some((part, others)) => {
                    rest = Some(others);
                    part
                }
                None => rest.take()?,
            };
            match level {
                Level::Word(word) if word != part => return None,
                Level::Word(_) | Level::Any | Level::Rest | Level::DeviceToEnd => {}
                Level::Field => said.field = Some(part),
                Level::Device => said.device = part,
                Level::Format => said.format = Some(part),
                Level::Schema => said.schema = Some(part),
            }
        }
        rest.is_none().then_some(said)
    }
}

/// Returns whether an MQTT topic filter matches `topic`.
pub fn matches(filter: &str, topic: &str) -> bool {
    // Wildcards do not match the topics of servers (MQTT 5, section 4.7.2).
    if topic.starts_with('$') != filter.starts_with('$') {
        return false;
    }
    let (mut levels, mut parts) = (filter.split('/'), topic.split('/'));
    loop {
        match (levels.next(), parts.next()) {
            (Some("#"), _) | (None, None) => return true,
            (Some(level), Some(part)) if level == "+" || level == part => {}
            _ => return false,
        }
    }
}

/// Returns whether `wide` matches every topic that `narrow` matches.
fn covers(wide: &str, narrow: &str) -> bool {
    let (mut wide, mut narrow) = (wide.split('/'), narrow.split('/'));
    loop {
        match (wide.next(), narrow.next()) {
            (Some("#"), _) | (None, None) => return true,
            (Some("+"), Some(level)) if level != "#" => {}
            (Some(level), Some(other)) if level == other => {}
            _ => return false,
        }
    }
}

/// Returns the filters that match the same topics as all `filters`. A broker may deliver a message once for each filter that matches it.
pub fn widest(filters: &[String]) -> Vec<&str> {
    let is_covered = |at: usize, filter: &str| {
        let mut others = filters.iter().enumerate().filter(|(other, _)| *other != at);
        others.any(|(other, wide)| covers(wide, filter) && (other < at || !covers(filter, wide)))
    };
    let all = filters.iter().enumerate();
    all.filter(|(at, filter)| !is_covered(*at, filter)).map(|(_, filter)| &**filter).collect()
}

/// Checks that no topic matches two of `filters`, none of which covers another: a broker delivers a message once for each filter that
/// matches it, and a message that comes twice can then not be told from two equal ones. The error names such a topic, and the pattern that
/// would cover both filters.
pub fn check_disjoint(filters: &[&str]) -> Result<(), String> {
    let pairs = filters.iter().enumerate().flat_map(|(at, a)| filters[at + 1..].iter().map(move |b| (a, b)));
    for (a, b) in pairs {
        if let Some(both) = common(a, b) {
            return Err(format!(
                "{a:?} and {b:?} both match {both:?}, and a broker may deliver its messages twice; use {:?}, which covers both, \
                 or patterns that have no topic in common",
                covering(a, b)
            ));
        }
    }
    Ok(())
}

/// Returns a topic that both filters match.
fn common(a: &str, b: &str) -> Option<String> {
    let (mut a, mut b) = (a.split('/'), b.split('/'));
    let mut topic = Vec::new();
    let some = |level: &'_ str| if matches!(level, "+" | "#") { "x".to_owned() } else { level.to_owned() };
    loop {
        match (a.next(), b.next()) {
            (None, None) => break,
            // `#` matches its parent as well, and any further levels.
            (Some("#"), other) => {
                topic.extend(other.into_iter().chain(b).filter(|level| *level != "#").map(some));
                break;
            }
            (other, Some("#")) => {
                topic.extend(other.into_iter().chain(a).filter(|level| *level != "#").map(some));
                break;
            }
            (Some("+"), Some(level)) | (Some(level), Some("+")) => topic.push(some(level)),
            (Some(level), Some(other)) if level == other => topic.push(level.to_owned()),
            _ => return None,
        }
    }
    Some(topic.join("/"))
}

/// Returns the narrowest filter that covers both.
fn covering(a: &str, b: &str) -> String {
    let (mut a, mut b) = (a.split('/'), b.split('/'));
    let mut levels = Vec::new();
    loop {
        match (a.next(), b.next()) {
            (None, None) => break,
            (Some("#") | None, _) | (_, Some("#") | None) => {
                levels.push("#");
                break;
            }
            (Some(level), Some(other)) => levels.push(if level == other { level } else { "+" }),
        }
    }
    levels.join("/")
}

/// Checks an MQTT topic filter (MQTT 5, section 4.7).
pub fn check_filter(filter: &str) -> Result<(), String> {
    let mut levels = filter.split('/').rev();
    let last = levels.next().unwrap_or_default();
    let wild = |level: &str| level.contains(['+', '#']);
    let bad = levels.any(|level| level != "+" && wild(level)) || (wild(last) && !matches!(last, "+" | "#"));
    match bad || filter.is_empty() || filter.contains(['\0', '{', '}']) {
        true => Err(format!(
            "{filter:?}: is not a topic filter; + stands for a level, and # for all further levels"
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_match_topics_as_in_the_specification() {
        for (filter, topic) in [
            ("#", "a/b"),
            ("a/#", "a"),
            ("a/+/c", "a/b/c"),
            ("+/+", "/b"),
            ("tele/+/LWT", "tele/x/LWT"),
            ("a", "a"),
        ] {
            assert!(check_filter(filter).is_ok() && matches(filter, topic), "{filter} {topic}");
        }
        for (filter, topic) in [("#", "$SYS/a"), ("a/+", "a"), ("a/+", "a/b/c"), ("a", "b"), ("+", "a/b")] {
            assert!(check_filter(filter).is_ok() && !matches(filter, topic), "{filter} {topic}");
        }
        for filter in ["", "a/#/b", "a#", "a/b+", "#/a", "tele/{device}/STATE"] {
            assert!(check_filter(filter).is_err(), "{filter}");
        }
    }

    #[test]
    fn filters_that_others_cover_are_left_out() {
        let widest = |filters: &[&str]| {
            let filters: Vec<_> = filters.iter().map(|filter| (*filter).to_owned()).collect();
            widest(&filters).join(" ")
        };
        assert_eq!(widest(&["z/+/availability", "z/#", "tele/+/STATE"]), "z/# tele/+/STATE");
        assert_eq!(widest(&["a/+", "a/+", "a/b"]), "a/+");
        assert_eq!(widest(&["a/+", "a/#", "a", "#"]), "#");
        assert_eq!(widest(&["a/#", "a"]), "a/#");
        // Each of these matches topics that the other does not.
        for both in [["a/+", "a/b/#"], ["a/+/c", "a/b/+"], ["+", "a/b"], ["a/+", "a"]] {
            assert_eq!(widest(&both), both.join(" "));
        }
    }

    #[test]
    fn filters_with_a_topic_in_common_are_named() {
        for (a, b, both, cover) in [
            ("a/+/c", "a/b/+", "a/b/c", "a/+/+"),
            ("+/+", "a/#", "a/x", "+/#"),
            ("a/+/c/#", "a/b/#", "a/b/c", "a/+/#"),
            ("+", "a/#", "a", "+/#"),
            ("x/+/#", "+/y/z", "x/y/z", "+/+/#"),
        ] {
            for filters in [[a, b], [b, a]] {
                let error = check_disjoint(&filters).unwrap_err();
                assert!(
                    error.contains(&format!("match {both:?}")) && error.contains(&format!("use {cover:?}")),
                    "{error}"
                );
                assert!(filters.iter().all(|filter| matches(filter, both) && covers(cover, filter)));
            }
        }
        for apart in [&["a/+/c", "a/b/d"][..], &["a/+", "a"], &["a/#", "b/#"], &["+/b", "+/c"], &["a"], &[]] {
            assert_eq!(check_disjoint(apart), Ok(()), "{apart:?}");
        }
    }

    #[test]
    fn a_pattern_is_a_filter_and_says_what_a_topic_means() {
        let pattern = Pattern::read("yard/{device}/up/{format}").unwrap();
        assert_eq!(pattern.filter(), "yard/+/up/+");
        let said = Said { device: "LMCU1", format: Some("cbor"), ..Said::default() };
        assert_eq!(pattern.said("yard/LMCU1/up/cbor"), Some(said));
        for topic in ["yard/LMCU1/up", "yard/LMCU1/up/cbor/x", "yard/LMCU1/down/cbor", "yards/LMCU1/up/cbor"]
        {
            assert_eq!(pattern.said(topic), None, "{topic}");
        }
        let rest = Pattern::read("+/{schema}/{device}/#").unwrap();
        assert_eq!(rest.filter(), "+/+/+/#");
        let said = Said { device: "d", schema: Some("container"), ..Said::default() };
        assert_eq!(rest.said("a/container/d"), Some(Said { ..said }));
        assert_eq!(rest.said("a/container/d/e/f").unwrap().device, "d");
    }

    #[test]
    fn a_device_may_be_the_rest_of_a_topic_and_a_value_have_its_key_there() {
        let pattern = Pattern::read("zigbee2mqtt/{+device}").unwrap();
        assert_eq!(pattern.filter(), "zigbee2mqtt/#");
        for device in ["upstairs/lamp", "Schlafzimmer Bett", "entrée", "a/b/c"] {
            assert_eq!(pattern.said(&format!("zigbee2mqtt/{device}")).unwrap().device, device);
        }
        assert_eq!((pattern.said("zigbee2mqtt"), pattern.said("zigbee2mqtt/").unwrap().device), (None, ""));
        let pattern = Pattern::read("sensors/+/{device}/{field}").unwrap();
        let said = pattern.said("sensors/CLE/device5/temp").unwrap();
        assert_eq!(
            (pattern.filter().as_str(), said.device, said.field),
            ("sensors/+/+/+", "device5", Some("temp"))
        );
        for topic in ["sensors/CLE/device5", "sensors/CLE/device5/temp/x"] {
            assert_eq!(pattern.said(topic), None, "{topic}");
        }
        assert!(Pattern::of_envelopes("application/+/device/+/event/+").is_ok());
        for bad in
            ["{+device}/x", "{device}/{+device}", "{device}/{field}/{field}", "{device}/{field}/{format}"]
        {
            assert!(Pattern::of_envelopes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_pattern_that_means_nothing_is_none() {
        for text in [
            "",
            "yard",
            "a/{device}/{device}",
            "a/#/{device}",
            "a/b{device}",
            "$SYS/{device}",
            "{device}/{x}",
        ] {
            assert!(Pattern::read(text).is_err(), "{text}");
        }
    }
}
