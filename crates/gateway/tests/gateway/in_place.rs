//! The buffer's files are deleted, moved, replaced, truncated or made read-only under a running gateway. It acknowledges no message that a
//! restart would not find, reports that it is not ready, and recovers on its own if that loses nothing.

use crate::support::{
    JSON, Running, agent, answer, child, config, post_with_key, runtime, start, start_in, wait::wait_until,
};
use dunnage_gateway::{Config, Gateway};
use rusqlite::Connection;
use std::{
    fs,
    os::unix::fs::{FileExt, PermissionsExt},
    path::Path,
    process::Command,
};

const FILES: [&str; 4] =
    ["buffer.sqlite3", "buffer.sqlite3-wal", "buffer.sqlite3-shm", "buffer.sqlite3.lock"];

/// Posts the message `n`, with `n` as its idempotency key.
fn post(gateway: &Running, n: usize) -> (u16, String) {
    let url = gateway.url("/ingest/d");
    let answer = post_with_key(&gateway.agent, &url, &n.to_string(), n.to_string().as_bytes());
    (answer.status, answer.text)
}

/// Asserts that the gateway rejects the message `n` and is not ready.
fn assert_not_writable(gateway: &Running, n: usize) {
    let (status, text) = post(gateway, n);
    assert_eq!(status, 503, "{text}");
    assert!(text.contains("not-written"), "{text}");
    let ready = gateway.get("/readyz");
    assert_eq!(ready.status, 503, "{}", ready.text);
    assert!(gateway.get("/metrics").text.contains("\ndunnage_buffer_writable 0\n"));
}

