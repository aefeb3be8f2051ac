//! The paper's measurements: "Evaluating Binary Serialization Protocols for IoT/M2M Applications over Hybrid Terrestrial and
//! Non-Terrestrial Networks", Telecom 2026, 7(2), 43, tables 3 to 6. They are quoted in `bench/papers/container.jsonl`.

use crate::Failure;
use dunnage_bench_record::{self as record, Record};

/// The paper's name in tables.
pub const TITLE: &str = "Telecom 2026, 7(2), 43";

/// The formats of tables 3 to 6, in their order.
pub const FORMATS: [&str; 4] = ["cbor", "msgpack", "struct-zlib (float32)", "protobuf (float32)"];

/// The figures of the paper.
#[derive(Default)]
pub struct Paper(Vec<Record>);

impl Paper {
    /// Reads the quoted figures. Fails if there are none.
    pub fn load() -> Result<Paper, Failure> {
        let path = record::papers().join("container.jsonl");
        let records = record::read(&path)?;
        match records.is_empty() {
            true => Err(format!("{} has no figures", path.display()).into()),
            false => Ok(Paper(records)),
        }
    }

    /// The quoted figure of a fleet: `rps`, `mean_ms`, `p95_ms`, `failures_percent` or `merit`.
    pub fn fleet(&self, format: &str, devices: usize, replicas: usize, metric: &str) -> Option<f64> {
        let target = target(devices, replicas);
        let found = self.0.iter().find(|record| {
            [&*record.operation, &*record.format, &*record.target, &*record.metric]
                == ["fleet", format, &target, metric]
        });
        found.map(|record| record.value)
    }
}

/// The target of a fleet in the records.
pub fn target(devices: usize, replicas: usize) -> String {
    let plural = if replicas == 1 { "" } else { "s" };
    format!("{devices} devices, {replicas} replica{plural}")
}
