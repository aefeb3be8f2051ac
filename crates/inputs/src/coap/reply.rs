//! Answers to requests: a code and a diagnostic message.

use super::block::Block;
use coap_lite::{CoapOption, MessageClass, MessageType, Packet, ResponseType, option_value::OptionValueU32};
use dunnage_ingest::{Code, Rejected};

/// An answer has at most this many times the bytes of its request, because the source address may be forged (RFC 9175, 2.4).
const AMPLIFICATION: usize = 3;
/// The maximum size of a diagnostic in bytes. With everything else, it fits the codec's limit of 1280 bytes.
const DIAGNOSTIC: usize = 1024;

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Its code.
    pub code: ResponseType,
    /// The block that it answers.
    pub block: Option<Block>,
    /// The maximum size of a message in bytes, if this one exceeds it.
    pub most: Option<u32>,
    /// After how many seconds to try again.
    pub later: Option<u32>,
    /// The reason, for people.
    pub diagnostic: String,
}

impl Reply {
    /// Returns an answer with nothing but `code`.
    pub fn new(code: ResponseType) -> Reply {
        Reply { code, block: None, most: None, later: None, diagnostic: String::new() }
    }

    /// Returns a refusal with a reason.
    pub fn because(code: ResponseType, why: impl Into<String>) -> Reply {
        Reply { diagnostic: why.into(), ..Reply::new(code) }
    }

    /// Returns whether it is the most common answer: 2.04 without options or payload.
    pub fn is_plain(&self) -> bool {
        *self == Reply::new(ResponseType::Changed)
    }

    /// Returns the datagram. Truncates the diagnostic, so that the datagram has at most three times the `asked` bytes of the request.
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
        let room = DIAGNOSTIC.min((AMPLIFICATION * asked).saturating_sub(head));
        let mut end = self.diagnostic.len().min(room);
        while !self.diagnostic.is_char_boundary(end) {
            end -= 1;
        }
        packet.payload = self.diagnostic.as_bytes()[..end].to_vec();
        // With a token, options and a diagnostic this short, encoding never fails.
        packet.to_bytes().unwrap_or_default()
    }
}

impl From<&Rejected> for Reply {
    fn from(rejected: &Rejected) -> Reply {
        let code = match rejected.code {
            Code::Malformed | Code::Name | Code::Key | Code::Query | Code::Body | Code::Block => {
                ResponseType::BadRequest
            }
            Code::Callback | Code::Host => ResponseType::BadRequest,
            Code::Unauthorized => ResponseType::Unauthorized,
            Code::Forbidden | Code::Disabled | Code::Unregistered => ResponseType::Forbidden,
            Code::NotFound | Code::UnknownSchema => ResponseType::NotFound,
            Code::Method => ResponseType::MethodNotAllowed,
            Code::BodyTimeout | Code::Incomplete => ResponseType::RequestEntityIncomplete,
            Code::TooLarge => ResponseType::RequestEntityTooLarge,
            Code::MediaType | Code::ContentEncoding => ResponseType::UnsupportedContentFormat,
            Code::NotRepresentable | Code::Schema | Code::UnknownLayout | Code::Unwritable => {
                ResponseType::UnprocessableEntity
            }
            Code::Reference => ResponseType::Conflict,
            Code::TooMany => ResponseType::TooManyRequests,
            Code::Decoder | Code::Unreadable => ResponseType::InternalServerError,
            Code::QueueFull | Code::BufferFull | Code::NotWritten => ResponseType::ServiceUnavailable,
        };
        let most = rejected.offset.filter(|_| code == ResponseType::RequestEntityTooLarge);
        Reply {
            code,
            block: None,
            most: most.and_then(|most| most.try_into().ok()),
            later: rejected.retry_after(),
            diagnostic: diagnostic(rejected),
        }
    }
}

/// `malformed kind=truncated offset=5: the text ends in the middle`.
fn diagnostic(rejected: &Rejected) -> String {
    let mut text = rejected.code.as_str().to_owned();
    if let Some(kind) = rejected.kind {
        text += &format!(" kind={kind}");
    }
    if let Some(offset) = rejected.offset {
        text += &format!(" offset={offset}");
    }
    if let Some(pointer) = &rejected.pointer {
        text += &format!(" pointer={pointer}");
    }
    text + ": " + &rejected.told()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_bounded_by_its_request_and_by_the_codec() {
        let reply = Reply {
            block: Some(Block { number: 70_000, more: true, exponent: 6 }),
            most: Some(1 << 20),
            later: Some(60),
            ..Reply::because(ResponseType::BadRequest, "\u{e9}".repeat(40_000))
        };
        let length = |asked| {
            let datagram = reply.datagram(MessageType::Acknowledgement, 1, &[7; 8], asked);
            let packet = Packet::from_bytes(&datagram).unwrap();
            assert!(std::str::from_utf8(&packet.payload).is_ok());
            datagram.len()
        };
        assert!((29..=30).contains(&length(10)), "{}", length(10));
        assert!((1024..1280).contains(&length(60_000)), "{}", length(60_000));
    }
}
