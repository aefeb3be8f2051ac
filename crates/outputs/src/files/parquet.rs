//! Parquet files: `2026-01-31.BUFFER.SCHEMA.FIRST-LAST.parquet`, by day and schema. FIRST and LAST are the IDs of the first and the last
//! message.
//!
//! A Parquet file is written once, and small ones are of little use. Therefore messages are first made durable as lines, in
//! `2026-01-31.BUFFER.SCHEMA.open.ndjson`. These become a Parquet file when there are enough of them, or when the first has waited for long
//! enough. The Parquet file gets its name when it is complete and on disk; then the lines are removed. So each message is always in one of
//! the two files, and the name tells which lines are in both. Lines up to the last ID in a name never come into another Parquet file, so that
//! it does not matter where this is interrupted, and whether by the end of the process or by an error.

use super::{
    Archive,
    ndjson::{self, Logs},
};
use crate::{
    Catalog,
    records::{
        parquet::Table,
        row::{Row, group},
    },
};
use dunnage_base::folders;
use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, BufReader},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// How many bytes of lines make a file.
const ENOUGH: u64 = 64 << 20;
/// The suffix of files of lines.
const OPEN: &str = ".open.ndjson";

/// The archive.
pub struct Parquet {
    logs: Logs,
    /// When this process first saw each file of lines.
    since: HashMap<PathBuf, Instant>,
    /// How long a message may be in lines alone.
    after: Duration,
    /// Fails in tests.
    interrupt: fn(Step) -> io::Result<()>,
}

impl Archive for Parquet {
    fn write(&mut self, folder: &Path, rows: &[Row<'_>], durable_to: i64) -> io::Result<()> {
        for (stem, rows) in group(rows, |row| stem(folder, row)) {
            let path = with_end(&stem, OPEN);
            self.logs.append(path.clone(), durable_to, || sealed_to(&stem), &rows)?;
            self.since.entry(path).or_insert_with(Instant::now);
        }
        Ok(())
    }

    fn tend(
        &mut self,
        folder: &Path,
        buffer: &str,
        catalog: &dyn Catalog,
        durable_to: i64,
    ) -> io::Result<()> {
        let mut result = Ok(());
        for path in lines_of(folder, buffer)? {
            let since = *self.since.entry(path.clone()).or_insert_with(Instant::now);
            if since.elapsed() >= self.after || fs::metadata(&path)?.len() >= ENOUGH {
                // One that cannot be finished does not hold up the others.
                let sealed = self.seal(&path, catalog, durable_to);
                result = result.and(sealed.map_err(|e| io::Error::other(format!("{}: {e}", path.display()))));
            }
        }
        result
    }
}

impl Parquet {
    /// Creates an archive that finishes a file when its first message has waited for `after`.
    pub fn new(after: Duration) -> Parquet {
        Parquet { logs: Logs::default(), since: HashMap::new(), after, interrupt: |_| Ok(()) }
    }

    /// Converts those of the lines at `path` to a Parquet file that are in none yet, and removes the lines.
    fn seal(&mut self, path: &Path, catalog: &dyn Catalog, durable_to: i64) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = path.with_file_name(name.trim_end_matches(OPEN));
        // Cuts off everything from an incomplete line on.
        let (_, last_id) = ndjson::open(path.to_owned(), durable_to)?;
        let sealed_to = sealed_to(&stem)?;
        let lines = || Ok(BufReader::new(File::open(path)?));
        if last_id.is_some_and(|last| last > sealed_to)
            && let Some(table) = Table::survey(lines, sealed_to, catalog)?
        {
            let whole = with_end(&stem, &format!(".{}-{}.parquet", table.first_id, table.last_id));
            let unfinished = with_end(&stem, ".parquet.tmp");
            let file = table.write(lines()?, File::create(&unfinished)?)?;
            (self.interrupt)(Step::Write)?;
            file.sync_all()?;
            (self.interrupt)(Step::Sync)?;
            fs::rename(&unfinished, &whole)?;
            (self.interrupt)(Step::Rename)?;
            tracing::info!(file = %whole.display(), messages = table.rows, "a Parquet file is complete");
            if table.misfits > 0 {
                tracing::warn!(
                    file = %whole.display(),
                    values = table.misfits,
                    "values do not fit the types of the schema; they are null in their columns, and kept in the column value"
                );
            }
        }
        // Before the lines go, the name must be on disk, also if it is from an attempt that was interrupted.
        folders::sync_above(path)?;
        (self.interrupt)(Step::SyncFolder)?;
        fs::remove_file(path)?;
        self.logs.forget(path);
        self.since.remove(path);
        (self.interrupt)(Step::Remove)?;
        folders::sync_above(path)
    }
}

/// A step of sealing, after which a test interrupts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Write,
    Sync,
    Rename,
    SyncFolder,
    Remove,
}

