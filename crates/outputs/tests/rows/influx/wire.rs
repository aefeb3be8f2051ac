//! Requests and answers, with a server that answers each request as a script says.

use super::{deliver, open_at, retried};
use crate::postgres::message;
use dunnage_outputs::{Class, FailureKind, Message, Output};
use dunnage_test_support::scripted::{Reply, Request, Scripted};
use std::{sync::Arc, time::Duration};

const V1: &str = "/write?db=a&rp=b";
const V2: &str = "/api/v2/write?org=a&bucket=b%20c";

fn output(
    path: &str,
    settings: &str,
    script: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static,
) -> (Scripted, Arc<dyn Output>) {
    let server = Scripted::start(script);
    let output = open_at(&format!("http://{}{path}", server.address), settings).unwrap();
    (server, output)
}

fn of(range: std::ops::Range<usize>) -> Vec<Message> {
    range.map(|n| message(n, "", &format!("{{\"n\":{n}}}"))).collect()
}

fn is_bad(request: &Request, bad: usize) -> bool {
    request.body.contains(&format!("n={bad}.0 "))
}

#[test]
fn a_request_has_the_database_the_token_and_a_line_for_each_message() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    for (path, token, expected, query) in [
        (V1, "user:pass:word\n", "Basic dXNlcjpwYXNzOndvcmQ=", "/write?db=a&rp=b&precision=n"),
        (V2, "secret==\n", "Token secret==", "/api/v2/write?org=a&bucket=b%20c&precision=ns"),
    ] {
        std::fs::write(&file, token).unwrap();
        let (server, output) =
            output(path, &format!("token_file = {file:?}"), |_, _| Reply::Status("204 No Content"));
        assert_eq!(deliver(&output, &of(0..3)), Ok(()));
        let requests = server.requests();
        let [request] = &requests[..] else { panic!("{requests:?}") };
        assert_eq!((&*request.method, &*request.path), ("POST", query));
        assert_eq!(request.headers["authorization"], expected);
        assert_eq!(request.headers["content-encoding"], "gzip");
        assert_eq!(
            request.body,
            "messages,device=d0 message_bytes=0i,n=0.0 1767225600000001000\n\
             messages,device=d1 message_bytes=0i,n=1.0 1767225600001001001\n\
             messages,device=d2 message_bytes=0i,n=2.0 1767225600002001002\n"
        );
        assert_eq!(output.secrets().len(), 1);
    }
    std::fs::write(&file, "secret").unwrap();
    let error = open_at(&format!("http://127.0.0.1:1{V1}"), &format!("token_file = {file:?}"));
    let error = error.err().unwrap();
    assert!(error.contains("token_file: must be USER:PASSWORD") && !error.contains("secret"), "{error}");
}

#[test]
fn each_status_is_a_success_a_refusal_or_a_retry_with_its_reason() {
    const WHY: &str = r#"{"error":"partial write: field type conflict dropped=1"}"#;
    let retry = |class| Err((FailureKind::Retry(None), class));
    let refused = Err((FailureKind::Refused, Class::Other));
    for (status, text, expected) in [
        ("204 No Content", "", Ok(())),
        ("200 OK", "", Ok(())),
        ("400 Bad Request", WHY, refused),
        ("422 Unprocessable Entity", WHY, refused),
        ("413 Content Too Large", "", refused),
        // A proxy, or a port with TLS.
        ("400 Bad Request", "Client sent an HTTP request to an HTTPS server.", retry(Class::Other)),
        ("401 Unauthorized", WHY, retry(Class::Denied)),
        ("403 Forbidden", WHY, retry(Class::Denied)),
        ("404 Not Found", WHY, retry(Class::Missing)),
        ("302 Found\r\nLocation: /elsewhere", "", retry(Class::Other)),
        ("500 Internal Server Error", WHY, retry(Class::Failing)),
        ("503 Service Unavailable", WHY, retry(Class::Busy)),
        (
            "429 Too Many Requests\r\nRetry-After: 7",
            WHY,
            Err((FailureKind::Retry(Some(Duration::from_secs(7))), Class::Busy)),
        ),
    ] {
        let (server, output) = output(V1, "", move |_, _| Reply::Text(status, text));
        let result = deliver(&output, &of(0..1));
        if let Err(failed) = &result {
            assert!(
                failed.reason.contains(&status[..3]) && failed.reason.contains(text),
                "{}",
                failed.reason
            );
        }
        assert_eq!(result.map_err(|failed| (failed.kind, failed.class)), expected, "{status}");
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[test]
fn a_lost_answer_and_a_late_one_are_retried() {
    for (hangs, class) in [(false, Class::Connection), (true, Class::Timeout)] {
        let script = move |_: &Request, _| if hangs { Reply::Hang } else { Reply::Drop };
        let (_server, output) = output(V2, "timeout_seconds = 1", script);
        let reason = retried(deliver(&output, &of(0..1)), class);
        assert!(reason.contains("/api/v2/write") && !reason.contains("bucket"), "{reason}");
    }
}

/// The message that is refused is found by halves, and those before it count as delivered.
#[test]
fn of_a_batch_one_message_is_refused() {
    for bad in 0..8 {
        let (server, output) = output(V1, "", move |request, _| match is_bad(request, bad) {
            true => Reply::Text("400 Bad Request", "{\"error\":\"partial write\"}"),
            false => Reply::Status("204 No Content"),
        });
        let failed = deliver(&output, &of(0..8)).unwrap_err();
        assert_eq!((failed.kind, failed.delivered), (FailureKind::Refused, bad));
        let requests = server.requests();
        assert!(requests.len() <= 7, "{} requests", requests.len());
        assert_eq!(requests.last().unwrap().body.lines().count(), 1);
    }
}

#[test]
fn a_request_that_is_too_large_is_divided_and_a_failure_counts_what_was_before() {
    let (server, small) = output(V2, "", |request, _| match request.body.lines().count() {
        0..=5 => Reply::Status("204 No Content"),
        _ => Reply::Status("413 Content Too Large"),
    });
    assert_eq!(deliver(&small, &of(0..100)), Ok(()));
    let mut taken: Vec<String> = Vec::new();
    for request in server.requests().iter().filter(|request| request.body.lines().count() <= 5) {
        taken.extend(request.body.lines().map(str::to_owned));
    }
    assert_eq!(taken.len(), 100);
    assert!(server.requests().len() < 50, "{}", server.requests().len());
    let (_server, fails) = output(V2, "", |request, _| match request.body.lines().count() {
        0..=50 if !is_bad(request, 60) => Reply::Status("204 No Content"),
        0..=50 => Reply::Status("503 Service Unavailable"),
        _ => Reply::Status("413 Content Too Large"),
    });
    let failed = deliver(&fails, &of(0..100)).unwrap_err();
    assert_eq!((failed.delivered, failed.class), (50, Class::Busy));
}

#[test]
fn a_message_without_a_line_is_refused_after_those_before_it_were_sent() {
    let (server, output) = output(V1, "", |_, _| Reply::Status("204 No Content"));
    let mut messages = of(0..5);
    messages[3].stored.json = format!("{{\"x\":\"{}\"}}", "y".repeat(70_000)).into();
    let failed = deliver(&output, &messages).unwrap_err();
    assert_eq!((failed.kind, failed.delivered), (FailureKind::Refused, 3));
    assert_eq!(server.requests()[0].body.lines().count(), 3);
    messages.rotate_left(3);
    let failed = deliver(&output, &messages).unwrap_err();
    assert_eq!((failed.delivered, server.requests().len()), (0, 1));
}
