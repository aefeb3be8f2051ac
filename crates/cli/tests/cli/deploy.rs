//! Checks the files in `deploy/` against the program.

use crate::run::{command, dunnage, root};
use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::Command,
};

fn deploy(name: &str) -> PathBuf {
    root().join("deploy").join(name)
}

/// Returns the output of a command from the Debian package `package`.
fn run(package: &str, command: &mut Command) -> String {
    let name = command.get_program().to_owned();
    let output =
        command.output().unwrap_or_else(|e| panic!("{name:?}: {e}; please run: apt-get install {package}"));
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

/// Writes the unit to `folder`, with the program under test in place of the installed one.
fn unit(folder: &Path) -> PathBuf {
    let text = fs::read_to_string(deploy("dunnage.service")).unwrap();
    let text = text.replace("/usr/bin/dunnage", env!("CARGO_BIN_EXE_dunnage"));
    let path = folder.join("dunnage.service");
    fs::write(&path, text).unwrap();
    path
}

/// Returns the last value of a key in the unit.
fn value(text: &str, key: &str) -> String {
    let mut values = text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    values.next_back().unwrap_or_else(|| panic!("no {key}")).to_owned()
}

#[test]
fn the_example_is_the_commented_default() {
    let run = dunnage(&["gateway", "config"], "");
    let printed = run.text();
    let path = deploy("dunnage.example.toml");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, printed).unwrap();
    }
    let example = fs::read_to_string(&path).unwrap();
    assert!(example == printed, "{} is old: run with BLESS=1", path.display());
}

#[test]
fn systemd_accepts_the_unit_and_rates_it_as_well_confined() {
    let folder = tempfile::tempdir().unwrap();
    let unit = unit(folder.path());
    let printed = run("systemd", Command::new("systemd-analyze").arg("verify").arg(&unit));
    assert_eq!(printed, "");
    // `systemd-analyze security` rates what a service could do to its machine. At most 15 of 100 points are allowed.
    let security = ["security", "--offline=yes", "--threshold=15"];
    run("systemd", Command::new("systemd-analyze").args(security).arg(&unit));
}

#[test]
fn systemd_waits_for_the_drain() {
    let text = fs::read_to_string(deploy("dunnage.service")).unwrap();
    let wait: u64 = value(&text, "TimeoutStopSec").parse().unwrap();
    let drain = dunnage_gateway::Config::default().http.drain_timeout_seconds;
    assert!(wait >= 2 * drain + 30, "requests drain, then outputs, then the buffer is closed");
}

/// Returns the system calls of a set, including those of nested sets.
fn calls(set: &str) -> BTreeSet<String> {
    let text = run("systemd", Command::new("systemd-analyze").args(["syscall-filter", set]));
    let entries = text.lines().map(str::trim).filter(|line| !line.starts_with('#') && *line != set);
    let entries = entries.filter(|line| !line.is_empty()).map(str::to_owned);
    entries.flat_map(|entry| if entry.starts_with('@') { calls(&entry) } else { [entry].into() }).collect()
}

#[test]
fn the_unit_allows_every_system_call_of_the_gateway() {
    let text = fs::read_to_string(deploy("dunnage.service")).unwrap();
    let mut allowed = BTreeSet::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("SystemCallFilter=")) {
        match line.strip_prefix('~') {
            None => allowed.extend(line.split(' ').flat_map(calls)),
            Some(not) => {
                let not: BTreeSet<_> = not.split(' ').flat_map(calls).collect();
                allowed.retain(|call| !not.contains(call));
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("dunnage.toml");
    let files = "[[output]]\nname = 'files'\n[output.files]\npath = 'files'\nkind = 'csv'\n";
    fs::write(&config, format!("[http]\nlisten = '127.0.0.1:0'\n[log]\nformat = 'json'\n{files}")).unwrap();
    let gateway = command(&["gateway", "--config", "dunnage.toml"]);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "-o", "calls"]).arg(gateway.get_program()).args(gateway.get_args());
    traced.current_dir(folder.path()).stderr(std::process::Stdio::piped());
    let mut traced = traced.spawn().expect("please run: apt-get install strace");
    let mut log = BufReader::new(traced.stderr.take().unwrap());
    let address = log.by_ref().lines().find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        line["address"].as_str().map(str::to_owned)
    });
    std::thread::spawn(move || log.read_to_string(&mut String::new()));
    let address = address.expect("the gateway starts");
    let sent = ureq::post(format!("http://{address}/ingest/d1")).content_type("application/json").send("1");
    assert_eq!(sent.unwrap().status(), 204);
    let mut status = command(&["gateway", "status", "--config", "dunnage.toml"]);
    run("strace", status.current_dir(folder.path()));
    let csv = || fs::read_dir(folder.path().join("files")).is_ok_and(|mut files| files.next().is_some());
    let begun = std::time::Instant::now();
    while !csv() {
        assert!(begun.elapsed().as_secs() < 60, "no file");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let trace = fs::read_to_string(folder.path().join("calls")).unwrap();
    let gateway = trace.split(' ').next().unwrap().to_owned();
    run("procps", Command::new("kill").args(["-TERM", &gateway]));
    assert!(traced.wait().unwrap().success());

    let trace = fs::read_to_string(folder.path().join("calls")).unwrap();
    let used_calls =
        trace.lines().filter_map(|line| Some(line.split_whitespace().nth(1)?.split_once('(')?.0.to_owned()));
    let used_calls: BTreeSet<_> = used_calls.collect();
    assert!(used_calls.contains("fdatasync") && used_calls.contains("accept4"), "{used_calls:?}");
    // As root, SQLite gives its files the owner of the database. These tests may run as root; the unit does not.
    allowed.insert("fchown".into());
    let missing: Vec<_> = used_calls.difference(&allowed).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn prometheus_accepts_the_alert_rules_and_they_pass_their_tests() {
    for arguments in
        [["check", "rules", "prometheus-rules.yml"], ["test", "rules", "prometheus-rules.test.yml"]]
    {
        let printed =
            run("prometheus", Command::new("promtool").args(arguments).current_dir(root().join("deploy")));
        assert!(printed.contains("SUCCESS"), "{printed}");
    }
}
