//! Requests that RockBLOCK signs: the signed claims are stored, once, however often a request is replayed.

use super::{
    FORM, ROCKBLOCK, assert_answer, assert_problem, call, claims, claims_of, clock, jwt, list, signed, start,
    start_again,
};
use crate::support::JSON;
use serde_json::json;
use tempfile::TempDir;

#[test]
fn a_rockblock_message_is_read_from_its_signed_claims() {
    let gateway = start();
    let none = ("x-none", "");
    let form = format!("{ROCKBLOCK}&JWT={}", jwt(&claims()));
    assert_answer(&call(&gateway, "/hooks/rockblock", none, FORM, &form), "stored");
    // The same message as JSON, in a body that contradicts the signed claims.
    let mut body = json!({"imei": 1, "momsn": 2, "transmit_time": "", "data": "00"});
    body["JWT"] = json!(jwt(&claims()));
    assert_answer(&call(&gateway, "/hooks/rockblock", none, JSON, &body.to_string()), "stored");
    let messages = list(&gateway, "/api/devices/300234010753370/messages");
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["value"], json!({"temperature": 17.25}));
    assert_eq!(messages[0]["link"], "iridium-sbd-mo");
    let origin = json!({
        "input": "rockblock", "provider": "rockblock", "message_id": "12345@2021-10-31T10:41:50.000Z",
        "sent_at": "2021-10-31T10:41:50.000Z", "counter": 12345,
        "position": {"latitude": 52.3867, "longitude": 0.2938, "accuracy_m": 8000.0}
    });
    assert_eq!(messages[0]["origin"], origin);
}

#[test]
fn a_signed_request_is_stored_once_however_late_it_is_replayed() {
    for window in [2, 0, 3600] {
        let gateway = start_again(TempDir::new().unwrap(), |config| {
            config.buffer.duplicate_window_seconds = window;
        });
        let stored = || list(&gateway, "/api/devices/300234010753370/messages").len();
        // The gateway was unreachable: both requests arrive late, in order.
        let [first, second] =
            [("1", 30), ("2", 20)].map(|(momsn, hours)| claims_of(momsn, clock(hours), clock(hours)));
        assert_answer(&signed(&gateway, "rockblock", &first), "stored");
        assert_answer(&signed(&gateway, "rockblock", &second), "stored");
        let third = claims_of("3", clock(0), clock(0));
        assert_answer(&signed(&gateway, "rockblock", &third), "stored");
        assert_eq!(stored(), 3);
        if window == 2 {
            // The duplicate window is over.
            std::thread::sleep(std::time::Duration::from_millis(2500));
            gateway.post("/ingest/d", JSON, b"{}");
        }
        for old in [&first, &second] {
            assert_problem(&signed(&gateway, "rockblock", old), 401, "unauthorized");
        }
        assert_answer(&signed(&gateway, "rockblock", &third), "stored");
        // A signature time in the future does not allow a replay, and a signature without a time is invalid.
        let ahead = claims_of("1", clock(30), clock(-48));
        assert_problem(&signed(&gateway, "rockblock", &ahead), 401, "unauthorized");
        let mut never = claims_of("1", clock(30), clock(30));
        never.as_object_mut().unwrap().remove("iat");
        never["transmit_time"] = json!("someday");
        assert_problem(&signed(&gateway, "rockblock", &never), 401, "unauthorized");
        assert_eq!(stored(), 3, "{window}");
        let (summary, folder) = gateway.stop();
        assert_eq!(summary.received, summary.stored + summary.refused + summary.duplicates);
        let gateway = start_again(folder, |config| config.buffer.duplicate_window_seconds = window);
        assert_problem(&signed(&gateway, "rockblock", &first), 401, "unauthorized");
        assert_eq!(list(&gateway, "/api/devices/300234010753370/messages").len(), 3);
    }
}

#[test]
fn a_signed_request_is_stored_once_even_if_the_memory_of_duplicates_is_full_or_lost() {
    let gateway = start_again(TempDir::new().unwrap(), |config| config.buffer.duplicate_limit_messages = 4);
    let minutes = |ago| clock(0) - time::Duration::minutes(ago);
    let [first, second] =
        [("1", 3), ("2", 2)].map(|(momsn, ago)| claims_of(momsn, minutes(ago), minutes(ago)));
    assert_answer(&signed(&gateway, "rockblock", &first), "stored");
    assert_answer(&signed(&gateway, "rockblock", &second), "stored");
    // Messages of another client, with idempotency keys.
    for n in 0..8 {
        let url = gateway.url("/ingest/other");
        assert_eq!(crate::support::post_with_key(&gateway.agent, &url, &n.to_string(), b"1").status, 204);
    }
    assert_problem(&signed(&gateway, "rockblock", &first), 401, "unauthorized");
    let third = claims_of("3", minutes(1), minutes(1));
    assert_answer(&signed(&gateway, "rockblock", &third), "stored");
    let (_, folder) = gateway.stop();
    // The next process does not know messages that were dropped from the buffer.
    let connection = rusqlite::Connection::open(folder.path().join("buffer.sqlite3")).unwrap();
    let drop = "DELETE FROM messages WHERE id <= 2; UPDATE totals SET dropped = 2, dropped_to = 2;
                DELETE FROM waypoints";
    connection.execute_batch(drop).unwrap();
    std::mem::drop(connection);
    let gateway = start_again(folder, |_| ());
    assert_problem(&signed(&gateway, "rockblock", &first), 401, "unauthorized");
    assert_answer(&signed(&gateway, "rockblock", &third), "stored");
    assert_eq!(list(&gateway, "/api/devices/300234010753370/messages").len(), 1);
    let fourth = claims_of("4", minutes(0), minutes(0));
    assert_answer(&signed(&gateway, "rockblock", &fourth), "stored");
    assert_eq!(list(&gateway, "/api/devices/300234010753370/messages").len(), 2);
}

#[test]
fn an_undecodable_signed_request_is_quarantined_once_and_evicts_nothing() {
    let gateway = start_again(TempDir::new().unwrap(), |config| config.quarantine.messages = 3);
    assert_eq!(gateway.post("/ingest/other", JSON, b"{").status, 400);
    let mut claims = claims_of("1", clock(0), clock(0));
    // Not valid JSON.
    claims["data"] = json!("7b");
    for _ in 0..5 {
        assert_answer(&signed(&gateway, "rockblock", &claims), "quarantined");
    }
    claims["momsn"] = json!("2");
    assert_answer(&signed(&gateway, "rockblock", &claims), "quarantined");
    let kept = list(&gateway, "/api/quarantine");
    let devices: Vec<_> = kept.iter().map(|message| message["device"].as_str().unwrap()).collect();
    assert_eq!(devices, ["300234010753370", "300234010753370", "other"]);
}
