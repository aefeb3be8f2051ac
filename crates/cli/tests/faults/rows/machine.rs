//! Rows in which the machine fails.

use crate::{
    Failure,
    chain::{Chain, End, Plan},
    cse,
    disk::Disk,
    fleet::Shape,
    gateway::ProcessSettings,
    process,
    row::{Row, Scale},
};
use std::{
    fs,
    path::{Path, PathBuf},
    thread::sleep,
    time::Duration,
};
use tempfile::TempDir;

/// The buffer's file system fills up under load, and later has space again.
pub fn disk_full(scale: Scale) -> Result<Row, Failure> {
    let (times, burst) = (scale.pick(1, 5), scale.pick(250, 600));
    let acme = cse::in_memory(scale);
    let folder = TempDir::new()?;
    let disk = Disk::mount(&folder.path().join("disk"))?;
    let plan = Plan { application: "disk", ..on_disk(&disk) };
    let chain = Chain::start(plan, acme.address)?;
    fill_under_load(&chain, &disk, times, burst)?;
    let End { mut row, sent, .. } = chain.finish(&acme)?;
    row.details =
        format!("filled {times} times; {} requests were answered 503 and repeated", sent.unavailable);
    Ok(row)
}

/// A plan for a gateway with its buffer on `disk`, and messages large enough to fill it.
pub fn on_disk(disk: &Disk) -> Plan {
    const BUFFER: &str = "buffer.sqlite3";
    Plan {
        shape: Shape { padding: 4000, ..Shape::default() },
        process_settings: ProcessSettings { command_prefix: disk.enter(), ..ProcessSettings::default() },
        buffer: Some((disk.inside(BUFFER), disk.outside(BUFFER))),
        ..Plan::default()
    }
}

/// Fills the disk `times` times, each time under a load of `burst` messages, until some are answered 503.
pub fn fill_under_load(chain: &Chain, disk: &Disk, times: u64, burst: u64) -> Result<(), Failure> {
    for _ in 0..times {
        disk.fill(1 << 20)?;
        let before = chain.fleet.unavailable();
        chain.fleet.release(burst);
        process::until("the disk is full", Duration::from_secs(60), || {
            (chain.fleet.unavailable() >= before + 20).then_some(())
        })?;
        disk.free_up()?;
    }
    Ok(())
}

/// Sets the clock of the gateway's process, as an administrator might: hours ahead and back, also while the gateway is not running.
/// Timers and timeouts use another clock, which is not affected.
pub fn clock_jump(scale: Scale) -> Result<Row, Failure> {
    let burst = scale.pick(60, 500);
    let acme = cse::in_memory(scale);
    let folder = TempDir::new()?;
    let clock = folder.path().join("clock");
    let process_settings = ProcessSettings { environment: faketime(&clock)?, ..ProcessSettings::default() };
    fs::write(&clock, "+0")?;
    let plan = Plan { application: "clock", process_settings, ..Plan::default() };
    let mut chain = Chain::start(plan, acme.address)?;
    let jumps = ["+5h", "-7h", "+0", "+26h", "-26h"];
    for (number, jump) in (1..).zip(jumps) {
        chain.fleet.release(burst);
        chain.fleet.wait_for(burst * (number - 1) + burst / 3);
        if number > 3 {
            chain.gateway.kill()?;
        }
        // Replaced atomically, because the gateway may read the file at any time.
        fs::write(folder.path().join("next"), jump)?;
        fs::rename(folder.path().join("next"), &clock)?;
        if number > 3 {
            chain.gateway.restart()?;
        }
        sleep(Duration::from_millis(300));
    }
    let End { mut row, sent, .. } = chain.finish(&acme)?;
    row.details = format!(
        "set to {} (libfaketime), the last two times while the gateway was killed; {} requests were cut and repeated",
        jumps.join(", "),
        sent.cut
    );
    Ok(row)
}

/// The environment that makes a process read the wall clock from the file `clock`.
fn faketime(clock: &Path) -> Result<Vec<(&'static str, String)>, Failure> {
    let missing = "install the package libfaketime";
    let library: Option<PathBuf> = fs::read_dir("/usr/lib")?.flatten().find_map(|folder| {
        Some(folder.path().join("faketime/libfaketimeMT.so.1")).filter(|library| library.exists())
    });
    Ok(vec![
        ("LD_PRELOAD", library.ok_or(missing)?.display().to_string()),
        ("FAKETIME_TIMESTAMP_FILE", clock.display().to_string()),
        ("FAKETIME_NO_CACHE", "1".into()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
        ("DONT_FAKE_MONOTONIC", "1".into()),
    ])
}
