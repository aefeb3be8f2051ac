//! Encodes and decodes the first example of each bundled schema with the schema-driven codecs: packed, prost-reflect and the other formats.

use criterion::{Criterion, criterion_group, criterion_main};
use dunnage_bench_host::schema_driven::{SCHEMAS, codecs};
use std::{hint::black_box, time::Duration};

/// The same allocator as in the program `dunnage`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn all(criterion: &mut Criterion) {
    for schema in SCHEMAS {
        let (message, codecs) = codecs(schema);
        let mut group = criterion.benchmark_group(format!("schema-encode/{schema}"));
        for codec in &codecs {
            let mut out = Vec::with_capacity(2048);
            group.bench_function(codec.name, |bencher| {
                bencher.iter(|| {
                    out.clear();
                    codec.encode(black_box(&message), &mut out);
                    black_box(out.as_slice());
                });
            });
        }
        group.finish();
        let mut group = criterion.benchmark_group(format!("schema-decode/{schema}"));
        for codec in &codecs {
            group.bench_function(codec.name, |bencher| bencher.iter(|| codec.decode()));
        }
        group.finish();
    }
}

criterion_group! {
    name = packed;
    config = Criterion::default()
        .without_plots()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(500))
        .sample_size(50)
        .nresamples(1000);
    targets = all
}
criterion_main!(packed);
