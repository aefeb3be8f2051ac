//! Compares a gateway that has a register of devices with one that has none: messages per second, and processor time for a message.

use crate::{
    Failure,
    payload::{self, Payload},
    report::Report,
    turns::{self, Gateway, Ratios},
};
use dunnage_formats::Id;
use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
    process::{Command, Stdio},
};

/// The number of devices that send. All of them are in the register.
const SENDERS: usize = 1000;
/// The most that a message may take of the processor time that it takes without a register.
const GOAL: f64 = 1.02;
const CONFIG: &str = "[access]\nwho = \"anyone\"\n";

/// Options of the measurement.
#[derive(Debug, clap::Args)]
pub struct Plan {
    #[command(flatten)]
    turns: turns::Plan,
    /// Number of devices in the register
    #[arg(long, default_value_t = 100_000)]
    registered: usize,
}

/// Prints each round with its ratio, the median and range of the ratios, and the memory of both gateways.
pub fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    let without = Gateway::start(json()?, tempfile::tempdir()?, CONFIG)?;
    let with = Gateway::start(json()?, tempfile::tempdir()?, CONFIG)?;
    import(&with, plan.registered)?;
    report.line(&format!(
        "**Register**: messages per second without a register and with {} devices in it, each with a name, two tags and an external ID; JSON, {}. \
         Peak memory: {:.0} and {:.0} MB.\n",
        plan.registered,
        plan.turns,
        without.memory_mb()?,
        with.memory_mb()?,
    ));
    let Ratios { rate, cpu } = turns::ratios(&plan.turns, ("without", without), ("with", with), report)?;
    let verdict = if cpu[1] <= GOAL { "hit" } else { "missed" };
    report.line(&format!(
        "\nProcessor time for a message: {:.3} of that without (median), {:.2} to {:.2} in the rounds; the goal of {GOAL} is {verdict}. \
         Rate: {:.3} (median), {:.2} to {:.2}.",
        cpu[1], cpu[0], cpu[2], rate[1], rate[0], rate[2]
    ));
    Ok(())
}

fn json() -> Result<Payload, Failure> {
    let found =
        payload::all(SENDERS)?.into_iter().find(|payload| payload.content_type == Id::Json.media_type());
    found.ok_or_else(|| "there is no payload in JSON".into())
}

/// Imports the devices that send, and others, into the register of a gateway.
fn import(gateway: &Gateway, registered: usize) -> Result<(), Failure> {
    let [rows, config] = ["devices.csv", "gateway.toml"].map(|name| gateway.folder.path().join(name));
    let mut csv = BufWriter::new(File::create(&rows)?);
    writeln!(csv, "device,name,external_id,tag.site,tag.kind")?;
    let mut senders: Vec<&str> = gateway.payload.bodies.iter().map(|(device, _)| device.as_str()).collect();
    senders.sort_unstable();
    senders.dedup();
    let others = (senders.len()..registered).map(|n| format!("other-{n}"));
    for (n, device) in senders.into_iter().map(String::from).chain(others).enumerate() {
        writeln!(csv, "{device},Device {n},70b3d57e{n:08x},site-{},soil", n % 50)?;
    }
    csv.flush()?;
    let mut command = Command::new(program()?);
    command.args(["gateway", "device", "import"]).arg(&rows).arg("--config").arg(&config);
    match command.stdout(Stdio::null()).status()?.success() {
        true => Ok(()),
        false => Err("the register could not be imported".into()),
    }
}

/// The program `dunnage` in the folder of this program. Fails if it does not exist.
pub fn program() -> Result<std::path::PathBuf, Failure> {
    let path = std::env::current_exe()?.with_file_name("dunnage");
    match Path::exists(&path) {
        true => Ok(path),
        false => Err(format!("missing {}; run cargo build --release -p dunnage", path.display()).into()),
    }
}
