//! Encodes and decodes every payload with every library.

use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};
use dunnage_bench_host::{for_each_library, for_each_payload, libraries::*, payloads::*};
use std::{hint::black_box, time::Duration};

fn encode<L: Library, P: Payload>(group: &mut BenchmarkGroup<WallTime>, message: &P::Owned) {
    let mut out = Vec::with_capacity(1024);
    group.bench_function(L::NAME, |bencher| {
        bencher.iter(|| {
            out.clear();
            L::encode(black_box(message), &mut out);
            black_box(out.as_slice());
        });
    });
}

fn decode<L: Library, P: Payload>(group: &mut BenchmarkGroup<WallTime>, message: &P::Owned) {
    let mut bytes = Vec::new();
    L::encode(message, &mut bytes);
    assert_eq!(L::decode::<P::Owned>(&bytes), *message, "{} decodes a different message", L::NAME);
    group.bench_function(L::NAME, |bencher| bencher.iter(|| L::decode_best::<P>(black_box(&bytes))));
}

fn payload<P: Payload>(criterion: &mut Criterion) {
    let message = P::load();
    let mut group = criterion.benchmark_group(format!("encode/{}", P::NAME));
    macro_rules! with {
        ($library:ident) => {
            encode::<$library, P>(&mut group, &message);
        };
    }
    for_each_library!(with);
    group.finish();

    let mut group = criterion.benchmark_group(format!("decode/{}", P::NAME));
    macro_rules! with {
        ($library:ident) => {
            decode::<$library, P>(&mut group, &message);
        };
    }
    for_each_library!(with);
    group.finish();
}

fn all(criterion: &mut Criterion) {
    macro_rules! with {
        ($payload:ident) => {
            payload::<$payload>(criterion);
        };
    }
    for_each_payload!(with);
}

criterion_group! {
    name = codecs;
    config = Criterion::default()
        .without_plots()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(700))
        .sample_size(100)
        .nresamples(1000);
    targets = all
}
criterion_main!(codecs);
