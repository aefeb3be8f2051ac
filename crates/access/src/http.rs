//! Peers and credentials of HTTP requests.
//!
//! A request over a connection from this machine may still be another's: a proxy forwards it, or a page of another site makes a browser
//! send it. The headers tell.

use super::{
    Foreign, Peer,
    peer::{Listener, is_loopback_host},
};
use crate::Denied;
use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue, Version, header, request::Parts, uri::Authority};
use std::{borrow::Cow, convert::Infallible, net::Ipv4Addr};

/// Headers of proxies and content delivery networks that the patterns of [`is_of_a_proxy`] do not cover.
const PROXY_HEADERS: [&str; 8] = [
    "via",
    "cdn-loop",
    "client-ip",
    "proxy-connection",
    "x-amzn-trace-id",
    "x-appengine-user-ip",
    "x-proxyuser-ip",
    "x-rewrite-url",
];

/// Returns the peer that sent `request` over the connection of `peer` to `listener`. Rejects a request without a valid `Host`, as RFC 9112,
/// 3.2, requires.
pub fn peer<B>(peer: Peer, listener: Listener, request: &http::Request<B>) -> Result<Peer, Denied> {
    let host = host(request.version(), request.headers())?;
    // The headers of a request matter only if its connection grants a right.
    if !peer.is_this_machine() {
        return Ok(peer);
    }
    Ok(peer.unless(foreign(listener, host.as_ref(), request)))
}

/// Returns the authority in `Host`, or `None` if it is empty or HTTP/1.0 omits it.
fn host(version: Version, headers: &HeaderMap) -> Result<Option<Authority>, Denied> {
    let mut all = headers.get_all(header::HOST).iter();
    let host = match (all.next(), all.next()) {
        (Some(host), None) => host,
        (None, _) if version < Version::HTTP_11 => return Ok(None),
        (None, _) => return Err(bad_host("HTTP/1.1 requests must have a Host header")),
        (Some(_), Some(_)) => return Err(bad_host("a request must have exactly one Host header")),
    };
    if host.is_empty() {
        return Ok(None);
    }
    authority(host).map(Some).ok_or_else(|| bad_host("the Host header must be a host and optionally a port"))
}

/// Parses `host [ ":" port ]` in ASCII, without user information (RFC 9110, 7.2).
fn authority(value: &HeaderValue) -> Option<Authority> {
    let text = value.to_str().ok().filter(|text| !text.contains('@'))?;
    let authority: Authority = text.parse().ok()?;
    port(&authority).map(|_| authority)
}

/// Returns the port in `authority`, `Some(None)` without a port, or `None` for an invalid port.
fn port(authority: &Authority) -> Option<Option<u16>> {
    let rest = &authority.as_str()[authority.host().len()..];
    match rest.strip_prefix(':') {
        None => rest.is_empty().then_some(None),
        Some("") => Some(None),
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => digits.parse().ok().map(Some),
        Some(_) => None,
    }
}

fn bad_host(detail: &str) -> Denied {
    Denied::BadHost(detail.into())
}

/// Returns why the sender of `request` does not count as the gateway's own user, although its connection does.
fn foreign<B>(listener: Listener, host: Option<&Authority>, request: &http::Request<B>) -> Option<Foreign> {
    let headers = request.headers();
    let target = request.uri().authority();
    if headers.keys().any(is_of_a_proxy) {
        Some(Foreign::Forwarded)
    } else if request.version() != Version::HTTP_11 {
        Some(Foreign::Version)
    } else if ![host, target.or(host)]
        .into_iter()
        .all(|host| host.is_some_and(|host| listener.is_named(host)))
    {
        // The authority of an absolute target overrides Host (RFC 9112, 3.2.2), and a proxy that sends one may set Host as it likes.
        Some(Foreign::Host)
    } else if is_of_another_site(headers, host) {
        Some(Foreign::Site)
    } else {
        None
    }
}

impl Listener {
    /// Whether `authority` is a loopback host with the listener's own port.
    fn is_named(&self, authority: &Authority) -> bool {
        let port = port(authority).map(|port| port.unwrap_or(self.default_port));
        port == Some(self.address.port()) && is_loopback_host(authority.host())
    }
}