/// Returns the common part of the paths of a row's files.
fn stem(folder: &Path, row: &Row<'_>) -> PathBuf {
    let schema = row.message.schema.as_ref().map_or(String::new(), |schema| format!(".{schema}"));
    folder.join(format!("{}.{}{schema}", row.day, row.message.buffer))
}

fn with_end(stem: &Path, end: &str) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(end);
    path.into()
}

/// Returns the last ID in the Parquet files of `stem`.
fn sealed_to(stem: &Path) -> io::Result<i64> {
    let name = stem.file_name().unwrap_or_default().to_string_lossy();
    let folder = stem.parent().unwrap_or(Path::new("."));
    let mut last = 0;
    for entry in fs::read_dir(folder)? {
        let file = entry?.file_name();
        let ids = file.to_str().and_then(|file| {
            file.strip_prefix(&*name)?.strip_prefix('.')?.strip_suffix(".parquet")?.split_once('-')
        });
        // A name with more parts belongs to another schema.
        let ids = ids.filter(|(first, _)| first.parse::<i64>().is_ok());
        if let Some(id) = ids.and_then(|(_, last)| last.parse::<i64>().ok()) {
            last = last.max(id);
        }
    }
    Ok(last)
}

/// Returns the files of lines of `buffer`, for all days and schemas.
fn lines_of(folder: &Path, buffer: &str) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let stem = name.to_str().and_then(|name| name.strip_suffix(OPEN));
        let of = stem.and_then(|stem| stem.split_once('.')).map(|(_day, of)| of);
        let ours = of
            .and_then(|of| of.strip_prefix(buffer))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        if ours {
            found.push(folder.join(name));
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{message, write},
        *,
    };
    use crate::source::NoCatalog;
    use ::parquet::{
        file::reader::{FileReader, SerializedFileReader},
        record::RowAccessor,
    };
    fn parquet() -> Parquet {
        Parquet::new(Duration::from_secs(3600))
    }

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
        write(&mut parquet(), folder, &messages).unwrap();
        assert_eq!(files(folder), ["2026-01-01.b.open.ndjson", "2026-01-02.b.open.ndjson"]);
        let finished = lines_of(folder, "b").unwrap();
        assert_eq!(finished.len(), 2);
        let lines = fs::read(&finished[0]).unwrap();
        parquet().seal(&finished[0], &NoCatalog, 0).unwrap();
        let sealed = folder.join("2026-01-01.b.1-3.parquet");
        assert_eq!(ids(&sealed), [1, 2, 3]);
        // As if the process had ended before the lines were removed; then all messages come again, with a late one.
        fs::write(&finished[0], &lines).unwrap();
        let late = message(6, 1, "{\"u\":[]}");
        write(&mut parquet(), folder, &[&messages[..], &[late]].concat()).unwrap();
        parquet().seal(&finished[0], &NoCatalog, 0).unwrap();
        assert_eq!(ids(&folder.join("2026-01-01.b.6-6.parquet")), [6]);
        assert_eq!(ids(&sealed), [1, 2, 3]);
        assert_eq!(
            files(folder),
            ["2026-01-01.b.1-3.parquet", "2026-01-01.b.6-6.parquet", "2026-01-02.b.open.ndjson"]
        );
    }

    /// After each step there is an error or the process ends, and then messages come again or not, and new ones follow. Each message is in one
    /// Parquet file.
    #[test]
    fn sealing_can_be_interrupted_at_every_step() {
        let fails = [
            |step| if step == Step::Write { Err(io::Error::other("Write")) } else { Ok(()) },
            |step| if step == Step::Sync { Err(io::Error::other("Sync")) } else { Ok(()) },
            |step| if step == Step::Rename { Err(io::Error::other("Rename")) } else { Ok(()) },
            |step| if step == Step::SyncFolder { Err(io::Error::other("SyncFolder")) } else { Ok(()) },
            |step| if step == Step::Remove { Err(io::Error::other("Remove")) } else { Ok(()) },
        ];
        let messages: Vec<_> = (1..=9).map(|id| message(id, 1, "1")).collect();
        for interrupt in fails {
            for (ends, again, times) in
                [(false, 4, 1), (true, 4, 1), (true, 0, 1), (false, 4, 3), (true, 2, 3)]
            {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("2026-01-01.b.open.ndjson");
                let mut archive = Parquet { interrupt, ..parquet() };
                write(&mut archive, folder.path(), &messages[..4]).unwrap();
                let mut written = 4;
                for _ in 0..times {
                    let step = archive.seal(&path, &NoCatalog, 0).unwrap_err();
                    if ends {
                        archive = Parquet { interrupt, ..parquet() };
                        write(&mut archive, folder.path(), &messages[again..written]).unwrap();
                    }
                    written += 1;
                    write(&mut archive, folder.path(), &messages[again..written]).unwrap();
                    assert!(path.exists(), "{step}");
                }
                archive.interrupt = |_| Ok(());
                archive.seal(&path, &NoCatalog, 0).unwrap();
                let sealed = files(folder.path());
                let mut found: Vec<_> =
                    sealed.iter().flat_map(|name| ids(&folder.path().join(name))).collect();
                found.sort_unstable();
                assert_eq!(
                    found,
                    (1..=written as i64).collect::<Vec<_>>(),
                    "{ends} {again} {times}: {sealed:?}"
                );
            }
        }
    }

    #[test]
    fn one_file_that_cannot_be_finished_does_not_hold_up_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Parquet::new(Duration::ZERO);
        let messages: Vec<_> = (1..=3).map(|id| message(id, id, "1")).collect();
        write(&mut archive, folder.path(), &messages).unwrap();
        fs::create_dir(folder.path().join("2026-01-01.b.parquet.tmp")).unwrap();
        let error = archive.tend(folder.path(), "b", &NoCatalog, 0).unwrap_err().to_string();
        assert!(error.contains("2026-01-01.b.open.ndjson"), "{error}");
        assert_eq!(files(folder.path()).iter().filter(|name| name.ends_with(".parquet")).count(), 2);
    }

    #[test]
    fn lines_become_a_file_after_a_while_and_those_of_other_buffers_stay() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let named = |id, schema: &str| {
            let mut named = message(id, 1, "1");
            named.stored.schema = Some(schema.into());
            named
        };
        let mut theirs = message(1, 1, "1");
        theirs.stored.buffer = "b2".into();
        let messages = [message(1, 1, "1"), named(2, "s.1-9"), named(3, "s.1-9"), theirs];
        write(&mut parquet(), folder, &messages).unwrap();
        parquet().tend(folder, "b", &NoCatalog, 0).unwrap();
        assert_eq!(files(folder).iter().filter(|name| name.ends_with(OPEN)).count(), 3);
        let mut due = Parquet::new(Duration::ZERO);
        due.tend(folder, "b", &NoCatalog, 0).unwrap();
        due.tend(&folder.join("missing"), "b", &NoCatalog, 0).unwrap();
        let expected =
            ["2026-01-01.b.1-1.parquet", "2026-01-01.b.s.1-9.2-3.parquet", "2026-01-01.b2.open.ndjson"];
        assert_eq!(files(folder), expected);
        // Files of another schema do not count.
        write(&mut parquet(), folder, &[message(2, 1, "1"), named(3, "s.1-9")]).unwrap();
        due.tend(folder, "b", &NoCatalog, 0).unwrap();
        assert_eq!(ids(&folder.join("2026-01-01.b.2-2.parquet")), [2]);
        assert_eq!(files(folder).len(), 4);
    }

    #[test]
    fn enough_lines_become_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = parquet();
        let long = format!("\"{}\"", "x".repeat(1 << 20));
        let messages: Vec<_> = (1..=66).map(|id| message(id, 1, &long)).collect();
        for message in messages.chunks(11) {
            write(&mut archive, folder.path(), message).unwrap();
            archive.tend(folder.path(), "b", &NoCatalog, 0).unwrap();
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
            r#"{"n":1.5,"i":-7,"b":true,"t":"é","m":1,"big":9007199254740993,"mixed":9007199254740993,"none":null,"at":"2026-01-31T08:00:00.25+01:00","nearly":"2026-01-31T08:00:00Z"}"#,
            r#"{"n":-2,"i":9223372036854775807,"t":null,"m":"x","big":1,"mixed":0.5,"e":{},"at":"2026-01-31T08:00:00Z","nearly":"soon"}"#,
        ];
        let messages: Vec<_> = values.iter().zip(1..).map(|(json, id)| message(id, 1, json)).collect();
        write(&mut parquet(), folder.path(), &messages).unwrap();
        parquet().seal(&folder.path().join("2026-01-01.b.open.ndjson"), &NoCatalog, 0).unwrap();
        let file = File::open(folder.path().join("2026-01-01.b.1-2.parquet")).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| {
                let row = row.unwrap();
                let columns = row.get_column_iter().skip(crate::records::columns::FIRST.len());
                columns.map(|(name, field)| format!("{name}={field}")).collect::<Vec<_>>().join(" ")
            })
            .collect();
        assert_eq!(
            rows,
            [
                "/n=1.5 /i=-7 /b=true /t=\"é\" /m=\"1\" /big=9007199254740993 /mixed=\"9007199254740993\" \
                 /at=2026-01-31 07:00:00.250000 +00:00 /nearly=\"2026-01-31T08:00:00Z\" /e=null",
                "/n=-2E0 /i=9223372036854775807 /b=null /t=null /m=\"x\" /big=1 /mixed=\"0.5\" \
                 /at=2026-01-31 08:00:00.000000 +00:00 /nearly=\"soon\" /e=\"{}\"",
            ]
        );
    }
}
