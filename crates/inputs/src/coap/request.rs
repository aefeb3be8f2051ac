//! Parses requests: `POST ingest/{device}?schema=&link=&key=&token=&layout=&slot=`, and `POST ingest?...` if messages have their device ID.

use super::{block::Block, content_format::media_type, reply::Reply};
use crate::query::{self, bad_query};
use coap_lite::{CoapOption, MessageClass, MessageType, Packet, RequestType, ResponseType};
use dunnage_base::name::{is_device, is_key, is_name};
use dunnage_ingest::{Code, Rejected};

/// The option Request-Tag (RFC 9175, 3.2), which distinguishes transfers.
const REQUEST_TAG: u16 = 292;

/// The parameters of the query.
const PARAMETERS: [&str; 6] = ["schema", "link", "key", "token", "layout", "slot"];

/// A message, or a block of one.
#[derive(Debug)]
pub struct Post {
    /// The device's ID; `None` if the message has it.
    pub device: Option<String>,
    /// Its schema.
    pub schema: Option<String>,
    /// The link that carried it.
    pub link: Option<String>,
    /// The sender's idempotency key.
    pub key: Option<String>,
    /// The token that authorizes the sender.
    pub token: Option<String>,
    /// The Content-Format, if the sender names one.
    pub content_format: Option<u16>,
    /// The format, as a media type; empty if the sender names none.
    pub content_type: String,
    /// The block that the request contains, if it is not the whole message.
    pub block: Option<Block>,
    /// The size of the message in bytes, as the sender announces it.
    pub size: Option<usize>,
    /// The value of Uri-Host; empty if it is not UTF-8.
    pub host: Option<String>,
    /// The value of Uri-Port.
    pub port: Option<usize>,
}

/// Parses a request. Its path may have no device if messages `may_name_device`.
pub fn read(packet: &Packet, may_name_device: bool) -> Result<Post, Refused> {
    check_options(packet)?;
    let path = texts(packet, CoapOption::UriPath).map_err(|()| no_text("Uri-Path"))?;
    let device = match &path[..] {
        ["ingest", device] => Some((*device).to_owned()),
        ["ingest"] if may_name_device => None,
        _ => return Err(Refused::reply(&Rejected::new(Code::NotFound, "send messages to ingest/DEVICE"))),
    };
    if packet.header.code != MessageClass::Request(RequestType::Post) {
        let detail = "send messages with POST";
        let rejected = Rejected::new(Code::Method, detail);
        return Err(Refused::reply(&rejected));
    }
    if device.as_deref().is_some_and(|device| !is_device(device)) {
        return Err(Rejected::bad_device("the device ID").into());
    }
    let mut post = Post {
        device,
        schema: None,
        link: None,
        key: None,
        token: None,
        content_format: None,
        content_type: String::new(),
        block: block(packet)?,
        size: number(packet, CoapOption::Size1),
        host: packet
            .get_first_option(CoapOption::UriHost)
            .map(|host| String::from_utf8(host.clone()).unwrap_or_default()),
        port: number(packet, CoapOption::UriPort),
    };
    let slot = parameters(packet, &mut post)?;
    for (what, name) in [("schema", &post.schema), ("link", &post.link)] {
        if name.as_deref().is_some_and(|name| !is_name(name)) {
            return Err(Rejected::bad_id(what).into());
        }
    }
    if post.key.as_deref().is_some_and(|key| !is_key(key)) {
        return Err(Rejected::bad_key("key").into());
    }
    let format = number(packet, CoapOption::ContentFormat);
    post.content_format = format.and_then(|format| format.try_into().ok());
    post.content_type = media_type(post.content_format) + &slot;
    Ok(post)
}

/// Reads the parameters of the query into `post`. Returns those of the media type, as its end.
fn parameters(packet: &Packet, post: &mut Post) -> Result<String, Refused> {
    let (mut layout, mut slot) = (None, None);
    for part in texts(packet, CoapOption::UriQuery).map_err(|()| no_text("Uri-Query"))? {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let place = match name {
            "schema" => &mut post.schema,
            "link" => &mut post.link,
            "key" => &mut post.key,
            "token" => &mut post.token,
            "layout" => &mut layout,
            "slot" => &mut slot,
            _ => return Err(query::unknown(name, &PARAMETERS).into()),
        };
        if place.replace(value.to_owned()).is_some() {
            return Err(bad_query(format!("{name} is given twice")).into());
        }
    }
    let own = [("layout", layout), ("slot", slot)].into_iter();
    Ok(own.filter_map(|(name, value)| Some(format!("; {name}={}", value?))).collect())
}

/// The reason for rejecting a request: one that all inputs share, or one that only CoAP has.
#[derive(Debug)]
pub enum Refused {
    /// The message is rejected.
    Message(Rejected),
    /// The request gets this answer.
    Reply(Reply),
    /// The request is not confirmable and cannot be understood, so it gets a Reset (5.4.1).
    Reset,
}

impl Refused {
    /// Returns the refusal of a request that does not count as a message.
    fn reply(rejected: &Rejected) -> Refused {
        Refused::Reply(Reply::from(rejected))
    }
}

impl From<Rejected> for Refused {
    fn from(rejected: Rejected) -> Refused {
        Refused::Message(rejected)
    }
}

/// Rejects unknown critical options, which have odd numbers (5.4.1).
fn check_options(packet: &Packet) -> Result<(), Refused> {
    for (number, values) in packet.options() {
        let known = match CoapOption::from(*number) {
            // These options do not change the meaning of a request to this server. The server sends no representation, so it satisfies any
            // Accept.
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
                    let why = format!("the critical option {number} is not supported");
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
    // Block sizes over 1024 bytes are reserved, and get a 4.00 (RFC 7959, 2.2).
    let reserved = || Refused::from(bad_query("Block1 is not valid"));
    Block::from_bytes(value).ok_or_else(reserved).map(Some)
}

/// Returns the options that distinguish the transfers of an endpoint: path, query, Content-Format and Request-Tag.
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

fn no_text(option: &str) -> Refused {
    bad_query(format!("{option} must be UTF-8 text")).into()
}
