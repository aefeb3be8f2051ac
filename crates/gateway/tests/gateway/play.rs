//! The playground among the gateway's routes: for peers that may read, and for no page of another site.

use crate::support::{JSON, answer, start};
use serde_json::json;

#[test]
fn it_is_there_for_peers_that_may_read() {
    let gateway = start();
    assert!(gateway.get("/play").text.contains("<title>Dunnage playground</title>"));
    assert_eq!(gateway.get_json("/api/play")["process"], "gateway");
    let question =
        json!({"messages": "{\"t\":21.5}", "links": ["kineis"], "devices": 10, "per_day": 4}).to_string();
    let computed = gateway.post("/api/play", JSON, question.as_bytes());
    assert_eq!((computed.status, computed.json()["messages"].as_u64()), (200, Some(1)));
    let question = json!({"messages": "7", "message": 0, "format": "cbor"}).to_string();
    assert_eq!(gateway.post("/api/play/bytes", JSON, question.as_bytes()).json()["hex"], "07");
    assert_eq!(gateway.post("/api/play", "text/plain", b"{}").status, 415);
    assert_eq!(gateway.post("/api/play", JSON, b"{").status, 400);
    for (name, value) in [
        ("sec-fetch-site", "cross-site"),
        ("origin", "https://example.com"),
        ("x-forwarded-for", "192.0.2.1"),
    ] {
        for path in ["/api/play", "/api/play/bytes", "/api/play/savings"] {
            let request =
                gateway.agent.post(gateway.url(path)).header("content-type", JSON).header(name, value);
            assert_eq!(answer(request.send(question.as_bytes()).unwrap()).status, 401, "{name} {path}");
        }
    }
}
