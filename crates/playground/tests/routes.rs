//! The routes, as HTTP clients see them, and hostile questions.
#![allow(clippy::unwrap_used)] // a test may fail here

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    http::{Request, StatusCode, header},
};
use dunnage_playground::{PROGRAM, Process, routes};
use serde_json::{Value, json};
use std::{
    convert::Infallible,
    time::{Duration, Instant},
};
use tower::ServiceExt;

/// The limit of an answer.
const WORK: Duration = Duration::from_secs(10);
/// No answer takes longer, even without optimization on a machine that does something else.
const SLOW: Duration = Duration::from_secs(60);

fn router() -> Router {
    PROGRAM.get_or_init(|| env!("CARGO_BIN_EXE_playground_of_tests").into());
    Router::from(routes::<()>(Process::Gateway))
}

async fn send(path: &str, content_type: &str, body: impl Into<Body>) -> (StatusCode, Value) {
    send_request(Request::post(path).header(header::CONTENT_TYPE, content_type).body(body.into()).unwrap())
        .await
}

async fn send_request(request: Request<Body>) -> (StatusCode, Value) {
    let response = router().oneshot(request).await.unwrap();
    let status = response.status();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

async fn ask(messages: &str, schema: Option<&str>) -> Value {
    let started = Instant::now();
    let question = json!({"messages": messages, "schema": schema, "links": ["kineis", "lte-m"], "devices": 10, "per_day": 4});
    let (status, answer) = send("/api/play", "application/json", question.to_string()).await;
    assert!(started.elapsed() < SLOW, "{:?}", started.elapsed());
    if status == StatusCode::UNPROCESSABLE_ENTITY {
        // The time is over, which can happen on slow machines with large questions.
        assert_eq!(answer["kind"], "limit");
        return answer;
    }
    assert_eq!(status, StatusCode::OK, "{answer}");
    answer
}

/// The text, the line, the pointer and the kind of the first mistake.
fn first(answer: &Value) -> (&str, u64, &str, &str) {
    let mistake = &answer["mistakes"][0];
    let text = |key: &str| mistake[key].as_str().unwrap_or("-");
    (text("in"), mistake["line"].as_u64().unwrap_or_default(), text("pointer"), text("kind"))
}

fn formats(answer: &Value) -> Vec<&str> {
    answer["formats"].as_array().unwrap().iter().map(|format| format["format"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn messages_lead_to_a_schema_sizes_costs_and_code() {
    let answer = ask("{\"t\":21.5}\n{\"t\":22.0}", None).await;
    assert_eq!((&answer["messages"], &answer["broken"]), (&json!(2), &json!(0)));
    assert!(answer["inferred"]["schema"].as_str().unwrap().contains("\"multipleOf\": 0.1"));
    assert!(formats(&answer).contains(&"packed") && formats(&answer).contains(&"protobuf (float32)"));
    assert_eq!(answer["json_bytes"], 10.0);
    assert_eq!(answer["plan"]["links"].as_array().unwrap().len(), 2);
    let languages: Vec<_> =
        answer["code"].as_array().unwrap().iter().map(|code| code["language"].as_str().unwrap()).collect();
    assert_eq!(languages, ["c", "ts013", "proto", "avro", "thrift", "cddl"]);
    assert_eq!(answer["trained"], Value::Null, "two messages are too few");
}

#[tokio::test]
async fn a_thousand_messages_are_trained_on() {
    let messages: String = (0..1000).map(|n| format!("{{\"t\":{}}}\n", n % 3)).collect();
    let schema = r#"{"type":"object","properties":{"t":{"type":"integer","minimum":0,"maximum":60000}},"required":["t"],"additionalProperties":false}"#;
    let answer = ask(&messages, Some(schema)).await;
    let packed = answer["formats"].as_array().unwrap().iter().find(|f| f["format"] == "packed").unwrap();
    assert_eq!(packed["mean_bytes"], 3.0);
    assert_eq!(answer["trained"]["mean_bytes"], 2.0);
}

#[tokio::test]
async fn mistakes_have_their_text_line_and_pointer() {
    let schema = "{\n\"type\":\"object\",\n\"properties\":{\"a\":{\"type\":\"integr\"}}}";
    let answer = ask("{\"a\":1}", Some(schema)).await;
    assert_eq!(first(&answer), ("schema", 3, "/properties/a/type", "schema"));
    assert!(formats(&answer).contains(&"cbor") && !formats(&answer).contains(&"packed"));
    assert_eq!(answer["without_schema"]["cause"], "The schema has a mistake");
    assert!(answer["without_schema"]["formats"].as_array().unwrap().contains(&json!("packed")));
    let advice = &answer["plan"]["advice"];
    assert_eq!(advice["choices"], json!([]), "msgpack is the best of those that are left, not the best");
    assert!(advice["sentences"][0].as_str().unwrap().contains("none is recommended: protobuf"), "{advice}");

    let schema = schema.replace("integr", "integer");
    let answer = ask("[{\"a\":1},\n{\"a\":\"x\"}]", Some(&schema)).await;
    assert_eq!(first(&answer), ("messages", 2, "/a", "schema"));
    assert_eq!((&answer["mistakes"][0]["message"], &answer["broken"]), (&json!(1), &json!(1)));
    assert!(formats(&answer).contains(&"packed"), "the other message is measured");
    assert_eq!(answer["without_schema"], Value::Null);

    let answer =
        ask(&format!("{}{}{{\"a\":1}}", "{\n".repeat(15), "{\"a\":\"x\"}\n".repeat(30)), Some(&schema)).await;
    let mistakes = answer["mistakes"].as_array().unwrap();
    let of_schema = mistakes.iter().filter(|mistake| mistake["kind"] == "schema").count();
    assert_eq!((mistakes.len(), of_schema, &answer["broken"]), (35, 20, &json!(30)));

    assert_eq!(first(&ask("{\"a\":1}", Some("{\n\"type\":,}")).await), ("schema", 2, "-", "malformed"));
    assert_eq!(first(&ask("{\"a\":1}\n{\"a\"", Some(&schema)).await), ("messages", 2, "-", "truncated"));
    assert_eq!(first(&ask("1", Some("{\"a\":1}")).await), ("schema", 1, "", "schema"));
}

#[tokio::test]
async fn a_line_that_cannot_be_read_leaves_the_others() {
    let answer = ask("{\"t\":21.5}\ntemperature=21.5;door=open\n{\"t\":22.0}", None).await;
    assert_eq!((&answer["messages"], &answer["unread"]), (&json!(3), &json!(1)));
    assert_eq!(
        (first(&answer), &answer["mistakes"][0]["message"]),
        (("messages", 2, "-", "malformed"), &json!(1))
    );
    let detail = answer["mistakes"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("text needs double quotes"), "{detail}");
    assert!(formats(&answer).contains(&"packed") && answer["plan"]["advice"]["choices"] != json!([]));
    let question =
        |message| json!({"messages": "1\nx\n3", "schema": null, "message": message, "format": "cbor"});
    for (message, hex, reason) in [(2, "03", Value::Null), (1, "", json!("message 2 cannot be read"))] {
        let (_, bytes) = send("/api/play/bytes", "application/json", question(message).to_string()).await;
        assert_eq!((&bytes["hex"], &bytes["reason"]), (&json!(hex), &reason));
    }
}

#[tokio::test]
async fn rows_of_csv_are_messages() {
    let rows = "time,temp,door\n2026-01-31T08:00:00Z,21.50,open\n2026-01-31T08:15:00Z,,closed\n";
    let answer = ask(rows, None).await;
    assert_eq!((&answer["messages"], &answer["mistakes"]), (&json!(2), &json!([])));
    let schema = answer["inferred"]["schema"].as_str().unwrap();
    assert!(
        schema.contains("\"multipleOf\": 0.01") && schema.contains("\"required\": [\"time\", \"door\"]"),
        "{schema}"
    );
    let broken = ask(&format!("{rows}2026-01-31T08:30:00Z,cold,open\n1,2\n"), Some(schema)).await;
    let places: Vec<_> =
        broken["mistakes"].as_array().unwrap().iter().map(|m| (&m["line"], &m["column"])).collect();
    assert_eq!(places, [(&json!(5), &json!(1)), (&json!(4), &json!(22))]);
}

#[tokio::test]
async fn bytes_are_explained() {
    for format in ["packed", "pson", "cbor", "msgpack", "protobuf", "avro", "struct"] {
        let schema = r#"{"type":"object","properties":{"t":{"type":"integer","minimum":0,"maximum":99}},"required":["t"],"additionalProperties":false}"#;
        let question =
            json!({"messages": "{\"t\":7}{\"t\":8}", "schema": schema, "message": 1, "format": format});
        let (_, answer) = send("/api/play/bytes", "application/json", question.to_string()).await;
        assert_eq!(answer["reason"], Value::Null, "{format}");
        let parts = answer["explanation"]["parts"].to_string();
        assert!(parts.contains('8') && !answer["hex"].as_str().unwrap().is_empty(), "{format} {parts}");
    }
    for (message, format, reason) in
        [(2, "cbor", "no message 3"), (0, "xml", "not explained"), (0, "x", "no format")]
    {
        let question = json!({"messages": "1 2", "schema": null, "message": message, "format": format});
        let (status, answer) = send("/api/play/bytes", "application/json", question.to_string()).await;
        assert!(status == StatusCode::OK && answer["reason"].as_str().unwrap().contains(reason), "{answer}");
    }
}

#[tokio::test]
async fn changes_that_save_bytes_are_listed() {
    let schema = r#"{"type":"object","properties":{"state":{"type":"string","maxLength":50},"t":{"type":"integer","minimum":0,"maximum":99}},"required":["state","t"],"additionalProperties":false}"#;
    let valid = "{\"state\":\"normal\",\"t\":7}\n{\"state\":\"tipped\",\"t\":8}\n".repeat(10);
    let messages = format!("{valid}x\n{{\"t\":\"broken\"}}");
    let question = json!({"messages": messages, "schema": schema});
    let (status, answer) = send("/api/play/savings", "application/json", question.to_string()).await;
    assert_eq!((status, &answer["largest_bytes"]), (StatusCode::OK, &json!(8)), "{answer}");
    let best = &answer["changes"][0];
    assert_eq!(
        (&best["field"], &best["line"]),
        (&json!("state"), &json!(r#""state": { "type": "string", "enum": ["normal", "tipped"] }"#))
    );
    assert!(best["schema_max_bytes"].as_u64() < answer["schema_max_bytes"].as_u64(), "{answer}");
    let question = json!({"messages": "1", "schema": "{"});
    let (_, none) = send("/api/play/savings", "application/json", question.to_string()).await;
    assert_eq!(none["changes"], json!([]));
}

#[tokio::test]
async fn bad_requests_are_problems() {
    let question = json!({"messages": "1", "links": [], "devices": 1, "per_day": 1});
    let with = |key: &str, value: Value| {
        let mut question = question.clone();
        question[key] = value;
        question.to_string()
    };
    for (content_type, body, status, code, kind, offset) in [
        ("text/plain", question.to_string(), 415, "content-type", None, None),
        ("application/json", "{\"messages\":".into(), 400, "malformed", Some("truncated"), Some(11)),
        ("application/json", "{\"messages\": 7}".into(), 400, "malformed", Some("type"), Some(13)),
        (
            "application/json",
            "{\"messages\":\"\\ud800\"}".into(),
            400,
            "malformed",
            Some("malformed"),
            Some(19),
        ),
        ("application/json", with("more", json!(1)), 400, "malformed", Some("type"), None),
        ("application/json", with("links", json!(["pigeon"])), 400, "link", Some("range"), None),
        ("application/json", "x".repeat((1 << 20) + 1), 413, "too-large", Some("limit"), Some(1 << 20)),
    ] {
        let (got, problem) = send("/api/play", content_type, body).await;
        assert_eq!(
            (got.as_u16(), problem["type"].as_str()),
            (status, Some(&*format!("urn:dunnage:problem:{code}")))
        );
        assert_eq!(problem["kind"].as_str(), kind, "{problem}");
        if offset.is_some() {
            assert_eq!(problem["offset"].as_u64(), offset, "{problem}");
        }
    }
    let mut fleet: Value = serde_json::from_str(&with("links", json!(["kineis"]))).unwrap();
    fleet["per_day"] = json!(1e9);
    let (status, problem) = send("/api/play", "application/json", fleet.to_string()).await;
    assert_eq!((status, &problem["type"]), (StatusCode::BAD_REQUEST, &json!("urn:dunnage:problem:fleet")));
}

#[tokio::test]
async fn hostile_messages_are_answered() {
    let nested = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let many: serde_json::Map<String, Value> = (0..3000).map(|n| (format!("field{n}"), json!(n))).collect();
    for (messages, kind) in [
        (Value::Object(many).to_string(), ""),
        (json!({"text": "x".repeat(300_000)}).to_string(), ""),
        (json!({"text": "x".repeat(1_000_000 / 2)}).to_string(), "limit"),
        (nested(31), ""),
        (nested(40), "limit"),
        ("[".repeat(300_000), "limit"),
        ("{\"a\":NaN}".into(), "malformed"),
        ("{\"a\":Infinity}".into(), "malformed"),
        ("{\"a\":1e999}".into(), "range"),
        (format!("{{\"a\":{}}}", "9".repeat(400)), "range"),
        ("{\"a\":-0.0,\"b\":1e308,\"c\":5e-324,\"d\":18446744073709551615}".into(), ""),
        (r#"{"שלום":1,"<b>":"<script>","":2,"__proto__":3,"a\u0000":4}"#.into(), ""),
        (r#"{"a":"\ud800"}"#.into(), "malformed"),
        ("\u{feff}{\"a\":1}".into(), ""),
        (format!("{}\n{}", "a,".repeat(150_000), "1,".repeat(40_000)), "limit"),
        (format!("a,{}\n1,2", "/x".repeat(150_000)), "limit"),
        ("{\"a\":1,\"a\":2}".into(), "malformed"),
        ("1\n".repeat(1001), "limit"),
        (String::new(), ""),
    ] {
        let answer = ask(&messages, None).await;
        let found = answer["mistakes"][0]["kind"].as_str().unwrap_or_default();
        assert!(
            found == kind || answer["kind"] == "limit",
            "{} {found}",
            &messages[..messages.len().min(40)]
        );
    }
}

#[tokio::test]
async fn hostile_schemas_are_answered() {
    let one = |schema: Value| json!({"type": "object", "properties": {"a": schema}}).to_string();
    let doubled = |n: usize| {
        let next = format!("#/$defs/d{}", n + 1);
        (format!("d{n}"), json!({"anyOf": [{"$ref": next}, {"type": "array", "items": {"$ref": next}}]}))
    };
    let mut choices: serde_json::Map<String, Value> = (0..30).map(doubled).collect();
    choices.insert("d30".into(), json!({"type": "integer"}));
    // Each level takes stack while a message is checked.
    let deep = (0..120).fold(json!({}), |inner, _| json!({"if": inner, "then": {"type": "object"}}));
    let optional: serde_json::Map<String, Value> =
        (0..1000).map(|n| (format!("p{n}"), json!({"type": "boolean"}))).collect();
    for (schema, mistaken) in [
        (one(json!({"type": "string", "pattern": "^(a{1,1000}){1,1000}$"})), true),
        (one(json!({"enum": (0..3000).collect::<Vec<_>>()})), false),
        (
            one(
                json!({"type": "array", "items": {"type": "boolean"}, "minItems": 1_000_000_000, "maxItems": 1_000_000_000}),
            ),
            false,
        ),
        (
            one(
                json!({"type": "array", "maxItems": 90, "items": {"type": "array", "maxItems": 90, "items": {"type": "boolean"}}}),
            ),
            false,
        ),
        (one(json!({"type": "string", "maxLength": 1_000_000_000})), false),
        (one(json!({"type": "number", "multipleOf": 1e-300})), true),
        (json!({"$defs": choices, "$ref": "#/$defs/d0"}).to_string(), true),
        (json!({"type": "object", "properties": optional, "additionalProperties": false}).to_string(), false),
        (json!({"$ref": "http://169.254.169.254/"}).to_string(), true),
        (json!({"$ref": "file:///etc/passwd"}).to_string(), true),
        (json!({"$ref": "../../../etc/passwd"}).to_string(), true),
        (deep.to_string(), false),
        (format!("{}{}", "[".repeat(5000), "]".repeat(5000)), true),
        ("\"".repeat(200_000), true),
    ] {
        let answer = ask("{}", Some(&schema)).await;
        let is_mistaken =
            answer["mistakes"].as_array().is_some_and(|all| all.iter().any(|it| it["in"] == "schema"));
        assert!(
            is_mistaken == mistaken || answer["kind"] == "limit",
            "{}: {}",
            &schema[..schema.len().min(90)],
            answer["mistakes"]
        );
        assert!(!answer.to_string().contains("root:"), "a file was read");
    }
}

/// A question whose answer would take minutes: each level of the messages is checked twice.
fn slow() -> Request<Body> {
    let schema = r##"{"type":"array","items":{"$ref":"#","not":{"not":{"$ref":"#"}}}}"##;
    let messages = format!("{}{}\n", "[".repeat(30), "]".repeat(30)).repeat(100);
    play(&messages, Some(schema))
}

fn play(messages: &str, schema: Option<&str>) -> Request<Body> {
    let question = json!({"messages": messages, "schema": schema, "links": [], "devices": 1, "per_day": 1});
    let request = Request::post("/api/play").header(header::CONTENT_TYPE, "application/json");
    request.body(Body::from(question.to_string())).unwrap()
}

/// The number of processes that compute for this one.
fn workers(parent: u32) -> usize {
    let of = |process: &std::path::Path| {
        let line = std::fs::read_to_string(process.join("cmdline")).unwrap_or_default();
        let status = std::fs::read_to_string(process.join("status")).unwrap_or_default();
        line.contains("playground-worker") && status.contains(&format!("\nPPid:\t{parent}\n"))
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| of(&entry.path())).count()
}

/// The process and its processor time belong to the client. These tests count processes, so they are one.
#[tokio::test(flavor = "multi_thread")]
#[cfg(target_os = "linux")]
async fn work_ends_with_its_client_at_its_limit_and_when_others_wait() {
    let router = router();
    let started = Instant::now();
    let alone = tokio::spawn(router.clone().oneshot(slow()));
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = workers(std::process::id());
    assert!(before >= 1);
    alone.abort();
    assert!(alone.await.unwrap_err().is_cancelled());
    let left = Instant::now();
    while workers(std::process::id()) >= before {
        assert!(left.elapsed() < Duration::from_secs(5), "the work goes on without its client");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(started.elapsed() < WORK, "the limit ended it");

    let started = Instant::now();
    let slow_one = tokio::spawn(router.clone().oneshot(slow()));
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(router.clone().oneshot(play("1", None)).await.unwrap().status(), StatusCode::OK);
    assert!(started.elapsed() < WORK, "{:?}", started.elapsed());
    let gave_way = slow_one.await.unwrap().unwrap();
    assert_eq!(gave_way.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let problem = to_bytes(gave_way.into_body(), usize::MAX).await.unwrap();
    assert!(String::from_utf8_lossy(&problem).contains("while others wait"), "{problem:?}");

    let started = Instant::now();
    let answer = router.oneshot(slow()).await.unwrap();
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let elapsed = started.elapsed();
    assert!(elapsed >= WORK && elapsed < WORK + Duration::from_secs(5), "{elapsed:?}");
}

/// A few bytes of schema can make others compute much, so the weight of the schema limits the work: the heaviest accepted schemas stay
/// within the memory of the computing process, and heavier ones are refused.
#[tokio::test]
async fn the_heaviest_schemas_stay_within_the_memory_of_an_answer() {
    let doubled = |leaf: Value, times: usize| {
        let mut definitions = serde_json::Map::from_iter([("d0".to_owned(), leaf)]);
        for i in 1..=times {
            let one = json!({"$ref": format!("#/$defs/d{}", i - 1)});
            definitions.insert(
                format!("d{i}"),
                json!({"type": "object", "properties": {"x": one, "y": one}, "additionalProperties": false}),
            );
        }
        json!({"$ref": format!("#/$defs/d{times}"), "$defs": definitions})
    };
    let closed = |count: usize, kind: &Value| {
        let fields: serde_json::Map<_, _> = (0..count).map(|n| (format!("n{n}"), kind.clone())).collect();
        json!({"type": "object", "properties": fields, "additionalProperties": false})
    };
    let words = |count: usize| (0..count).map(|n| format!("v{n}")).collect::<Vec<_>>();
    let text = json!({"type": "string", "maxLength": 9});
    for (what, schema, refused) in [
        ("56 KB that would be gigabytes", doubled(json!({"enum": words(5000)}), 14), true),
        ("properties behind doublings", doubled(closed(100, &json!(true)), 9), true),
        ("the most values", json!({"enum": words(9000)}), false),
        ("values behind doublings", doubled(json!({"enum": words(500)}), 4), false),
        ("the most properties", doubled(closed(9, &text), 8), false),
        ("one wide object", closed(2400, &text), false),
        (
            "patterns",
            closed(130, &json!({"type": "string", "pattern": "^(?:[a-f]{1,20}|[0-9A-F]{1,40})$"})),
            false,
        ),
    ] {
        let schema = schema.to_string();
        let started = Instant::now();
        let (status, answer) = send_request(play("{}", Some(&schema))).await;
        println!("{what}: {status} after {:?}", started.elapsed());
        assert!(!answer["detail"].as_str().unwrap_or_default().contains("memory"), "{what}: {answer}");
        assert!(started.elapsed() < WORK + Duration::from_secs(5), "{what}");
        let mistake = answer["mistakes"][0]["text"].as_str().or(answer["mistakes"][0]["detail"].as_str());
        let is_heavy = answer["mistakes"].to_string().contains("weighs more than 10000");
        assert_eq!(is_heavy, refused, "{what}: {mistake:?}");
    }
}

/// A client that does not finish its request holds no turn.
#[tokio::test]
async fn requests_that_do_not_arrive_do_not_stop_others() {
    let router = router();
    let mut stuck = Vec::new();
    for _ in 0..8 {
        let pieces = endless();
        let request = Request::post("/api/play").header(header::CONTENT_TYPE, "application/json");
        stuck.push(tokio::spawn(router.clone().oneshot(request.body(pieces).unwrap())));
    }
    tokio::task::yield_now().await;
    let question = json!({"messages": "1", "links": [], "devices": 1, "per_day": 1}).to_string();
    let request = Request::post("/api/play").header(header::CONTENT_TYPE, "application/json");
    let answer = router.clone().oneshot(request.body(Body::from(question)).unwrap());
    let answer =
        tokio::time::timeout(Duration::from_secs(5), answer).await.expect("an answer in time").unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    for request in stuck {
        let response = request.await.unwrap().unwrap();
        assert_eq!(response.status(), StatusCode::REQUEST_TIMEOUT);
    }
}

/// A body whose end never arrives.
fn endless() -> Body {
    struct Endless;
    impl axum::body::HttpBody for Endless {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
            std::task::Poll::Pending
        }
    }
    Body::new(Endless)
}
