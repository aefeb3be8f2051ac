//! What a request is answered: a code, and in words why not.

use super::block::Block;
use crate::problem::Problem;
use axum::http::StatusCode;
use coap_lite::{CoapOption, MessageClass, MessageType, Packet, ResponseType, option_value::OptionValueU32};

/// So many times the bytes of its request an answer may have, as whoever sent it may have given another's address (RFC 9175, 2.4).
const AMPLIFICATION: usize = 3;

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Its code.
    pub code: ResponseType,
    /// The block that it answers.
    pub block: Option<Block>,
    /// The largest message there may be, in bytes, if this one was larger.
    pub most: Option<u32>,
    /// After how many seconds to try again.
    pub later: Option<u32>,
    /// Why, for people.
    pub diagnostic: String,
}

impl Reply {
    /// An answer that says no more than `code`.
    pub fn new(code: ResponseType) -> Reply {
        Reply { code, block: None, most: None, later: None, diagnostic: String::new() }
    }

    /// A refusal, and why.
    pub fn because(code: ResponseType, why: impl Into<String>) -> Reply {
        Reply { diagnostic: why.into(), ..Reply::new(code) }
    }

    /// Whether it is what most messages are answered: 2.04 and nothing else.
    pub fn is_plain(&self) -> bool {
        *self == Reply::new(ResponseType::Changed)
    }

    /// The datagram. It is at most three times as long as the request, which had `asked` bytes: the diagnostic gives way.
    pub fn datagram(&self, kind: MessageType, id: u16, token: &[u8], asked: usize) -> Vec<u8> {
        let mut packet = Packet::new();
        packet.header.set_version(1);
        packet.header.set_type(kind);
        packet.header.code = MessageClass::Response(self.code);
        packet.header.message_id = id;
        packet.set_token(token.to_vec());
        if let Some(block) = self.block {
            packet.add_option(CoapOption::Block1, block.to_bytes());
        }
        for (option, value) in [(CoapOption::Size1, self.most), (CoapOption::MaxAge, self.later)] {
            if let Some(value) = value {
                packet.add_option_as(option, OptionValueU32(value));
            }
        }
        let head = packet.to_bytes().map_or(0, |bytes| bytes.len() + 1);
        let room = (AMPLIFICATION * asked).saturating_sub(head);
        let mut end = self.diagnostic.len().min(room);
        while !self.diagnostic.is_char_boundary(end) {
            end -= 1;
        }
        packet.payload = self.diagnostic.as_bytes()[..end].to_vec();
        // It is far below the codec's limit of 1280 bytes unless the diagnostic is long.
        packet.to_bytes().unwrap_or_default()
    }
}

impl From<&Problem> for Reply {
    fn from(problem: &Problem) -> Reply {
        let code = match problem.status() {
            StatusCode::UNAUTHORIZED => ResponseType::Unauthorized,
            StatusCode::FORBIDDEN => ResponseType::Forbidden,
            StatusCode::NOT_FOUND => ResponseType::NotFound,
            StatusCode::METHOD_NOT_ALLOWED => ResponseType::MethodNotAllowed,
            StatusCode::REQUEST_TIMEOUT => ResponseType::RequestEntityIncomplete,
            StatusCode::PAYLOAD_TOO_LARGE => ResponseType::RequestEntityTooLarge,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => ResponseType::UnsupportedContentFormat,
            StatusCode::UNPROCESSABLE_ENTITY => ResponseType::UnprocessableEntity,
            StatusCode::TOO_MANY_REQUESTS => ResponseType::TooManyRequests,
            StatusCode::INTERNAL_SERVER_ERROR => ResponseType::InternalServerError,
            StatusCode::SERVICE_UNAVAILABLE => ResponseType::ServiceUnavailable,
            _ => ResponseType::BadRequest,
        };
        let most = problem.offset.filter(|_| code == ResponseType::RequestEntityTooLarge);
        Reply {
            code,
            block: None,
            most: most.and_then(|most| most.try_into().ok()),
            later: problem.retry_after(),
            diagnostic: diagnostic(problem),
        }
    }
}

/// `malformed kind=truncated offset=5: the text ends in the middle`.
fn diagnostic(problem: &Problem) -> String {
    let mut text = problem.name().to_owned();
    if let Some(kind) = problem.kind {
        text += &format!(" kind={kind}");
    }
    if let Some(offset) = problem.offset {
        text += &format!(" offset={offset}");
    }
    if let Some(pointer) = &problem.pointer {
        text += &format!(" pointer={pointer}");
    }
    let mut end = problem.detail.len().min(512);
    while !problem.detail.is_char_boundary(end) {
        end -= 1;
    }
    text + ": " + &problem.detail[..end]
}
