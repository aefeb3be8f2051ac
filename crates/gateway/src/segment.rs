//! What a request's address names: a device, a webhook.

use crate::problem::Problem;
use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};

/// The part of the address that stands for `{...}` in its route. One that is not UTF-8 is a problem as any other.
pub struct Segment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Segment, Problem> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(text)| Segment(text)).map_err(|_| Problem::bad_name("what the address names"))
    }
}
