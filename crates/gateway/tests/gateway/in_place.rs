//! The buffer's files are deleted, moved, replaced, cut off or made read-only under a running gateway: it acknowledges nothing
//! that a restart would not find, says that it is not ready, and goes on by itself where nothing is lost by it.

use crate::support::{JSON, Running, agent, answer, child, config, post_with_key, start, start_in};
use dunnage_gateway::Gateway;
use rusqlite::Connection;
use std::{
    fs,
    os::unix::fs::{FileExt, PermissionsExt},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

const FILES: [&str; 4] =
    ["buffer.sqlite3", "buffer.sqlite3-wal", "buffer.sqlite3-shm", "buffer.sqlite3.lock"];

/// Posts the message `n`. Its key is the same whenever it is sent.
fn post(gateway: &Running, n: usize) -> (u16, String) {
    let url = gateway.url("/ingest/d");
    let answer = post_with_key(&gateway.agent, &url, &n.to_string(), n.to_string().as_bytes());
    (answer.status, answer.text)
}

fn is_refused(gateway: &Running, n: usize) {
    let (status, text) = post(gateway, n);
    assert_eq!(status, 503, "{text}");
    assert!(text.contains("not-written"), "{text}");
    let ready = gateway.get("/readyz");
    assert_eq!(ready.status, 503, "{}", ready.text);
    assert!(gateway.get("/metrics").text.contains("\ndunnage_buffer_writable 0\n"));
}

/// Waits for what becomes true within some seconds; the machine may be slow.
fn eventually(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What a restart after a kill would find in `folder`: the messages' texts, in their order.
fn found(folder: &Path) -> Vec<String> {
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
fn nothing_is_acknowledged_into_deleted_files() {
    let gateway = start();
    assert_eq!(post(&gateway, 1).0, 204);
    for file in FILES {
        fs::remove_file(gateway.folder.path().join(file)).unwrap();
    }
    for n in 2..5 {
        is_refused(&gateway, n);
    }
    assert_eq!(gateway.get_json("/api/stats")["stored"], 1);
    // Nor is a new buffer made at its place while the gateway runs.
    assert!(!gateway.folder.path().join(FILES[0]).exists());
    let (summary, folder) = gateway.stop();
    assert_eq!((summary.stored, summary.refused), (1, 3));
    // A restart begins with a new one.
    let gateway = start_in(folder, |_| ());
    assert_eq!(gateway.get("/readyz").status, 200);
    assert_eq!(post(&gateway, 2).0, 204);
}

#[test]
fn a_gateway_that_gets_no_message_is_not_ready_either() {
    let gateway = start();
    assert_eq!(gateway.get("/readyz").status, 200);
    fs::remove_file(gateway.folder.path().join(FILES[0])).unwrap();
    eventually("not ready", || gateway.get("/readyz").status == 503);
}

#[test]
fn a_folder_that_is_moved_away_and_back_loses_nothing() {
    let outer = tempfile::tempdir().unwrap();
    let (here, away) = (outer.path().join("here"), outer.path().join("away"));
    let path = here.join("buffer.sqlite3");
    let gateway = start_in(tempfile::tempdir().unwrap(), |config| config.buffer.path = path);
    assert_eq!(post(&gateway, 1).0, 204);
    fs::rename(&here, &away).unwrap();
    is_refused(&gateway, 2);
    // Another buffer in its place, which has kept another message.
    fs::create_dir(&here).unwrap();
    let mut other = config(&here);
    other.http.listen = ([127, 0, 0, 1], 0).into();
    let other = gateway.runtime.block_on(Gateway::start(other)).unwrap();
    let url = format!("http://{}/ingest/other", other.address());
    assert_eq!(answer(gateway.agent.post(url).send("77").unwrap()).status, 415);
    gateway.runtime.block_on(other.stop());
    is_refused(&gateway, 2);
    let quarantine = gateway.get("/api/quarantine");
    assert!(quarantine.status == 500 || quarantine.json()["messages"] == serde_json::json!([]));

    fs::remove_dir_all(&here).unwrap();
    fs::rename(&away, &here).unwrap();
    eventually("ready", || gateway.get("/readyz").status == 200);
    assert!(gateway.get("/metrics").text.contains("\ndunnage_buffer_writable 1\n"));
    for n in 1..4 {
        assert_eq!(post(&gateway, n).0, 204);
    }
    assert_eq!(found(&here), ["1", "2", "3"]);
    let ids = gateway.get_json("/api/messages")["messages"].as_array().unwrap().len();
    assert_eq!(ids, 3);
}

#[test]
fn a_deleted_log_or_lock_is_made_anew_and_loses_nothing() {
    let gateway = start();
    for (n, file) in (0..).step_by(2).zip([FILES[1], FILES[3], FILES[1], FILES[2]]) {
        assert_eq!(post(&gateway, n).0, 204);
        // A reader has its own handles.
        gateway.get_json("/api/messages");
        fs::remove_file(gateway.folder.path().join(file)).unwrap();
        eventually("stored", || post(&gateway, n + 1).0 == 204);
        let expected: Vec<_> = (0..n + 2).map(|n| n.to_string()).collect();
        assert_eq!(found(gateway.folder.path()), expected, "{file}");
        let second = gateway.runtime.block_on(Gateway::start(config(gateway.folder.path())));
        assert!(second.is_err(), "{file}: two gateways use one buffer");
    }
    assert_eq!(gateway.get_json("/api/messages")["messages"].as_array().unwrap().len(), 8);
    let (_, folder) = gateway.stop();
    assert_eq!(found(folder.path()).len(), 8);
}

#[test]
fn a_log_that_was_cut_off_is_damage_and_what_is_acknowledged_after_it_stays() {
    let gateway = start();
    assert_eq!(post(&gateway, 1).0, 204);
    let log = gateway.folder.path().join(FILES[1]);
    fs::File::options().write(true).open(log).unwrap().set_len(0).unwrap();
    eventually("stored", || post(&gateway, 2).0 == 204);
    assert_eq!(found(gateway.folder.path()), ["2"]);
    let metrics = gateway.get("/metrics").text;
    assert!(metrics.contains("\ndunnage_buffer_lost_messages_total 1\n"), "{metrics}");
}

#[test]
fn a_log_that_lost_its_end_is_damage_though_its_head_is_there() {
    let gateway = start();
    for n in 1..4 {
        assert_eq!(post(&gateway, n).0, 204);
    }
    let log = gateway.folder.path().join(FILES[1]);
    fs::File::options().write(true).open(log).unwrap().set_len(64).unwrap();
    eventually("stored", || post(&gateway, 4).0 == 204);
    for n in 5..8 {
        assert_eq!(post(&gateway, n).0, 204);
    }
    // What a kill leaves has all that was acknowledged since.
    assert_eq!(found(gateway.folder.path()), ["4", "5", "6", "7"]);
}

#[test]
fn a_working_folder_that_is_moved_takes_the_buffer_with_it() {
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
    // The process is still in the folder, wherever that is. Whoever starts it again begins where it was.
    assert_eq!(status("2"), 503);
    fs::rename(&away, &here).unwrap();
    eventually("stored", || status("3") == 204);
    assert_eq!(found(&here.join("state")), ["1", "3"]);
    gateway.kill();
}

#[test]
fn a_file_system_that_became_read_only_is_noticed_without_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let namespace = "exec unshare -rm sh -c 'exec \"$0\" \"$@\"' \"$0\" \"$@\"";
    let may = Command::new("unshare").args(["-rm", "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        return println!("not tested: there are no namespaces here");
    }
    let gateway = child::start(folder.path(), namespace);
    let agent = agent();
    let status = |path: &str| answer(agent.get(format!("{}{path}", gateway.url)).call().unwrap()).status;
    assert_eq!(status("/readyz"), 200);
    // What is open stays writable, as after an emergency remount of a file system whose log is still in memory.
    let pid = gateway.child.id().to_string();
    let path = folder.path().to_str().unwrap();
    let mounted = Command::new("nsenter")
        .args(["-t", &pid, "-U", "-m", "--preserve-credentials", "mount", "-o", "bind,ro", path, path])
        .status();
    assert!(mounted.unwrap().success());
    eventually("not ready", || status("/readyz") == 503);
    let refused = crate::support::post(&agent, &format!("{}/ingest/d", gateway.url), JSON, b"1");
    assert_eq!(refused.status, 503, "{}", refused.text);
    gateway.kill();
}

#[test]
fn files_are_their_owners_alone_whatever_the_umask() {
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    let gateway = child::start(folder.path(), "umask 0");
    let agent = agent();
    assert_eq!(crate::support::post(&agent, &format!("{}/ingest/d", gateway.url), JSON, b"1").status, 204);
    for file in FILES {
        assert_eq!(mode(&folder.path().join(file)), 0o600, "{file}");
    }
    gateway.stop();
    // Older versions made them as the umask said; and a page of this one is damaged.
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
