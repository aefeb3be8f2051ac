//! Looks up figures in all rows: ours, measured peers' and quoted ones.

use crate::{
    reference,
    results::{Record, Source},
    shape::Floats,
    summary::AVERAGED,
};

/// The compiler options of goals and tables.
pub const OPTIONS: &str = "-Os -flto";

/// A library with a format, as a row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Contender {
    /// Such as `mpack`.
    pub library: String,
    /// Its version.
    pub version: String,
    /// The format that it writes.
    pub format: String,
    /// Whether its figures are quoted.
    pub reference: bool,
}

impl Contender {
    fn of(row: &Record) -> Contender {
        Contender {
            library: row.library.clone(),
            version: row.version.clone().unwrap_or_default(),
            format: row.format.clone(),
            reference: row.source == Source::Quoted,
        }
    }

    /// Whether it is this project's library.
    pub fn is_ours(&self) -> bool {
        self.library == "dunnage"
    }

    /// Such as `mpack 1.1.1 msgpack`.
    pub fn label(&self) -> String {
        format!("{} {} {}", self.library, self.version, self.format)
    }

    /// The library's name without its settings: `mpack` for `mpack (size)`.
    pub fn library_alone(&self) -> &str {
        self.library.split(" (").next().unwrap_or_default()
    }

    /// `ref` for a quoted figure, otherwise empty.
    pub fn mark(&self) -> &'static str {
        if self.reference { "ref" } else { "" }
    }
}

/// Selects the payload of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Payload<'a> {
    /// One payload.
    One(&'a str),
    /// The average over eight tests of the paper.
    Average,
    /// The maximum over the same tests.
    Maximum,
}

/// The remark about a quoted contender in the note of a row; `None` if the note has no such remark.
pub fn remark(note: &str) -> Option<&str> {
    note.strip_prefix(reference::ONE_RUN)?.strip_prefix("; ")
}

/// Queries over all rows.
pub struct Figures<'a> {
    rows: &'a [Record],
}

impl<'a> Figures<'a> {
    /// Queries over `rows`.
    pub fn new(rows: &'a [Record]) -> Self {
        Figures { rows }
    }

