//! Builds the packets that the client sends, and parses the broker's answers.

use super::{Acknowledgement, Error, Limits, Options, Publication, Version};
use mqtt_protocol_core::mqtt::{
    packet::{
        ContentType, MaximumPacketSize, Property, Qos, ReceiveMaximum, RetainHandling, SessionExpiryInterval,
        SubEntry, SubOpts, UserProperty, v3_1_1, v5_0,
    },
    result_code::{ConnectReasonCode, DisconnectReasonCode, MqttError},
};
use std::time::Duration;

/// The reason code of a DISCONNECT after which the broker publishes the will (MQTT 5, section 3.14.2.1).
const DISCONNECT_WITH_WILL: u8 = 0x04;
/// Reason codes of a PUBACK that are not refusals (MQTT 5, section 3.4.2.1).
const SUCCESS: u8 = 0;
const NO_MATCHING_SUBSCRIBERS: u8 = 0x10;
/// Unspecified error: the first code that is a refusal.
const UNSPECIFIED: u8 = 0x80;

fn unsendable(what: &str) -> impl Fn(MqttError) -> Error {
    move |why| Error::Unsendable(format!("{what} cannot be sent with MQTT: {why}"))
}

fn malformed(what: &str) -> impl Fn(MqttError) -> Error {
    move |why| Error::Protocol(format!("{what}: {why}"))
}

/// Builds a CONNECT.
pub fn connect(options: &Options) -> Result<Vec<u8>, Error> {
    let failed = unsendable("the client ID, user, password or will");
    let keep_alive = u16::try_from(options.keep_alive.as_secs()).unwrap_or(u16::MAX);
    Ok(match options.version {
        Version::V3 => {
            let mut packet = v3_1_1::Connect::builder().client_id(&*options.client_id).map_err(&failed)?;
            if let Some((user, password)) = &options.login {
                packet = packet
                    .user_name(&**user)
                    .map_err(&failed)?
                    .password(password.clone())
                    .map_err(&failed)?;
            }
            if let Some(Publication { topic, payload, retain, .. }) = &options.will {
                let will = packet.will_message(&**topic, payload.to_vec(), Qos::AtLeastOnce, *retain);
                packet = will.map_err(&failed)?;
            }
            let packet = packet.clean_session(options.clean).keep_alive(keep_alive).build();
            packet.map_err(failed)?.to_continuous_buffer()
        }
        Version::V5 => {
            let mut packet = v5_0::Connect::builder().client_id(&*options.client_id).map_err(&failed)?;
            if let Some((user, password)) = &options.login {
                packet = packet
                    .user_name(&**user)
                    .map_err(&failed)?
                    .password(password.clone())
                    .map_err(&failed)?;
            }
            if let Some(Publication { topic, payload, retain, .. }) = &options.will {
                let will = packet.will_message(&**topic, payload.to_vec(), Qos::AtLeastOnce, *retain);
                packet = will.map_err(&failed)?;
            }
            let largest = u32::try_from(options.packet_limit).unwrap_or(u32::MAX);
            let expiry = SessionExpiryInterval::new(options.session_expiry_seconds);
            let properties = vec![
                Property::SessionExpiryInterval(expiry.map_err(&failed)?),
                Property::ReceiveMaximum(ReceiveMaximum::new(options.receive_maximum).map_err(&failed)?),
                Property::MaximumPacketSize(MaximumPacketSize::new(largest).map_err(&failed)?),
            ];
            let packet = packet.clean_start(options.clean).keep_alive(keep_alive).props(properties).build();
            packet.map_err(failed)?.to_continuous_buffer()
        }
    })
}

/// Parses a CONNACK. Returns whether the broker had kept the session, and what it accepts.
pub fn connack(version: Version, first: u8, body: &[u8]) -> Result<(bool, Limits), Error> {
    if first != 0x20 {
        return Err(Error::Protocol(format!("the first byte of a CONNACK must be 0x20, not {first:#04x}")));
    }
    let failed = malformed("CONNACK");
    match version {
        Version::V3 => {
            let (packet, _) = v3_1_1::Connack::parse(body).map_err(failed)?;
            let code = packet.return_code();
            if code.is_failure() {
                return Err(Error::Refused(code as u8, format!("{code:?}")));
            }
            Ok((packet.session_present(), Limits::default()))
        }
        Version::V5 => {
            let (packet, _) = v5_0::Connack::parse(body).map_err(failed)?;
            let code = packet.reason_code();
            if code != ConnectReasonCode::Success {
                return Err(Error::Refused(code as u8, format!("{code:?}{}", reason(&packet.props))));
            }
            Ok((packet.session_present(), limits(&packet.props)))
        }
    }
}

fn limits(properties: &[Property]) -> Limits {
    let mut limits = Limits::default();
    for property in properties {
        match property {
            Property::ReceiveMaximum(messages) => limits.receive_maximum = messages.val(),
            Property::MaximumPacketSize(bytes) => {
                limits.packet_bytes = usize::try_from(bytes.val()).unwrap_or(usize::MAX);
            }
            Property::MaximumQos(qos) => limits.qos_1 = qos.val() != 0,
            Property::RetainAvailable(available) => limits.retain = available.val() != 0,
            Property::ServerKeepAlive(seconds) if seconds.val() != 0 => {
                limits.keep_alive = Some(Duration::from_secs(seconds.val().into()));
            }
            _ => {}
        }
    }
    limits
}

