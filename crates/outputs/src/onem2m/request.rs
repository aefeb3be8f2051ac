//! Requests and responses of oneM2M (TS-0004), independent of the transport.

use super::resources::Resource;
use crate::{Class, Failed};
use std::{collections::HashMap, time::Duration};

/// A request to the CSE.
pub struct Request<'a> {
    /// The target resource, from the CSE base on: `cse-in/dunnage/buoy-7`.
    pub to: &'a str,
    /// The resource to create in the target. Without it, the target is retrieved.
    pub child: Option<&'a Resource>,
    /// The unique identifier of the request.
    pub identifier: String,
}

impl<'a> Request<'a> {
    /// Creates a request to create `resource`.
    pub fn create(resource: &'a Resource, identifier: String) -> Request<'a> {
        Request { to: &resource.parent, child: Some(resource), identifier }
    }

    /// Creates a request to retrieve the resource `path`.
    pub fn retrieve(path: &'a str, identifier: String) -> Request<'a> {
        Request { to: path, child: None, identifier }
    }
}

/// A response of the CSE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The response status code (TS-0004, 6.6.3). Without it, the HTTP status: the response is from a proxy in front of the CSE.
    pub code: u16,
    /// The description of an error.
    pub detail: String,
    /// Whether it has a resource with its size: the content of an instance is there.
    pub has_size: bool,
    /// The delay before the next attempt that the CSE has asked for.
    pub wait: Option<Duration>,
}

/// The meaning of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The request succeeded.
    Done,
    /// A resource with this name exists, or the originator is already registered.
    Exists,
    /// The target, or the originator's AE, does not exist.
    Missing,
    /// The request is invalid, and will be when it is repeated.
    Unacceptable,
    /// The request may succeed later.
    Unable,
}

impl Answer {
    /// Returns the meaning of the status code. Of the codes that blame the request, only those that can depend on the message count against
    /// it: BAD_REQUEST, CONTENTS_UNACCEPTABLE and NOT_ACCEPTABLE (too large for the container). The others concern every request, and are
    /// for the operator to fix.
    pub fn meaning(&self) -> Meaning {
        match self.code {
            2000..=2999 => Meaning::Done,
            // CONFLICT, ORIGINATOR_HAS_ALREADY_REGISTERED, ALREADY_EXISTS
            4105 | 4117 | 5106 => Meaning::Exists,
            // NOT_FOUND, ORIGINATOR_HAS_NOT_REGISTERED
            4004 | 4106 => Meaning::Missing,
            4000 | 4102 | 5207 => Meaning::Unacceptable,
            // From a proxy: too large, or not acceptable.
            400 | 413 | 422 => Meaning::Unacceptable,
            _ => Meaning::Unable,
        }
    }

    /// Returns whether the CSE has an internal error, which may be temporary, or one about this request that it does not name.
    pub fn is_internal_error(&self) -> bool {
        self.code == 5000
    }

    /// Creates a failure to retry, for a request about the resource `path`.
    pub fn retry(&self, doing: &str, path: &str) -> Failed {
        Failed::retry(self.reason(doing, path)).because(self.class()).not_before(self.wait)
    }

    fn class(&self) -> Class {
        match self.code {
            4008 => Class::Timeout,
            4103 | 4107 | 5105 => Class::Denied,
            4004 | 4106 => Class::Missing,
            5000..=5999 => Class::Failing,
            code => Class::of_status(code),
        }
    }

    /// Describes the operation on the resource `path`, and the response.
    pub fn reason(&self, doing: &str, path: &str) -> String {
        let Answer { code, detail, .. } = self;
        format!("{doing} {path}: the CSE answered {code} {detail}").trim_end().to_owned()
    }
}

/// Returns whether a response's content is a resource with the attribute `cs`, which every instance has (TS-0001, 9.6.7).
pub fn has_size(content: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Attributes {
        cs: Option<u64>,
    }
    let resources: Result<HashMap<String, Attributes>, _> = serde_json::from_slice(content);
    resources.is_ok_and(|resources| resources.values().any(|attributes| attributes.cs.is_some()))
}

/// Returns the description of an error in a response's content: the value of `m2m:dbg`, or else the beginning of the content.
pub fn detail(content: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Debug {
        #[serde(rename = "m2m:dbg")]
        text: String,
    }
    let text = match serde_json::from_slice::<Debug>(content) {
        Ok(debug) => debug.text,
        Err(_) => String::from_utf8_lossy(&content[..content.len().min(1024)]).into_owned(),
    };
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_a_messages_fault_counts_against_it() {
        let meaning = |code| Answer { code, detail: String::new(), has_size: false, wait: None }.meaning();
        for code in [4000, 4102, 5207, 413] {
            assert_eq!(meaning(code), Meaning::Unacceptable, "{code}");
        }
        // Accepted but not done, release version, not allowed, media type, no privilege, errors of the CSE, 404 of a proxy.
        for code in [1000, 4001, 4005, 4015, 4103, 5000, 5001, 5103, 404, 401, 200, 503, 0] {
            assert_eq!(meaning(code), Meaning::Unable, "{code}");
        }
    }

    #[test]
    fn an_instance_without_a_size_is_not_whole() {
        assert!(has_size(br#"{"m2m:cin":{"rn":"k","con":{"cs":"x"},"cs":0}}"#));
        for half in [
            &br#"{"m2m:cin":{"pi":"3-1","ri":"4-1","ty":4,"rn":"k89f","lbl":[]}}"#[..],
            br#"{"m2m:cin":{"con":{"cs":7}}}"#,
            br#"{"m2m:cin":{"cs":null}}"#,
            br#"{"m2m:dbg":"no"}"#,
            b"",
        ] {
            assert!(!has_size(half));
        }
    }

    #[test]
    fn the_detail_of_an_error_is_short() {
        assert_eq!(detail(br#"{"m2m:dbg": "no"}"#), "no");
        assert_eq!(detail(b"<html>"), "<html>");
        assert_eq!(detail(&[b'x'; 9000]).len(), 200);
        assert_eq!(detail(&[0xff; 3]), "\u{fffd}\u{fffd}\u{fffd}");
    }
}
