//! The option `--link`: IDs of the link catalogue.

use clap::{
    Arg, Command, Error,
    builder::{PossibleValue, TypedValueParser},
    error::{ContextKind, ContextValue, ErrorKind},
};
use dunnage_links::{Link, catalogue, link, near};
use dunnage_schema::alike;
use std::ffi::OsStr;

/// Most IDs that an error suggests.
const SUGGESTED: usize = 6;

/// The links that commands show when no link is named.
pub fn default_links() -> impl Iterator<Item = &'static Link> {
    catalogue().iter().filter(|link| link.compare)
}

/// The limit of a link in bytes, `any` if it has none, or `?` if it is not published.
pub fn limit_text(link: &Link) -> String {
    match link.max_payload_bytes {
        Some(limit) => limit.to_string(),
        None => if link.unlimited { "any" } else { "?" }.to_owned(),
    }
}

/// Parses a link's ID. Completions list all IDs; an error names those that are near.
#[derive(Clone, Copy)]
pub struct LinkId;

impl TypedValueParser for LinkId {
    type Value = &'static Link;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<&'static Link, Error> {
        let id = value.to_string_lossy();
        link(&id).ok_or_else(|| {
            let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
            let option = arg.map_or_else(|| "--link <ID>".to_owned(), ToString::to_string);
            error.insert(ContextKind::InvalidArg, ContextValue::String(option));
            error.insert(ContextKind::InvalidValue, ContextValue::String(id.clone().into_owned()));
            error.insert(ContextKind::SuggestedValue, ContextValue::Strings(suggested(&id)));
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            catalogue().iter().map(|link| PossibleValue::new(link.id.as_str()).help(link.name.as_str())),
        ))
    }
}

/// IDs that resemble `id`: the nearest one if it is misspelt, else those with its words, else those of the default.
fn suggested(id: &str) -> Vec<String> {
    let misspelt = alike(id, catalogue().iter().map(|link| link.id.as_str()));
    let mut ids: Vec<&str> = misspelt.into_iter().collect();
    ids.extend(near(id).into_iter().filter(|near| Some(*near) != misspelt));
    if ids.is_empty() {
        ids.extend(default_links().map(|link| link.id.as_str()));
    }
    ids.into_iter().take(SUGGESTED).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_ids_are_suggested() {
        assert_eq!(suggested("astrocsat"), ["astrocast"]);
        assert_eq!(suggested("sigfox-rc1"), ["sigfox"]);
        assert!(suggested("iridium").iter().all(|id| id.starts_with("iridium")));
        assert_eq!(suggested("lorawan").len(), SUGGESTED);
        assert!(suggested("pigeon").contains(&"lte-m".to_owned()));
    }
}
