//! Builds the packets that the client sends, and parses the broker's answers.

use super::{Acknowledgement, Error, Options, Version};
use mqtt_protocol_core::mqtt::{
    packet::{
        MaximumPacketSize, Property, Qos, ReceiveMaximum, RetainHandling, SessionExpiryInterval, SubEntry,
        SubOpts, v3_1_1, v5_0,
    },
    result_code::{ConnectReasonCode, MqttError, PubackReasonCode},
};

fn unsendable(what: &str) -> impl Fn(MqttError) -> Error {
    move |why| Error::Unsendable(format!("{what} cannot be sent with MQTT: {why}"))
}

fn malformed(what: &str) -> impl Fn(MqttError) -> Error {
    move |why| Error::Protocol(format!("{what}: {why}"))
}

/// Builds a CONNECT.
pub fn connect(options: &Options) -> Result<Vec<u8>, Error> {
    let failed = unsendable("the client ID, user or password");
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

/// Parses a CONNACK. Returns whether the broker had kept the session.
pub fn connack(version: Version, first: u8, body: &[u8]) -> Result<bool, Error> {
    if first != 0x20 {
        return Err(Error::Protocol(format!("the first byte of a CONNACK must be 0x20, not {first:#04x}")));
    }
    let failed = malformed("CONNACK");
    match version {
        Version::V3 => {
            let (packet, _) = v3_1_1::Connack::parse(body).map_err(failed)?;
            let code = packet.return_code();
            if code.is_failure() {
                return Err(Error::Refused(format!("{code:?}")));
            }
            Ok(packet.session_present())
        }
        Version::V5 => {
            let (packet, _) = v5_0::Connack::parse(body).map_err(failed)?;
            let code = packet.reason_code();
            if code != ConnectReasonCode::Success {
                return Err(Error::Refused(format!("{code:?}{}", reason(&packet.props))));
            }
            Ok(packet.session_present())
        }
    }
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

/// Builds a PUBLISH with QoS 1.
pub fn publish(version: Version, id: u16, topic: &str, payload: &[u8]) -> Result<Vec<u8>, Error> {
    let failed = unsendable("a message or its topic");
    Ok(match version {
        Version::V3 => {
            let packet = v3_1_1::Publish::builder().topic_name(topic).map_err(&failed)?;
            let packet = packet.qos(Qos::AtLeastOnce).packet_id(id).payload(payload).build();
            packet.map_err(failed)?.to_continuous_buffer()
        }
        Version::V5 => {
            let packet = v5_0::Publish::builder().topic_name(topic).map_err(&failed)?;
            let packet = packet.qos(Qos::AtLeastOnce).packet_id(id).payload(payload).build();
            packet.map_err(failed)?.to_continuous_buffer()
        }
    })
}

/// Parses a PUBACK. Returns its packet identifier, and what it says of the message.
pub fn puback(version: Version, body: &[u8]) -> Result<(u16, Acknowledgement), Error> {
    let id = body.first_chunk().ok_or_else(|| Error::Protocol("PUBACK has no packet identifier".into()))?;
    let id = u16::from_be_bytes(*id);
    if version == Version::V3 || body.len() == 2 {
        return Ok((id, Acknowledgement::Taken));
    }
    let (packet, _) = v5_0::Puback::parse(body).map_err(malformed("PUBACK"))?;
    Ok((
        id,
        match packet.reason_code() {
            None | Some(PubackReasonCode::Success) => Acknowledgement::Taken,
            Some(PubackReasonCode::NoMatchingSubscribers) => Acknowledgement::NoSubscriber,
            Some(code) => {
                let text = packet.props.as_deref().map(reason).unwrap_or_default();
                Acknowledgement::Refused(format!("{code:?}{text}"))
            }
        },
    ))
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
