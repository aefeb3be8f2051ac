//! `dunnage modem`: sends bytes through a modem on a serial line. An output `relay` runs it as the program of a link.

mod iridium;
mod port;

use crate::{
    failure::{Failure, complain},
    input, output,
};
use clap::{Args, Subcommand};
use port::Port;
use std::{io::Write, path::PathBuf, time::Duration};

/// Send bytes from standard input through a modem on a serial line
///
/// Exit code 0 means that the modem's network has the message. Any other exit code means that it may not have it: send it again.
/// An output `relay` of the gateway does so if this is the program of its link (docs/edge.md).
#[derive(Args)]
pub struct Modem {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Subcommand)]
enum Kind {
    /// Iridium 9602, 9602N, 9603 and 9603N: Short Burst Data, at most 340 bytes
    ///
    /// If a message for the device waits in the network, it is written to standard output.
    Iridium(Serial),
}

/// The serial line.
#[derive(Args)]
struct Serial {
    /// Device file of the serial line, such as /dev/ttyUSB0
    #[arg(long, value_name = "FILE")]
    port: PathBuf,
    /// Bits per second
    #[arg(long, value_name = "N", default_value = "19200")]
    baud: u32,
    /// Longest time for the session with the network, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "90", value_parser = clap::value_parser!(u64).range(1..=3600))]
    session: u64,
}

impl Modem {
    pub fn run(self) -> Result<(), Failure> {
        let Kind::Iridium(serial) = self.kind;
        let message = input::message(std::io::stdin().lock(), false)?;
        let about = |error| Failure::about(serial.port.display(), error);
        let mut port = Port::open(&serial.port, serial.baud).map_err(|e| about(e.to_string()))?;
        let sent = iridium::send(&mut port, &message, Duration::from_secs(serial.session)).map_err(about)?;
        let _ = writeln!(anstream::stderr(), "sent as message {}", sent.number);
        let mut output = output::stdout();
        match sent.received {
            Ok(received) => output.write_all(&received)?,
            // What was sent has arrived all the same.
            Err(error) => complain(format!("the message for the device is lost: {error}")),
        }
        Ok(output.flush()?)
    }
}
