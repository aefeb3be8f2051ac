//! The beginning of a connection: its CONNECT and the answer.

use super::{
    Listener, Remote,
    answer::Answers,
    session::{Key, Session},
    will,
    wire::{Stream, Wire},
};
use dunnage_clients::mqtt::{
    packet::{self, Connect, Publish, Version},
    reason::{Reason, Refusal, told},
};
use mqtt_protocol_core::mqtt::{
    packet::{
        AssignedClientIdentifier, MaximumPacketSize, Properties, Property, ReasonString, ReceiveMaximum,
        RetainAvailable, ServerKeepAlive, SessionExpiryInterval, SharedSubscriptionAvailable,
        SubscriptionIdentifierAvailable, TopicAliasMaximum, WildcardSubscriptionAvailable, v3_1_1, v5_0,
    },
    result_code::{ConnectReasonCode, ConnectReturnCode, MqttError},
};
use ring::digest::{SHA256, digest};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The maximum number of topic aliases of a connection.
pub const ALIASES: u16 = 16;

/// The time limit for a CONNECT, and for an earlier connection of the same client to end.
const CONNECT: Duration = Duration::from_secs(10);
/// The maximum size of a CONNECT in bytes.
const LARGEST: usize = 8 << 10;
/// The maximum length of a client identifier in bytes.
const CLIENT_ID: usize = 256;
/// The keep alive in seconds for a client that sets none: the longest that exists.
const KEEP_ALIVE: u16 = u16::MAX;

/// A connected client.
pub struct Client {
    pub id: String,
    pub answers: Answers,
    pub session: Session,
    /// After this time without a packet, the client counts as gone.
    pub silence: Duration,
    /// Its password, which is its token.
    pub credential: Option<String>,
    /// Whether its session was to be kept when it connected.
    pub kept: bool,
    /// The message that is stored if its connection ends without DISCONNECT.
    pub will: Option<Publish>,
}

/// Reads the CONNECT and answers it. Returns `None` if the client sends none in time, or is rejected.
pub async fn greet<S: Stream>(listener: &Listener, wire: &mut Wire<S>, peer: Remote) -> Option<Client> {
    let until = Instant::now() + CONNECT;
    let first = tokio::select! {
        first = timeout_at(until, first(wire)) => first.ok()??,
        () = listener.env.stopping.cancelled() => return None,
    };
    let refused = match first.and_then(|(first, body)| packet::connect(first, &body)) {
        Ok(mut connect) => match admit(listener, wire, &mut connect, peer, until).await {
            Ok(client) => return Some(client),
            Err(refusal) => (Some(connect.version), refusal),
        },
        Err(refused) => refused,
    };
    let (version, refusal) = refused;
    listener.refused(&refusal);
    tracing::info!(input = %listener.name, peer = %peer.address, reason = refusal.why, "a client is refused");
    if let Some(version) = version {
        wire.output.extend_from_slice(&no(version, &refusal));
        wire.close().await;
    }
    None
}

type First = Result<(u8, bytes::BytesMut), (Option<Version>, Refusal)>;

/// Reads the first packet. Returns `None` if the connection ends before it is complete.
async fn first<S: Stream>(wire: &mut Wire<S>) -> Option<First> {
    loop {
        match wire.next(LARGEST) {
            Ok(Some(packet)) => return Some(Ok(packet)),
            Ok(None) => {}
            Err(refusal) => return Some(Err((None, refusal))),
        }
        if !wire.fill().await.ok()? {
            return None;
        }
    }
}

