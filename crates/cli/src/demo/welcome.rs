//! The first output of the demo: the size table, the addresses to open, and the commands to try.

use super::{
    clients::Clients,
    report::{Reports, SCHEMA},
};
use crate::{compare, failure::Failure, output};
use anstyle::{AnsiColor, Style};
use dunnage_formats::{Id, Mapping};
use std::{fs, io::Write, path::Path};

const BOLD: Style = Style::new().bold();
const LINK: Style = AnsiColor::Cyan.on_default().bold();

/// Writes `message.pson` to `data` for users to convert, and prints the welcome text.
pub fn print(clients: &Clients, data: &Path, reports: &Reports) -> Result<(), Failure> {
    let sample = reports.sample();
    let (mut json, mut pson) = (Vec::new(), Vec::new());
    Id::Json.open(None, Mapping::Exact)?.encode(&sample, &mut json)?;
    Id::Pson.open(None, Mapping::Exact)?.encode(&sample, &mut pson)?;
    let file = data.join("message.pson");
    fs::write(&file, pson).map_err(|e| Failure::about(file.display(), e))?;

    compare::print(&json, SCHEMA)?;
    let program = std::env::args().next().unwrap_or_else(|| "dunnage".into());
    let (url, coap, mqtt) = (clients.http.url(""), clients.coap.gateway, clients.mqtt.gateway);
    let mut output = output::stdout();
    writeln!(
        output,
        "
The gateway and {} containers are running. {BOLD}Open{BOLD:#} {LINK}{url}{LINK:#}
They send over HTTP, CoAP (coap://{coap}), MQTT (mqtt://{mqtt}), and through a satellite provider's webhook.

Try, in another terminal:
  curl -H 'content-type: application/json' -d '{{\"temperature\":21.5,\"door\":\"open\"}}' {url}/ingest/my-sensor
  curl '{url}/api/devices/my-sensor/messages?limit=1'
  {program} convert --from pson --to json < {}

Ctrl-C stops the fleet and counts the stored messages.",
        reports.at_sea().1,
        file.display()
    )?;
    Ok(output.flush()?)
}
