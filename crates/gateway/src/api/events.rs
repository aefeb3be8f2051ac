//! The event stream: `message`, `quarantine` and `stats`, as server-sent events.

use super::objects::StatsObject;
use super::problems::{QueryProblems, WATCHERS, WatcherProblems};
use crate::state::GatewayState;
use axum::{
    extract::State,
    http::HeaderMap,
    response::sse::{self, KeepAlive, Sse},
};
use dunnage_access::{Peer, Right, http::credential};
use dunnage_inputs::{AccessProblems, NoQuery, Problem};
use std::{borrow::Cow, convert::Infallible, sync::Arc};
use tokio_stream::{
    Stream, StreamExt,
    wrappers::{BroadcastStream, WatchStream},
};
use utoipa::ToSchema;

/// An event of the stream.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the OpenAPI document alone has it")]
struct Event {
    event: Kind,
    /// A `MessageObject`, a `RejectObject` or a `StatsObject`, as JSON.
    #[schema(content_media_type = "application/json")]
    data: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "the OpenAPI document alone has it")]
enum Kind {
    Message,
    Quarantine,
    Stats,
}

#[utoipa::path(get, path = "/api/events", tag = "api", responses(
    (status = 200, description = "Server-sent events without end: what an event is.", body = Event, content_type = "text/event-stream"),
    QueryProblems,
    AccessProblems,
    WatcherProblems,
))]
pub async fn events(
    State(state): State<Arc<GatewayState>>,
    _: NoQuery,
    peer: Peer,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, Infallible>>>, Problem> {
    let (events, watching) =
        state.live.watch(peer.address).map_err(|detail| Problem::new(WATCHERS, detail))?;
    // A watcher that lags misses events, and continues.
    let events = BroadcastStream::new(events)
        .filter_map(Result::ok)
        .map(|event| Some(sse::Event::default().event(event.name).data(&*event.data)));
    let end = futures_util::stream::once(state.env.stopping.clone().cancelled_owned()).map(|()| None);
    let (access, token) = (Arc::clone(&state.ingest().access), credential(&headers).map(Cow::into_owned));
    let revoked = WatchStream::new(access.looks())
        .filter(move |()| !access.may_go_on(token.as_deref(), Right::reads))
        .map(|()| None);
    let stats = serde_json::to_string(&StatsObject::of(&state)).unwrap_or_default();
    let first = sse::Event::default().event("stats").data(stats);
    let stream = tokio_stream::once(Some(first)).chain(events.merge(end.merge(revoked)));
    let stream = stream.map_while(move |event| {
        // The closure owns the watcher's place, for as long as the stream lives.
        let _ = &watching;
        event.map(Ok)
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()))
}
