//! HTTPS with curl as the client, and certificates that change.

use crate::support::{Running, authority::Authority, start_in, wait::wait_until};
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

/// The year in which valid certificates expire.
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

/// curl's arguments for a message.
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

    /// Returns curl's error for a request that must fail.
    fn curl_error(&self) -> String {
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
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("TLSv1.3") && log.contains("ALPN: server accepted http/1.1"), "{log}");
    assert_eq!(stdout(&secured.send(&["--tls-max", "1.2"])), "204");
    // Two requests on one connection.
    let url = format!("https://localhost:{}/ingest/d", secured.port());
    assert_eq!(stdout(&secured.send(&[&url])), "204204");
    let (summary, _) = secured.gateway.stop();
    assert_eq!(summary.stored, 4);
}

#[test]
fn curl_rejects_untrusted_certificates() {
    let secured = start(&["elsewhere.example.org"], GOOD);
    assert!(
        secured.curl_error().contains("no alternative certificate subject name matches"),
        "{}",
        secured.curl_error()
    );
    secured.authority.issue(&["localhost"], 2001, &secured.certificate, &secured.key);
    secured.gateway.runtime.block_on(secured.gateway.gateway.reload()).unwrap();
    assert!(secured.curl_error().contains("expired"), "{}", secured.curl_error());
    Authority::new("another").issue(&["localhost"], GOOD, &secured.certificate, &secured.key);
    secured.gateway.runtime.block_on(secured.gateway.gateway.reload()).unwrap();
    assert!(
        secured.curl_error().contains("unable to get local issuer certificate"),
        "{}",
        secured.curl_error()
    );
    secured.authority.issue(&["localhost"], GOOD, &secured.certificate, &secured.key);
    secured.gateway.runtime.block_on(secured.gateway.gateway.reload()).unwrap();
    assert_eq!(stdout(&secured.send(&[])), "204");
    // Handshakes that the client aborts count, too. curl checks the name only after the handshake.
    assert!(secured.metric("dunnage_tls_handshake_errors_total").parse::<u32>().unwrap() >= 2);
    secured.gateway.stop();
}

#[test]
fn requests_without_tls_return_a_problem() {
    let secured = start(&["localhost"], GOOD);
    let output = curl(&secured.trusted, &format!("http://localhost:{}/ingest/d", secured.port()), &[MESSAGE]);
    let response = stdout(&output);
    assert!(response.ends_with("400") && response.contains("urn:dunnage:problem:tls"), "{output:?}");
    let mut stream = TcpStream::connect(secured.gateway.gateway.address()).unwrap();
    stream.write_all(&[22, 3, 1, 255, 255, 1, 0, 0, 0]).unwrap();
    stream.write_all(&[0xaa; 4096]).unwrap();
    // The gateway sends an alert and closes the connection.
    let _ = stream.read_to_end(&mut Vec::new());
    assert_eq!(secured.metric("dunnage_tls_handshake_errors_total"), "2");
    let (summary, _) = secured.gateway.stop();
    assert_eq!(summary.received, 0);
}

#[test]
fn unfinished_handshakes_are_disconnected() {
    let secured = start(&["localhost"], GOOD);
    let begun = Instant::now();
    let mut streams: Vec<_> =
        (0..8).map(|_| TcpStream::connect(secured.gateway.gateway.address()).unwrap()).collect();
    streams[0].write_all(&[22, 3, 1]).unwrap();
    for stream in &mut streams {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // No bytes or a reset: the gateway has closed the connection.
        assert!(!matches!(stream.read(&mut [0]), Ok(1..)));
    }
    let duration = begun.elapsed();
    assert!((Duration::from_secs(9)..Duration::from_secs(55)).contains(&duration), "{duration:?}");
    assert_eq!(stdout(&secured.send(&[])), "204");
    secured.gateway.stop();
}

#[test]
fn certificates_change_under_load_and_no_request_fails() {
    let secured = start(&["localhost"], GOOD);
    let (sent, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let output = secured.send(&[]);
                    done.fetch_or(stdout(&output) != "204", Ordering::Relaxed);
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
                && !done.load(Ordering::Relaxed)
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
        // The key does not belong to the certificate, so the gateway goes on with the previous pair.
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
        done.store(true, Ordering::Relaxed);
        fs::write(&secured.key, good).unwrap();
    });
    assert!(sent.load(Ordering::Relaxed) >= 16);
    let sent = sent.into_inner() as u64;
    let (summary, _) = secured.gateway.stop();
    assert_eq!((summary.stored, summary.refused), (sent, 0));
}

#[test]
fn changed_certificate_is_used_without_a_reload() {
    let secured = start(&["elsewhere.example.org"], GOOD);
    assert!(!secured.send(&[]).status.success());
    secured.authority.issue(&["localhost"], GOOD, &secured.certificate, &secured.key);
    wait_until("the new certificate is used", || secured.send(&[]).status.success());
    secured.gateway.stop();
}
