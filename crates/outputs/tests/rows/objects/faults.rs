//! Stores that are down, refuse, or answer wrongly.

use super::{Bucket, environment, message, messages};
use dunnage_outputs::{Catalog, Class, Failed, FailureKind, Output, objects::Objects};
use dunnage_test_support::{faulty::Fault, runtime, s3::S3};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const SLOW_DOWN: &str =
    "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>";
const INTERNAL: &str =
    "<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>";
const DENIED: &str = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
const SKEWED: &str = "<Error><Code>RequestTimeTooSkewed</Code><Message>The difference between the request time and the current time is too large.</Message></Error>";

/// Asserts that a call failed for the store's sake, and returns the reason.
fn retried(result: Result<(), Failed>, expected: Class) -> String {
    let failed = result.unwrap_err();
    let told = (failed.delivered, failed.kind, failed.class);
    assert_eq!(told, (0, FailureKind::Retry(None), expected), "{}", failed.reason);
    failed.reason
}

/// Makes the fault at each of the first `steps` requests, and then none. Returns the reason of the last one.
fn at_each_step(fault: &Fault, expected: Class, steps: usize) -> String {
    let bucket = Bucket::new();
    let mut last = String::new();
    for step in 0..steps {
        let output = bucket.output("parquet", 0);
        let fault = fault.clone();
        bucket.proxy.set(move |_, n| if n == step { fault.clone() } else { Fault::None });
        last = retried(bucket.deliver(&output, &messages(1..=20)), expected);
        assert!(last.starts_with(&format!("s3://{}/pre/fix/", bucket.name)), "{last}");
    }
    bucket.proxy.set(|_, _| Fault::None);
    assert_eq!(bucket.deliver(&bucket.output("parquet", 0), &messages(1..=30)), Ok(()));
    assert_eq!(bucket.all_ids(), (1..=30).collect::<Vec<_>>());
    last
}

#[test]
fn a_store_that_is_busy_or_fails_is_retried() {
    let reason = at_each_step(&Fault::Answer("503 Slow Down", SLOW_DOWN), Class::Busy, 2);
    assert!(
        reason.ends_with("b-1.parquet: 503 Service Unavailable: SlowDown: Please reduce your request rate."),
        "{reason}"
    );
    let reason = at_each_step(&Fault::Answer("500 Internal Server Error", INTERNAL), Class::Failing, 2);
    assert!(reason.contains("InternalError: We encountered"), "{reason}");
}

#[test]
fn access_that_is_denied_and_a_wrong_clock_are_retried_and_told() {
    let reason = at_each_step(&Fault::Answer("403 Forbidden", DENIED), Class::Denied, 2);
    assert!(reason.ends_with("403 Forbidden: AccessDenied: Access Denied"), "{reason}");
    let reason = at_each_step(&Fault::Answer("403 Forbidden", SKEWED), Class::Denied, 2);
    assert!(reason.contains("RequestTimeTooSkewed: The difference"), "{reason}");
}

#[test]
fn a_connection_that_is_cut_in_the_body_or_after_it_is_retried() {
    at_each_step(&Fault::Half, Class::Connection, 2);
    at_each_step(&Fault::Unanswered, Class::Connection, 4);
    // The list is cut off in its middle. The answers about objects have no body.
    at_each_step(&Fault::Truncated, Class::Connection, 1);
}

/// The list says that there is nothing, and the object is there; and a confirmation that is none.
#[test]
fn answers_that_are_wrong_lose_nothing_and_double_nothing() {
    let bucket = Bucket::new();
    bucket.proxy.set(|_, _| Fault::Header("etag", "\"00000000000000000000000000000000\""));
    assert_eq!(bucket.deliver(&bucket.output("parquet", 0), &messages(1..=5)), Ok(()));
    let empty = "<ListBucketResult><Name>b</Name><IsTruncated>false</IsTruncated></ListBucketResult>";
    bucket.proxy.set(
        move |line, _| if line.starts_with("GET") { Fault::Answer("200 OK", empty) } else { Fault::None },
    );
    assert_eq!(bucket.deliver(&bucket.output("parquet", 0), &messages(1..=9)), Ok(()));
    assert_eq!(bucket.all_ids(), (1..=9).collect::<Vec<_>>());
    bucket.proxy.set(|line, _| {
        if line.starts_with("PUT") && line.contains("/b-10.parquet ") {
            Fault::Answer("200 OK\r\netag: \"1\"", "")
        } else {
            Fault::None
        }
    });
    let output = bucket.output("parquet", 9);
    retried(bucket.deliver(&output, &messages(10..=12)), Class::Missing);
    bucket.proxy.set(|_, _| Fault::None);
    assert_eq!(bucket.deliver(&output, &messages(10..=12)), Ok(()));
    assert_eq!(bucket.all_ids(), (1..=12).collect::<Vec<_>>());
    // The object has fewer bytes than were written, as after damage.
    let key = "schema=__HIVE_DEFAULT_PARTITION__/date=2026-01-01/b-10.parquet";
    let file = bucket.server.bucket(&bucket.name).join("pre/fix").join(key);
    let whole = std::fs::read(&file).unwrap();
    std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(7).unwrap();
    let reason = retried(bucket.deliver(&bucket.output("parquet", 9), &messages(10..=15)), Class::Failing);
    assert!(reason.contains("b-10.parquet: has 7 bytes instead of"), "{reason}");
    std::fs::write(&file, whole).unwrap();
    assert_eq!(bucket.deliver(&bucket.output("parquet", 9), &messages(10..=15)), Ok(()));
    assert_eq!(bucket.all_ids(), (1..=15).collect::<Vec<_>>());
}

