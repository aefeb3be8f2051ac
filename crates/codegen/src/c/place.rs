//! Positions in the message, and the names that follow from them.

use super::names::{Scope, capitals};

/// The suffixes of a field's macros.
const FIELD_ENDINGS: &[&str] = &["_MIN", "_MAX", "_VALUE", "_FROM_DECIMAL", "_EPOCH", "_PER_SECOND"];

/// The builder's position in the message.
#[derive(Clone)]
pub(super) struct Place {
    /// `wind.speed`
    pub path: String,
    /// `WEATHER_WIND_SPEED`
    pub stem: String,
    /// `Weather_wind_speed`
    pub kind_name: String,
}

impl Place {
    /// Returns the place of the member `name`, whose key in the message is `key`.
    pub fn inner(&self, name: &str, key: &str, macros: &mut Scope) -> Place {
        let path = match (self.path.as_str(), key) {
            (path, "") => path.to_owned(),
            ("", key) => key.to_owned(),
            (path, key) => format!("{path}.{key}"),
        };
        let stem = macros.claim(&format!("{}_{}", self.stem, capitals(name)), FIELD_ENDINGS);
        Place { path, stem, kind_name: format!("{}_{name}", self.kind_name) }
    }

    /// Returns the place of the elements. The elements of an array inside an array have their own type name.
    pub fn element(&self) -> Place {
        let ending = if self.path.ends_with("[]") { "_item" } else { "" };
        let kind_name = format!("{}{ending}", self.kind_name);
        Place { path: format!("{}[]", self.path), stem: self.stem.clone(), kind_name }
    }
}
