//! The playground without a gateway.

use crate::{Process, routes};
use axum::{
    Router,
    extract::{ConnectInfo, Request},
    http::{HeaderMap, Method, Uri},
    middleware::{Next, from_fn, map_response},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use dunnage_access::{Listener, Peer};
use dunnage_inputs::{Code, Problem};
use std::{io, net::SocketAddr};
use tokio::net::TcpListener;

/// The path of the page.
const PAGE: &str = "/play";
/// The page of the gateway, whose API is not here.
const GATEWAYS: [&str; 1] = ["/index.html"];

/// Serves the playground at the listener until `stop` completes. Anyone who can reach the listener can use it. On a loopback address,
/// requests through proxies or from other sites are refused.
pub async fn serve(listener: TcpListener, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
    let address = listener.local_addr()?;
    let routes = Router::from(routes::<()>(Process::Command));
    let router = routes
        .route("/", get(|| async { Redirect::to(PAGE) }))
        .fallback_service(dunnage_page::service(page))
        .layer(from_fn(move |ConnectInfo(from), request, next| own(address, from, request, next)))
        .layer(map_response(dunnage_page::guard));
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, service).with_graceful_shutdown(stop).await
}

async fn page(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let file = dunnage_page::file(&method, &uri, &headers).filter(|_| !GATEWAYS.contains(&uri.path()));
    file.unwrap_or_else(|| Problem::not_found(format!("nothing is at {}", uri.path())).into_response())
}

/// Middleware that denies requests that come from elsewhere, if the listener is for this machine only.
async fn own(address: SocketAddr, from: SocketAddr, request: Request, next: Next) -> Response {
    let peer = Peer::of_listener(from.ip(), address.ip());
    let peer = match dunnage_access::http::peer(peer, Listener { address, default_port: 80 }, &request) {
        Ok(peer) => peer,
        Err(denied) => return Problem::from(denied).into_response(),
    };
    match peer.foreign {
        Some(foreign) if address.ip().to_canonical().is_loopback() => {
            Problem::new(Code::Forbidden.into(), foreign.reason()).into_response()
        }
        _ => next.run(request).await,
    }
}
