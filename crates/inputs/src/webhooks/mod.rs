//! `[input.webhook]`: receives the messages that a provider posts to `/hooks/{name}` on the HTTP port.
//!
//! A module for each provider parses its requests. This one does what is common to all: authorization, size limits, the format, and the
//! answer. Providers repeat a request that is not answered with 200, so that is the answer whenever the message is on disk.

mod astrocast;
mod callback;
mod chirpstack;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;
mod guard;
pub mod hooks;
mod jwt;
mod origin;
mod replay;
mod rockblock;
mod settings;
mod the_things_stack;
mod token;

pub use settings::{EXAMPLE, Provider, Settings};

use crate::{
    Environment, Input,
    http::{
        body::{ignore, receive},
        problem::Problem,
        request_id,
        settings::HttpSettings,
    },
    query,
};
use arc_swap::ArcSwap;
use axum::{
    Json,
    extract::Request,
    http::{HeaderMap, HeaderName, header, request::Parts},
    response::{IntoResponse, Response},
};
use callback::{Body, Callback, Signed, Uplink};
use dunnage_access::{Peer, is_pattern};
use dunnage_base::{
    clock,
    name::{fits, is_name},
};
use dunnage_buffer::{Provenance, Reservation, Sender};
use dunnage_formats::Id;
use dunnage_ingest::{Code, RawMessage, Rejected, profiles::settings::FormatName};
use guard::{Guard, Secret};
use origin::Stored;
use replay::Quarantined;
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};
use utoipa::ToSchema;

/// The input's name in metrics.
const METRIC: &str = "webhook";
/// The maximum difference between a provider's clock and the gateway's.
const CLOCKS: Duration = Duration::from_secs(60);
/// The maximum size of a provider's request in bytes. It contains much more than the device's message.
const CALLBACK_BYTES: usize = 1 << 20;
/// The maximum size if only a signature in the request authenticates the sender, because anybody can send that much before it is
/// verified.
const SIGNED_BYTES: usize = 64 << 10;

/// The webhook input.
pub struct Webhook(Arc<Hook>);

/// A webhook at work.
pub struct Hook {
    name: String,
    provider: Provider,
    secret: Secret,
    guard: ArcSwap<Guard>,
    header: HeaderName,
    format: Option<FormatName>,
    formats: HashMap<u8, FormatName>,
    link: Option<String>,
    devices: Option<Vec<String>>,
    names: BTreeMap<String, String>,
    quarantined: Quarantined,
}

/// The result of a request.
#[derive(Serialize, ToSchema)]
pub struct Answer {
    /// `stored` (also for a duplicate), `quarantined`, or `ignored` if the request carries no message.
    message: &'static str,
    /// Why the message is in the quarantine.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Problem>,
}

impl Webhook {
    /// Creates the input `name`. An error says which setting is wrong.
    pub fn new(name: &str, settings: &Settings) -> Result<Webhook, String> {
        let Settings { provider, format, link, devices, names, .. } = settings.clone();
        let secret = Secret::of(settings)?;
        if devices.is_none() && matches!(secret, Secret::Published) {
            let why = "must be set to your own devices, as a pattern or a list: the published key signs for all customers of Ground Control";
            return Err(format!("devices: {why}"));
        }
        let patterns = devices.as_deref().unwrap_or_default();
        if devices.is_some() && patterns.is_empty() {
            return Err("devices: must have at least one pattern, or no device may send".into());
        }
        if let Some(bad) = patterns.iter().find(|pattern| !is_pattern(pattern)) {
            return Err(format!(
                "devices: {bad:?} is not a valid pattern of device IDs, in which * stands for any characters"
            ));
        }
        let guard = ArcSwap::from_pointee(secret.read()?);
        let header =
            settings.header.parse().map_err(|_| "header: must be the name of a header".to_owned())?;
        if !provider.has_ports() && !settings.formats.is_empty() {
            return Err(format!("formats: messages of {} have no port", provider.name()));
        }
        if format.is_none() && settings.formats.is_empty() {
            return Err("format: must be set to the format of the devices' messages".into());
        }
        let port = |text: &String| text.parse().ok().filter(|port| (1..=223_u8).contains(port));
        let formats = settings.formats.iter().map(|(text, format)| match port(text) {
            Some(port) => Ok((port, *format)),
            None => Err(format!("formats: {text:?} is not a valid port: ports are 1 to 223")),
        });
        if let Some(bad) = names.values().find(|id| !is_name(id)) {
            return Err(format!("names: {bad:?} is not a valid device ID"));
        }
        if let Some(bad) = link.as_deref().filter(|link| !is_name(link)) {
            return Err(format!("link: {bad:?} is not a valid link ID"));
        }
        let (name, formats) = (name.to_owned(), formats.collect::<Result<_, _>>()?);
        let quarantined = Quarantined::default();
        let hook = Hook {
            name,
            provider,
            secret,
            guard,
            header,
            format,
            formats,
            link,
            devices,
            names,
            quarantined,
        };
        Ok(Webhook(Arc::new(hook)))
    }
}

