//! Connections: how many, how slow they may be, and how they end.

use crate::{
    access::http::{Addressed, peer_at},
    head_timer::HeadTimer,
    inputs::http,
    shared::{Shared, said},
    tls::Acceptor,
    unread::WriteDeadline,
};
use axum::{Router, http::Request, response::Response};
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use prometheus_client::metrics::gauge::Gauge;
use std::{convert::Infallible, net::IpAddr, pin::pin, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
};

/// Largest head of a request, and what a connection reads at a time, in bytes.
const HEAD_BYTES: usize = 16 << 10;
const HEADERS: usize = 64;

/// A connection, for as long as it lasts: its place among all of them, and the gauge that counts them.
struct Open {
    _place: OwnedSemaphorePermit,
    gauge: Gauge,
}

impl Open {
    fn new(place: OwnedSemaphorePermit, gauge: Gauge) -> Self {
        gauge.inc();
        Open { _place: place, gauge }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.gauge.dec();
    }
}

/// What a client is answered that speaks HTTP where there is HTTPS.
pub const PLAIN: &str = "HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nConnection: close\r\n\r\n\
    {\"type\":\"urn:dunnage:problem:tls\",\"title\":\"TLS needed\",\"status\":400,\"detail\":\"this port is https\"}";

/// Where connections come from.
pub struct Listening {
    /// The port.
    pub listener: TcpListener,
    /// What makes TLS connections of them, if they are to be.
    pub tls: Option<Acceptor>,
    /// Each holds a permit for as long as it lasts.
    pub connections: Arc<Semaphore>,
}

/// Serves connections until `stopping` says true.
pub async fn serve(listening: Listening, router: Router, shared: Arc<Shared>) {
    let Listening { listener, tls, connections } = listening;
    let limits = &shared.http;
    let mut stopping = shared.stopping.clone();
    let mut builder = http1::Builder::new();
    builder
        .header_read_timeout(Duration::from_secs(limits.header_timeout_seconds))
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES);
    let write_timeout = Duration::from_secs(limits.write_timeout_seconds);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            () = said(&mut stopping) => return,
        };
        if let Some((stream, address, place)) = accepted {
            let open = Open::new(place, shared.metrics.connections.clone());
            let (shared, router) = (Arc::clone(&shared), Addressed::new(router.clone(), address));
            let service =
                service_fn(move |request| answer(Arc::clone(&shared), address, router.clone(), request));
            let (mut http, tls, stopping) = (builder.clone(), tls.clone(), stopping.clone());
            http.timer(HeadTimer::default());
            tokio::spawn(async move {
                let _open = open;
                let Some(tls) = tls else {
                    return converse(&http, WriteDeadline::new(stream, write_timeout), service, stopping)
                        .await;
                };
                // In memory of its own, which connections without TLS do not need.
                Box::pin(async move {
                    let Some(stream) = tls.accept(stream).await else { return };
                    converse(&http, WriteDeadline::new(stream, write_timeout), service, stopping).await;
                })
                .await;
            });
        }
    }
}

/// Serves the requests of one connection.
async fn converse<S, A>(http: &http1::Builder, stream: S, service: A, mut stopping: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Service<Request<Incoming>, Response = Response, Error = Infallible>,
{
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = said(&mut stopping) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(e) = ended {
        tracing::debug!(error = %e, "a connection broke");
    }
}

/// Messages go to their input directly: the router and its extractors would take a tenth more instructions for each.
async fn answer(
    shared: Arc<Shared>,
    address: IpAddr,
    router: Addressed<Router>,
    request: Request<Incoming>,
) -> Result<Response, Infallible> {
    match http::device(&request).map(str::to_owned) {
        Some(device) => {
            let peer = peer_at(address, request.headers());
            Ok(http::answer(&shared, &peer, device, request).await)
        }
        None => TowerToHyperService::new(router).call(request).await,
    }
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> Option<(TcpStream, IpAddr, OwnedSemaphorePermit)> {
    let permit = Arc::clone(connections).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, address)) => {
            // Answers are small, and a client waits for each.
            let _ = stream.set_nodelay(true);
            Some((stream, address.ip(), permit))
        }
        Err(e) => {
            // Out of file descriptors, or a connection that was gone already.
            tracing::debug!(error = %e, "a connection could not be accepted");
            tokio::time::sleep(Duration::from_millis(20)).await;
            None
        }
    }
}
