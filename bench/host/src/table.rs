//! Prints tables of times and ratios.

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

fn geometric_mean(ratios: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = ratios.len() as f64;
    (ratios.map(f64::ln).sum::<f64>() / count).exp()
}
