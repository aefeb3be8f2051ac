//! HTTPS with curl as the client, and certificates that change.

use crate::support::{Running, authority::Authority, start_in};
use dunnage_gateway::Config;
use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A year in which certificates are good.
const GOOD: i32 = 2999;

struct Secured {
    gateway: Running,
    authority: Authority,
    certificate: PathBuf,
    key: PathBuf,
    trusted: PathBuf,
}

fn start(names: &[&str], until: i32) -> Secured {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (certificate, key, trusted) = (path("c.pem"), path("k.pem"), path("ca.pem"));
    let authority = Authority::new("authority");
    authority.write(&trusted);
    authority.issue(names, until, &certificate, &key);
    let change = |config: &mut Config| {
        config.http.tls = true;
        config.tls.certificate.clone_from(&certificate);
        config.tls.key.clone_from(&key);
    };
    let gateway = start_in(folder, change);
    Secured { gateway, authority, certificate, key, trusted }
}

/// What a message is sent with.
const MESSAGE: &[&str] = &["--header", "Content-Type: application/json", "--data", "{\"n\":1}"];

fn curl(trusted: &Path, url: &str, more: &[&[&str]]) -> Output {
    let mut curl = Command::new("curl");
    curl.args([
        "--silent",
        "--show-error",
        "--max-time",
        "60",
        "--noproxy",
        "*",
        "--write-out",
        "%{http_code}",
    ]);
    curl.arg("--cacert").arg(trusted).args(more.concat());
    curl.arg(url).output().expect("curl: apt-get install curl")
}

impl Secured {
    fn port(&self) -> u16 {
        self.gateway.gateway.address().port()
    }

    fn send(&self, more: &[&str]) -> Output {
        curl(&self.trusted, &format!("https://localhost:{}/ingest/d", self.port()), &[MESSAGE, more])
    }