/// Builds a SUBSCRIBE with QoS 1. With MQTT 5, it asks for retained messages only if the subscription is new.
pub fn subscribe(version: Version, id: u16, filters: &[String]) -> Result<Vec<u8>, Error> {
    let failed = unsendable("a topic filter");
    let options = SubOpts::new().set_qos(Qos::AtLeastOnce);
    let options = match version {
        Version::V3 => options,
        Version::V5 => options.set_rh(RetainHandling::SendRetainedIfNotExists),
    };
    let entries = filters.iter().map(|filter| SubEntry::new(&**filter, options));
    let entries: Vec<SubEntry> = entries.collect::<Result<_, _>>().map_err(&failed)?;
    Ok(match version {
        Version::V3 => {
            let packet = v3_1_1::Subscribe::builder().packet_id(id).entries(entries).build();
            packet.map_err(failed)?.to_continuous_buffer()
        }
        Version::V5 => {
            let packet = v5_0::Subscribe::builder().packet_id(id).entries(entries).build();
            packet.map_err(failed)?.to_continuous_buffer()
        }
    })
}

/// Parses a SUBACK. The inner error is the reason of the first filter that was refused.
pub fn suback(version: Version, body: &[u8]) -> Result<Result<(), String>, Error> {
    let failed = malformed("SUBACK");
    let refused = match version {
        Version::V3 => {
            let (packet, _) = v3_1_1::Suback::parse(body).map_err(failed)?;
            let code = packet.return_codes().into_iter().find(|code| code.is_failure());
            code.map(|code| format!("{code:?}"))
        }
        Version::V5 => {
            let (packet, _) = v5_0::Suback::parse(body).map_err(failed)?;
            let code = packet.reason_codes().into_iter().find(|code| code.is_failure());
            code.map(|code| format!("{code:?}{}", reason(&packet.props)))
        }
    };
    Ok(refused.map_or(Ok(()), Err))
}

/// Builds a PUBLISH: with QoS 1 if it has a packet identifier, else with QoS 0.
pub fn publish(version: Version, id: Option<u16>, publication: &Publication) -> Result<Vec<u8>, Error> {
    let failed = unsendable("a message or its topic");
    let qos = if id.is_some() { Qos::AtLeastOnce } else { Qos::AtMostOnce };
    let Publication { topic, payload, retain, content_type, user } = publication;
    Ok(match version {
        Version::V3 => {
            let packet = v3_1_1::Publish::builder().topic_name(&**topic).map_err(&failed)?;
            let packet = packet.qos(qos).retain(*retain).packet_id(id).payload(&**payload).build();
            packet.map_err(failed)?.to_continuous_buffer()
        }
        Version::V5 => {
            let mut properties = Vec::new();
            if let Some(media_type) = content_type {
                let media_type = ContentType::new(&**media_type).map_err(&failed)?;
                properties.push(Property::ContentType(media_type));
            }
            for (key, value) in user {
                properties.push(Property::UserProperty(UserProperty::new(*key, &**value).map_err(&failed)?));
            }
            let packet = v5_0::Publish::builder().topic_name(&**topic).map_err(&failed)?;
            let packet = packet.qos(qos).retain(*retain).packet_id(id).props(properties);
            packet.payload(&**payload).build().map_err(failed)?.to_continuous_buffer()
        }
    })
}

/// Parses a PUBACK. Returns its packet identifier, and what it says of the message.
pub fn puback(version: Version, body: &[u8]) -> Result<(u16, Acknowledgement), Error> {
    let id = body.first_chunk().ok_or_else(|| Error::Protocol("PUBACK has no packet identifier".into()))?;
    let id = u16::from_be_bytes(*id);
    let code = if version == Version::V3 { SUCCESS } else { body.get(2).copied().unwrap_or(SUCCESS) };
    let acknowledgement = match code {
        SUCCESS => Acknowledgement::Taken,
        NO_MATCHING_SUBSCRIBERS => Acknowledgement::NoSubscriber,
        UNSPECIFIED.. => Acknowledgement::Refused(code, refusal(code, body)),
        code => return Err(Error::Protocol(format!("PUBACK has the unknown reason code {code:#04x}"))),
    };
    Ok((id, acknowledgement))
}

/// Describes the refusal in a PUBACK. Brokers also send codes that the specification does not list for it: mosquitto sends 0x95.
fn refusal(code: u8, body: &[u8]) -> String {
    // A DISCONNECT has every code that a PUBACK may have.
    let name = match DisconnectReasonCode::try_from(code) {
        Ok(name) => format!("{name:?}"),
        Err(_) => format!("reason code {code:#04x}"),
    };
    let mut body = body.to_vec();
    body[2] = UNSPECIFIED;
    let packet = v5_0::Puback::parse(&body).ok();
    name + &packet.and_then(|(packet, _)| packet.props).as_deref().map(reason).unwrap_or_default()
}

/// Builds a DISCONNECT. After one `with_will`, the broker publishes the will; MQTT 3.1.1 cannot ask for that.
pub fn leave(version: Version, with_will: bool) -> &'static [u8] {
    match version {
        Version::V5 if with_will => &[0xe0, 1, DISCONNECT_WITH_WILL],
        _ => &[0xe0, 0],
    }
}

/// Parses a DISCONNECT. Returns its reason.
pub fn disconnect(body: &[u8]) -> String {
    match v5_0::Disconnect::parse(body) {
        Ok((packet, _)) => {
            let code =
                packet.reason_code().map_or_else(|| "no reason given".into(), |code| format!("{code:?}"));
            code + &packet.props.as_deref().map(reason).unwrap_or_default()
        }
        Err(why) => format!("the reason cannot be read: {why}"),
    }
}

/// Returns the broker's reason string, behind `: `.
fn reason(properties: &[Property]) -> String {
    let text = properties.iter().find_map(|property| match property {
        Property::ReasonString(text) => Some(format!(": {}", text.val())),
        _ => None,
    });
    text.unwrap_or_default()
}
