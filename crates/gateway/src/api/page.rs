//! The page: the files of `dashboard/`, embedded in the program.

use axum::{
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use dunnage_inputs::Problem;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "../../dashboard/"]
#[exclude = "tests/*"]
#[allow_missing = true]
struct Files;

pub async fn page(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let read = method == Method::GET || method == Method::HEAD;
    let (true, Some(content_type), Some(file)) = (read, content_type(path), Files::get(path)) else {
        return Problem::not_found(format!("nothing is at {}", uri.path())).into_response();
    };
    let hash = file.metadata.sha256_hash();
    let tag = format!("\"{:x}\"", u64::from_be_bytes(hash.first_chunk().copied().unwrap_or_default()));
    let kept = headers.get(header::IF_NONE_MATCH).is_some_and(|have| have.as_bytes() == tag.as_bytes());
    let about = [(header::ETAG, tag), (header::CACHE_CONTROL, "no-cache".into())];
    if kept {
        return (StatusCode::NOT_MODIFIED, about).into_response();
    }
    (about, [(header::CONTENT_TYPE, content_type)], file.data).into_response()
}

/// Returns the media type of a file of the page, or `None` for other files, such as notes beside them.
fn content_type(path: &str) -> Option<&'static str> {
    Some(match path.rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "json" => "application/json",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        _ => return None,
    })
}
