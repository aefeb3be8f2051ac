//! The part of the devices that a token may read.

use dunnage_base::name::{fits, is_device, is_name};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// Most tags of a scope: as many as a device may have.
const MANY: usize = 16;

/// The devices that a client may read: all, or those that match a pattern and have some tags in the register.
///
/// It is a pointer, because a gateway may have a million tokens, and copies it for each request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope(Option<Arc<Part>>);

#[derive(Debug, PartialEq, Eq)]
struct Part {
    /// A device ID, where `*` matches any characters.
    device: Option<String>,
    tags: BTreeMap<String, String>,
}

impl Scope {
    /// All devices.
    pub const EVERYTHING: Scope = Scope(None);

    /// Returns the scope of the devices that match the pattern `device` and have all `tags`. Without both, that is all devices.
    ///
    /// # Errors
    ///
    /// The key that is not valid, `device` or `tags`, and why.
    pub fn new(
        device: Option<String>,
        tags: BTreeMap<String, String>,
    ) -> Result<Scope, (&'static str, String)> {
        if let Some(pattern) = device.as_deref().filter(|pattern| !is_device(pattern)) {
            let message =
                format!("{pattern:?} is not a valid device ID, in which * stands for any characters");
            return Err(("device", message));
        }
        if tags.len() > MANY {
            return Err(("tags", format!("{} tags; a device has at most {MANY}", tags.len())));
        }
        if let Some(key) = tags.keys().find(|key| !is_name(key)) {
            return Err(("tags", format!("the key {key:?} must be 1 to 64 of A-Z a-z 0-9 . _ : -")));
        }
        // The rule for the value of a tag is that for the ID of a device.
        if let Some((key, _)) = tags.iter().find(|(_, value)| !is_device(value)) {
            return Err((
                "tags",
                format!("{key}: must be 1 to 128 bytes of UTF-8 text without control characters"),
            ));
        }
        let is_all = device.is_none() && tags.is_empty();
        Ok(Scope((!is_all).then(|| Arc::new(Part { device, tags }))))
    }

    /// Whether it has all devices, also those that do not exist yet.
    pub fn is_everything(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the pattern that the devices match; `None` for any.
    pub fn device(&self) -> Option<&str> {
        self.0.as_ref()?.device.as_deref()
    }

    /// Returns the tags that the devices have, all of them, by their keys.
    pub fn tags(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|part| part.tags.iter().map(|(key, value)| (&**key, &**value)))
    }

    /// Whether it has devices by their tags.
    pub fn has_tags(&self) -> bool {
        self.tags().next().is_some()
    }

    /// Whether the ID of `device` matches the pattern.
    pub fn fits(&self, device: &str) -> bool {
        self.device().is_none_or(|pattern| fits(pattern, device))
    }

    /// Whether a device has the tags, whose values `tag` returns.
    pub fn accepts<'t>(&self, tag: impl Fn(&str) -> Option<&'t str>) -> bool {
        self.tags().all(|(key, value)| tag(key) == Some(value))
    }
}

/// `devices buoy-* with site=pisa, kind=buoy`; nothing for all devices.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_everything() {
            return Ok(());
        }
        f.write_str("devices")?;
        if let Some(pattern) = self.device() {
            write!(f, " {pattern}")?;
        }
        for (n, (key, value)) in self.tags().enumerate() {
            write!(f, "{} {key}={value}", if n == 0 { " with" } else { "," })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(device: Option<&str>, tags: &[(&str, &str)]) -> Scope {
        let tags = tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Scope::new(device.map(str::to_owned), tags.collect()).unwrap()
    }

    #[test]
    fn a_device_must_match_the_pattern_and_have_every_tag() {
        let tags = |site: &'static str| move |key: &str| (key == "site").then_some(site);
        let buoys = scope(Some("buoy-*"), &[("site", "pisa")]);
        assert!(buoys.fits("buoy-7") && !buoys.fits("ship-1"));
        assert!(buoys.accepts(tags("pisa")) && !buoys.accepts(tags("rome")));
        let both = scope(None, &[("site", "pisa"), ("kind", "buoy")]);
        assert!(both.fits("ship-1") && !both.accepts(tags("pisa")));
        assert!(scope(Some("a"), &[]).accepts(|_| None));
        assert!(Scope::EVERYTHING.fits("x") && Scope::EVERYTHING.accepts(|_| None));
        assert_eq!(scope(None, &[]), Scope::EVERYTHING);
        // A pattern for any ID is a part nevertheless: what is about the whole gateway is not about devices.
        assert!(!scope(Some("*"), &[]).is_everything());
        assert_eq!(both.to_string(), "devices with kind=buoy, site=pisa");
        assert_eq!(buoys.to_string(), "devices buoy-* with site=pisa");
    }

    #[test]
    fn a_scope_that_no_device_could_have_is_refused() {
        let new = |device: &str, key: &str, value: &str| {
            Scope::new(Some(device.into()), [(key.into(), value.into())].into()).unwrap_err().0
        };
        assert_eq!(new("", "a", "b"), "device");
        assert_eq!(new("*", "a b", "c"), "tags");
        assert_eq!(new("*", "a", ""), "tags");
        let many = (0..17).map(|n| (format!("k{n}"), "v".to_owned())).collect();
        assert_eq!(Scope::new(None, many).unwrap_err().0, "tags");
    }
}
