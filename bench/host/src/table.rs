//! Prints tables of times and ratios.

use dunnage_bench_record::Record;

pub struct Row {
    pub payload: &'static str,
    /// Libraries and their times in nanoseconds, ours first.
    pub times: Vec<(&'static str, f64)>,
}

impl Row {
    fn ours(&self) -> f64 {
        self.times[0].1
    }

    /// Our time divided by that of the fastest peer library.
    fn ratio(&self) -> f64 {
        let fastest = self.times[1..].iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
        self.ours() / fastest
    }
}

/// Prints a table of times. The last column is our time divided by that of the fastest peer library, the last line the geometric mean of our
/// time divided by each library's. Below 1, ours is faster.
pub fn print(operation: &str, rows: &[Row]) {
    let Some(first) = rows.first() else { return };
    print!("{operation:<10} ns");
    for (library, _) in &first.times {
        print!("{library:>15}");
    }
    println!("{:>15}", "ours/fastest");
    for row in rows {
        print!("{:<13}", row.payload);
        for (_, time) in &row.times {
            print!("{time:>15.1}");
        }
        println!("{:>15.2}", row.ratio());
    }
    print!("{:<13}", "ours/theirs");
    for library in 0..first.times.len() {
        print!("{:>15.2}", geometric_mean(rows.iter().map(|row| row.ours() / row.times[library].1)));
    }
    println!("{:>15.2}\n", geometric_mean(rows.iter().map(Row::ratio)));
}

/// Prints a table of the times of reads: a row per value, a column per format. A format that cannot read a value alone has a dash.
pub fn print_reads(records: &[Record]) {
    let mut formats: Vec<&str> = Vec::new();
    let mut rows: Vec<(&str, &str, &str)> = Vec::new();
    for record in records {
        let row =
            (record.payload.as_str(), record.operation.as_str(), record.options.as_deref().unwrap_or(""));
        if !formats.contains(&record.format.as_str()) {
            formats.push(&record.format);
        }
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    print!("{:<70}", "ns");
    formats.iter().for_each(|format| print!("{format:>13}"));
    println!();
    for (payload, operation, value) in rows {
        print!("{:<70}", format!("{payload} {operation} {value}"));
        for format in &formats {
            let of = |record: &&Record| {
                record.payload == payload && record.operation == operation && record.format == *format
            };
            let time =
                records.iter().find(of).map_or("-".to_owned(), |record| format!("{:.1}", record.value));
            print!("{time:>13}");
        }
        println!();
    }
}

fn geometric_mean(ratios: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = ratios.len() as f64;
    (ratios.map(f64::ln).sum::<f64>() / count).exp()
}