/// Whether `name` is a header that proxies add (RFC 7239; RFC 9110, 7.6.3; and many that no standard has).
fn is_of_a_proxy(name: &HeaderName) -> bool {
    let name = name.as_str();
    let ends = ["real-ip", "client-ip", "clientip", "connecting-ip", "connecting-ipv6"];
    let begins = ["x-original-", "x-envoy-", "x-azure-", "cf-"];
    name.contains("forwarded")
        || ends.iter().any(|end| name.ends_with(end))
        || begins.iter().any(|begin| name.starts_with(begin))
        || PROXY_HEADERS.contains(&name)
}

/// Whether a browser says that the request comes from a page of another site (Fetch Metadata; Origin, RFC 6454).
fn is_of_another_site(headers: &HeaderMap, host: Option<&Authority>) -> bool {
    let own = |site: &HeaderValue| site == "same-origin" || site == "none";
    let is_own_origin = |origin: &HeaderValue| {
        let host = host.map_or("", Authority::as_str).as_bytes();
        let of = |scheme: &[u8]| origin.as_bytes().strip_prefix(scheme) == Some(host);
        of(b"http://") || of(b"https://")
    };
    !headers.get_all("sec-fetch-site").iter().all(own)
        || !headers.get_all(header::ORIGIN).iter().all(is_own_origin)
}

/// Whether a browser sends the request `headers` for a page of another site. `Sec-Fetch-Site` decides where a browser sends it, because only
/// the browser can set it, and a proxy may have changed `Host`. Otherwise `Origin` has to be `Host`.
pub fn is_cross_site(headers: &HeaderMap) -> bool {
    let mut site = headers.get_all("sec-fetch-site").iter().peekable();
    if site.peek().is_some() {
        return !site.all(|site| site == "same-origin" || site == "none");
    }
    let host = headers.get(header::HOST).and_then(authority);
    is_of_another_site(headers, host.as_ref())
}

impl<S: Sync> axum_core::extract::FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    /// Returns the peer that the server has added to the extensions of the request.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Peer, Infallible> {
        // A request without a peer did not arrive over the network. The unspecified address gives it no right.
        let unknown = Peer::of_address(Ipv4Addr::UNSPECIFIED.into());
        Ok(parts.extensions.get::<Peer>().copied().unwrap_or(unknown))
    }
}

/// Returns the token of a request: `Authorization: Bearer TOKEN`, or `Basic` with the token as the password (RFC 6750, 7617). A header that
/// cannot be read counts as an empty, and so invalid, token.
pub fn credential(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let given = all.next()?;
    let only = all.next().is_none();
    Some(given.to_str().ok().filter(|_| only).and_then(token).unwrap_or_default())
}

/// Returns the token of a request that changes the gateway: `Authorization: Bearer TOKEN`. A password does not count, because a browser that
/// knows one sends it with every request to the gateway, whichever page causes it.
pub fn bearer(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, _) = given.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") { credential(headers) } else { None }
}