/// Returns the messages that a restart after a kill would find in `folder`, in their order.
fn stored(folder: &Path) -> Vec<String> {
    let copy = tempfile::tempdir().unwrap();
    for file in &FILES[..2] {
        if folder.join(file).exists() {
            fs::copy(folder.join(file), copy.path().join(file)).unwrap();
        }
    }
    let connection = Connection::open(copy.path().join(FILES[0])).unwrap();
    let mut statement = connection.prepare("SELECT json FROM messages ORDER BY id").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn messages_are_rejected_while_the_files_are_deleted() {
    let gateway = start();
    assert_eq!(post(&gateway, 1).0, 204);
    for file in FILES {
        fs::remove_file(gateway.folder.path().join(file)).unwrap();
    }
    for n in 2..5 {
        assert_not_writable(&gateway, n);
    }
    assert_eq!(gateway.get_json("/api/stats")["stored"], 1);
    // The running gateway does not create a new buffer in its place.
    assert!(!gateway.folder.path().join(FILES[0]).exists());
    let (summary, folder) = gateway.stop();
    assert_eq!((summary.stored, summary.refused), (1, 3));
    // A restart creates a new buffer.
    let gateway = start_in(folder, |_| ());
    assert_eq!(gateway.get("/readyz").status, 200);
    assert_eq!(post(&gateway, 2).0, 204);
}

#[test]
fn an_idle_gateway_notices_a_deleted_file() {
    let gateway = start();
    assert_eq!(gateway.get("/readyz").status, 200);
    fs::remove_file(gateway.folder.path().join(FILES[0])).unwrap();
    wait_until("the gateway is not ready", || gateway.get("/readyz").status == 503);
}

#[test]
fn moving_the_folder_away_and_back_loses_nothing() {
    let outer = tempfile::tempdir().unwrap();
    let (here, away) = (outer.path().join("here"), outer.path().join("away"));
    let path = here.join("buffer.sqlite3");
    let gateway = start_in(tempfile::tempdir().unwrap(), |config| config.buffer.path = path);
    assert_eq!(post(&gateway, 1).0, 204);
    fs::rename(&here, &away).unwrap();
    assert_not_writable(&gateway, 2);
    // Another buffer takes its place, with another message in its quarantine.
    fs::create_dir(&here).unwrap();
    let mut other = config(&here);
    other.http.listen = ([127, 0, 0, 1], 0).into();
    let other = gateway.runtime.block_on(Gateway::start(other)).unwrap();
    let url = format!("http://{}/ingest/other", other.address());
    assert_eq!(answer(gateway.agent.post(url).send("77").unwrap()).status, 415);
    gateway.runtime.block_on(other.stop());
    assert_not_writable(&gateway, 2);
    let quarantine = gateway.get("/api/quarantine");
    assert!(quarantine.status == 500 || quarantine.json()["messages"] == serde_json::json!([]));

    fs::remove_dir_all(&here).unwrap();
    fs::rename(&away, &here).unwrap();
    wait_until("the gateway is ready", || gateway.get("/readyz").status == 200);
    assert!(gateway.get("/metrics").text.contains("\ndunnage_buffer_writable 1\n"));
    for n in 1..4 {
        assert_eq!(post(&gateway, n).0, 204);
    }
    assert_eq!(stored(&here), ["1", "2", "3"]);
    let listed = gateway.get_json("/api/messages")["messages"].as_array().unwrap().len();
    assert_eq!(listed, 3);
}

#[test]
fn a_deleted_log_or_lock_is_created_again_without_loss() {
    let gateway = start();
    for (n, file) in (0..).step_by(2).zip([FILES[1], FILES[3], FILES[1], FILES[2]]) {
        assert_eq!(post(&gateway, n).0, 204);
        // Readers have their own file handles.
        gateway.get_json("/api/messages");
        fs::remove_file(gateway.folder.path().join(file)).unwrap();
        wait_until("the message is stored", || post(&gateway, n + 1).0 == 204);
        let expected: Vec<_> = (0..n + 2).map(|n| n.to_string()).collect();
        assert_eq!(stored(gateway.folder.path()), expected, "{file}");
        let second = gateway.runtime.block_on(Gateway::start(config(gateway.folder.path())));
        assert!(second.is_err(), "{file}: two gateways use one buffer");
    }
    assert_eq!(gateway.get_json("/api/messages")["messages"].as_array().unwrap().len(), 8);
    let (_, folder) = gateway.stop();
    assert_eq!(stored(folder.path()).len(), 8);
}

#[test]
fn an_emptied_log_is_damage_and_later_messages_are_stored() {
    let gateway = start();
    assert_eq!(post(&gateway, 1).0, 204);
    let log = gateway.folder.path().join(FILES[1]);
    fs::File::options().write(true).open(log).unwrap().set_len(0).unwrap();
    wait_until("the message is stored", || post(&gateway, 2).0 == 204);
    assert_eq!(stored(gateway.folder.path()), ["2"]);
    let metrics = gateway.get("/metrics").text;
    assert!(metrics.contains("\ndunnage_buffer_lost_messages_total 1\n"), "{metrics}");
}

#[test]
fn a_truncated_log_is_damage_although_its_header_is_intact() {
    let gateway = start();
    for n in 1..4 {
        assert_eq!(post(&gateway, n).0, 204);
    }
    let log = gateway.folder.path().join(FILES[1]);
    fs::File::options().write(true).open(log).unwrap().set_len(64).unwrap();
    wait_until("the message is stored", || post(&gateway, 4).0 == 204);
    for n in 5..8 {
        assert_eq!(post(&gateway, n).0, 204);
    }
    // A restart after a kill would find every message acknowledged since.
    assert_eq!(stored(gateway.folder.path()), ["4", "5", "6", "7"]);
}

#[test]
fn messages_are_rejected_while_the_working_folder_is_moved() {
    let outer = tempfile::tempdir().unwrap();
    let (here, away) = (outer.path().join("here"), outer.path().join("away"));
    fs::create_dir(&here).unwrap();
    let gateway = child::start(Path::new("state"), &format!("cd '{}'", here.display()));
    let agent = agent();
    let status = |n: &str| {
        crate::support::post(&agent, &format!("{}/ingest/d", gateway.url), JSON, n.as_bytes()).status
    };
    assert_eq!(status("1"), 204);
    fs::rename(&here, &away).unwrap();
    // The process still works in the moved folder, but a restart would use the original path.
    assert_eq!(status("2"), 503);
    fs::rename(&away, &here).unwrap();
    wait_until("the message is stored", || status("3") == 204);
    assert_eq!(stored(&here.join("state")), ["1", "3"]);
    gateway.kill();
}

#[test]
fn an_idle_gateway_notices_a_read_only_file_system() {
    let folder = tempfile::tempdir().unwrap();
    let namespace = "exec unshare -rm sh -c 'exec \"$0\" \"$@\"' \"$0\" \"$@\"";
    let unshare = Command::new("unshare").args(["-rm", "true"]).status();
    if !unshare.is_ok_and(|status| status.success()) {
        return println!("skipped: namespaces are not available");
    }
    let gateway = child::start(folder.path(), namespace);
    let agent = agent();
    let status = |path: &str| answer(agent.get(format!("{}{path}", gateway.url)).call().unwrap()).status;
    assert_eq!(status("/readyz"), 200);
    // Open files stay writable, as after an emergency remount of a file system whose log is still in memory.
    let pid = gateway.child.id().to_string();
    let path = folder.path().to_str().unwrap();
    let mounted = Command::new("nsenter")
        .args(["-t", &pid, "-U", "-m", "--preserve-credentials", "mount", "-o", "bind,ro", path, path])
        .status();
    assert!(mounted.unwrap().success());
    wait_until("the gateway is not ready", || status("/readyz") == 503);
    let rejected = crate::support::post(&agent, &format!("{}/ingest/d", gateway.url), JSON, b"1");
    assert_eq!(rejected.status, 503, "{}", rejected.text);
    gateway.kill();
}

#[test]
fn only_the_owner_can_access_the_files_whatever_the_umask() {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    let gateway = child::start(folder.path(), "umask 0");
    let agent = agent();
    assert_eq!(crate::support::post(&agent, &format!("{}/ingest/d", gateway.url), JSON, b"1").status, 204);
    for file in FILES {
        assert_eq!(mode(&folder.path().join(file)), 0o600, "{file}");
    }
    gateway.stop();
    // Older versions created files with the permissions of the umask. The damage makes the gateway set a file aside.
    for file in [FILES[0], FILES[3]] {
        fs::set_permissions(folder.path().join(file), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let database = fs::File::options().write(true).open(folder.path().join(FILES[0])).unwrap();
    database.write_all_at(&[7; 9000], 0).unwrap();
    child::start(folder.path(), "umask 0").stop();
    let mut names = Vec::new();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        // The socket has its own test.
        if entry.file_type().unwrap().is_file() {
            names.push(entry.file_name().into_string().unwrap());
            assert_eq!(mode(&entry.path()), 0o600, "{:?}", entry.path());
        }
    }
    assert!(names.iter().any(|name| name.contains(".damaged-")), "{names:?}");
}

#[test]
fn checkpoints_of_another_program_are_no_damage() {
    let gateway = start();
    let path = gateway.folder.path().join(FILES[0]);
    let other = Connection::open(path).unwrap();
    let checkpoint = |mode: &str| {
        let sql = format!("PRAGMA wal_checkpoint({mode})");
        other.query_row(&sql, [], |row| row.get::<_, bool>(0)).unwrap();
    };
    let mut sent = Vec::new();
    for mode in ["TRUNCATE", "TRUNCATE", "RESTART", "PASSIVE", "FULL", "TRUNCATE"] {
        for _ in 0..20 {
            sent.push(sent.len().to_string());
            assert_eq!(post(&gateway, sent.len() - 1).0, 204, "{mode}");
        }
        checkpoint(mode);
        assert_eq!(gateway.get("/readyz").status, 200, "{mode}");
    }
    // A log that another program keeps short.
    other.execute_batch("PRAGMA journal_size_limit = 0").unwrap();
    checkpoint("RESTART");
    wait_until("the idle gateway has checked its files", || gateway.get("/readyz").status == 200);
    assert_eq!(stored(gateway.folder.path()), sent);
    let metrics = gateway.get("/metrics").text;
    assert!(metrics.contains("\ndunnage_buffer_damages_total 0\n"), "{metrics}");
    // It is damage if the log loses frames that are nowhere else.
    assert_eq!(post(&gateway, sent.len()).0, 204);
    let log = gateway.folder.path().join(FILES[1]);
    fs::File::options().write(true).open(log).unwrap().set_len(0).unwrap();
    wait_until("the message is stored", || post(&gateway, sent.len() + 1).0 == 204);
    assert!(gateway.get("/metrics").text.contains("\ndunnage_buffer_damages_total 1\n"));
}

#[test]
fn links_to_a_buffer_share_its_lock_and_its_recovery() {
    let outer = tempfile::tempdir().unwrap();
    let (here, link) = (outer.path().join("here"), outer.path().join("link"));
    fs::create_dir(&here).unwrap();
    fs::create_dir(&link).unwrap();
    // The target does not exist yet.
    std::os::unix::fs::symlink("../here/buffer.sqlite3", link.join("buffer.sqlite3")).unwrap();
    let linked = |config: &mut Config| config.buffer.path = link.join("buffer.sqlite3");
    let gateway = start_in(tempfile::tempdir().unwrap(), linked);
    for path in [&here, &link] {
        let second = gateway.runtime.block_on(Gateway::start(config(path)));
        assert!(second.is_err(), "{}: two gateways use one buffer", path.display());
    }
    for n in 0..50 {
        assert_eq!(post(&gateway, n).0, 204);
    }
    // A page of the database is destroyed while its log is intact: the recovery finds both beside the target.
    let (_, folder) = gateway.stop();
    let database = fs::File::options().write(true).open(here.join("buffer.sqlite3")).unwrap();
    database.write_all_at(&[0; 100], 0).unwrap();
    let gateway = start_in(folder, linked);
    assert_eq!(gateway.get_json("/api/stats")["stored"], 50);
    assert!(fs::symlink_metadata(link.join("buffer.sqlite3")).unwrap().is_symlink());
    assert_eq!(stored(&here).len(), 50);
    // Another name of the file itself would have another log.
    let (_, folder) = gateway.stop();
    fs::create_dir(outer.path().join("hard")).unwrap();
    fs::hard_link(here.join("buffer.sqlite3"), outer.path().join("hard/buffer.sqlite3")).unwrap();
    for path in [&here, &outer.path().join("hard")] {
        let error = runtime().block_on(Gateway::start(config(path))).err().unwrap().to_string();
        assert!(error.contains("2 names (hard links)"), "{error}");
    }
    fs::remove_file(outer.path().join("hard/buffer.sqlite3")).unwrap();
    start_in(folder, linked).stop();
}
