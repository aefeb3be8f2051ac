//! `dunnage demo`: the gateway, and a simulated fleet that reports through all of its inputs.

mod clients;
mod input;
mod report;
mod status;
mod tally;
mod welcome;

use crate::{
    failure::Failure,
    gateway::{runtime, start},
    signals,
};
use clap::{Args, value_parser};
use clients::Clients;
use dunnage_gateway::Config;
use dunnage_links::fleet::Fleet;
use report::Reports;
use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};
use tally::Tally;
use tokio::{sync::Semaphore, task::JoinSet, time};

/// Maximum number of messages in flight.
const AT_A_TIME: usize = 8;
/// Time between two steps of the simulation.
const TICK: Duration = Duration::from_millis(100);

/// Run the gateway with a simulated fleet of containers
///
/// The containers cross the Mediterranean. Near a port they send JSON over HTTP, at the terminal CBOR over CoAP, in the yard JSON or CBOR
/// over MQTT. At sea, where every satellite byte costs money, they send packed messages of the bundled schema, and the satellite provider
/// calls the gateway's webhook. HTTP listens on the address of `--listen` or the environment, CoAP and MQTT on free ports; all on this
/// machine only. Ctrl-C stops the fleet, waits for messages in flight, and counts the stored messages.
#[derive(Args)]
pub struct Demo {
    /// Number of containers
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = value_parser!(u16).range(1..))]
    containers: u16,
    /// Seed of the simulation: the same seed gives the same journeys
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Folder for the gateway's buffer [default: data, or from the environment]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// HTTP address and port of the gateway, on this machine; port 0 selects a free port [default: 127.0.0.1:8080, or from the environment]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Simulated minutes per second
    #[arg(long, value_name = "MINUTES", default_value_t = 10, value_parser = value_parser!(u16).range(1..=600))]
    speed: u16,
}

impl Demo {
    pub fn run(self) -> Result<(), Failure> {
        let mut config = Config::load(None).map_err(|e| Failure::Failed(e.to_string()))?;
        if let Some(data) = &self.data {
            config.buffer.path = data.join("buffer.sqlite3");
        }
        if let Some(listen) = self.listen {
            config.http.listen = listen;
        }
        if !config.http.listen.ip().is_loopback() {
            // Clients on other machines need a token, so the gateway would require one from the fleet as well.
            let why = "other machines can reach it, but the demo has no tokens: listen on 127.0.0.1, or run `dunnage gateway`";
            return Err(Failure::about(config.http.listen, why));
        }
        if std::env::var_os("DUNNAGE_LOG_LEVEL").is_none() {
            config.log.level = "warn".into();
        }
        dunnage_gateway::log::start(&config.log).map_err(Failure::Failed)?;
        runtime()?.block_on(self.serve(config))
    }

    async fn serve(self, mut config: Config) -> Result<(), Failure> {
        let stop = signals::stop()?;
        let data = config.buffer.path.parent().map(PathBuf::from).unwrap_or_default();
        let fleet = Fleet::new(self.seed, usize::from(self.containers));
        let reports = Reports::new(fleet, f64::from(self.speed) * 60.0 * TICK.as_secs_f64())?;
        clients::configure(&mut config, &reports.patterns(), &data)?;
        let gateway = start(config).await?;
        let clients = Arc::new(Clients::open(&gateway, &data, AT_A_TIME)?);

        welcome::print(&clients, &data, &reports)?;
        let devices = reports.devices();
        let before = count(&clients, &devices).await?;
        let tally = send(&clients, reports, stop).await?;
        let stored = count(&clients, &devices).await?.saturating_sub(before);
        gateway.stop().await;

        let lost = tally.acknowledged.saturating_sub(stored);
        let Tally { sent, acknowledged, .. } = tally;
        anstream::println!("sent {sent}, acknowledged {acknowledged}, stored {stored}, lost {lost}");
        if lost > 0 {
            Err(Failure::Failed(format!("{lost} acknowledged messages are not in the buffer")))
        } else {
            Ok(())
        }
    }
}

/// Lets the fleet report until `stop` completes, then waits until every message in flight has been answered.
async fn send(
    clients: &Arc<Clients>,
    mut reports: Reports,
    stop: impl Future<Output = ()>,
) -> Result<Tally, Failure> {
    let (mut ticks, room) = (time::interval(TICK), Arc::new(Semaphore::new(AT_A_TIME)));
    ticks.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
    let (mut status, mut under_way, mut tally) = (status::Status::new(), JoinSet::new(), Tally::default());
    tokio::pin!(stop);
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            _ = ticks.tick() => {}
        }
        for report in reports.step()? {
            // Nothing closes the semaphore. If it were closed, the demo would end.
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else { break };
            let clients = Arc::clone(clients);
            under_way.spawn_blocking(move || {
                let outcome = clients.send(&report);
                drop(permit);
                outcome
            });
        }
        while let Some(outcome) = under_way.try_join_next() {
            tally.add(outcome);
        }
        status.show(&tally, &reports);
    }
    while let Some(outcome) = under_way.join_next().await {
        tally.add(outcome);
    }
    status.end();
    Ok(tally)
}

/// The number of messages from `devices` that the gateway has stored.
async fn count(clients: &Arc<Clients>, devices: &std::collections::HashSet<String>) -> Result<u64, Failure> {
    let (clients, devices) = (Arc::clone(clients), devices.clone());
    tokio::task::spawn_blocking(move || clients.http.messages_of(&devices))
        .await
        .map_err(|e| Failure::about("demo", e))?
}
