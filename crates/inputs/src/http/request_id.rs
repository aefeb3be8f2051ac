//! The request ID in the headers of requests and answers.

use axum::http::{HeaderMap, HeaderName};
use dunnage_base::name::is_name;
use dunnage_ingest::RequestIds;

/// The header with the request ID.
pub static HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Returns the sender's request ID if it is valid, or else a new one.
pub fn of(headers: &HeaderMap, ids: &RequestIds) -> String {
    let given = headers.get(&HEADER).and_then(|value| value.to_str().ok());
    given.filter(|id| is_name(id)).map_or_else(|| ids.next(), str::to_owned)
}
