//! `dunnage codec run`: decodes one message.

use crate::{
    failure::{Failure, complain},
    input::from_hex,
    output,
};
use clap::Args;
use dunnage_base::clock;
use dunnage_formats::json_view;
use dunnage_vendor_codec::{Codec, Engine, Input};
use std::{io::Write, path::PathBuf};

/// Decode the bytes of an uplink with a codec
///
/// Prints the message as JSON, exactly as the gateway would store it. Warnings of the codec go to standard error. If the codec throws, returns
/// errors or exceeds a limit, the error names its file and line, and the exit code is 1.
#[derive(Args)]
pub struct Run {
    /// JavaScript of the codec: decodeUplink of TS013, Decode of ChirpStack v3 or Decoder of The Things Network v2
    #[arg(value_name = "FILE")]
    codec: PathBuf,
    /// Port of the link (FPort); undefined in the codec if omitted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    port: Option<u8>,
    /// Bytes of the message, as hex digits
    #[arg(value_name = "HEX")]
    hex: String,
}

impl Run {
    pub fn run(self) -> Result<(), Failure> {
        let bytes = from_hex(self.hex.as_bytes()).map_err(|error| Failure::about("HEX", error))?;
        let failed = |error: dunnage_vendor_codec::Error| Failure::Failed(error.to_string());
        let mut engine = Engine::new(Codec::read(&self.codec).map_err(failed)?);
        let input = Input::new(&bytes, self.port, clock::now());
        let decoded = engine.decode_uplink(&input).map_err(|error| match error.pointer.is_empty() {
            true => failed(error),
            false => Failure::Failed(format!("{}: {}: {}", error.file, error.pointer, error.message)),
        })?;
        decoded.warnings.iter().for_each(|warning| complain(format!("warning: {warning}")));
        let mut out = output::stdout();
        writeln!(out, "{}", json_view(&decoded.data)?)?;
        Ok(out.flush()?)
    }
}
