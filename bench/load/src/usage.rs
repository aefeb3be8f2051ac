//! Processor time and resident memory of processes, sampled from `/proc` while something else runs.

use crate::{
    Failure,
    server::{memory_mb, processor_seconds},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, SystemTime},
};

/// The time between two samples. `/proc` counts processor time in 10 ms.
const INTERVAL: Duration = Duration::from_millis(20);

/// A thread that takes samples until it is stopped.
pub struct Sampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Sample>>,
}

/// The values of all processes at one moment, in seconds since 1970: processor time in seconds, and resident memory in MB.
struct Sample {
    at: f64,
    processes: Vec<(f64, f64)>,
}

/// The samples of processes.
pub struct Samples(Vec<Sample>);

/// What a process used in an interval.
#[derive(Debug, PartialEq)]
pub struct Usage {
    /// Processor time as a share of one core, in percent.
    pub cpu_percent: f64,
    /// The highest resident memory, in MB.
    pub resident_mb: f64,
}

impl Sampler {
    /// Starts to sample `processes`.
    pub fn start(processes: Vec<u32>) -> Sampler {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut samples = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                samples.extend(sample(&processes).ok());
                std::thread::sleep(INTERVAL);
            }
            samples.extend(sample(&processes).ok());
            samples
        });
        Sampler { stop, thread }
    }

    /// Ends sampling. Fails if the thread has panicked.
    pub fn stop(self) -> Result<Samples, Failure> {
        self.stop.store(true, Ordering::Relaxed);
        Ok(Samples(self.thread.join().map_err(|_| "the sampler has panicked")?))
    }
}

fn sample(processes: &[u32]) -> Result<Sample, Failure> {
    let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs_f64();
    let values =
        processes.iter().map(|process| Ok((processor_seconds(*process)?, memory_mb(*process, "VmRSS")?)));
    Ok(Sample { at, processes: values.collect::<Result<_, Failure>>()? })
}

impl Samples {
    /// What each process used between two moments, from the last sample before to the first one after. Fails if there are no such samples.
    pub fn usage(&self, begun: f64, ended: f64) -> Result<Vec<Usage>, Failure> {
        let first =
            self.0.iter().rposition(|sample| sample.at <= begun).ok_or("no sample before the load")?;
        let last = self.0.iter().position(|sample| sample.at >= ended).ok_or("no sample after the load")?;
        let during = self.0.get(first..=last).filter(|samples| samples.len() > 1).ok_or("too few samples")?;
        let seconds = during[during.len() - 1].at - during[0].at;
        let usage = |n: usize| {
            let cpu = during[during.len() - 1].processes[n].0 - during[0].processes[n].0;
            let resident = during.iter().map(|sample| sample.processes[n].1).fold(0.0, f64::max);
            Usage { cpu_percent: 100.0 * cpu / seconds, resident_mb: resident }
        };
        Ok((0..during[0].processes.len()).map(usage).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_that_between_the_samples_around_the_load() {
        let sample = |at, cpu, mb| Sample { at, processes: vec![(cpu, mb), (0.0, 5.0)] };
        let all =
            [(0.0, 0.0, 900.0), (1.0, 1.0, 10.0), (1.5, 1.25, 30.0), (2.0, 1.5, 20.0), (3.0, 9.0, 800.0)];
        let samples = Samples(all.map(|(at, cpu, mb)| sample(at, cpu, mb)).into());
        let usage = samples.usage(1.2, 1.9).expect("samples");
        assert_eq!(usage[0], Usage { cpu_percent: 50.0, resident_mb: 30.0 });
        assert_eq!(usage[1], Usage { cpu_percent: 0.0, resident_mb: 5.0 });
        assert!(samples.usage(1.2, 3.1).is_err());
    }

    #[test]
    fn a_process_that_computes_uses_its_core() {
        let sampler = Sampler::start(vec![std::process::id()]);
        let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time").as_secs_f64();
        std::thread::sleep(3 * INTERVAL);
        let begun = now();
        let mut sum = 0_u64;
        while now() < begun + 0.3 {
            sum = sum.wrapping_mul(31).wrapping_add(7);
        }
        std::hint::black_box(sum);
        let ended = now();
        let usage = sampler.stop().expect("samples").usage(begun, ended).expect("usage");
        assert!(usage[0].cpu_percent > 5.0 && usage[0].resident_mb > 1.0, "{usage:?}");
    }
}
