//! `dunnage play`: the playground, without a gateway.

use crate::{
    failure::{Failure, complain},
    gateway::runtime,
    output, signals,
};
use clap::Args;
use std::{
    io::{ErrorKind, Write},
    net::SocketAddr,
};
use tokio::net::TcpListener;

/// Open the playground: from pasted messages to a schema, sizes, costs and code
///
/// Serves a page on this machine, and prints its URL. Paste messages there: it infers a schema, shows the size in every format beside the
/// limits of links, explains the bytes, computes the costs of a fleet, and generates code. This process computes everything: nothing
/// leaves the machine, and nothing is stored. The gateway has the same page at /play. Ctrl-C ends it.
#[derive(Args)]
pub struct Play {
    /// Address and port; port 0 selects a free port. Anyone who can reach the address can use the page
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8081")]
    listen: SocketAddr,
}

impl Play {
    pub fn run(self) -> Result<(), Failure> {
        runtime()?.block_on(self.serve())
    }

    async fn serve(self) -> Result<(), Failure> {
        let stop = signals::stop()?;
        let listener = TcpListener::bind(self.listen).await.map_err(|error| match error.kind() {
            ErrorKind::AddrInUse => Failure::about(
                self.listen,
                "another program listens there: --listen 127.0.0.1:0 selects a free port",
            ),
            _ => Failure::about(self.listen, error),
        })?;
        let address = listener.local_addr().map_err(|error| Failure::about(self.listen, error))?;
        if !address.ip().is_loopback() {
            complain(format_args!("warning: other machines can reach {address}, and use its processor"));
        }
        let mut output = output::stdout();
        writeln!(output, "http://{address}/play")?;
        output.flush()?;
        drop(output);
        dunnage_playground::serve(listener, stop).await.map_err(|error| Failure::about(address, error))
    }
}
