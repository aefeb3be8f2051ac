//! Times of tasks that take nanoseconds to milliseconds.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// The number of rounds. In each, every task runs one batch of calls, so that a change of the machine's load affects all tasks.
const ROUNDS: usize = 21;

/// The shortest time of a batch. Reading the clock takes some 20 ns, which must not matter.
const SHORTEST_BATCH: Duration = Duration::from_micros(50);

/// Something to measure.
pub type Task<'a> = Box<dyn FnMut() + 'a>;

/// The times of a task per call, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// The median of all rounds.
    pub median_ns: f64,
    /// The first quartile.
    pub low_ns: f64,
    /// The third quartile.
    pub high_ns: f64,
    /// The number of rounds.
    pub rounds: usize,
}

impl Times {
    /// The times of one of `parts` equal parts.
    pub(crate) fn divided_by(self, parts: usize) -> Times {
        let part = |ns: f64| ns / parts.max(1) as f64;
        Times {
            median_ns: part(self.median_ns),
            low_ns: part(self.low_ns),
            high_ns: part(self.high_ns),
            rounds: self.rounds,
        }
    }
}

/// Measures all tasks in turn for about `budget`. Calls `progress` after each round with the share that is done, from 0 to 1.
pub fn measure(tasks: &mut [Task<'_>], budget: Duration, mut progress: impl FnMut(f64)) -> Vec<Times> {
    let batches = (tasks.len() * ROUNDS).max(1) as u32;
    let batch = (budget / batches).max(SHORTEST_BATCH);
    let calls: Vec<u64> = tasks.iter_mut().map(|task| calls_in(task, batch)).collect();
    let mut samples = vec![Vec::with_capacity(ROUNDS); tasks.len()];
    for round in 1..=ROUNDS {
        for ((task, &calls), samples) in tasks.iter_mut().zip(&calls).zip(&mut samples) {
            samples.push(run(task, calls).as_nanos() as f64 / calls as f64);
        }
        progress(round as f64 / ROUNDS as f64);
    }
    samples.into_iter().map(summarize).collect()
}

/// Runs the task until a batch takes half of `batch` or longer, which also warms it up. Returns the number of calls that take about `batch`.
fn calls_in(task: &mut Task<'_>, batch: Duration) -> u64 {
    let mut calls = 1;
    loop {
        let taken = run(task, calls);
        if 2 * taken >= batch {
            let per_call = taken.as_secs_f64() / calls as f64;
            return ((batch.as_secs_f64() / per_call) as u64).max(1);
        }
        calls *= 2;
    }
}

fn run(task: &mut Task<'_>, calls: u64) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(&mut *task)();
    }
    start.elapsed()
}

fn summarize(mut samples: Vec<f64>) -> Times {
    samples.sort_by(f64::total_cmp);
    let quartile = |number: usize| samples[number * (samples.len() - 1) / 4];
    Times { median_ns: quartile(2), low_ns: quartile(1), high_ns: quartile(3), rounds: samples.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_those_of_the_sorted_samples() {
        let times = summarize((0..21).rev().map(f64::from).collect());
        assert_eq!((times.low_ns, times.median_ns, times.high_ns, times.rounds), (5.0, 10.0, 15.0, 21));
    }

    #[test]
    fn a_longer_task_takes_longer() {
        let work = |n: u64| {
            move || {
                black_box((0..black_box(n)).fold(0u64, |sum, n| sum ^ black_box(n)));
            }
        };
        let mut tasks: Vec<Task<'_>> = vec![Box::new(work(100)), Box::new(work(10_000))];
        let mut shares = Vec::new();
        let times = measure(&mut tasks, Duration::from_millis(50), |share| shares.push(share));
        assert!(times[1].median_ns > 10.0 * times[0].median_ns, "{times:?}");
        assert_eq!((shares.len(), shares.last()), (ROUNDS, Some(&1.0)));
    }
}
