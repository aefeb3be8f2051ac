//! The probability that messages of the smart grid arrive in time over EDGE and power lines, in each format.
//!
//! The links and their blocks and frames are those of the catalogue. Results go to `bench/results/deadline.jsonl`.

mod sentences;

use crate::{container::Failed, corpus, text::short};
use dunnage_bench_record::{Record, results, write};
use dunnage_links::{Link, catalogue};
use dunnage_plan::Sizes;

/// The formats in the order in which they are shown.
const FORMATS: [&str; 6] = ["json", "msgpack", "cbor", "pson", "protobuf", "packed"];
/// The deadlines, in milliseconds.
const DEADLINES: [u32; 3] = [200, 1000, 10_000];
/// The shares of blocks or frames that are lost, in percent. EDGE's link adaptation aims at 10.
const LOSSES: [u32; 3] = [1, 10, 30];

/// A message in a format over a link.
struct Figure {
    link: &'static Link,
    payload: String,
    format: &'static str,
    bytes: usize,
    /// The probability of each deadline, by loss; `None` if the link refuses the message.
    in_time: Option<[[f64; DEADLINES.len()]; LOSSES.len()]>,
}

/// Prints the tables and what follows from them, and writes the records.
pub fn run() -> Result<(), Failed> {
    let figures = figures()?;
    for group in figures.chunk_by(|one, next| one.link.id == next.link.id) {
        table(group);
    }
    for sentence in sentences::write(&figures)? {
        println!("{sentence}");
    }
    let records: Vec<Record> = figures.iter().flat_map(Figure::records).collect();
    write(&results().join("deadline.jsonl"), &records)?;
    Ok(())
}

/// The figures, link by link.
fn figures() -> Result<Vec<Figure>, Failed> {
    let mut measured = Vec::new();
    let smart_grid = corpus::folder("smart-grid")?;
    for (message, model) in std::iter::once(corpus::container()?).chain(smart_grid) {
        let messages = [message];
        let sizes = Sizes::measure(Some(&model), &messages);
        let [message] = messages;
        measured.push((message.name, sizes));
    }
    let mut figures = Vec::new();
    for link in catalogue().iter().filter(|link| link.delivery.is_some()) {
        for (payload, sizes) in &measured {
            let of = |format| Some((format, sizes.of(format)?.largest()));
            figures.extend(FORMATS.into_iter().filter_map(of).map(|(format, bytes)| {
                let in_time = in_time(link, bytes);
                Figure { link, payload: payload.clone(), format, bytes, in_time }
            }));
        }
    }
    Ok(figures)
}

fn in_time(link: &Link, bytes: usize) -> Option<[[f64; DEADLINES.len()]; LOSSES.len()]> {
    link.fits(bytes).then(|| {
        LOSSES.map(|loss| {
            DEADLINES.map(|deadline| {
                let (loss, seconds) = (f64::from(loss) / 100.0, f64::from(deadline) / 1e3);
                link.arrives_within(bytes, loss, seconds).unwrap_or_default()
            })
        })
    })
}

/// Prints the table of a link.
fn table(figures: &[Figure]) {
    let Some(first) = figures.first() else { return };
    println!("{}: messages that arrive in time, in percent", first.link.name);
    let deadlines = DEADLINES.map(|deadline| format!("{:>9}", seconds(deadline))).concat();
    let losses = LOSSES.map(|loss| format!("{:>26}", format!("{loss} % lost"))).concat();
    println!("{:26}{:10}{:>6}{losses}", "", "", "");
    println!("{:26}{:10}{:>6}{deadlines}{deadlines}{deadlines}", "message", "format", "bytes");
    for Figure { payload, format, bytes, in_time, .. } in figures {
        let cells = in_time.map_or_else(
            || " refused".to_owned(),
            |all| all.iter().flatten().map(|share| format!("{:>9}", percent(*share))).collect(),
        );
        println!("{payload:26}{format:10}{bytes:>6}{cells}");
    }
    println!();
}

/// A deadline for people.
fn seconds(deadline: u32) -> String {
    if deadline < 1000 { format!("{deadline} ms") } else { format!("{} s", deadline / 1000) }
}

/// A share in percent, rounded down, so that 100 means certain up to a rounding error.
fn percent(share: f64) -> String {
    let percent = (share * 1e4 + 1e-6).floor() / 100.0;
    if percent >= 100.0 { "100".to_owned() } else { format!("{percent:.2}") }
}

impl Figure {
    fn records(&self) -> Vec<Record> {
        let record = |metric: &str, value: f64, unit: &str, options: Option<String>| {
            let subject = [self.payload.as_str(), self.format, "dunnage"];
            let mut record =
                Record::measured("deadline", &self.link.id, subject, "send", (metric, value, unit));
            record.version = Some(env!("CARGO_PKG_VERSION").to_owned());
            record.repetitions = Some(1);
            record.options = options;
            record
        };
        let mut records = vec![record("bytes", self.bytes as f64, "bytes", None)];
        for (loss, shares) in LOSSES.iter().zip(self.in_time.iter().flatten()) {
            for (deadline, share) in DEADLINES.iter().zip(shares) {
                let options = format!("{}, {loss} % lost", seconds(*deadline));
                records.push(record("in_time", 100.0 * share, "%", Some(options)));
            }
        }
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_has_its_figures_on_both_links() {
        let figures = figures().unwrap();
        assert_eq!(figures.len(), 2 * 7 * FORMATS.len());
        for Figure { link, payload, format, bytes, in_time } in &figures {
            let shares = in_time.unwrap_or_else(|| panic!("{payload} as {format} on {}", link.id));
            assert_eq!(Some(shares[1][1]), link.arrives_within(*bytes, 0.1, 1.0));
            let grows = |pair: &[f64]| pair[0] <= pair[1] + 1e-9;
            assert!(shares.iter().all(|of_loss| of_loss.windows(2).all(grows)), "{payload} {format}");
        }
    }

    #[test]
    fn what_follows_is_three_sentences_and_a_share_is_never_rounded_up() {
        let sentences = sentences::write(&figures().unwrap()).unwrap();
        assert!(sentences.iter().all(|sentence| sentence.ends_with('.')), "{sentences:?}");
        assert_eq!([0.999_999, 1.0, 0.45678].map(percent), ["99.99", "100", "45.67"]);
    }
}
