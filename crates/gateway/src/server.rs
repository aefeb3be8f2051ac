//! Connections: how many, how slow they may be, and how they end.

use crate::{access::http::Addressed, config::Http, unread::WriteDeadline};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use prometheus_client::metrics::gauge::Gauge;
use std::{net::IpAddr, pin::pin, sync::Arc, time::Duration};
use tokio::{
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

/// Serves connections until `stopping` says true. Each holds a permit of `connections` for as long as it lasts.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Http,
    connections: Arc<Semaphore>,
    gauge: Gauge,
    mut stopping: watch::Receiver<bool>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(limits.header_timeout_seconds))
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES);
    let write_timeout = Duration::from_secs(limits.write_timeout_seconds);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            () = stop(&mut stopping) => return,
        };
        if let Some((stream, address, place)) = accepted {
            let open = Open::new(place, gauge.clone());
            let service = TowerToHyperService::new(Addressed::new(router.clone(), address));
            let io = TokioIo::new(WriteDeadline::new(stream, write_timeout));
            let connection = http.serve_connection(io, service);
            let mut stopping = stopping.clone();
            tokio::spawn(async move {
                let _open = open;
                let mut connection = pin!(connection);
                let ended = tokio::select! {
                    ended = connection.as_mut() => ended,
                    () = stop(&mut stopping) => {
                        connection.as_mut().graceful_shutdown();
                        connection.await
                    }
                };
                if let Err(e) = ended {
                    tracing::debug!(error = %e, "a connection broke");
                }
            });
        }
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

/// Waits until the gateway stops.
async fn stop(stopping: &mut watch::Receiver<bool>) {
    // An error means that it is gone, which is a stop too.
    let _ = stopping.wait_for(|stopping| *stopping).await;
}
