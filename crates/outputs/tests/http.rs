//! The HTTP output with a server that answers each request as a script says.

#![allow(clippy::unwrap_used)]

use dunnage_outputs::{Class, Failed, FailureKind, Message, Output, OutputKind, OutputSettings, open};
use dunnage_test_support::{
    runtime,
    scripted::{Reply, Request, Scripted},
};
use std::{
    sync::{Arc, LazyLock},
    time::{Duration, SystemTime},
};
use tokio::runtime::Runtime;

/// An output to a scripted server. `settings` are further lines of its settings.
fn output(
    settings: &str,
    script: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static,
) -> (Scripted, Arc<dyn Output>) {
    let server = Scripted::start(script);
    let text = format!("url = 'http://{}/in?key=hidden'\n{settings}", server.address);
    let output = open(&OutputSettings::new("hook", OutputKind::Http(toml::from_str(&text).unwrap())));
    (server, output.unwrap())
}

fn message(n: u64, json: &str) -> Message {
    let mut message = Message::default();
    message.stored.stable_id = format!("m{n}");
    message.stored.device = "d".into();
    message.stored.json = json.into();
    message
}

fn deliver(output: &Arc<dyn Output>, messages: &[Message]) -> Result<(), Failed> {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(runtime); // one for all, because the client keeps connections
    RUNTIME.block_on(output.deliver(messages))
}

#[test]
fn each_status_is_a_success_a_refusal_or_a_retry_with_its_reason() {
    let retry = |class| Err((FailureKind::Retry(None), class));
    let refused = Err((FailureKind::Refused, Class::Other));
    for (status, expected) in [
        ("200 OK", Ok(())),
        ("204 No Content", Ok(())),
        ("409 Conflict", Ok(())), // the receiver has it already
        ("400 Bad Request", refused),
        ("413 Content Too Large", refused),
        ("415 Unsupported Media Type", refused),
        ("422 Unprocessable Content", refused),
        ("302 Found\r\nLocation: /elsewhere\r\n", retry(Class::Other)),
        ("401 Unauthorized", retry(Class::Denied)),
        ("403 Forbidden", retry(Class::Denied)),
        ("404 Not Found", retry(Class::Missing)),
        ("500 Internal Server Error", retry(Class::Failing)),
        ("503 Service Unavailable", retry(Class::Busy)),
        (
            "429 Too Many Requests\r\nRetry-After: 7\r\n",
            Err((FailureKind::Retry(Some(Duration::from_secs(7))), Class::Busy)),
        ),
    ] {
        let (server, output) = output("", move |_, _| Reply::Status(status));
        let result = deliver(&output, &[message(1, "1")]);
        if let Err(failed) = &result {
            assert!(
                failed.reason.contains(&status[..3]) && !failed.reason.contains("hidden"),
                "{}",
                failed.reason
            );
        }
        assert_eq!(result.map_err(|failed| (failed.kind, failed.class)), expected, "{status}");
        assert_eq!(server.requests().len(), 1, "{status}: redirects are not followed");
        assert_eq!(output.duplicates(), u64::from(status.starts_with("409")), "{status}");
    }
}

#[test]
fn a_date_to_retry_after_is_a_time_to_wait() {
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
    let status: &'static str = format!("503 Service Unavailable\r\nRetry-After: {date}\r\n").leak();
    let (_server, output) = output("", move |_, _| Reply::Status(status));
    let failed = deliver(&output, &[message(1, "1")]).unwrap_err();
    assert!(
        matches!(failed.kind, FailureKind::Retry(Some(wait)) if (80..=100).contains(&wait.as_secs())),
        "{failed:?}"
    );
}

#[test]
fn a_lost_answer_and_a_late_one_are_retried() {
    for (hangs, class) in [(false, Class::Connection), (true, Class::Timeout)] {
        let script = move |_: &Request, _| if hangs { Reply::Hang } else { Reply::Drop };
        let (_server, output) = output("timeout_seconds = 1", script);
        let failed = deliver(&output, &[message(1, "1")]).unwrap_err();
        assert_eq!((failed.kind, failed.class), (FailureKind::Retry(None), class), "{}", failed.reason);
    }
}

/// The message that is refused is found by halves, and those before it count as delivered.
#[test]
fn of_a_batch_one_message_is_refused() {
    for bad in 0..8 {
        let script = move |request: &Request, _| match request.body.contains(&format!("\"name\":\"m{bad}\""))
        {
            true => Reply::Status("422 Unprocessable Content"),
            false => Reply::Status("204 No Content"),
        };
        let (server, output) = output("batch = 8", script);
        let messages: Vec<_> = (0..8).map(|n| message(n, "{\"t\":1.50}")).collect();
        let failed = deliver(&output, &messages).unwrap_err();
        assert_eq!((failed.kind, failed.delivered), (FailureKind::Refused, bad as usize));
        let requests = server.requests();
        assert_eq!(requests[0].body.lines().count(), 8);
        assert!(requests.len() <= 7, "{} requests", requests.len());
        let refused = requests.last().unwrap();
        assert!(
            refused.body.contains("\"value\":{\"t\":1.50}"),
            "the value is as it was stored: {}",
            refused.body
        );
        assert_eq!(refused.headers["content-type"], "application/x-ndjson");
    }
}

/// The key of a request is the same when the same messages are sent again, and another one for others.
#[test]
fn requests_have_the_key_of_their_messages() {
    let (server, output) = output("batch = 8", |_, _| Reply::Status("204 No Content"));
    let messages: Vec<_> = (0..3).map(|n| message(n, "1")).collect();
    for sent in [&messages[..], &messages, &messages[..2], &messages[2..]] {
        deliver(&output, sent).unwrap();
    }
    let keys: Vec<_> =
        server.requests().iter().map(|request| request.headers["idempotency-key"].clone()).collect();
    assert_eq!(keys[0], keys[1]);
    assert_ne!(keys[0], keys[2]);
    assert_eq!(keys[3], "m2");
}
