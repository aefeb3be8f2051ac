//! Idle MQTT clients.

use super::peers::Peer;
use crate::{
    Failure, mqtt,
    report::Report,
    results::{About, Results},
    server::{Running, Server},
};
use std::{net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

/// Clients that connect concurrently.
const MAX_CONNECTING: usize = 64;

/// Prints the memory of the gateway and of mosquitto with `clients` idle clients.
pub async fn measure(
    clients: usize,
    config: &str,
    results: &mut Results,
    report: &mut Report,
) -> Result<(), Failure> {
    report.line(&format!(
        "\n**Idle**: peak memory of the server with {clients} connected MQTT clients, after a ping from each.\n"
    ));
    report.line("| server | without clients, MB | with them, MB | per client, kB |\n|---|--:|--:|--:|");
    let folder = tempfile::tempdir()?;
    let gateway = Running::start_with(Server::Dunnage, folder.path(), config)?;
    let before = gateway.memory_mb()?;
    let open = connect_all(gateway.input("mqtt")?, clients).await?;
    let with = gateway.memory_mb()?;
    drop(open);
    gateway.stop()?;
    row(Server::Dunnage.name(), clients, before, with, results, report);

    let folder = tempfile::tempdir()?;
    let broker = Peer::mosquitto(folder.path())?;
    let before = broker.memory_mb()?;
    let open = connect_all(broker.address, clients).await?;
    row("mosquitto", clients, before, broker.memory_mb()?, results, report);
    drop(open);
    Ok(())
}

fn row(server: &str, clients: usize, before: f64, with: f64, results: &mut Results, report: &mut Report) {
    let each = (with - before) * 1024.0 / clients as f64;
    report.line(&format!("| {server} | {before:.0} | {with:.0} | {each:.1} |"));
    let target = format!("{clients} idle clients");
    let about = About { target: &target, format: "mqtt", library: server };
    results.add(&about, "memory_mb", with.round(), "MB");
}

/// Connects all clients, and then pings the server from each.
async fn connect_all(address: SocketAddr, clients: usize) -> Result<Vec<TcpStream>, Failure> {
    let mut open = Vec::with_capacity(clients);
    let mut connecting = JoinSet::new();
    for client in 0..clients {
        if connecting.len() >= MAX_CONNECTING
            && let Some(stream) = connecting.join_next().await
        {
            open.push(stream??);
        }
        let connect = mqtt::connect(&format!("idle-{client}"), Duration::from_secs(3600));
        connecting.spawn(async move { mqtt::open(address, &connect).await });
    }
    while let Some(stream) = connecting.join_next().await {
        open.push(stream??);
    }
    for stream in &mut open {
        stream.write_all(&mqtt::PING).await?;
        let mut answer = [0; 2];
        stream.read_exact(&mut answer).await?;
        if answer != [0xd0, 0] {
            return Err(format!("the server answered PINGREQ with {answer:?}").into());
        }
    }
    Ok(open)
}
