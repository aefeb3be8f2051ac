//! Prints how long each library takes to encode and decode each payload, as JSON, one time in a line.
//!
//! The libraries take turns of some microseconds, so that all of them meet the same load of the machine. One process can be slower
//! than the next from start to end, so the caller runs this program several times.

use dunnage_bench_host::{for_each_library, for_each_payload, libraries::*, payloads::*};
use serde_json::json;
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 400;
const TURN: Duration = Duration::from_micros(50);

/// A library's name, and a function that encodes or decodes a message as often as it is asked to.
type Task<'a> = (&'static str, Box<dyn FnMut(u32) + 'a>);

fn main() {
    macro_rules! with {
        ($payload:ident) => {
            payload::<$payload>();
        };
    }
    for_each_payload!(with);
}

fn payload<P: Payload>() {
    let message = P::load();
    let (mut encoding, mut decoding) = (Vec::new(), Vec::new());
    macro_rules! with {
        ($library:ident) => {
            encoding.push(encode::<$library, P>(&message));
            decoding.push(decode::<$library, P>(&message));
        };
    }
    for_each_library!(with);
    measure("encode", P::NAME, encoding);
    measure("decode", P::NAME, decoding);
}

fn encode<L: Library, P: Payload>(message: &P::Owned) -> Task<'_> {
    let mut out = Vec::with_capacity(1024);
    let run = move |times| {
        for _ in 0..times {
            out.clear();
            L::encode(black_box(message), &mut out);
            black_box(out.as_slice());
        }
    };
    (L::NAME, Box::new(run))
}

fn decode<'a, L: Library, P: Payload>(message: &P::Owned) -> Task<'a> {
    let mut bytes = Vec::new();
    L::encode(message, &mut bytes);
    assert_eq!(L::decode::<P::Owned>(&bytes), *message, "{} decodes a different message", L::NAME);
    let run = move |times| (0..times).for_each(|_| L::decode_best::<P>(black_box(&bytes)));
    (L::NAME, Box::new(run))
}

fn measure(operation: &str, payload: &str, mut tasks: Vec<Task<'_>>) {
    let nanoseconds = |run: &mut dyn FnMut(u32), times: u32| {
        let begun = Instant::now();
        run(times);
        begun.elapsed().as_nanos() as f64 / f64::from(times)
    };
    let turns: Vec<u32> = tasks
        .iter_mut()
        .map(|(_, run)| (TURN.as_nanos() as f64 / nanoseconds(run, 1000).max(1.0)).max(1.0) as u32)
        .collect();
    let mut times = vec![Vec::with_capacity(ROUNDS); tasks.len()];
    for _ in 0..ROUNDS {
        for (((_, run), turn), times) in tasks.iter_mut().zip(&turns).zip(&mut times) {
            times.push(nanoseconds(run, *turn));
        }
    }
    for ((library, _), times) in tasks.iter().zip(times) {
        let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
        let slowest = times.iter().copied().fold(0.0, f64::max);
        let time = json!({"operation": operation, "payload": payload, "library": library,
            "fastest_ns": fastest, "slowest_ns": slowest, "samples": times.len()});
        println!("{time}");
    }
}
