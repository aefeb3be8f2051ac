//! Reads what a power analyzer recorded while a sketch of `bench/board` measured.
//!
//! A sketch raises its mark for each measurement. The n-th time that the mark is high belongs to the n-th measurement.

use crate::Failure;
use csv::StringRecord;
use std::{fs::File, io::Read, path::Path};

/// A measurement in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pulse {
    /// How long the mark was high.
    pub seconds: f64,
    /// The energy of that time.
    pub joules: f64,
}

impl Pulse {
    /// The mean power in watts.
    pub fn watts(&self) -> f64 {
        self.joules / self.seconds
    }
}

/// Reads the pulses of a trace in CSV: of the Power Profiler Kit II, and of Otii and Joulescope if their digital input is among the columns.
/// `volts` is the supply, for a trace without a voltage.
pub fn read(path: &Path, volts: Option<f64>) -> Result<Vec<Pulse>, Failure> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    pulses(file, volts).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn pulses(csv: impl Read, volts: Option<f64>) -> Result<Vec<Pulse>, Failure> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(csv);
    let columns = Columns::find(reader.headers()?, volts)?;
    let (mut pulses, mut row) = (Vec::new(), StringRecord::new());
    let (mut last, mut pulse): (Option<Sample>, Option<Pulse>) = (None, None);
    while reader.read_record(&mut row)? {
        let line = row.position().map_or(0, csv::Position::line);
        let sample = columns.sample(&row).map_err(|error| format!("line {line}: {error}"))?;
        if let Some(last) = last {
            let seconds = sample.seconds - last.seconds;
            if seconds < 0.0 {
                return Err(format!("line {line}: the time goes back").into());
            }
            if let Some(pulse) = &mut pulse {
                pulse.seconds += seconds;
                pulse.joules += last.watts * seconds;
            }
        }
        match (sample.is_marked, pulse) {
            (true, None) => pulse = Some(Pulse::default()),
            (false, Some(ended)) => {
                pulses.push(ended);
                pulse = None;
            }
            _ => {}
        }
        last = Some(sample);
    }
    match pulse {
        Some(_) => Err("the trace ends while the mark is high".into()),
        None => Ok(pulses),
    }
}

/// A line of a trace. Its power holds until the next one.
struct Sample {
    seconds: f64,
    watts: f64,
    is_marked: bool,
}

/// The places of the columns, each with the factor that leads to the unit without a prefix.
struct Columns {
    time: (usize, f64),
    current: (usize, f64),
    voltage: Voltage,
    mark: usize,
}

enum Voltage {
    Column(usize, f64),
    Supply(f64),
}

impl Columns {
    fn find(headers: &StringRecord, volts: Option<f64>) -> Result<Columns, Failure> {
        let find = |names: &[&str]| {
            let is_it = |header: &str| names.iter().any(|name| header.to_lowercase().contains(name));
            headers.iter().position(is_it).map(|at| (at, factor(&headers[at])))
        };
        let missing = |what: &str| {
            format!("no column of {what} among: {}", headers.iter().collect::<Vec<_>>().join(", "))
        };
        let voltage = match (volts, find(&["voltage"])) {
            (Some(volts), _) => Voltage::Supply(volts),
            (None, Some((at, factor))) => Voltage::Column(at, factor),
            (None, None) => return Err("the trace has no voltage: give the supply with --volts".into()),
        };
        Ok(Columns {
            time: find(&["time"]).ok_or_else(|| missing("the time"))?,
            current: find(&["current"]).ok_or_else(|| missing("the current"))?,
            voltage,
            mark: find(&["d0", "gpi"]).ok_or_else(|| missing("the digital input"))?.0,
        })
    }

    fn sample(&self, row: &StringRecord) -> Result<Sample, Failure> {
        let field = |at: usize| row.get(at).ok_or("the line is too short");
        let number = |(at, factor): (usize, f64)| -> Result<f64, Failure> {
            let text = field(at)?;
            Ok(factor * text.parse::<f64>().map_err(|error| format!("`{text}`: {error}"))?)
        };
        let volts = match self.voltage {
            Voltage::Column(at, factor) => number((at, factor))?,
            Voltage::Supply(volts) => volts,
        };
        // Input 0 is the first digit, also where a column has the digits of eight inputs.
        let is_marked = match field(self.mark)?.chars().next() {
            Some('0') => false,
            Some('1') => true,
            _ => return Err("the digital input is neither 0 nor 1".into()),
        };
        Ok(Sample { seconds: number(self.time)?, watts: volts * number(self.current)?, is_marked })
    }
}

/// The factor of the unit that a header has in parentheses, such as `Current(uA)`.
fn factor(header: &str) -> f64 {
    let unit = header.split_once('(').map_or("", |(_, unit)| unit.trim_end_matches(')'));
    match unit {
        "ms" | "mA" | "mV" => 1e-3,
        "us" | "µs" | "uA" | "µA" | "uV" => 1e-6,
        "nA" => 1e-9,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PPK2: &str = "Timestamp(ms),Current(uA),D0-D7
0,1000,00000000
10,5000,10000000
20,7000,10000000
30,1000,00000000
40,9000,10000000
50,1000,01111111
";

    #[track_caller]
    fn assert_pulses(text: &str, volts: Option<f64>, expected: &[(f64, f64)]) {
        let read = pulses(text.as_bytes(), volts).unwrap();
        assert_eq!(read.len(), expected.len(), "{read:?}");
        for (pulse, (seconds, joules)) in read.iter().zip(expected) {
            assert!(
                (pulse.seconds - seconds).abs() < 1e-9 && (pulse.joules - joules).abs() < 1e-9,
                "{pulse:?}"
            );
        }
    }

    #[test]
    fn each_pulse_has_the_energy_of_its_time() {
        // 5 mA and 7 mA for 10 ms each at 3 V, then 9 mA.
        assert_pulses(PPK2, Some(3.0), &[(0.02, 360e-6), (0.01, 270e-6)]);
        assert!((pulses(PPK2.as_bytes(), Some(3.0)).unwrap()[0].watts() - 0.018).abs() < 1e-9);
    }

    #[test]
    fn units_and_voltage_are_those_of_the_header() {
        let text = "time (s),Main current (A),Main voltage (V),GPI 1\n0,0.005,3,1\n0.01,0.001,3,0\n";
        assert_pulses(text, None, &[(0.01, 150e-6)]);
        assert_pulses(text, Some(2.0), &[(0.01, 100e-6)]);
    }

    #[test]
    fn a_trace_that_does_not_say_all_is_refused() {
        let error = |text: &str, volts| pulses(text.as_bytes(), volts).expect_err("a bad trace").to_string();
        assert_eq!(error(PPK2, None), "the trace has no voltage: give the supply with --volts");
        assert!(error("time,current\n", Some(3.0)).starts_with("no column of the digital input"));
        assert_eq!(
            error(&PPK2.replace("50,1000,0", "50,1000,1"), Some(3.0)),
            "the trace ends while the mark is high"
        );
        assert_eq!(error(&PPK2.replace("\n20,", "\n5,"), Some(3.0)), "line 4: the time goes back");
        assert_eq!(error(&PPK2.replace("7000", "7k"), Some(3.0)), "line 4: `7k`: invalid float literal");
        assert_eq!(
            error(&PPK2.replace("10000000\n20", "x\n20"), Some(3.0)),
            "line 3: the digital input is neither 0 nor 1"
        );
    }
}