    /// The rows of the tables: those measured with the reference options and floats as binary32, and the quoted ones except the paper's.
    fn compared(&self) -> impl Iterator<Item = &'a Record> {
        self.rows.iter().filter(|row| {
            row.library != reference::PAPER_LIBRARY
                && (row.source == Source::Quoted
                    || row.options.as_deref() == Some(OPTIONS)
                        && row.floats.as_deref() == Some(Floats::Single.name()))
        })
    }

    /// The contenders with a figure of `operation` on `target`: ours first, then the others, the best first. Decoders that fill a document count
    /// as binding.
    pub fn contenders(
        &self,
        target: &str,
        operation: &str,
        metric: &str,
        payload: Payload,
    ) -> Vec<(Contender, f64)> {
        let mut found: Vec<(Contender, f64)> = Vec::new();
        for row in self.compared() {
            let contender = Contender::of(row);
            if row.target != target
                || row.metric != metric
                || found.iter().any(|(other, _)| *other == contender)
            {
                continue;
            }
            if let Some(value) = self.figure(&contender, target, operation, metric, payload) {
                found.push((contender, value));
            }
        }
        // Drop quoted contenders whose version was measured here.
        let measured: Vec<_> = found.iter().map(|(contender, _)| contender.clone()).collect();
        found.retain(|(quoted, _)| {
            let here = Contender { reference: false, ..quoted.clone() };
            !quoted.reference || !measured.contains(&here)
        });
        found.sort_by(|(a, x), (b, y)| b.is_ours().cmp(&a.is_ours()).then(x.total_cmp(y)));
        found
    }

    /// Whether `contender` is quoted and not in `newest.csv`, which has the same library and format in another version or setting.
    pub fn is_outdated(&self, contender: &Contender) -> bool {
        let of_newest =
            |row: &&Record| row.note.as_deref().is_some_and(|note| note.starts_with(reference::ONE_RUN));
        let newest = || self.rows.iter().filter(of_newest).map(Contender::of);
        contender.reference
            && newest().all(|other| other != *contender)
            && newest().any(|other| {
                other.library_alone() == contender.library_alone() && other.format == contender.format
            })
    }

    /// The quoted contenders with a remark, without duplicates.
    pub fn remarks(&self) -> Vec<(Contender, String)> {
        let mut found: Vec<(Contender, String)> = Vec::new();
        for row in self.rows.iter().filter(|row| row.source == Source::Quoted) {
            let Some(remark) = row.note.as_deref().and_then(remark) else { continue };
            let entry = (Contender::of(row), remark.to_owned());
            if !found.contains(&entry) {
                found.push(entry);
            }
        }
        found
    }

    /// Our figure and the best peer's.
    pub fn ours_and_best(
        &self,
        target: &str,
        operation: &str,
        metric: &str,
        payload: Payload,
    ) -> (Option<f64>, Option<(Contender, f64)>) {
        let contenders = self.contenders(target, operation, metric, payload);
        let ours = contenders.iter().find(|(contender, _)| contender.is_ours()).map(|(_, value)| *value);
        (ours, contenders.into_iter().find(|(contender, _)| !contender.is_ours()))
    }

    /// One contender's figure.
    pub fn figure(
        &self,
        contender: &Contender,
        target: &str,
        operation: &str,
        metric: &str,
        payload: Payload,
    ) -> Option<f64> {
        let one = |name: &str| {
            let competes = |row: &&Record| {
                row.operation == operation
                    || operation == "bind"
                        && row.operation == "decode"
                        && row.note.as_deref().is_some_and(|note| note.starts_with(reference::FILLS))
            };
            let same = |row: &&Record| {
                row.target == target
                    && row.metric == metric
                    && row.payload == name
                    && Contender::of(row) == *contender
            };
            self.compared().filter(same).find(competes).map(|row| row.value)
        };
        let tests = || AVERAGED.iter().map(|name| one(name)).collect::<Option<Vec<_>>>();
        match payload {
            Payload::One(name) => one(name),
            Payload::Average => one(reference::AVERAGE)
                .or_else(|| tests().map(|all| all.iter().sum::<f64>() / all.len() as f64)),
            // Some maxima are quoted for all payloads together.
            Payload::Maximum => one("all").or_else(|| tests().map(|all| all.into_iter().fold(0.0, f64::max))),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A measured row of ours if `library` is `dunnage`, otherwise a quoted row.
    pub fn row(library: &str, payload: &str, operation: &str, value: f64) -> Record {
        let subject = [payload, "pson", library];
        let mut row = Record::measured("mcu", "atmega328p", subject, operation, ("cycles", value, "cycles"))
            .version("1");
        row.options = Some(OPTIONS.into());
        row.floats = Some(Floats::Single.name().into());
        if library != "dunnage" {
            row.source = Source::Quoted;
            row.reference = Some("a test".into());
        }
        row
    }

    #[test]
    fn our_library_comes_first_and_the_best_peer_second() {
        let rows = [
            row("b", "Test05", "encode", 3.0),
            row("a", "Test05", "encode", 2.0),
            row("dunnage", "Test05", "encode", 9.0),
        ];
        let figures = Figures::new(&rows);
        let found = figures.contenders("atmega328p", "encode", "cycles", Payload::One("Test05"));
        let names: Vec<_> = found.iter().map(|(contender, _)| contender.library.as_str()).collect();
        assert_eq!(names, ["dunnage", "a", "b"]);
        let (ours, best) = figures.ours_and_best("atmega328p", "encode", "cycles", Payload::One("Test05"));
        assert_eq!((ours, best.map(|(_, value)| value)), (Some(9.0), Some(2.0)));
        assert!(figures.contenders("cortex-m3", "encode", "cycles", Payload::One("Test05")).is_empty());
    }

    #[test]
    fn other_options_other_floats_and_the_paper_are_not_compared() {
        let rows = [
            Record { options: Some("-O2".into()), ..row("dunnage", "Test05", "encode", 1.0) },
            Record { floats: Some("exact".into()), ..row("dunnage", "Test05", "encode", 2.0) },
            row(reference::PAPER_LIBRARY, "Test05", "encode", 3.0),
        ];
        assert!(
            Figures::new(&rows)
                .contenders("atmega328p", "encode", "cycles", Payload::One("Test05"))
                .is_empty()
        );
    }

    #[test]
    fn a_measured_version_replaces_its_quoted_figures() {
        let quoted = row("a", "Test05", "encode", 5.0);
        let older = Record { version: Some("0".into()), value: 7.0, ..quoted.clone() };
        let rows = [quoted.clone(), older, Record { source: Source::Measured, value: 6.0, ..quoted }];
        let found = Figures::new(&rows).contenders("atmega328p", "encode", "cycles", Payload::One("Test05"));
        assert_eq!(found.iter().map(|(_, value)| *value).collect::<Vec<_>>(), [6.0, 7.0]);
    }

    #[test]
    fn averages_need_all_eight_tests() {
        let mut rows: Vec<_> =
            AVERAGED.iter().zip(1..).map(|(name, n)| row("dunnage", name, "encode", f64::from(n))).collect();
        let average = |rows: &[Record]| {
            Figures::new(rows).ours_and_best("atmega328p", "encode", "cycles", Payload::Average).0
        };
        let most = |rows: &[Record]| {
            Figures::new(rows).ours_and_best("atmega328p", "encode", "cycles", Payload::Maximum).0
        };
        assert_eq!((average(&rows), most(&rows)), (Some(4.5), Some(8.0)));
        rows.pop();
        assert_eq!((average(&rows), most(&rows)), (None, None));
    }

    #[test]
    fn binding_is_compared_with_decoders_that_fill_a_document() {
        let fills =
            Record { note: Some(format!("{}struct", reference::FILLS)), ..row("a", "Test05", "decode", 5.0) };
        let rows = [fills, row("b", "Test05", "decode", 4.0), row("c", "Test05", "bind", 6.0)];
        let found = Figures::new(&rows).contenders("atmega328p", "bind", "cycles", Payload::One("Test05"));
        assert_eq!(found.iter().map(|(_, value)| *value).collect::<Vec<_>>(), [5.0, 6.0]);
    }
}