#[async_trait::async_trait]
impl Input for Webhook {
    fn hook(&self) -> Option<Arc<Hook>> {
        Some(Arc::clone(&self.0))
    }

    async fn run(self: Box<Self>, env: Arc<Environment>) {
        // The HTTP server handles the requests, and ends them.
        env.stopping.cancelled().await;
    }
}

impl Hook {
    async fn call(&self, env: &Environment, peer: Peer, request: Request) -> Response {
        let id = request_id::of(request.headers(), &env.ingest.request_ids);
        let outcome = match self.read(env, &peer, request).await {
            Ok((Callback::Event(event), _)) => {
                env.metrics.event(self.provider.name(), event);
                Ok(("ignored", None))
            }
            Ok((Callback::Uplink(uplink), room)) => self.store(env, (&id, &peer), *uplink, room).await,
            Err(rejected) => {
                drop(env.ingest.receive());
                Err(rejected)
            }
        };
        if let Ok((_, Some(rejected))) | Err(rejected) = &outcome {
            env.ingest.reject(&env.ingest.metrics.inputs.of(&self.name), &id, rejected);
        }
        let answer = outcome
            .map(|(message, rejected)| Json(Answer { message, problem: rejected.map(Problem::from) }))
            .map_err(Problem::from);
        ([(request_id::HEADER.clone(), id)], answer).into_response()
    }

    /// Authorizes, receives and parses a request. Returns it with the memory that is reserved for it.
    async fn read(
        &self,
        env: &Environment,
        peer: &Peer,
        request: Request,
    ) -> Result<(Callback, Reservation), Rejected> {
        let (head, body) = request.into_parts();
        let guard = self.guard.load_full();
        let body_limit_bytes = match &*guard {
            Guard::Signature(_) => SIGNED_BYTES,
            Guard::Tokens(_) => CALLBACK_BYTES,
        };
        let limits = HttpSettings { body_limit_bytes, ..env.http.clone() };
        if let Err(tried) = self.admit(&guard, &head) {
            ignore(body, &limits).await;
            let detail = format!("the header {} must have a token of this webhook", self.header);
            return Err(env.ingest.access.refuse_token(peer, tried, detail).into());
        }
        if let Err(rejected) = query::read(head.uri.query(), self.provider.parameters()) {
            ignore(body, &limits).await;
            return Err(rejected);
        }
        let mut room = env.ingest.reserve();
        // The device is not known yet, so all requests of a webhook share the memory of one device. No device ID contains a slash.
        let sender = Sender { address: peer.address, device: Some(&format!("/hooks/{}", self.name)) };
        let bytes = receive(body, &limits, sender, &mut room).await?;
        let key = match &*guard {
            Guard::Signature(key) => Some(key),
            Guard::Tokens(_) => None,
        };
        let query = head.uri.query().unwrap_or_default();
        let body = Body { query, content_type: text(&head.headers, &header::CONTENT_TYPE), bytes: &bytes };
        let callback = match self.provider {
            Provider::Astrocast => astrocast::read(&body),
            Provider::Chirpstack => chirpstack::read(&body),
            Provider::TheThingsStack => the_things_stack::read(&body),
            Provider::Rockblock => rockblock::read(&body, key),
        };
        let callback = callback.map_err(|rejected| match rejected.code {
            Code::Unauthorized => env.ingest.access.refuse_token(peer, true, rejected.detail).into(),
            _ => rejected,
        });
        Ok((callback?, room))
    }