#[test]
fn a_store_that_overwrites_what_is_there_is_not_used() {
    let bucket = Bucket::new();
    let output = bucket.output("ndjson", 0);
    let put = |line: &str| line.starts_with("PUT") && line.contains("_manifests");
    // It answers to the second manifest as if it had stored it.
    bucket.proxy.set(move |line, n| {
        if n > 3 && put(line) { Fault::Answer("200 OK\r\netag: \"1\"", "") } else { Fault::None }
    });
    for _ in 0..2 {
        let reason = retried(bucket.deliver(&output, &messages(1..=3)), Class::Other);
        assert!(reason.contains("ignores If-None-Match"), "{reason}");
    }
}

#[test]
fn a_store_that_accepts_and_never_answers_is_given_up() {
    let bucket = Bucket::new();
    let output = bucket.output("ndjson", 0);
    for step in 0..2 {
        bucket.proxy.set(move |_, n| if n == step { Fault::Hang } else { Fault::None });
        let begun = Instant::now();
        retried(bucket.deliver(&output, &messages(1..=3)), Class::Timeout);
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
    bucket.proxy.set(|_, _| Fault::None);
    assert_eq!(bucket.deliver(&output, &messages(1..=3)), Ok(()));
}

#[test]
fn a_bucket_that_is_missing_is_waited_for() {
    let bucket = Bucket::new();
    let folder = bucket.server.bucket(&bucket.name);
    std::fs::remove_dir(&folder).unwrap();
    let output = bucket.output("ndjson", 0);
    let reason = retried(bucket.deliver(&output, &messages(1..=3)), Class::Missing);
    assert!(reason.contains("NoSuchBucket"), "{reason}");
    std::fs::create_dir(&folder).unwrap();
    assert_eq!(bucket.deliver(&output, &messages(1..=3)), Ok(()));
}

#[test]
fn wrong_credentials_are_denied_and_not_shown() {
    let bucket = Bucket::new();
    let text = format!(
        "url = 's3://{}'\nendpoint = 'http://{}'\nkind = 'ndjson'",
        bucket.name, bucket.proxy.address
    );
    let wrong = environment().map(|(name, value)| (name, value.replace("secret", "guess")));
    let output = Objects::with(&toml::from_str(&text).unwrap(), wrong, Duration::from_secs(3)).unwrap();
    output.learn(Arc::new(NoSchemas));
    let reason = retried(bucket.deliver(&output, &messages(1..=3)), Class::Denied);
    assert!(reason.contains("SignatureDoesNotMatch") && !reason.contains("guess"), "{reason}");
}

#[test]
fn a_server_that_was_down_gets_the_messages_when_it_is_back() {
    let mut server = S3::start();
    server.make("bucket");
    let text = format!("url = 's3://bucket'\nendpoint = 'http://{}'\nkind = 'parquet'", server.address);
    let output =
        Objects::with(&toml::from_str(&text).unwrap(), environment(), Duration::from_secs(3)).unwrap();
    output.learn(Arc::new(NoSchemas));
    let runtime = runtime();
    assert_eq!(runtime.block_on(output.deliver(&messages(1..=100))), Ok(()));
    server.kill();
    for _ in 0..2 {
        retried(runtime.block_on(output.deliver(&messages(101..=200))), Class::Connection);
    }
    server.restart();
    assert_eq!(runtime.block_on(output.deliver(&messages(101..=300))), Ok(()));
    assert_eq!(server.objects("bucket").keys().filter(|key| key.ends_with(".parquet")).count(), 2);
}

#[test]
fn large_messages_and_odd_names_are_stored() {
    let bucket = Bucket::new();
    let names = ["..", "#", "+", "\0", "a b", "__HIVE_DEFAULT_PARTITION__", "é", &"x".repeat(200)];
    let mut sent: Vec<_> = names.iter().zip(1..).map(|(name, id)| message(id, name, 0)).collect();
    let large = format!("{{\"n\":\"{}\"}}", "x".repeat(1 << 20));
    sent.extend((9..=12).map(|id| {
        let mut message = message(id, ["", "s"][id as usize % 2], 0);
        message.stored.json = large.as_str().into();
        message.stored.device = ["/", "+", "#", "\0"][id as usize % 4].repeat(50);
        message
    }));
    for kind in ["ndjson", "csv", "parquet"] {
        assert_eq!(bucket.deliver(&bucket.output(kind, 0), &sent), Ok(()));
        assert_eq!(bucket.deliver(&bucket.output(kind, 0), &sent), Ok(()));
    }
    let ids = bucket.ids();
    assert_eq!(ids.len(), 3 * (names.len() + 2));
    assert_eq!(ids.into_values().flatten().count(), 3 * sent.len());
}

/// A catalog without schemas.
struct NoSchemas;

impl Catalog for NoSchemas {
    fn path(&self, _: &str, _: Option<&str>) -> Arc<str> {
        "".into()
    }

    fn record(&self, _: &str) -> Option<Arc<dunnage_register::Record>> {
        None
    }

    fn media_type(&self, _: &str) -> Option<&'static str> {
        None
    }

    fn versions<'a>(&'a self, _: &str) -> Box<dyn Iterator<Item = &'a dunnage_schema::Model> + 'a> {
        Box::new(std::iter::empty())
    }
}
