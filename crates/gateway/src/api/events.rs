//! The event stream: `message`, `quarantine`, `stats` and `scope`, as server-sent events.

use super::guard::Readable;
use super::objects::StatsObject;
use super::problems::{QueryProblems, WATCHERS, WatcherProblems};
use super::scope::ScopeObject;
use crate::{live, visible::Visible};
use axum::{
    http::HeaderMap,
    response::sse::{self, KeepAlive, Sse},
};
use dunnage_access::{Peer, http::credential};
use dunnage_inputs::{AccessProblems, NoQuery, Problem};
use std::{borrow::Cow, convert::Infallible, sync::Arc};
use tokio_stream::{
    Stream, StreamExt,
    wrappers::{BroadcastStream, WatchStream, errors::BroadcastStreamRecvError},
};
use utoipa::ToSchema;

/// An event of the stream.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the OpenAPI document alone has it")]
struct Event {
    event: Kind,
    /// A `MessageObject`, a `RejectObject`, a `StatsObject` or a `ScopeObject`, as JSON. A token for a part of the devices gets no `stats`,
    /// but `scope` when it reads other devices than before, because their tags have changed.
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
    Scope,
}

#[utoipa::path(get, path = "/api/events", tag = "api", responses(
    (status = 200, description = "Server-sent events without end: what an event is.", body = Event, content_type = "text/event-stream"),
    QueryProblems,
    AccessProblems,
    WatcherProblems,
))]
pub async fn events(
    client: Readable,
    _: NoQuery,
    peer: Peer,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, Infallible>>>, Problem> {
    let Readable { state, visible, scope } = client;
    let (events, watching) =
        state.live.watch(peer.address).map_err(|detail| Problem::new(WATCHERS, detail))?;
    let about = serde_json::to_string(&ScopeObject::of(&scope)).unwrap_or_default();
    let stats = || serde_json::to_string(&StatsObject::of(&state)).unwrap_or_default();
    let first = visible.is_everything().then(|| Some(sent("stats", &stats())));
    let events =
        BroadcastStream::new(events).filter_map(move |event| told(event, &visible, &about)).map(Some);
    let end = futures_util::stream::once(state.env.stopping.clone().cancelled_owned()).map(|()| None);
    let (access, token) = (Arc::clone(&state.ingest().access), credential(&headers).map(Cow::into_owned));
    // A token that reads other devices since a reload begins again, too.
    let revoked = WatchStream::new(access.looks())
        .filter(move |()| !access.may_go_on(token.as_deref(), |right| right.reads() == Some(&scope)))
        .map(|()| None);
    let stream = tokio_stream::iter(first).chain(events.merge(end.merge(revoked)));
    let stream = stream.map_while(move |event| {
        // The closure owns the watcher's place, for as long as the stream lives.
        let _ = &watching;
        event.map(Ok)
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()))
}

/// Returns what a watcher is told of an event. A watcher that lags misses events, and continues.
fn told(
    event: Result<live::Event, BroadcastStreamRecvError>,
    visible: &Visible,
    about: &str,
) -> Option<sse::Event> {
    match event {
        Ok(live::Event::OfDevice { name, device, data }) => visible.has(&device).then(|| sent(name, &data)),
        Ok(live::Event::Stats(data)) => visible.is_everything().then(|| sent("stats", &data)),
        Ok(live::Event::Retagged(changes)) => {
            changes.iter().any(|change| change.concerns(visible)).then(|| sent("scope", about))
        }
        // One of the events that it has missed may have been that.
        Err(BroadcastStreamRecvError::Lagged(_)) => visible.depends_on_tags().then(|| sent("scope", about)),
    }
}

fn sent(name: &str, data: &str) -> sse::Event {
    sse::Event::default().event(name).data(data)
}