    /// Checks the token of the request, if tokens authorize the sender. The error says whether the request had a token at all.
    fn admit(&self, guard: &Guard, head: &Parts) -> Result<(), bool> {
        let Guard::Tokens(tokens) = guard else { return Ok(()) };
        let given = text(&head.headers, &self.header);
        let given = match given.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim_start(),
            _ => given,
        };
        let of_url = match self.provider {
            Provider::Rockblock => rockblock::token(head.uri.query().unwrap_or_default()),
            _ => None,
        };
        match tokens.know(given) | of_url.as_deref().is_some_and(|token| tokens.know(token)) {
            true => Ok(()),
            false => Err(!given.is_empty() || of_url.is_some()),
        }
    }

    async fn store(
        &self,
        env: &Environment,
        (request, peer): (&str, &Peer),
        uplink: Uplink,
        room: Reservation,
    ) -> Result<(&'static str, Option<Rejected>), Rejected> {
        let device = self.names.get(&uplink.device).unwrap_or(&uplink.device);
        let provider = self.provider.name();
        let key = format!("{provider}:{}", uplink.id);
        let checked = self.check(env, peer, device, &key, uplink.signed.as_ref()).await;
        if matches!(checked, Ok(true)) {
            env.metrics.event(provider, "repeated");
            return Ok(("stored", None));
        }
        if checked.is_ok() && self.quarantined.knows(device, &key) {
            env.metrics.event(provider, "repeated");
            return Ok(("quarantined", None));
        }
        let mut in_flight = env.ingest.receive();
        checked?;
        env.ingest.limits.admit(peer, device)?;
        if uplink.payload.len() > env.ingest.message_limit_bytes() {
            return Err(Rejected::too_large(env.ingest.message_limit_bytes()));
        }
        let (content_type, bad) = match self.media_type(uplink.origin.port) {
            Ok(media_type) => (media_type, None),
            Err(rejected) => (String::new(), Some(rejected)),
        };
        let stored = Stored {
            input: &self.name,
            provider,
            message_id: &uplink.id,
            provider_device: (*device != uplink.device).then_some(&*uplink.device),
            origin: &uplink.origin,
        };
        let origin = stored.to_json();
        let provenance = Provenance {
            link: self.link.clone(),
            key: Some(key.clone()),
            origin,
            ..Provenance::new(device, clock::now(), request)
        };
        let raw = uplink.payload.into();
        let content_type = content_type.into();
        let meter = env.ingest.metrics.inputs.of(&self.name);
        let message = RawMessage { input: METRIC, meter, provenance, content_type, bad, raw };
        match env.ingest.store(&mut in_flight, message, room).await {
            Ok(()) => Ok(("stored", None)),
            Err(rejected) if rejected.is_temporary() => Err(rejected),
            // The message is on disk. Another attempt would have the same result.
            Err(rejected) => {
                if uplink.signed.is_some() {
                    self.quarantined.add(device, &key);
                }
                Ok(("quarantined", Some(rejected)))
            }
        }
    }

    /// Rejects the message `key` if the webhook may not send as `device`, or if the message may be a replay. Returns whether it is the
    /// last one that was stored.
    async fn check(
        &self,
        env: &Environment,
        peer: &Peer,
        device: &str,
        key: &str,
        signed: Option<&Signed>,
    ) -> Result<bool, Rejected> {
        if !is_name(device) {
            return Err(Rejected::bad_id("the device ID"));
        }
        if !self.may_send(device) {
            return Err(env
                .ingest
                .access
                .refuse_device(format!("this webhook may not send as {device:?}"))
                .into());
        }
        let Some(signed) = signed else { return Ok(false) };
        // As long as the message is known, a replay is a duplicate.
        let fresh = env.ingest.metrics.reaches().saturating_sub(CLOCKS);
        let last = replay::is_last(&env.ingest, fresh, device, key, signed).await;
        last.map_err(|rejected| match rejected.code {
            Code::Unauthorized => env.ingest.access.refuse_token(peer, false, rejected.detail).into(),
            _ => rejected,
        })
    }

    /// Returns whether the webhook may send as `device`.
    fn may_send(&self, device: &str) -> bool {
        let fits = |patterns: &Vec<String>| patterns.iter().any(|pattern| fits(pattern, device));
        self.devices.as_ref().is_none_or(fits)
    }

    /// Returns the media type of a message on `port`, or the reason why it is unknown.
    fn media_type(&self, port: Option<u8>) -> Result<String, Rejected> {
        let format = port.and_then(|port| self.formats.get(&port)).or(self.format.as_ref());
        match (format, port) {
            (Some(FormatName(format)), port) => {
                Ok(match port {
                    // The port may be the slot.
                    Some(port) if *format == Id::Packed && port > 0 => {
                        format!("{}; port={port}", format.media_type())
                    }
                    _ => format.media_type().to_owned(),
                })
            }
            (None, Some(port)) => Err(Rejected::unsupported(format!("no format is set for the port {port}"))),
            (None, None) => Err(Rejected::unsupported("the message has no port, and no format is set")),
        }
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
