//! What a request asks for: `POST ingest/{device}?schema=&link=&key=&token=&layout=`.

use super::{block::Block, content_format::media_type, reply::Reply};
use crate::{
    name::{is_key, is_name},
    problem::Problem,
};
use axum::http::StatusCode;
use coap_lite::{CoapOption, MessageClass, MessageType, Packet, RequestType, ResponseType};

/// Request-Tag (RFC 9175, 3.2), which tells transfers apart.
const REQUEST_TAG: u16 = 292;

/// A message that somebody sends, or a block of it.
#[derive(Debug)]
pub struct Post {
    /// Who.
    pub device: String,
    /// Its schema.
    pub schema: Option<String>,
    /// The link it came over.
    pub link: Option<String>,
    /// What the sender calls the message.
    pub key: Option<String>,
    /// What gives the sender the right to send.
    pub token: Option<String>,
    /// The format, as a media type; empty if the sender names none.
    pub content_type: String,
    /// Which block of the message it is, if it is not all of it.
    pub block: Option<Block>,
    /// How long the message is, as its sender says.
    pub size: Option<usize>,
}

/// Reads what `packet` asks for.
pub fn read(packet: &Packet) -> Result<Post, Refused> {
    check_options(packet)?;
    let path = texts(packet, CoapOption::UriPath).map_err(|()| no_text("Uri-Path"))?;
    let device = match &path[..] {
        ["ingest", device] => (*device).to_owned(),
        _ => return Err(Refused::reply(&Problem::not_found("messages go to ingest/DEVICE"))),
    };
    if packet.header.code != MessageClass::Request(RequestType::Post) {
        let detail = "messages are sent with POST";
        let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "Method not allowed", detail);
        return Err(Refused::reply(&problem));
    }
    if !is_name(&device) {
        return Err(Problem::bad_name("the device's id").into());
    }
    let mut post = Post {
        device,
        schema: None,
        link: None,
        key: None,
        token: None,
        content_type: String::new(),
        block: block(packet)?,
        size: number(packet, CoapOption::Size1),
    };
    let mut layout = None;
    for part in texts(packet, CoapOption::UriQuery).map_err(|()| no_text("Uri-Query"))? {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let place = match name {
            "schema" => &mut post.schema,
            "link" => &mut post.link,
            "key" => &mut post.key,
            "token" => &mut post.token,
            "layout" => &mut layout,
            _ => continue,
        };
        if place.replace(value.to_owned()).is_some() {
            return Err(query(format!("{name} is there twice")).into());
        }
    }
    for (what, name) in [("schema", &post.schema), ("link", &post.link)] {
        if name.as_deref().is_some_and(|name| !is_name(name)) {
            return Err(Problem::bad_name(what).into());
        }
    }
    if post.key.as_deref().is_some_and(|key| !is_key(key)) {
        return Err(Problem::bad_key("key").into());
    }
    let format = number(packet, CoapOption::ContentFormat);
    post.content_type = media_type(format.and_then(|format| format.try_into().ok()));
    if let Some(layout) = layout {
        post.content_type += &format!("; layout={layout}");
    }
    Ok(post)
}

/// Why a request is refused: with a problem that all inputs have, or in a way that only CoAP knows.
#[derive(Debug)]
pub enum Refused {
    /// A message has a problem.
    Problem(Problem),
    /// An answer.
    Reply(Reply),
    /// Reset, for a message that is not confirmable and cannot be understood (5.4.1).
    Reset,
}

impl Refused {
    /// A problem of a request that is no message.
    fn reply(problem: &Problem) -> Refused {
        Refused::Reply(Reply::from(problem))
    }
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Refused {
        Refused::Problem(problem)
    }
}

/// Refuses the options that must be understood and are not: those with odd numbers (5.4.1).
fn check_options(packet: &Packet) -> Result<(), Refused> {
    for (number, values) in packet.options() {
        let known = match CoapOption::from(*number) {
            // What a request that came here can say without meaning anything else. We send no representation, so any is accepted.
            CoapOption::UriHost | CoapOption::UriPort | CoapOption::Accept => values.len() == 1,
            CoapOption::Block1 | CoapOption::Block2 => values.len() == 1,
            CoapOption::UriPath | CoapOption::UriQuery => true,
            CoapOption::ProxyUri | CoapOption::ProxyScheme => {
                return Err(Refused::Reply(Reply::new(ResponseType::ProxyingNotSupported)));
            }
            _ => number % 2 == 0,
        };
        if !known {
            return Err(match packet.header.get_type() {
                MessageType::Confirmable => {
                    let why = format!("option {number} is not understood");
                    Refused::Reply(Reply::because(ResponseType::BadOption, why))
                }
                _ => Refused::Reset,
            });
        }
    }
    Ok(())
}

fn block(packet: &Packet) -> Result<Option<Block>, Refused> {
    let Some(value) = packet.get_first_option(CoapOption::Block1) else { return Ok(None) };
    // Block sizes over 1024 bytes are reserved, and answered 4.00 (RFC 7959, 2.2).
    let reserved = || Refused::from(query("Block1 is none".into()));
    Block::from_bytes(value).ok_or_else(reserved).map(Some)
}

/// The options that tell one transfer of an endpoint from another: all but those that differ from block to block.
pub fn identity(packet: &Packet) -> Vec<u8> {
    let mut identity = Vec::new();
    let telling = |option: u16| {
        option == REQUEST_TAG
            || [CoapOption::UriPath, CoapOption::UriQuery, CoapOption::ContentFormat]
                .map(u16::from)
                .contains(&option)
    };
    for (number, values) in packet.options().filter(|(number, _)| telling(**number)) {
        for value in values {
            identity.extend_from_slice(&number.to_be_bytes());
            identity.extend_from_slice(&(value.len() as u16).to_be_bytes());
            identity.extend_from_slice(value);
        }
    }
    identity
}

fn texts(packet: &Packet, option: CoapOption) -> Result<Vec<&str>, ()> {
    let values = packet.get_option(option).into_iter().flatten();
    values.map(|value| std::str::from_utf8(value).map_err(|_| ())).collect()
}

fn number(packet: &Packet, option: CoapOption) -> Option<usize> {
    let value = packet.get_first_option(option).filter(|value| value.len() <= 4)?;
    Some(value.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

fn query(detail: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "query", "Bad query", detail)
}

fn no_text(option: &str) -> Refused {
    query(format!("{option} is no text")).into()
}
