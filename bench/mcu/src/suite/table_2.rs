//! Table 2 of the paper: of each library whether it consists of headers alone, whether it does without a heap, and the size of its source.

use crate::{
    Failure,
    library::{Library, Style},
    results::{Record, bench},
};
use std::{collections::BTreeSet, fs, path::PathBuf};

/// Returns the three figures of each library that is not part of the C library. A property that holds has the value 1.
pub fn records(suite: &str, libraries: &[Library]) -> Result<Vec<Record>, Failure> {
    let mut records = Vec::new();
    for library in libraries {
        let files = source(library)?;
        if files.is_empty() {
            continue;
        }
        let mut bytes = 0;
        for file in &files {
            bytes += fs::metadata(file)?.len();
        }
        let figures = [
            ("header_only", f64::from(library.sources.is_empty()), "1"),
            ("static_memory", f64::from(library.style != Style::Heap), "1"),
            ("source", bytes as f64, "bytes"),
        ];
        for figure in figures {
            let subject = ["all", &*library.format, &*library.name];
            let record = Record::measured(suite, "source", subject, "library", figure);
            records.push(record.version(&*library.version));
        }
    }
    Ok(records)
}

/// The files of the library that the compiler reads, without the rig's.
fn source(library: &Library) -> Result<BTreeSet<PathBuf>, Failure> {
    let rig = bench().join("mcu").canonicalize()?;
    Ok(library.files()?.into_iter().filter(|file| !file.starts_with(&rig)).collect())
}

/// Prints the table, from the records.
pub fn print(records: &[Record]) {
    println!(
        "\nTable 2 of the paper, for the libraries measured here. Static memory: no heap as they are measured.\n\
         Source: what is compiled, with its headers"
    );
    println!("{:<28}{:>12}{:>15}{:>15}", "", "header only", "static memory", "source, bytes");
    for library in records.iter().filter(|record| record.metric == "source") {
        let value = |metric: &str| {
            let same = |r: &&Record| (&*r.library, &*r.metric) == (&*library.library, metric);
            records.iter().find(same).map_or(0.0, |record| record.value)
        };
        let yes = |metric| if value(metric) == 1.0 { "yes" } else { "no" };
        let name =
            format!("{} {} {}", library.format, library.library, library.version.as_deref().unwrap_or(""));
        println!("{name:<28}{:>12}{:>15}{:>15}", yes("header_only"), yes("static_memory"), library.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_library_has_sources_and_needs_no_heap() {
        let ours = Library::ours().expect("the source is there");
        let records = records("test", &[ours]).expect("its files can be read");
        let value = |metric: &str| records.iter().find(|r| r.metric == metric).map(|record| record.value);
        assert_eq!((value("header_only"), value("static_memory")), (Some(0.0), Some(1.0)));
        // c/src is some 150 KB; a missing half, or the rig's files, would show.
        assert!(value("source").is_some_and(|bytes| (100e3..250e3).contains(&bytes)), "{records:?}");
    }
}
