//! Brokers that want TLS, a password, or rights.

use super::{Bench, message, open_at, retried};
use dunnage_outputs::Class;
use dunnage_test_support::{certificates, kafka::Protocol};
use std::{fs, process::Command};

const TLS: &str = "tls = true\nca_file = 'FOLDER/ca.pem'\ntimeout_seconds = 3\n";

#[test]
fn tls_needs_a_certificate_of_a_trusted_authority_that_is_valid_now() {
    let mut bench = Bench::new(Protocol::Tls, "");
    assert_eq!(bench.deliver(&bench.output(TLS), &[message(1, "d", "1")]), Ok(()));
    let other = tempfile::tempdir().unwrap();
    certificates::make(other.path());
    let strange = format!("tls = true\ntimeout_seconds = 3\nca_file = {:?}", other.path().join("ca.pem"));
    let reason = retried(bench.deliver(&bench.output(&strange), &[message(2, "d", "2")]), Class::Connection);
    assert!(reason.contains("certificate"), "{reason}");
    // A client without TLS: the answer is not one of Kafka.
    let plain = bench.output("timeout_seconds = 3");
    retried(bench.deliver(&plain, &[message(3, "d", "3")]), Class::Connection);
    expire(&bench);
    bench.kafka.use_certificate("expired");
    bench.kafka.restart();
    let reason = retried(bench.deliver(&bench.output(TLS), &[message(4, "d", "4")]), Class::Connection);
    assert!(reason.contains("certificate") && reason.contains("expired"), "{reason}");
    assert_eq!(bench.kafka.records("t").len(), 1);
}

/// Makes a certificate that is no longer valid, `expired.pem` with `expired.key`.
fn expire(bench: &Bench) {
    let script = "cp server.key expired.key && mkdir -p issued && touch index && echo 01 > serial && \
        printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index\\nserial=serial\\nnew_certs_dir=issued\\npolicy=p\\ndefault_md=sha256\\n[p]\\ncommonName=supplied\\n' > ca.conf && \
        openssl ca -batch -config ca.conf -in server.csr -cert ca.pem -keyfile ca.key -extfile names \
        -startdate 20200101000000Z -enddate 20210101000000Z -notext -out expired.pem";
    let made = Command::new("sh").arg("-c").arg(script).current_dir(bench.kafka.path("")).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

#[test]
fn a_password_is_proved_by_each_mechanism_and_a_wrong_one_is_denied() {
    let bench = Bench::new(Protocol::SaslTls, "");
    let file = bench.kafka.path("password");
    for mechanism in ["plain", "scram-sha-256", "scram-sha-512"] {
        fs::write(&file, "wrong-secret\n").unwrap();
        let login = format!("[sasl]\nmechanism = '{mechanism}'\nuser = 'u'\npassword_file = {file:?}\n");
        let output = bench.output(&format!("{TLS}{login}"));
        let reason = retried(bench.deliver(&output, &[message(1, "d", "1")]), Class::Denied);
        assert!(reason.contains("SaslAuthenticationFailed") && !reason.contains("secret"), "{reason}");
        // A password that changes on disk is used at the next connection.
        fs::write(&file, "right\n").unwrap();
        assert_eq!(bench.deliver(&output, &[message(1, "d", mechanism)]), Ok(()), "{mechanism}");
    }
    let unknown =
        format!("[sasl]\nmechanism = 'scram-sha-256'\nuser = 'nobody=,'\npassword_file = {file:?}\n");
    retried(bench.deliver(&bench.output(&format!("{TLS}{unknown}")), &[message(1, "d", "1")]), Class::Denied);
    let without = retried(bench.deliver(&bench.output(TLS), &[message(1, "d", "1")]), Class::Connection);
    assert!(without.contains("may require TLS or a login"), "{without}");
    assert_eq!(bench.kafka.records("t").len(), 3);
}

#[test]
fn a_mechanism_that_the_broker_lacks_is_denied_with_those_that_it_has() {
    let only = "listener.name.client.sasl.enabled.mechanisms=SCRAM-SHA-512";
    let bench = Bench::new(Protocol::SaslTls, only);
    let file = bench.kafka.path("password");
    fs::write(&file, "right").unwrap();
    let login = format!("[sasl]\nmechanism = 'plain'\nuser = 'u'\npassword_file = {file:?}\n");
    let reason = retried(
        bench.deliver(&bench.output(&format!("{TLS}{login}")), &[message(1, "d", "1")]),
        Class::Denied,
    );
    assert!(reason.contains("the broker offers SCRAM-SHA-512"), "{reason}");
}

#[test]
fn a_user_without_the_right_to_write_is_denied() {
    let rights = "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n\
        super.users=User:ANONYMOUS;User:u\n";
    let bench = Bench::new(Protocol::SaslTls, rights);
    let file = bench.kafka.path("password");
    fs::write(&file, "right").unwrap();
    bench.kafka.create("t", 1, 1, "");
    let login = |user| {
        format!("{TLS}[sasl]\nmechanism = 'scram-sha-256'\nuser = '{user}'\npassword_file = {file:?}\n")
    };
    let reason = retried(bench.deliver(&bench.output(&login("v")), &[message(1, "d", "1")]), Class::Denied);
    assert!(reason.contains("topic t: TopicAuthorizationFailed"), "{reason}");
    assert_eq!(bench.deliver(&bench.output(&login("u")), &[message(1, "d", "1")]), Ok(()));
}

#[test]
fn settings_that_cannot_work_are_named() {
    for (settings, key) in [
        ("timeout_seconds = 0", "timeout_seconds"),
        ("ca_file = '/nowhere/x'", "ca_file"),
        ("tls = true\nca_file = '/nowhere/x'", "ca_file"),
        ("[sasl]\nmechanism = 'plain'\nuser = 'u'", "sasl.password_file, password_variable"),
        ("[sasl]\nmechanism = 'plain'\nuser = 'u'\npassword_file = '/nowhere/x'", "sasl.password_file"),
    ] {
        let error = open_at("127.0.0.1:9092", settings).err().unwrap();
        assert!(error.contains(&format!(": {key}: ")), "{settings}: {error}");
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let login = format!("[sasl]\nmechanism = 'plain'\nuser = 'u'\npassword_file = {:?}", file.path());
    assert!(open_at("kafka.example.org:9092", &login).err().unwrap().contains(": tls: must be set"));
    assert!(
        open_at("h:1", "[sasl]\nmechanism = 'gssapi'\nuser = 'u'").err().unwrap().contains("unknown variant")
    );
}