async fn admit<S: Stream>(
    listener: &Listener,
    wire: &mut Wire<S>,
    connect: &mut Connect,
    peer: Remote,
    until: Instant,
) -> Result<Client, Refusal> {
    let credential = credential(connect)?;
    listener.may_connect(&peer.peer, credential.as_deref())?;
    if connect.auth {
        return Err(Refusal::new(Reason::AuthMethod, "only authentication by password is supported"));
    }
    let assigned = connect.client_id.is_empty();
    if connect.client_id.len() > CLIENT_ID || (assigned && connect.version == Version::V3 && !connect.clean) {
        let why = format!(
            "a client ID must have at most {CLIENT_ID} bytes, and may be empty only with a clean session"
        );
        return Err(Refusal::new(Reason::ClientId, why));
    }
    let id = if assigned { listener.env.ingest.request_ids.next() } else { connect.client_id.clone() };
    let hash = credential.as_ref().and_then(|text| digest(&SHA256, text.as_bytes()).as_ref().try_into().ok());
    let opening = listener.sessions.open(Key { client_id: id.clone(), credential: hash }, connect.clean);
    let (mut session, present) = timeout_at(until, opening).await.map_err(|_| {
        Refusal::new(
            Reason::Busy,
            "the earlier connection of this client has messages that are not stored yet",
        )
    })?;
    let longest = u32::try_from(listener.settings.session_expiry_seconds).unwrap_or(u32::MAX);
    let expiry = connect.expiry.min(longest);
    session.keep = Duration::from_secs(expiry.into());
    let keep_alive = if connect.keep_alive == 0 { KEEP_ALIVE } else { connect.keep_alive };
    let yes = match connect.version {
        Version::V3 => yes_3(present),
        Version::V5 => {
            let mut said = Vec::new();
            if assigned {
                said.push(AssignedClientIdentifier::new(&id).map(Property::from));
            }
            if expiry != connect.expiry {
                said.push(SessionExpiryInterval::new(expiry).map(Property::from));
            }
            if keep_alive != connect.keep_alive {
                said.push(ServerKeepAlive::new(keep_alive).map(Property::from));
            }
            yes_5(listener, present, said)
        }
    };
    wire.output.extend_from_slice(&yes.map_err(Refusal::from)?);
    let answers = Answers { version: connect.version, largest: connect.largest, reasons: connect.reasons };
    let silence = Duration::from_millis(u64::from(keep_alive) * 1500);
    let will = connect.will.take().filter(|will| will::is_usable(listener, &id, will));
    Ok(Client { id, answers, session, silence, credential, kept: expiry > 0, will })
}

/// Returns the password, which is a token. Fails if it is not UTF-8.
fn credential(connect: &Connect) -> Result<Option<String>, Refusal> {
    let Some(password) = &connect.password else { return Ok(None) };
    let text = String::from_utf8(password.clone());
    text.map(Some).map_err(|_| Refusal::new(Reason::Login, "the password must be a token in UTF-8"))
}

fn yes_3(present: bool) -> Result<Vec<u8>, MqttError> {
    let packet = v3_1_1::Connack::builder()
        .session_present(present)
        .return_code(ConnectReturnCode::Accepted)
        .build()?;
    Ok(packet.to_continuous_buffer())
}

fn yes_5(
    listener: &Listener,
    present: bool,
    said: Vec<Result<Property, MqttError>>,
) -> Result<Vec<u8>, MqttError> {
    let mut properties: Properties = said.into_iter().collect::<Result<_, _>>()?;
    properties.extend([
        ReceiveMaximum::new(listener.settings.in_flight_messages)?.into(),
        MaximumPacketSize::new(u32::try_from(listener.largest()).unwrap_or(u32::MAX))?.into(),
        TopicAliasMaximum::new(ALIASES)?.into(),
        RetainAvailable::new(0)?.into(),
        WildcardSubscriptionAvailable::new(0)?.into(),
        SubscriptionIdentifierAvailable::new(0)?.into(),
        SharedSubscriptionAvailable::new(0)?.into(),
    ]);
    let packet = v5_0::Connack::builder()
        .session_present(present)
        .reason_code(ConnectReasonCode::Success)
        .props(properties)
        .build()?;
    Ok(packet.to_continuous_buffer())
}

/// Returns a CONNACK that rejects the client; empty if MQTT 3.1.1 has no code for the reason.
fn no(version: Version, refusal: &Refusal) -> Vec<u8> {
    let packet = match version {
        Version::V3 => refusal.reason.in_connack().map(|code| {
            let packet = v3_1_1::Connack::builder().session_present(false).return_code(code).build()?;
            Ok(packet.to_continuous_buffer())
        }),
        Version::V5 => Some(no_5(refusal)),
    };
    packet.and_then(|packet: Result<_, MqttError>| packet.ok()).unwrap_or_default()
}

fn no_5(refusal: &Refusal) -> Result<Vec<u8>, MqttError> {
    let code =
        ConnectReasonCode::try_from(refusal.reason as u8).unwrap_or(ConnectReasonCode::UnspecifiedError);
    let packet = v5_0::Connack::builder()
        .session_present(false)
        .reason_code(code)
        .props(vec![ReasonString::new(told(&refusal.why))?.into()])
        .build()?;
    Ok(packet.to_continuous_buffer())
}
