//! `[input.webhook]`: receives the messages that a provider posts to `/hooks/{name}` on the HTTP port.
//!
//! [`crate::provider`] opens their bodies. This module has what is peculiar to requests: authorization, size limits, and the answer.
//! Providers repeat a request that is not answered with 200, so that is the answer whenever the message is on disk.

#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;
mod guard;
mod hmac;
pub mod hooks;
mod packets;
mod replay;
mod settings;
mod token;

pub use settings::{EXAMPLE, Settings};

use crate::{
    Environment, Input,
    http::{
        body::{ignore, receive},
        problem::Problem,
        request_id,
        settings::HttpSettings,
    },
    provider::{
        Message, Provider, RuleSettings, Rules,
        envelope::{Content, Envelope, Signed, Uplink, foreign},
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
use dunnage_access::{Peer, http::credential, is_pattern};
use dunnage_base::{
    clock,
    name::{fits, is_device, is_name},
};
use dunnage_buffer::{Provenance, Reservation, Sender};
use dunnage_ingest::{Code, RawMessage, Rejected};
use guard::{Guard, Secret};
use replay::Quarantined;
use serde::Serialize;
use settings::parameters;
use std::{sync::Arc, time::Duration};
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
    rules: Rules,
    secret: Secret,
    guard: ArcSwap<Guard>,
    header: HeaderName,
    link: Option<String>,
    devices: Option<Vec<String>>,
    quarantined: Quarantined,
}

/// The result of a request.
#[derive(Serialize, ToSchema)]
pub struct Answer {
    /// `stored` (also for a duplicate), `quarantined`, or `ignored` if the request carries no message. Of several messages: `quarantined` if
    /// one of them is.
    message: &'static str,
    /// Why the message, or the first of several that are, is in the quarantine.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Problem>,
    /// How many messages of an envelope that holds several are in the quarantine.
    #[serde(skip_serializing_if = "Option::is_none")]
    quarantined: Option<usize>,
}

/// What became of a request: the word of its answer, and why its message is in the quarantine.
type Done = (&'static str, Option<Rejected>);

impl Webhook {
    /// Creates the input `name`. An error says which setting is wrong.
    pub fn new(name: &str, settings: &Settings) -> Result<Webhook, String> {
        let Settings { link, devices, .. } = settings.clone();
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
        let rules = rules(settings)?;
        if let Some(bad) = link.as_deref().filter(|link| !is_name(link)) {
            return Err(format!("link: {bad:?} is not a valid link ID"));
        }
        let (name, quarantined) = (name.to_owned(), Quarantined::default());
        let hook = Hook { name, rules, secret, guard, header, link, devices, quarantined };
        Ok(Webhook(Arc::new(hook)))
    }
}

/// Returns how to open envelopes. An error says which setting is wrong.
pub fn rules(settings: &Settings) -> Result<Rules, String> {
    let Settings { provider, payload, format, formats, names, pointers, .. } = settings;
    let pointers = pointers.as_ref();
    Rules::new(*provider, &RuleSettings { payload: *payload, format: *format, formats, names, pointers })
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
            Ok((Content::Event(event), _)) => {
                env.metrics.event(self.rules.provider.name(), event);
                Ok((("ignored", None), None))
            }
            Ok((Content::Uplink(uplink), room)) => {
                self.store(env, (&id, &peer), *uplink, room).await.map(|done| (done, None))
            }
            Ok((Content::Packets(packets), room)) => {
                let stored = self.store_all(env, (&id, &peer), packets, room).await;
                stored.map(|(done, quarantined)| (done, Some(quarantined)))
            }
            Err(rejected) => {
                drop(env.ingest.receive());
                Err(rejected)
            }
        };
        if let Ok(((_, Some(rejected)), None)) | Err(rejected) = &outcome {
            env.ingest.reject(&env.ingest.metrics.inputs.of(&self.name), &id, rejected);
        }
        let answer = outcome
            .map(|((message, rejected), quarantined)| {
                Json(Answer { message, problem: rejected.map(Problem::from), quarantined })
            })
            .map_err(Problem::from);
        ([(request_id::HEADER.clone(), id)], answer).into_response()
    }

    /// Authorizes, receives and parses a request. Returns it with the memory that is reserved for it.
    async fn read(
        &self,
        env: &Environment,
        peer: &Peer,
        request: Request,
    ) -> Result<(Content, Reservation), Rejected> {
        let (head, body) = request.into_parts();
        let guard = self.guard.load_full();
        let body_limit_bytes = match &*guard {
            Guard::Signature(_) | Guard::Hmac(_) => SIGNED_BYTES,
            Guard::Tokens(_) => CALLBACK_BYTES,
        };
        let limits = HttpSettings { body_limit_bytes, ..env.http.clone() };
        if let Err(tried) = self.admit(&guard, &head) {
            ignore(body, &limits).await;
            let detail = format!("the header {} must have a token of this webhook", self.header);
            return Err(env.ingest.access.refuse_token(peer, tried, detail).into());
        }
        let given = match query::read(head.uri.query(), parameters(self.rules.provider)) {
            Ok(given) => given,
            Err(rejected) => {
                ignore(body, &limits).await;
                return Err(rejected);
            }
        };
        let mut room = env.ingest.reserve();
        // The device is not known yet, so all requests of a webhook share the memory of one device. No device ID contains a control character.
        let sender = Sender { address: peer.address, device: Some(&format!("\0{}", self.name)) };
        let bytes = receive(body, &limits, sender, &mut room).await?;
        let key = match &*guard {
            Guard::Signature(key) => Some(key),
            Guard::Tokens(_) | Guard::Hmac(_) => None,
        };
        let given_mac = text(&head.headers, &self.header);
        if let Guard::Hmac(secrets) = &*guard
            && !secrets.know(given_mac, &bytes)
        {
            let detail = format!("the header {} must have the HMAC-SHA256 of the body", self.header);
            return Err(env.ingest.access.refuse_token(peer, !given_mac.is_empty(), detail).into());
        }
        let event = given.iter().find(|(name, _)| *name == "event").map(|(_, event)| &**event);
        if event.is_none() && self.rules.provider == Provider::Chirpstack {
            return Err(foreign("the URL must have the parameter event"));
        }
        let content_type = text(&head.headers, &header::CONTENT_TYPE);
        let envelope = Envelope { event, content_type, headers: Some(&head.headers), bytes: &bytes };
        let content = self.rules.open(&envelope, key);
        let content = content.map_err(|rejected| match rejected.code {
            Code::Unauthorized => env.ingest.access.refuse_token(peer, true, rejected.detail).into(),
            _ => rejected,
        });
        Ok((content?, room))
    }

    /// Checks the token of the request, if tokens authorize the sender. The error says whether the request had a token at all.
    fn admit(&self, guard: &Guard, head: &Parts) -> Result<(), bool> {
        let Guard::Tokens(tokens) = guard else { return Ok(()) };
        let given = text(&head.headers, &self.header);
        let basic = match self.header == header::AUTHORIZATION {
            true => credential(&head.headers),
            false => None,
        };
        let given = match given.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim_start(),
            // The password is the token.
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("basic") => basic.as_deref().unwrap_or_default(),
            _ => given,
        };
        let of_url = match self.rules.provider.has_token_in_url() {
            true => token::of_query(head.uri.query().unwrap_or_default()),
            false => None,
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
    ) -> Result<Done, Rejected> {
        let device = &*self.rules.device(&uplink).to_owned();
        let provider = self.rules.provider.name();
        let key = self.rules.key(&self.name, &uplink);
        let checked = self.check(env, peer, device, key.as_deref(), uplink.signed.as_ref()).await;
        if matches!(checked, Ok(true)) {
            env.metrics.event(provider, "repeated");
            return Ok(("stored", None));
        }
        if checked.is_ok() && key.as_ref().is_some_and(|key| self.quarantined.knows(device, key)) {
            env.metrics.event(provider, "repeated");
            return Ok(("quarantined", None));
        }
        let message = match &checked {
            Ok(_) => {
                let with = (&**env.ingest.profiles.load(), env.ingest.message_limit_bytes());
                self.rules.message(with, &self.name, None, &uplink)
            }
            Err(_) => None,
        };
        if checked.is_ok() && message.is_none() {
            env.metrics.event(provider, "empty");
            return Ok(("ignored", None));
        }
        let mut in_flight = env.ingest.receive();
        checked?;
        let Some(message) = message else { return Ok(("ignored", None)) };
        env.ingest.limits.admit(peer, device)?;
        if let Some(rejected) = message.bad.as_ref().filter(|rejected| rejected.code == Code::TooLarge) {
            return Err(rejected.clone());
        }
        let message = self.raw(env, request, (device, message), uplink.payload);
        match env.ingest.store(&mut in_flight, message, room).await {
            Ok(()) => Ok(("stored", None)),
            Err(rejected) if rejected.is_temporary() => Err(rejected),
            // The message is on disk. Another attempt would have the same result.
            Err(rejected) => {
                if let (Some(_), Some(key)) = (&uplink.signed, &key) {
                    self.quarantined.add(device, key);
                }
                Ok(("quarantined", Some(rejected)))
            }
        }
    }

    /// Returns the message of `device` that the request `request` carries.
    fn raw(
        &self,
        env: &Environment,
        request: &str,
        (device, message): (&str, Message),
        payload: Vec<u8>,
    ) -> RawMessage<'static> {
        let provenance = Provenance {
            link: self.link.clone(),
            key: message.key,
            origin: message.origin,
            ..Provenance::new(device, clock::now(), request)
        };
        let input = (METRIC, env.ingest.metrics.inputs.of(&self.name));
        RawMessage::new(input, provenance, message.content_type, payload.into(), message.bad)
    }

    /// Rejects the message `key` if the webhook may not send as `device`, or if the message may be a replay. Returns whether it is the
    /// last one that was stored.
    async fn check(
        &self,
        env: &Environment,
        peer: &Peer,
        device: &str,
        key: Option<&str>,
        signed: Option<&Signed>,
    ) -> Result<bool, Rejected> {
        if !is_device(device) {
            return Err(Rejected::bad_device("the device ID"));
        }
        if !self.may_send(device) {
            return Err(env
                .ingest
                .access
                .refuse_device(format!("this webhook may not send as {device:?}"))
                .into());
        }
        let (Some(signed), Some(key)) = (signed, key) else { return Ok(false) };
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
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
