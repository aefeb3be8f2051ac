//! Start and reload of the program with a million tokens and a million DTLS keys, and how long a client waits meanwhile.

use crate::{
    Failure,
    attacks::well_behaved::{self, Latencies},
    inputs, register,
    report::Report,
    server::memory_mb,
};
use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// Timeout for a start.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long the client is measured alone.
const ALONE: Duration = Duration::from_secs(5);

/// Options of the measurement.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Number of tokens, and of keys
    #[arg(long, default_value_t = 1_000_000)]
    count: usize,
}

/// The program `dunnage`, and a folder for a gateway.
struct Program {
    path: PathBuf,
    folder: PathBuf,
}

/// A running gateway.
struct Gateway {
    child: Child,
    address: SocketAddr,
    /// The time until it listened.
    start: Duration,
}

/// Prints a table.
pub async fn measure(plan: &Plan, report: &mut Report) -> Result<(), Failure> {
    report.line(
        "| tokens and keys | import: tokens, keys (s) | start (s) | memory after the start (MB) | reload (s) | peak memory, memory after the reload (MB) | p95 of a client alone, during the reload (ms) | its failures |",
    );
    report.line("|--:|--:|--:|--:|--:|--:|--:|--:|");
    for count in [1, plan.count] {
        let folder = tempfile::tempdir()?;
        report.line(&row(&Program::new(folder.path())?, count).await?);
    }
    Ok(())
}

/// The table's row for `count` tokens and `count` keys.
async fn row(program: &Program, count: usize) -> Result<String, Failure> {
    let tokens = program.import("token", count)?.as_secs_f64();
    let keys = program.import("key", count)?.as_secs_f64();
    let gateway = program.start()?;
    let process = gateway.child.id();
    let begin = memory_mb(process, "VmRSS")?;
    let (mut alone, ()) = measure_during(gateway.address, || {
        std::thread::sleep(ALONE);
        Ok(())
    })
    .await?;
    // Writing 5 makes the kernel reset the peak.
    fs::write(format!("/proc/{process}/clear_refs"), "5")?;
    let mut reload = program.command("reload");
    let (mut during, reload) = measure_during(gateway.address, move || timed(&mut reload)).await?;
    let (peak, end) = (memory_mb(process, "VmHWM")?, memory_mb(process, "VmRSS")?);
    let start = gateway.start.as_secs_f64();
    gateway.stop()?;
    let p95 = [&mut alone, &mut during].map(|latencies| inputs::percentile_95(&mut latencies.micros));
    Ok(format!(
        "| {count} | {tokens:.1}, {keys:.1} | {start:.1} | {begin:.0} | {:.1} | {peak:.0}, {end:.0} | {:.1}, {:.1} | {} |",
        reload.as_secs_f64(),
        p95[0],
        p95[1],
        alone.failures + during.failures
    ))
}

/// Measures a client while `work` runs. Returns the client's results and that of `work`.
async fn measure_during<T: Send + 'static>(
    address: SocketAddr,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<(Latencies, T), Failure> {
    let (end, ended) = watch::channel(false);
    let work = async {
        let done = tokio::task::spawn_blocking(work).await;
        let _ = end.send(true);
        done
    };
    let (latencies, done) = tokio::join!(well_behaved::run(address, &ended), work);
    Ok((latencies, done??))
}

/// Runs `command`, discards its output, and returns its duration.
fn timed(command: &mut Command) -> io::Result<Duration> {
    let begun = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    match status.success() {
        true => Ok(begun.elapsed()),
        false => Err(io::Error::other(format!("{command:?}: {status}"))),
    }
}

impl Program {
    /// The program `dunnage` in the folder of this program. Fails if it does not exist.
    fn new(folder: &Path) -> Result<Program, Failure> {
        Ok(Program { path: register::program()?, folder: folder.to_owned() })
    }

    fn config(&self) -> PathBuf {
        self.folder.join("gateway.toml")
    }

    /// `dunnage gateway WHAT --config FILE`
    fn command(&self, what: &str) -> Command {
        let mut command = Command::new(&self.path);
        command.arg("gateway").args(what.split_whitespace()).arg("--config").arg(self.config());
        command
    }

    /// Imports `count` tokens or keys, one per device. Returns the duration.
    fn import(&self, what: &str, count: usize) -> Result<Duration, Failure> {
        self.configure("127.0.0.1:0")?;
        let rows = self.folder.join("rows.csv");
        let mut csv = BufWriter::new(File::create(&rows)?);
        writeln!(csv, "name,device")?;
        for n in 0..count {
            writeln!(csv, "device-{n},device-{n}")?;
        }
        csv.flush()?;
        Ok(timed(self.command(&format!("{what} import")).arg(rows))?)
    }

    fn configure(&self, address: &str) -> io::Result<()> {
        let buffer = self.folder.join("buffer.sqlite3");
        let text = format!("[http]\nlisten = \"{address}\"\n[buffer]\npath = {buffer:?}\n");
        fs::write(self.config(), text)
    }

    /// Starts a gateway and waits until it listens.
    fn start(&self) -> Result<Gateway, Failure> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        self.configure(&address.to_string())?;
        let begun = Instant::now();
        let child = Command::new(&self.path)
            .args(["gateway", "--config"])
            .arg(self.config())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut gateway = Gateway { child, address, start: Duration::ZERO };
        while TcpStream::connect(address).is_err() {
            if begun.elapsed() > PATIENCE || gateway.child.try_wait()?.is_some() {
                return Err("the gateway did not start".into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        gateway.start = begun.elapsed();
        Ok(gateway)
    }
}

impl Gateway {
    fn stop(mut self) -> Result<(), Failure> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}
