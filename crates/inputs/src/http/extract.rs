//! Extractors of the HTTP port. They reject requests with a [`Problem`], like all other errors.

use super::problem::Problem;
use crate::query;
use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use dunnage_ingest::Rejected;

/// The path segment for `{...}` in the route. Rejects a segment that is not UTF-8.
pub struct Segment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Segment, Problem> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(text)| Segment(text)).map_err(|_| Rejected::bad_id("the name in the address").into())
    }
}

/// An extractor that rejects all parameters.
pub struct NoQuery;

impl<S: Sync> FromRequestParts<S> for NoQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<NoQuery, Problem> {
        Ok(query::read(parts.uri.query(), &[]).map(|_| NoQuery)?)
    }
}
