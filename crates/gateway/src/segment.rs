//! Path parameters: a device, a webhook.

use crate::problem::Problem;
use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};

/// The path segment that stands for `{...}` in the route. Rejects one that is not UTF-8 with a problem, like all other errors.
pub struct Segment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Segment, Problem> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(text)| Segment(text)).map_err(|_| Problem::bad_name("the name in the address"))
    }
}
