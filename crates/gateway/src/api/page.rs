//! The page.

use axum::{
    http::{HeaderMap, Method, Uri},
    response::{IntoResponse, Response},
};
use dunnage_inputs::Problem;

pub async fn page(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let missing = || Problem::not_found(format!("nothing is at {}", uri.path())).into_response();
    dunnage_page::file(&method, &uri, &headers).unwrap_or_else(missing)
}
