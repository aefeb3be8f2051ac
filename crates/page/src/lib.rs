//! The files of `dashboard/`, embedded in the program, and the headers that guard them. The gateway and the playground serve them.

use axum::{
    handler::Handler,
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
    routing::{MethodRouter, any},
};
use rust_embed::RustEmbed;
use std::convert::Infallible;
use tower_http::compression::CompressionLayer;

#[derive(RustEmbed)]
#[folder = "../../dashboard/"]
#[exclude = "tests/*"]
#[allow_missing = true]
struct Files;

/// Returns a service that runs the handler and compresses its answers for clients that accept gzip.
pub fn service<H: Handler<T, ()>, T: 'static>(handler: H) -> MethodRouter<(), Infallible> {
    any(handler).layer(CompressionLayer::new())
}

/// Returns the answer to a request for a file, or `None` if there is no such file or the request does not read.
pub fn file(method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
    let path = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        "play" => "play.html",
        path => path,
    };
    if ![Method::GET, Method::HEAD].contains(method) {
        return None;
    }
    let (content_type, file) = (content_type(path)?, Files::get(path)?);
    let hash = file.metadata.sha256_hash();
    // A weak tag, because the compressed file has the same one.
    let tag = format!("W/\"{:x}\"", u64::from_be_bytes(hash.first_chunk().copied().unwrap_or_default()));
    let kept = headers.get(header::IF_NONE_MATCH).is_some_and(|have| have.as_bytes() == tag.as_bytes());
    let about = [(header::ETAG, tag), (header::CACHE_CONTROL, "no-cache".into())];
    if kept {
        return Some((StatusCode::NOT_MODIFIED, about).into_response());
    }
    Some((about, [(header::CONTENT_TYPE, content_type)], file.data).into_response())
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

/// The page may use its own scripts and styles, and connect to the process that serves it only.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; object-src 'none'";

/// Adds the headers with which browsers restrict an answer. Answers without a rule for caches are not stored.
pub async fn guard(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
