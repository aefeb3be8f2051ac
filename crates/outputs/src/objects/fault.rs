//! What an error of the store means.

use crate::{Class, Failed, http::reason};
use object_store::{
    Error,
    client::{HttpError, HttpErrorKind},
};
use std::error::Error as StdError;

/// The text in an error of `object_store` before a status that has no variant. Its type with the status is not public; a test holds the
/// text.
const STATUS: &str = "status code: ";

/// Returns the failure of a request about `shown`, an object or a folder. All may pass: no store refuses a message for what it says.
pub fn of(error: &Error, shown: &str) -> Failed {
    let http = causes(error).find_map(|cause| cause.downcast_ref::<HttpError>());
    let text = error.to_string();
    let class = match error {
        Error::NotFound { .. } => Class::Missing,
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => Class::Denied,
        _ => match (http.map(HttpError::kind), status(&text)) {
            (Some(HttpErrorKind::Timeout), _) => Class::Timeout,
            (Some(_), _) => Class::Connection,
            (None, Some(status)) => Class::of_status(status),
            (None, None) => Class::Other,
        },
    };
    // The text of an error has the whole answer, and may have a URL.
    let told = match http {
        Some(http) => reason(http),
        None => answer(&text).unwrap_or_else(|| text.replace(char::is_control, " ")),
    };
    Failed::retry(format!("{shown}: {told}")).because(class)
}

fn causes(error: &Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    std::iter::successors(Some(error as &(dyn StdError + 'static)), |error| (**error).source())
}

/// Returns the status of the store's answer.
fn status(text: &str) -> Option<u16> {
    let (_, rest) = text.split_once(STATUS)?;
    rest.get(..3)?.parse().ok()
}

/// Returns the status, code and message of the store's answer.
fn answer(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(STATUS)?;
    let status = rest.split(':').next().unwrap_or_default();
    let told = [element(rest, "Code"), element(rest, "Message")];
    let told: Vec<_> = [Some(status)].into_iter().chain(told).flatten().collect();
    Some(told.join(": ").replace(char::is_control, " "))
}

/// Returns the content of an XML element without parts.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once('<')?.0)
}
