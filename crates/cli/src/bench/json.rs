//! The benchmark as JSON.

use super::Outcome;
use dunnage_measure::Times;
use serde::Serialize;

#[derive(Serialize)]
struct Report<'a> {
    messages: usize,
    compact_json_bytes: f64,
    formats: Vec<Row<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Row<'a> {
    Measured {
        format: &'a str,
        bytes: f64,
        largest_bytes: usize,
        gzip_bytes: f64,
        zstd_bytes: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        zstd_dictionary_bytes: Option<f64>,
        encode_ns: Nanoseconds,
        decode_ns: Nanoseconds,
        lossless: bool,
    },
    Impossible {
        format: &'a str,
        message: &'a str,
        error: String,
    },
}

/// The median and the quartiles of the rounds.
#[derive(Serialize)]
struct Nanoseconds {
    median: f64,
    low: f64,
    high: f64,
}

impl From<Times> for Nanoseconds {
    fn from(times: Times) -> Nanoseconds {
        let round = |ns: f64| (ns * 10.0).round() / 10.0;
        Nanoseconds { median: round(times.median_ns), low: round(times.low_ns), high: round(times.high_ns) }
    }
}

/// Renders the benchmark as one JSON object on one line, without a newline at the end.
pub fn render(outcome: &Outcome) -> String {
    let rows = outcome.rows.iter().map(|row| match &row.outcome {
        Ok(measured) => Row::Measured {
            format: &row.format,
            bytes: measured.bytes,
            largest_bytes: measured.largest_bytes,
            gzip_bytes: measured.gzip_bytes,
            zstd_bytes: measured.zstd_bytes,
            zstd_dictionary_bytes: measured.dictionary_bytes,
            encode_ns: measured.encode.into(),
            decode_ns: measured.decode.into(),
            lossless: measured.lossless,
        },
        Err(impossible) => Row::Impossible {
            format: &row.format,
            message: outcome.messages.place(impossible.message),
            error: impossible.error.to_string(),
        },
    });
    let report = Report {
        messages: outcome.messages.values.len(),
        compact_json_bytes: outcome.json_bytes,
        formats: rows.collect(),
    };
    serde_json::to_string(&report).unwrap_or_default()
}
