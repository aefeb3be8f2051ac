//! What a codec gets and returns.

use dunnage_pson::Value as Message;

/// What a codec gets.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    /// The bytes of the message.
    pub bytes: &'a [u8],
    /// The port of the link; undefined in the codec if it is unknown.
    pub port: Option<u8>,
    /// When the message was received, in microseconds since 1970. It is the time of the codec's clock.
    pub received_at: i64,
    /// Whether NaN, infinities and invalid dates in the result become null. They are an error otherwise.
    pub lenient: bool,
}

impl<'a> Input<'a> {
    /// Creates an input whose result must not have NaN.
    pub fn new(bytes: &'a [u8], port: Option<u8>, received_at: i64) -> Input<'a> {
        Input { bytes, port, received_at, lenient: false }
    }
}

/// What a codec returned.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The message.
    pub data: Message,
    /// The warnings, at most 8.
    pub warnings: Vec<String>,
    /// How many values are null in place of NaN, an infinity or an invalid date.
    pub nulls: u64,
}

/// The bytes of a downlink.
#[derive(Debug, Clone, PartialEq)]
pub struct Downlink {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The port, if the codec names one.
    pub port: Option<u8>,
    /// The warnings, at most 8.
    pub warnings: Vec<String>,
}

/// What is called.
#[derive(Clone, Copy)]
pub enum Call<'a> {
    DecodeUplink(&'a Input<'a>),
    DecodeDownlink(&'a Input<'a>),
    EncodeDownlink(&'a Message, &'a Input<'a>),
}

impl<'a> Call<'a> {
    /// Returns the input of the call.
    pub fn input(self) -> &'a Input<'a> {
        match self {
            Call::DecodeUplink(input) | Call::DecodeDownlink(input) | Call::EncodeDownlink(_, input) => input,
        }
    }

    /// Returns the time of the clock, in milliseconds since 1970.
    pub fn time(self) -> f64 {
        (self.input().received_at / 1000) as f64
    }
}
