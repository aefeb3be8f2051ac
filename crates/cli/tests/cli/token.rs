//! Tests `dunnage gateway token`, and that tokens do not leak into logs, answers or errors.

use crate::run::{Run, command, dunnage, finish, terminate};
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::Path,
};

/// Runs `dunnage gateway token` for the configuration in `folder`.
fn token(folder: &Path, arguments: &[&str]) -> Run {
    let file = folder.join("dunnage.toml");
    fs::write(&file, format!("[buffer]\npath = {:?}\n[access]\nwho = 'tokens'\n", folder.join("b.sqlite3")))
        .unwrap();
    dunnage(&[&["gateway", "token"], arguments, &["--config", file.to_str().unwrap()]].concat(), "")
}

#[test]
fn tokens_are_created_listed_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let token = |arguments: &[&str]| token(folder.path(), arguments);
    let created = token(&["new", "--device", "buoy-*", "--name", "buoys"]);
    let secret = created.text().trim().to_owned();
    assert!(secret.len() == 46 && secret.starts_with("dn_") && !created.stderr.contains(&secret), "{secret}");
    token(&["new", "--read", "--until", "2199-01-31", "--name", "grafana"]).text();
    token(&["revoke", "grafana", "--until", "2020-01-31"]).text();
    token(&["new", "--operate", "--name", "olga"]).text();
    let listed = token(&["list"]);
    let expected =
        "buoys    send as buoy-*\ngrafana  read, expired 2020-02-01T00:00:00.000Z\nolga     operate\n";
    assert_eq!(listed.text(), expected);
    assert!(!fs::read_to_string(folder.path().join("tokens.toml")).unwrap().contains(&secret));
    for wrong in [
        &["new"][..],
        &["new", "--read", "--device", "a\n"],
        &["new", "--read", "--tag", "site"],
        &["new", "--tag", "site=pisa"],
        &["new", "--device", "a", "--tag", "site=pisa"],
        &["new", "--operate", "--tag", "site=pisa"],
        &["new", "--operate", "--device", "a"],
        &["new", "--operate", "--read"],
        &["new", "--device", "a\n"],
        &["new", "--read", "--until", "tomorrow"],
        &["new", "--read", "--until", "2020-01-31"],
        &["new", "--read", "--name", "buoys"],
        &["revoke", "nobody"],
    ] {
        assert_eq!(token(wrong).code, 2, "{wrong:?}");
    }
    assert_eq!(token(&["revoke", "buoys"]).code, 0);
    assert!(!token(&["list"]).text().contains("buoys"));
    fs::write(folder.path().join("tokens.toml"), "[[token]]\nname = 'a'\nhash = 'b'\nread = true\n").unwrap();
    let file = folder.path().join("dunnage.toml");
    let checked = dunnage(&["gateway", "check", "--config", file.to_str().unwrap()], "");
    assert!(checked.any_text().contains("tokens.toml:3:8: token[1].hash: "), "{}", checked.any_text());
}

#[test]
fn tokens_and_keys_are_imported_from_csv() {
    let folder = tempfile::tempdir().unwrap();
    token(folder.path(), &["list"]).text();
    let config = folder.path().join("dunnage.toml");
    let import = |kind: &str, rows: &str| {
        dunnage(&["gateway", kind, "import", "-", "--config", config.to_str().unwrap()], rows)
    };
    let created = import("token", "name,device\nbuoy-1,buoy-1\nships,ship-*\n");
    assert!(created.text().starts_with("name,token\nbuoy-1,dn_"), "{}", created.text());
    assert!(created.stderr.starts_with("2 tokens, shown only once."), "{}", created.stderr);
    let again = import("token", "name,device\nnew,a\nships,b\n");
    assert_eq!((again.code, &*again.stdout), (2, &b""[..]));
    assert!(again.stderr.contains("line 3: name: \"ships\" already exists"), "{}", again.stderr);
    assert_eq!(token(folder.path(), &["list"]).text().lines().count(), 2);
    let keys = import("key", "name,device,secret\nbuoy-1,buoy-1,abcdefghijklmnop\n");
    assert_eq!(keys.text(), "name,key\nbuoy-1,abcdefghijklmnop\n");
}

#[test]
fn a_token_appears_in_no_log_answer_or_error() {
    let folder = tempfile::tempdir().unwrap();
    let secret = |arguments: &[&str]| token(folder.path(), arguments).text().trim().to_owned();
    let (sends, reads) = (secret(&["new", "--device", "d"]), secret(&["new", "--read"]));
    let file = folder.path().join("dunnage.toml");
    let mut gateway = command(&["gateway", "--config", file.to_str().unwrap()]);
    gateway.env("DUNNAGE_HTTP_LISTEN", "127.0.0.1:0").env("DUNNAGE_LOG_LEVEL", "trace");
    gateway.env("DUNNAGE_LOG_FORMAT", "json");
    let mut child = gateway.spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut logged = String::new();
    let address = loop {
        let mut line = String::new();
        assert!(log.read_line(&mut line).unwrap() > 0, "the gateway ended: {logged}");
        logged.push_str(&line);
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        if line["message"] == "gateway started" {
            break line["address"].as_str().unwrap().to_owned();
        }
    };
    let rest = std::thread::spawn(move || {
        let mut rest = String::new();
        log.read_to_string(&mut rest).map(|_| rest).unwrap()
    });
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let wrong = format!("{}x", &sends[..sends.len() - 1]);
    let mut answers = String::new();
    for (token, device, status) in
        [(&sends, "d", 204), (&sends, "e", 403), (&reads, "d", 403), (&wrong, "d", 401), (&sends, "%00", 400)]
    {
        let request =
            agent.post(format!("http://{address}/ingest/{device}")).content_type("application/json");
        let mut answer =
            request.header("authorization", format!("Bearer {token}")).send("{\"t\":1}").unwrap();
        assert_eq!(answer.status(), status);
        answers += &format!("{:?}{}", answer.headers().clone(), answer.body_mut().read_to_string().unwrap());
    }
    for path in ["/api/messages", "/api/devices", "/api/stats", "/api/quarantine", "/metrics", "/nothing"] {
        for token in [&reads, &sends, &wrong] {
            let request = agent.get(format!("http://{address}{path}"));
            let mut answer = request.header("authorization", format!("Bearer {token}")).call().unwrap();
            answers +=
                &format!("{:?}{}", answer.headers().clone(), answer.body_mut().read_to_string().unwrap());
        }
    }
    answers += dunnage(&["gateway", "status", "--config", file.to_str().unwrap()], "").text();
    terminate(&child);
    let ended = finish(child, b"");
    assert_eq!(ended.code, 0);
    logged += &rest.join().unwrap();
    assert!(logged.contains("a token was rejected") && logged.contains("gateway stopped"), "{logged}");
    for secret in [&sends, &reads, &wrong] {
        // Without the last character, in which the wrong token differs from the right one.
        let part = &secret[3..secret.len() - 1];
        assert!(!logged.contains(part), "the log has a token");
        assert!(!answers.contains(part), "an answer has a token");
    }
}