fn token(authorization: &str) -> Option<Cow<'_, str>> {
    let (scheme, rest) = authorization.split_once(' ')?;
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

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: u16 = 8080;

    fn of(address: &str, target: &str, headers: &[(&'static str, &str)]) -> Result<Option<Foreign>, u16> {
        let listener = Listener { address: ([127, 0, 0, 1], PORT).into(), default_port: 80 };
        let request = http::Request::builder().uri(target);
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap())
        });
        let peer = peer(Peer::of_address(address.parse().unwrap()), listener, &request.body(()).unwrap());
        peer.map(|peer| peer.foreign)
            .map_err(|denied| if matches!(denied, Denied::BadHost(_)) { 400 } else { 0 })
    }

    #[test]
    fn a_request_says_what_it_is_addressed_to() {
        for host in ["127.0.0.1:8080", "LOCALHOST:8080", "[::1]:8080", "[::ffff:127.0.0.1]:8080"] {
            assert_eq!(of("127.0.0.1", "/", &[("host", host)]), Ok(None), "{host}");
            assert_eq!(of("::ffff:127.0.0.1", "/", &[("host", host)]), Ok(None), "{host}");
        }
        for host in ["127.0.0.1", "localhost:80", "203.0.113.7:8080", "localhost.:8080", "0.0.0.0:8080", ""] {
            assert_eq!(of("::1", "/", &[("host", host)]), Ok(Some(Foreign::Host)), "{host}");
        }
        for host in ["t\u{e9}l", "a@localhost", "localhost:x", "localhost:99999", "a b", "[::1", "::1:8080x"]
        {
            assert_eq!(of("127.0.0.1", "/", &[("host", host)]), Err(400), "{host}");
            // For any peer.
            assert_eq!(of("203.0.113.7", "/", &[("host", host)]), Err(400), "{host}");
        }
        let host = ("host", "localhost:8080");
        assert_eq!(of("127.0.0.1", "http://localhost:8080/", &[host]), Ok(None));
        assert_eq!(of("127.0.0.1", "http://example.org:8080/", &[host]), Ok(Some(Foreign::Host)));
        assert_eq!(of("127.0.0.1", "/", &[]), Err(400));
        assert_eq!(of("127.0.0.1", "/", &[host, host]), Err(400));
    }

    #[test]
    fn proxies_and_pages_of_other_sites_can_be_seen() {
        let with = |name, value: &str| of("127.0.0.1", "/", &[("host", "localhost:8080"), (name, value)]);
        for name in
            ["forwarded", "via", "x-forwarded-proto", "x-real-ip", "cf-connecting-ip", "true-client-ip"]
        {
            assert_eq!(with(name, ""), Ok(Some(Foreign::Forwarded)), "{name}");
        }
        for origin in ["http://localhost", "http://127.0.0.1:8080", "null", "http://localhost:80801"] {
            assert_eq!(with("origin", origin), Ok(Some(Foreign::Site)), "{origin}");
        }
        assert_eq!(with("origin", "http://localhost:8080"), Ok(None));
        assert_eq!(with("sec-fetch-site", "same-origin"), Ok(None));
        assert_eq!(with("sec-fetch-site", "cross-site"), Ok(Some(Foreign::Site)));
        assert_eq!(with("x-request-id", "a"), Ok(None));
    }

    #[test]
    fn a_listener_that_others_reach_makes_everybody_foreign() {
        let request = http::Request::builder().header("host", "localhost:8080").body(()).unwrap();
        for address in ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:8080", "[::ffff:192.0.2.1]:8080"] {
            let listener = Listener { address: address.parse().unwrap(), default_port: 80 };
            let peer =
                peer(Peer::of_listener([127, 0, 0, 1].into(), listener.address.ip()), listener, &request)
                    .unwrap();
            assert_eq!(peer.foreign, Some(Foreign::Listener), "{address}");
        }
    }

    #[test]
    fn browsers_tell_pages_of_other_sites() {
        let cross = |headers: &[(&'static str, &str)]| {
            let mut all = HeaderMap::new();
            for (name, value) in headers {
                all.append(*name, HeaderValue::from_str(value).unwrap());
            }
            is_cross_site(&all)
        };
        let host = ("host", "gateway.example");
        assert!(!cross(&[host]));
        assert!(!cross(&[host, ("origin", "https://gateway.example")]));
        // Behind a proxy that names another host or port, the browser still knows.
        assert!(!cross(&[
            host,
            ("origin", "https://gateway.example:8443"),
            ("sec-fetch-site", "same-origin")
        ]));
        for (name, value) in [
            ("origin", "https://gateway.example:8443"),
            ("origin", "https://evil.example"),
            ("origin", "null"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            assert!(cross(&[host, (name, value)]), "{name}: {value}");
        }
        assert!(cross(&[host, ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")]));
    }

    #[test]
    fn a_password_does_not_operate() {
        let of = |value: &str| {
            let headers =
                HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap())]);
            bearer(&headers).map(Cow::into_owned)
        };
        assert_eq!(of("Bearer abc").as_deref(), Some("abc"));
        assert_eq!(of("Bearer ").as_deref(), Some(""));
        for other in ["Basic YWRtaW46YTpi", "Digest x", "Bearer"] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn a_token_comes_as_bearer_or_as_password() {
        let of = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            credential(&headers).map(Cow::into_owned)
        };
        assert_eq!(of("Bearer abc").as_deref(), Some("abc"));
        assert_eq!(of("bearer  abc ").as_deref(), Some("abc"));
        assert_eq!(of("Basic YWRtaW46YTpi").as_deref(), Some("a:b"));
        for unreadable in ["", "Bearer", "Digest x", "Basic ????", "Basic YWJj", "Basic //79"] {
            assert_eq!(of(unreadable).as_deref(), Some(""), "{unreadable}");
        }
        assert_eq!(credential(&HeaderMap::new()), None);
    }
}
