//! Apache Parquet: `2026-01-31.BUFFER.FIRST-LAST.parquet`, named by the ids of its first and last message.
//!
//! A Parquet file is written once, and small ones are of little use. So messages are first made durable as lines, in
//! `2026-01-31.BUFFER.open.ndjson`; these become a Parquet file when they are many, or when their day is over. The file gets
//! its name only when it is whole and on the disk, and only then the lines are removed: a message is in one of both, and the
//! name says which lines are in both.

mod table;

use super::{
    Archive,
    ndjson::Logs,
    row::{Row, group},
};
use crate::{clock, folders};
use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// How many bytes of lines make a file.
const ENOUGH: u64 = 64 << 20;
/// How long after its last message a day is over for good, and how often it is looked for such days.
const QUIET: Duration = Duration::from_secs(600);
const LOOK: Duration = Duration::from_secs(60);
/// The end of the names of files of lines.
const OPEN: &str = ".open.ndjson";

/// Files of Parquet, and lines that will be.
#[derive(Default)]
pub struct Parquet {
    logs: Logs,
    /// Bytes of the files of lines.
    open: HashMap<PathBuf, u64>,
    looked: Option<Instant>,
}

impl Archive for Parquet {
    fn write(&mut self, folder: &Path, rows: &[Row<'_>]) -> io::Result<()> {
        self.seal_finished(folder, rows)?;
        for (stem, rows) in group(rows, |row| stem(folder, row)) {
            let path = with_end(&stem, OPEN);
            let earlier = || remove_sealed(&stem, &path);
            let bytes = self.logs.append(path.clone(), earlier, &rows)?;
            self.open.insert(path, bytes);
        }
        Ok(())
    }
}

impl Parquet {
    /// Seals the lines that are enough, and now and then those of days that are over.
    fn seal_finished(&mut self, folder: &Path, rows: &[Row<'_>]) -> io::Result<()> {
        let full = self.open.iter().filter(|(_, bytes)| **bytes >= ENOUGH).map(|(path, _)| path.clone());
        for path in full.collect::<Vec<_>>() {
            self.seal(&path)?;
        }
        let Some(first) = rows.first() else { return Ok(()) };
        if self.looked.is_none_or(|at| at.elapsed() >= LOOK) {
            let end = format!(".{}{OPEN}", first.message.buffer);
            for path in finished(folder, &end, QUIET)? {
                self.seal(&path)?;
            }
            self.looked = Some(Instant::now());
        }
        Ok(())
    }

    /// Makes a Parquet file of the lines at `path`, and removes them.
    fn seal(&mut self, path: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = path.with_file_name(name.trim_end_matches(OPEN));
        // When the process ended between the two, the lines are in a file already.
        remove_sealed(&stem, path)?;
        if let Some(table) = table::Table::survey(path)? {
            let whole = with_end(&stem, &format!(".{}-{}.parquet", table.first_id, table.last_id));
            let unfinished = with_end(&stem, ".parquet.tmp");
            let file = table.write(path, File::create(&unfinished)?)?;
            file.sync_all()?;
            fs::rename(&unfinished, &whole)?;
            folders::sync_above(&whole)?;
            tracing::info!(file = %whole.display(), messages = table.rows, "a Parquet file is whole");
            fs::remove_file(path)?;
            folders::sync_above(path)?;
        }
        self.logs.forget(path);
        self.open.remove(path);
        Ok(())
    }
}

/// The path of a row's files, up to what tells them apart.
fn stem(folder: &Path, row: &Row<'_>) -> PathBuf {
    folder.join(format!("{}.{}", row.day, row.message.buffer))
}

fn with_end(stem: &Path, end: &str) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(end);
    path.into()
}

/// The last id in the Parquet files of `stem`. Lines that are among them are removed.
fn remove_sealed(stem: &Path, lines: &Path) -> io::Result<i64> {
    let name = stem.file_name().unwrap_or_default().to_string_lossy();
    let folder = stem.parent().unwrap_or(Path::new("."));
    let mut last = 0;
    for entry in fs::read_dir(folder)? {
        let file = entry?.file_name();
        let ids = file.to_str().and_then(|file| {
            file.strip_prefix(&*name)?.strip_prefix('.')?.strip_suffix(".parquet")?.split_once('-')
        });
        if let Some(id) = ids.and_then(|(_, last)| last.parse::<i64>().ok()) {
            last = last.max(id);
        }
    }
    let sealed = last > 0 && lines.exists() && table::last_id(lines)?.is_some_and(|id| id <= last);
    if sealed {
        fs::remove_file(lines)?;
        folders::sync_above(lines)?;
    }
    Ok(last)
}

/// Files of lines with this end in their names, of days that are over, to which nothing came for a while.
fn finished(folder: &Path, end: &str, quiet: Duration) -> io::Result<Vec<PathBuf>> {
    let today = clock::today();
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let day = name.to_str().and_then(|name| name.strip_suffix(end));
        if day.is_some_and(|day| day < &*today)
            && entry.metadata()?.modified()?.elapsed().unwrap_or_default() >= quiet
        {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{tests::message, write},
        *,
    };
    use ::parquet::{
        file::reader::{FileReader, SerializedFileReader},
        record::RowAccessor,
    };

    fn files(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn ids(path: &Path) -> Vec<i64> {
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().get_long(1).unwrap()).collect()
    }

    #[test]
    fn lines_of_a_day_that_is_over_become_a_file_and_come_into_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let messages: Vec<_> = (1..=5).map(|id| message(id, 1 + id / 4, "{\"t\":1}")).collect();
        write(&mut Parquet::default(), folder, &messages).unwrap();
        assert_eq!(files(folder), ["2026-01-01.b.open.ndjson", "2026-01-02.b.open.ndjson"]);
        let finished = finished(folder, ".b.open.ndjson", Duration::ZERO).unwrap();
        assert_eq!(finished.len(), 2);
        let lines = fs::read(&finished[0]).unwrap();
        Parquet::default().seal(&finished[0]).unwrap();
        let sealed = folder.join("2026-01-01.b.1-3.parquet");
        assert_eq!(ids(&sealed), [1, 2, 3]);
        // As if the process had ended before the lines were removed; and all messages come again, with a late one.
        fs::write(&finished[0], &lines).unwrap();
        let late = message(6, 1, "{\"u\":[]}");
        write(&mut Parquet::default(), folder, &[&messages[..], &[late]].concat()).unwrap();
        Parquet::default().seal(&finished[0]).unwrap();
        assert_eq!(ids(&folder.join("2026-01-01.b.6-6.parquet")), [6]);
        assert_eq!(ids(&sealed), [1, 2, 3]);
        assert_eq!(
            files(folder),
            ["2026-01-01.b.1-3.parquet", "2026-01-01.b.6-6.parquet", "2026-01-02.b.open.ndjson"]
        );
    }

