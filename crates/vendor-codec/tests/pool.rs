//! Codecs on the threads of a pool.

#![allow(clippy::unwrap_used, missing_docs)]

use dunnage_pson::{Kind, Value};
use dunnage_vendor_codec::{Codec, Error, Job, Output, Pool, limits};
use std::{
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

fn codec(text: &str) -> Arc<Codec> {
    Codec::compile("codec.js", text.into()).unwrap()
}

fn decode(pool: &Pool, codec: &Arc<Codec>, byte: u8) -> mpsc::Receiver<Result<Output, Error>> {
    let (sender, receiver) = mpsc::channel();
    let job =
        Job { codec: Arc::clone(codec), bytes: vec![byte], port: Some(1), received_at: 0, lenient: false };
    pool.decode(job, move |result| drop(sender.send(result)));
    receiver
}

const QUICK: &str = "function decodeUplink(input) { return { data: { x: input.bytes[0] } } }";

#[test]
fn a_slow_codec_delays_others_by_its_turns_only() {
    let pool = Pool::default();
    let slow = codec("function decodeUplink() { while (true) {} }");
    let quick = codec(QUICK);
    let waiting: Vec<_> = (0..100).map(|_| decode(&pool, &slow, 0)).collect();
    let begun = Instant::now();
    for byte in 0..10 {
        let output = decode(&pool, &quick, byte).recv().unwrap().unwrap();
        assert_eq!(output.data.get("x"), Some(&Value::U64(byte.into())));
    }
    let last = waiting.last().unwrap();
    assert!(
        last.try_recv().is_err(),
        "the quick codec waited for all of the slow one: {:?}",
        begun.elapsed()
    );
}

#[test]
fn a_thread_whose_codec_does_not_end_is_replaced() {
    let pool = Pool::default();
    // A search that the engine does not interrupt, for minutes.
    let endless = codec(
        "function decodeUplink(input) {
           if (input.bytes[0] === 0) return { data: { x: 0 } };
           return { data: { x: 'a'.repeat(3000000).indexOf('a'.repeat(1000000) + 'b') } };
         }",
    );
    let quick = codec(QUICK);
    let lost: Vec<_> = (0..4).map(|_| decode(&pool, &endless, 1)).collect();
    for receiver in &lost {
        let error = receiver.recv_timeout(4 * limits::ABANDON).unwrap().unwrap_err();
        assert!(error.kind == Kind::Limit && error.to_string().starts_with("codec.js: "), "{error}");
    }
    // Two of its threads run on, so the codec is out of order, and others are not.
    assert!(decode(&pool, &endless, 0).recv_timeout(Duration::from_secs(1)).unwrap().is_err());
    assert!(decode(&pool, &quick, 1).recv_timeout(Duration::from_secs(1)).unwrap().is_ok());
}
