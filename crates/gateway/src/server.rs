//! The HTTP server: limits how many connections there are and how slow they may be, and ends them when the gateway stops.

use axum::{
    Router,
    http::{Request, header},
    response::{IntoResponse, Response},
};
use dunnage_access::{Listener, Peer, tls::Acceptor};
use dunnage_inputs::{
    Environment, Problem,
    connections::{Activity, Connections, Place, accept::accept_stream, head_timer::HeadTimer},
    http,
};
use hyper::{
    body::{Body, Bytes, Frame, Incoming, SizeHint},
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};
use tokio_io_timeout::TimeoutWriter;
use tokio_util::sync::CancellationToken;

/// Largest head of a request, and size of the read buffer, in bytes.
const HEAD_BYTES: usize = 16 << 10;
const HEADERS: usize = 64;

/// The answer to a client that speaks HTTP to an HTTPS port.
pub const PLAIN: &str = "HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nConnection: close\r\n\r\n\
    {\"type\":\"urn:dunnage:problem:tls\",\"title\":\"TLS needed\",\"status\":400,\"detail\":\"this port accepts only HTTPS\"}";

/// A listener and the data for accepting connections.
pub struct Listening {
    /// The socket.
    pub listener: TcpListener,
    /// Its address.
    pub address: SocketAddr,
    /// The TLS acceptor, if the port is HTTPS.
    pub tls: Option<Acceptor>,
    /// The table of open connections.
    pub connections: Arc<Connections>,
}

/// Accepts and serves connections until the gateway stops.
pub async fn serve(listening: Listening, router: Router, env: Arc<Environment>) {
    let Listening { listener, address, tls, connections } = listening;
    let limits = &env.http;
    let mut builder = http1::Builder::new();
    builder
        .header_read_timeout(Duration::from_secs(limits.header_timeout_seconds))
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES);
    let write_timeout = Duration::from_secs(limits.write_timeout_seconds);
    let local = Listener { address, default_port: if tls.is_some() { 443 } else { 80 } };
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            () = env.stopping.cancelled() => return,
        };
        if let Some((stream, peer, place)) = accepted {
            let Ok(to) = stream.local_addr() else { continue };
            let peer = Peer::of_connection(peer, to, address.ip());
            let (id, activity) = (place.id(), Arc::clone(place.activity()));
            let (env, router, stopping) = (Arc::clone(&env), router.clone(), env.stopping.clone());
            let connection = Connection { peer, listener: local, activity };
            let service = service_fn(move |request| {
                answer(Arc::clone(&env), connection.clone(), router.clone(), request)
            });
            let (mut http, tls) = (builder.clone(), tls.clone());
            http.timer(HeadTimer::default());
            let task = tokio::spawn(async move {
                let _place = place;
                let Some(tls) = tls else {
                    return converse(&http, stream, write_timeout, service, stopping).await;
                };
                // Boxed, so that a connection without TLS does not hold the memory of one with it.
                Box::pin(async move {
                    let Some(stream) = tls.accept(stream).await else { return };
                    converse(&http, stream, write_timeout, service, stopping).await;
                })
                .await;
            });
            connections.attach(id, task.abort_handle());
        }
    }
}

/// Serves the requests of one connection. Ends it if the peer leaves written bytes unread for `write_timeout`.
async fn converse<S, A>(
    http: &http1::Builder,
    stream: S,
    write_timeout: Duration,
    service: A,
    stopping: CancellationToken,
) where
    S: AsyncRead + AsyncWrite,
    A: Service<Request<Incoming>, Response = Response, Error = Infallible>,
{
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(write_timeout));
    let stream = pin!(stream);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(e) = ended {
        tracing::debug!(error = %e, "a connection failed");
    }
}

/// The two ends of a connection, and its activity.
#[derive(Clone)]
struct Connection {
    peer: Peer,
    listener: Listener,
    activity: Arc<Activity>,
}

async fn answer(
    env: Arc<Environment>,
    connection: Connection,
    router: Router,
    request: Request<Incoming>,
) -> Result<Response, Infallible> {
    let activity = &connection.activity;
    let is_whole = request.body().is_end_stream();
    if !if is_whole { activity.busy() } else { activity.receiving() } {
        // The connection was closed to make room just as the request arrived. Its task is aborted at this await.
        return std::future::pending().await;
    }
    let request = request.map(|body| Watched { body, activity: Arc::clone(activity) });
    let response = dispatch(env, &connection, router, request).await;
    // An event stream has no known length and lasts, so its connection stays busy.
    if response.body().size_hint().exact().is_some() {
        activity.waiting();
    }
    Ok(response)
}

/// Answers a request. Messages bypass the router: it and its extractors would cost a tenth more instructions for each.
async fn dispatch(
    env: Arc<Environment>,
    connection: &Connection,
    router: Router,
    mut request: Request<Watched>,
) -> Response {
    let peer = match dunnage_access::http::peer(connection.peer, connection.listener, &request) {
        Ok(peer) => peer,
        Err(denied) => return ([(header::CONNECTION, "close")], Problem::from(denied)).into_response(),
    };
    match http::device(&request, &env.http).map(str::to_owned) {
        Some(device) => http::answer(&env, &peer, device, request).await,
        None => {
            request.extensions_mut().insert(peer);
            let Ok(response) = TowerToHyperService::new(router).call(request).await;
            response
        }
    }
}

/// A body that tells its connection's activity when it is complete.
struct Watched {
    body: Incoming,
    activity: Arc<Activity>,
}

impl Body for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.activity.busy();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Connections>,
) -> Option<(TcpStream, SocketAddr, Place)> {
    let (stream, peer) = accept_stream(listener).await?;
    let place = connections.enter(peer.ip()).await?;
    Some((stream, peer, place))
}
