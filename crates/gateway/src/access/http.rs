//! What a request over HTTP says of its peer, and the lock on what can be read.

use super::Peer;
use crate::{problem::Problem, shared::Shared};
use axum::{
    extract::{Request, State},
    http::{Extensions, HeaderMap, HeaderName, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::{
    borrow::Cow,
    convert::Infallible,
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    task::{Context, Poll},
};
use tower_service::Service;

/// The address that a connection comes from, among the extensions of its requests.
#[derive(Debug, Clone, Copy)]
struct From(IpAddr);

/// A service whose requests come from one address.
#[derive(Clone)]
pub struct Addressed<S> {
    service: S,
    from: From,
}

impl<S> Addressed<S> {
    /// `service`, for a connection from `address`.
    pub fn new(service: S, address: IpAddr) -> Self {
        Addressed { service, from: From(address) }
    }
}

impl<B, S: Service<axum::http::Request<B>>> Service<axum::http::Request<B>> for Addressed<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, mut request: axum::http::Request<B>) -> S::Future {
        request.extensions_mut().insert(self.from);
        self.service.call(request)
    }
}

/// Who sent a request.
pub fn peer(headers: &HeaderMap, extensions: &Extensions) -> Peer {
    // A request without an address would be one that did not come over the network; it gets no right from that.
    let address = extensions.get::<From>().map_or(Ipv4Addr::UNSPECIFIED.into(), |from| from.0);
    peer_at(address, headers)
}

/// Who sent a request with `headers` from `address`.
pub fn peer_at(address: IpAddr, headers: &HeaderMap) -> Peer {
    Peer { address, forwarded: is_forwarded(headers) }
}

impl<S: Sync> axum::extract::FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Peer, Infallible> {
        Ok(peer(&parts.headers, &parts.extensions))
    }
}

/// Whether a proxy says that it hands on the request (RFC 7239, and what was there before it), or a browser that another site's page
/// asks. A name in `Host` that is not this machine's is either, too: a proxy for that name, or a name that was made to point here.
fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.iter().any(|(name, value)| match name {
        name if *name == header::FORWARDED || *name == header::VIA => true,
        name if *name == header::HOST => value.to_str().is_ok_and(|host| !is_local(host)),
        name if *name == header::ORIGIN => !is_same(value.as_bytes(), headers),
        name => is_of_a_proxy(name),
    })
}

fn is_of_a_proxy(name: &HeaderName) -> bool {
    name.as_str()
        .strip_prefix("x-")
        .is_some_and(|rest| rest.starts_with("forwarded") || rest == "real-ip" || rest.ends_with("client-ip"))
}

/// Whether `host` is an address, or the name that every machine has for itself.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name);
    address.parse::<IpAddr>().is_ok() || name.eq_ignore_ascii_case("localhost")
}

/// Whether the page that asks is this gateway's own.
fn is_same(origin: &[u8], headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).map_or(&b""[..], |host| host.as_bytes());
    let of = |scheme: &[u8]| origin.strip_prefix(scheme) == Some(host);
    of(b"http://") || of(b"https://")
}

/// The token that a request brings: `Authorization: Bearer TOKEN`, or `Basic` with the token as password (RFC 6750, 7617).
pub fn credential(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let (scheme, rest) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let rest = rest.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.into());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(rest).ok()?).ok()?;
    decoded.split_once(':').map(|(_, password)| password.to_owned().into())
}

/// Lets a request through whose peer may read.
pub async fn readers_only(
    State(shared): State<Arc<Shared>>,
    peer: Peer,
    request: Request,
    next: Next,
) -> Response {
    match shared.access.may_read(&peer, credential(request.headers()).as_deref()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Refuses a request that may not send as `device`, or sends too often.
pub fn admit(shared: &Shared, peer: &Peer, headers: &HeaderMap, device: &str) -> Result<(), Problem> {
    shared.access.may_send(peer, device, credential(headers).as_deref())?;
    shared.limits.admit(peer, device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = all
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
        pairs.collect()
    }

    #[test]
    fn what_hands_on_can_be_seen() {
        for direct in [
            &[("host", "127.0.0.1:8080")][..],
            &[("host", "localhost")],
            &[("host", "[::1]:8080"), ("x-request-id", "a")],
            &[("host", "::1")],
            &[("host", "10.0.0.1:80")],
            &[("host", "localhost:8080"), ("origin", "http://localhost:8080")],
            &[],
        ] {
            assert!(!is_forwarded(&headers(direct)), "{direct:?}");
        }
        for forwarded in [
            &[("host", "127.0.0.1"), ("x-forwarded-for", "10.0.0.1")][..],
            &[("host", "127.0.0.1"), ("forwarded", "for=10.0.0.1")],
            &[("host", "127.0.0.1"), ("x-forwarded-proto", "https")],
            &[("host", "127.0.0.1"), ("x-real-ip", "10.0.0.1")],
            &[("host", "127.0.0.1"), ("via", "1.1 proxy")],
            &[("host", "telemetry.example.org")],
            &[("host", "localhost.example.org:8080")],
            &[("host", "localhost"), ("origin", "http://example.org")],
            &[("host", "localhost"), ("origin", "null")],
            &[("origin", "http://localhost")],
        ] {
            assert!(is_forwarded(&headers(forwarded)), "{forwarded:?}");
        }
    }

    #[test]
    fn a_token_comes_as_bearer_or_as_password() {
        let of = |value: &str| credential(&headers(&[("authorization", value)])).map(Cow::into_owned);
        assert_eq!(of("Bearer abc").as_deref(), Some("abc"));
        assert_eq!(of("bearer  abc ").as_deref(), Some("abc"));
        assert_eq!(of("Basic YWRtaW46YTpi").as_deref(), Some("a:b"));
        for none in ["", "Bearer", "Digest x", "Basic ????", "Basic YWJj", "Basic //79"] {
            assert_eq!(of(none), None, "{none}");
        }
        assert_eq!(credential(&HeaderMap::new()), None);
    }
}
