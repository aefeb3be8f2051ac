//! kill -9 under load: acknowledged messages must be in the buffer afterwards.

use crate::{
    Failure,
    payload::{self, Payload},
    report::Report,
    results::{About, Results},
    server::{Running, Server},
};
use rusqlite::Connection;
use std::{collections::HashSet, fmt::Write, net::SocketAddr, path::Path, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

/// Devices that send.
const DEVICES: usize = 50;

/// Options of the test.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Number of kills, all with the same buffer
    #[arg(long, default_value_t = Plan::default().rounds)]
    rounds: usize,
    /// Keep-alive connections
    #[arg(long, default_value_t = Plan::default().connections)]
    connections: usize,
    /// Seconds of load before each kill
    #[arg(long, default_value_t = Plan::default().seconds)]
    seconds: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { rounds: 5, connections: 64, seconds: 2 }
    }
}

impl Plan {
    /// The plan of `--quick`.
    pub fn quick() -> Plan {
        Plan { rounds: 2, ..Plan::default() }
    }
}

/// Prints, for each round, how many messages were acknowledged, found after the restart, and lost.
pub async fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let payload = Arc::new(payload::all(DEVICES)?.swap_remove(0));
    let mut acknowledged = HashSet::new();
    report.line(&format!(
        "**kill -9 under load**: {} in {:.0}-byte messages over {} connections.\n",
        payload.name,
        payload.mean_bytes(),
        plan.connections
    ));
    report.line("| kill | acknowledged | found | lost |\n|--:|--:|--:|--:|");
    for round in 1..=plan.rounds {
        let running = Running::start(Server::Dunnage, folder.path())?;
        let more = load(running, &payload, plan, round).await?;
        if more.is_empty() {
            return Err("nothing was acknowledged".into());
        }
        acknowledged.extend(more);
        // The restart recovers the log that the killed gateway left.
        Running::start(Server::Dunnage, folder.path())?.stop()?;
        let found = stored(folder.path())?;
        let lost = acknowledged.difference(&found).count();
        save(&payload, plan, round, acknowledged.len(), lost)?;
        report.line(&format!("| {round} | {} | {} | {lost} |", acknowledged.len(), found.len()));
        if lost > 0 {
            return Err("acknowledged messages were lost".into());
        }
    }
    Ok(())
}

/// Writes the result of all rounds so far.
fn save(
    payload: &Payload,
    plan: &Plan,
    rounds: usize,
    acknowledged: usize,
    lost: usize,
) -> Result<(), Failure> {
    let mut results = Results::of("kill");
    let target = format!("{} connections, {rounds} kills", plan.connections);
    let about = About { target: &target, format: payload.name, library: Server::Dunnage.name() };
    results.add(&about, "acknowledged", acknowledged as f64, "1");
    results.add(&about, "lost", lost as f64, "1");
    results.save()
}

/// The IDs of all stored messages. Each was sent as the parameter `link`.
fn stored(folder: &Path) -> Result<HashSet<String>, Failure> {
    let connection = Connection::open(folder.join("buffer.sqlite3"))?;
    let mut statement = connection.prepare("SELECT link FROM messages")?;
    let ids = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(ids)
}

/// Posts over many connections, kills the gateway meanwhile, and returns the IDs of the acknowledged messages.
async fn load(
    running: Running,
    payload: &Arc<Payload>,
    plan: &Plan,
    round: usize,
) -> Result<Vec<String>, Failure> {
    let mut clients = JoinSet::new();
    for connection in 0..plan.connections {
        let (payload, address) = (Arc::clone(payload), running.address);
        clients.spawn(async move {
            let mut acknowledged = Vec::new();
            // The connection breaks when the gateway is killed. Messages that were acknowledged before count.
            let _ = post(address, &payload, &format!("r{round}-c{connection}"), &mut acknowledged).await;
            acknowledged
        });
    }
    tokio::time::sleep(Duration::from_secs(plan.seconds)).await;
    tokio::task::spawn_blocking(move || running.kill().map_err(|e| e.to_string())).await??;
    Ok(clients.join_all().await.concat())
}

async fn post(
    address: SocketAddr,
    payload: &Payload,
    client: &str,
    acknowledged: &mut Vec<String>,
) -> std::io::Result<()> {
    const ANSWER: &[u8] = b"HTTP/1.1 204";
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut head, mut answer) = (String::new(), [0; 1024]);
    for (n, (device, body)) in payload.bodies.iter().cycle().enumerate() {
        let id = format!("{client}-{n}");
        head.clear();
        let _ = write!(
            head,
            "POST /ingest/{device}?link={id} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {}\r\ncontent-length: {}\r\n\r\n",
            payload.content_type,
            body.len()
        );
        let mut request = head.clone().into_bytes();
        request.extend_from_slice(body);
        stream.write_all(&request).await?;
        let mut length = 0;
        while !answer[..length].ends_with(b"\r\n\r\n") {
            match stream.read(&mut answer[length..]).await? {
                0 => return Ok(()),
                more => length += more,
            }
        }
        if answer.starts_with(ANSWER) {
            acknowledged.push(id);
        }
    }
    Ok(())
}