    /// What curl says of a connection that it does not make.
    fn refusal(&self) -> String {
        let output = self.send(&[]);
        assert!(!output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn metric(&self, name: &str) -> String {
        let output = curl(&self.trusted, &format!("https://localhost:{}/metrics", self.port()), &[]);
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name}: {text}")).to_owned()
    }
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

#[test]
fn curl_sends_over_tls() {
    let secured = start(&["localhost"], GOOD);
    let output = secured.send(&["--verbose"]);
    assert_eq!(stdout(&output), "204", "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("TLSv1.3") && said.contains("ALPN: server accepted http/1.1"), "{said}");
    assert_eq!(stdout(&secured.send(&["--tls-max", "1.2"])), "204");
    // A connection that goes on.
    let url = format!("https://localhost:{}/ingest/d", secured.port());
    assert_eq!(stdout(&secured.send(&[&url])), "204204");
    let (summary, _) = secured.gateway.stop();
    assert_eq!(summary.stored, 4);
}

#[test]
fn curl_refuses_what_it_cannot_trust() {
    let secured = start(&["elsewhere.example.org"], GOOD);
    assert!(
        secured.refusal().contains("no alternative certificate subject name matches"),
        "{}",
        secured.refusal()
    );
    secured.authority.issue(&["localhost"], 2001, &secured.certificate, &secured.key);
    secured.gateway.runtime.block_on(secured.gateway.gateway.reload()).unwrap();
    assert!(secured.refusal().contains("expired"), "{}", secured.refusal());
    Authority::new("another").issue(&["localhost"], GOOD, &secured.certificate, &secured.key);
    secured.gateway.runtime.block_on(secured.gateway.gateway.reload()).unwrap();
    assert!(secured.refusal().contains("unable to get local issuer certificate"), "{}", secured.refusal());
    secured.authority.issue(&["localhost"], GOOD, &secured.certificate, &secured.key);
    secured.gateway.runtime.block_on(secured.gateway.gateway.reload()).unwrap();
    assert_eq!(stdout(&secured.send(&[])), "204");
    // Clients that break off are seen here, too; curl looks at the name after the handshake.
    assert!(secured.metric("dunnage_tls_handshake_errors_total").parse::<u32>().unwrap() >= 2);
    secured.gateway.stop();
}

#[test]
fn who_speaks_no_tls_is_told_so() {
    let secured = start(&["localhost"], GOOD);
    let output = curl(&secured.trusted, &format!("http://localhost:{}/ingest/d", secured.port()), &[MESSAGE]);
    let said = stdout(&output);
    assert!(said.ends_with("400") && said.contains("urn:dunnage:problem:tls"), "{output:?}");
    let mut stream = TcpStream::connect(secured.gateway.gateway.address()).unwrap();
    stream.write_all(&[22, 3, 1, 255, 255, 1, 0, 0, 0]).unwrap();
    stream.write_all(&[0xaa; 4096]).unwrap();
    // An alert, and then the end.
    let _ = stream.read_to_end(&mut Vec::new());
    assert_eq!(secured.metric("dunnage_tls_handshake_errors_total"), "2");
    let (summary, _) = secured.gateway.stop();
    assert_eq!(summary.received, 0);
}

#[test]
fn a_client_that_does_not_finish_its_handshake_is_cut() {
    let secured = start(&["localhost"], GOOD);
    let begun = Instant::now();
    let mut streams: Vec<_> =
        (0..8).map(|_| TcpStream::connect(secured.gateway.gateway.address()).unwrap()).collect();
    streams[0].write_all(&[22, 3, 1]).unwrap();
    for stream in &mut streams {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // 0, or a reset: the other side has closed it.
        assert!(!matches!(stream.read(&mut [0]), Ok(1..)));
    }
    let taken = begun.elapsed();
    assert!((Duration::from_secs(9)..Duration::from_secs(55)).contains(&taken), "{taken:?}");
    assert_eq!(stdout(&secured.send(&[])), "204");
    secured.gateway.stop();
}

#[test]
fn certificates_change_under_load_and_no_request_fails() {
    let secured = start(&["localhost"], GOOD);
    let (sent, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let output = secured.send(&[]);
                    over.fetch_or(stdout(&output) != "204", Ordering::Relaxed);
                    assert_eq!(stdout(&output), "204", "{output:?}");
                    sent.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let reload = || secured.gateway.runtime.block_on(secured.gateway.gateway.reload());
        let wait = |more: usize| {
            let from = sent.load(Ordering::Relaxed);
            let until = Instant::now() + Duration::from_secs(60);
            while sent.load(Ordering::Relaxed) < from + more
                && !over.load(Ordering::Relaxed)
                && Instant::now() < until
            {
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        for _ in 0..3 {
            secured.authority.issue(&["localhost"], GOOD, &secured.certificate, &secured.key);
            reload().unwrap();
            wait(4);
        }
        // A key that is not the certificate's: the one from before stays.
        let good = fs::read(&secured.key).unwrap();
        secured.authority.issue(
            &["localhost"],
            GOOD,
            &secured.gateway.folder.path().join("other.pem"),
            &secured.key,
        );
        let error = reload().unwrap_err().to_string();
        assert!(
            error.starts_with("[tls] key: ") && error.contains("does not belong to the certificate"),
            "{error}"
        );
        fs::write(&secured.certificate, "").unwrap();
        assert!(reload().unwrap_err().to_string().contains("the file contains no certificate"));
        wait(4);
        over.store(true, Ordering::Relaxed);
        fs::write(&secured.key, good).unwrap();
    });
    assert!(sent.load(Ordering::Relaxed) >= 16);
    let sent = sent.into_inner() as u64;
    let (summary, _) = secured.gateway.stop();
    assert_eq!((summary.stored, summary.refused), (sent, 0));
}

#[test]
fn a_certificate_that_changes_is_used_without_being_told() {
    let secured = start(&["elsewhere.example.org"], GOOD);
    assert!(!secured.send(&[]).status.success());
    secured.authority.issue(&["localhost"], GOOD, &secured.certificate, &secured.key);
    let until = Instant::now() + Duration::from_secs(60);
    while !secured.send(&[]).status.success() {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(100));
    }
    secured.gateway.stop();
}
