//! Requests and answers, whatever carries them: oneM2M TS-0004.

use super::resources::Resource;
use crate::{Class, Failed};
use std::time::Duration;

/// What is asked of the CSE.
pub struct Request<'a> {
    /// The resource that it is about, from the CSE base on: `cse-in/dunnage/buoy-7`.
    pub to: &'a str,
    /// What to create there; without it, the resource is retrieved.
    pub child: Option<&'a Resource>,
    /// What it is called. No other request has the same.
    pub identifier: String,
}

impl<'a> Request<'a> {
    /// Creates `resource`.
    pub fn create(resource: &'a Resource, identifier: String) -> Request<'a> {
        Request { to: &resource.parent, child: Some(resource), identifier }
    }

    /// Retrieves the resource `path`.
    pub fn retrieve(path: &'a str, identifier: String) -> Request<'a> {
        Request { to: path, child: None, identifier }
    }
}

/// What the CSE says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// A response status code (TS-0004, 6.6.3), or an HTTP status when the answer has none: something in front of the CSE said it.
    pub code: u16,
    /// What it says of an error.
    pub detail: String,
    /// How long it says to wait before the next try.
    pub wait: Option<Duration>,
}

/// What an answer means for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// It is done.
    Done,
    /// A resource of that name is there, or the originator has registered.
    Exists,
    /// The resource that it is about, or the originator's AE, is not there.
    Missing,
    /// What was sent is at fault, and will be the next time.
    Unacceptable,
    /// Perhaps another time.
    Unable,
}

impl Answer {
    /// What it means. Of the codes that blame the request, only those count against a message that can depend on it:
    /// BAD_REQUEST, CONTENTS_UNACCEPTABLE and NOT_ACCEPTABLE (larger than the container takes). What else is wrong
    /// with a request is wrong with every one of them, and is for the operator to change.
    pub fn meaning(&self) -> Meaning {
        match self.code {
            2000..=2999 => Meaning::Done,
            // CONFLICT, ORIGINATOR_HAS_ALREADY_REGISTERED, ALREADY_EXISTS
            4105 | 4117 | 5106 => Meaning::Exists,
            // NOT_FOUND, ORIGINATOR_HAS_NOT_REGISTERED
            4004 | 4106 => Meaning::Missing,
            4000 | 4102 | 5207 => Meaning::Unacceptable,
            // From a proxy: too large, or not to its liking.
            400 | 413 | 422 => Meaning::Unacceptable,
            _ => Meaning::Unable,
        }
    }

    /// What was not done with the resource `path`, to be tried again.
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

    /// For people: what was done with the resource `path`, and what the CSE said.
    pub fn reason(&self, doing: &str, path: &str) -> String {
        let Answer { code, detail, .. } = self;
        format!("{doing} {path}: the CSE answers {code} {detail}").trim_end().to_owned()
    }
}

/// What an answer's content says of an error: `{"m2m:dbg": "..."}`, or else how it begins.
pub fn detail(content: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Debug {
        #[serde(rename = "m2m:dbg")]
        text: String,
    }
    let text = match serde_json::from_slice::<Debug>(content) {
        Ok(debug) => debug.text,
        Err(_) => String::from_utf8_lossy(content).into_owned(),
    };
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_a_messages_fault_counts_against_it() {
        let meaning = |code| Answer { code, detail: String::new(), wait: None }.meaning();
        for code in [4000, 4102, 5207, 413] {
            assert_eq!(meaning(code), Meaning::Unacceptable, "{code}");
        }
        // Accepted but not done, release version, not allowed, media type, no privilege, errors of the CSE, 404 of a proxy.
        for code in [1000, 4001, 4005, 4015, 4103, 5000, 5001, 5103, 404, 401, 200, 503, 0] {
            assert_eq!(meaning(code), Meaning::Unable, "{code}");
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
