//! The comparison as JSON.

use super::Comparison;
use dunnage_links::Link;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Report<'a> {
    message: Message,
    formats: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Message {
    json_bytes: usize,
    compact_json_bytes: usize,
    spaced_json_bytes: usize,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Row<'a> {
    Measured {
        format: &'a str,
        bytes: usize,
        gzip_bytes: usize,
        lossless: bool,
        came_back: bool,
        fits: BTreeMap<&'static str, Option<bool>>,
    },
    Impossible {
        format: &'a str,
        error: Reason<'a>,
    },
}

#[derive(Serialize)]
struct Reason<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pointer: &'a str,
    message: &'a str,
}

/// Renders the comparison as one JSON object on one line, without a newline at the end.
pub fn render(comparison: &Comparison) -> String {
    // Null if the link publishes no limit.
    let carries = |link: &Link, bytes| link.has_limit().then(|| link.fits(bytes));
    let fits = |bytes| comparison.links.iter().map(|link| (link.id.as_str(), carries(link, bytes))).collect();
    let measured = comparison.measured().map(|(format, outcome)| Row::Measured {
        format,
        bytes: outcome.bytes,
        gzip_bytes: outcome.gzip_bytes,
        lossless: outcome.lossless,
        came_back: outcome.came_back,
        fits: fits(outcome.bytes),
    });
    let impossible = comparison.impossible().map(|(format, error)| Row::Impossible {
        format,
        error: Reason {
            kind: error.kind().as_str(),
            offset: error.offset(),
            pointer: error.pointer(),
            message: error.message(),
        },
    });
    let report = Report {
        message: Message {
            json_bytes: comparison.given_bytes,
            compact_json_bytes: comparison.compact_bytes,
            spaced_json_bytes: comparison.spaced_bytes,
        },
        formats: measured.chain(impossible).collect(),
    };
    serde_json::to_string(&report).unwrap_or_default()
}