    #[test]
    fn lines_that_are_being_written_or_are_of_today_stay() {
        let folder = tempfile::tempdir().unwrap();
        let today = crate::outputs::Message { received_at: clock::now(), ..message(1, 1, "1") };
        write(&mut Parquet::default(), folder.path(), &[today, message(2, 1, "1")]).unwrap();
        assert_eq!(finished(folder.path(), ".b.open.ndjson", Duration::ZERO).unwrap().len(), 1);
        assert_eq!(finished(folder.path(), ".b.open.ndjson", QUIET).unwrap().len(), 0);
    }

    #[test]
    fn enough_lines_become_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Parquet::default();
        let long = format!("\"{}\"", "x".repeat(1 << 20));
        let messages: Vec<_> = (1..=66).map(|id| message(id, 1, &long)).collect();
        for message in messages.chunks(11) {
            write(&mut archive, folder.path(), message).unwrap();
        }
        write(&mut archive, folder.path(), &[message(67, 1, "1")]).unwrap();
        assert_eq!(files(folder.path()), ["2026-01-01.b.1-66.parquet", "2026-01-01.b.open.ndjson"]);
        let reader =
            SerializedFileReader::new(File::open(folder.path().join("2026-01-01.b.1-66.parquet")).unwrap());
        assert!(reader.unwrap().num_row_groups() > 4);
    }

    #[test]
    fn columns_have_the_type_of_their_values_and_never_a_wrong_value() {
        let folder = tempfile::tempdir().unwrap();
        let values = [
            r#"{"n":1.5,"b":true,"t":"é","m":1,"big":9007199254740993,"none":null}"#,
            r#"{"n":-2,"t":null,"m":"x","big":1,"e":{}}"#,
        ];
        let messages: Vec<_> = values.iter().zip(1..).map(|(json, id)| message(id, 1, json)).collect();
        write(&mut Parquet::default(), folder.path(), &messages).unwrap();
        Parquet::default().seal(&folder.path().join("2026-01-01.b.open.ndjson")).unwrap();
        let file = File::open(folder.path().join("2026-01-01.b.1-2.parquet")).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| {
                let row = row.unwrap();
                let columns = row.get_column_iter().skip(8);
                columns.map(|(name, field)| format!("{name}={field}")).collect::<Vec<_>>().join(" ")
            })
            .collect();
        assert_eq!(
            rows,
            [
                format!(
                    "value={:?} /n=1.5 /b=true /t=\"é\" /m=\"1\" /big=\"9007199254740993\" /e=null",
                    values[0]
                )
                .replace("\\\"", "\""),
                format!("value={:?} /n=-2E0 /b=null /t=null /m=\"x\" /big=\"1\" /e=\"{{}}\"", values[1])
                    .replace("\\\"", "\""),
            ]
        );
    }
}
