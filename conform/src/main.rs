//! Sends an executor (see README.md) the vectors of `spec/`, then random messages and values, and compares its answers.

mod answers;
mod executor;
mod messages;
mod requests;
mod structure;
mod values;
mod vectors;

use anyhow::{Result, bail};
use clap::Parser;
use dunnage_conform::Random;
use executor::{Executor, Tally};
use requests::{Limits, Request};
use std::{
    path::PathBuf,
    sync::mpsc::{self, SyncSender},
    thread,
    time::Instant,
};

/// Sends a library's executor the vectors of spec/, then random messages and values, and compares its answers with those of
/// crates/pson.
#[derive(Parser)]
#[command(name = "conform")]
struct Arguments {
    /// Number of random and mutated messages. A quarter as many values are encoded.
    #[arg(long, default_value_t = 50_000)]
    messages: usize,
    /// Maximum length of random messages, in bytes.
    #[arg(long, default_value_t = 300)]
    longest: usize,
    /// Seed of the random numbers. The same seed gives the same requests.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Sends no requests, but writes the messages of the vectors to this folder, one file each, as seeds for a fuzzer.
    #[arg(long, value_name = "FOLDER", exclusive = true)]
    seeds: Option<PathBuf>,
    /// The executor and its arguments.
    #[arg(required_unless_present = "seeds", trailing_var_arg = true)]
    command: Vec<String>,
}

/// Number of requests that are sent before the answers are awaited.
const BATCH: usize = 2048;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(folder) = &arguments.seeds {
        return vectors::load()?.write_seeds(folder);
    }
    let mut executor = Executor::start(&arguments.command)?;
    let limits = executor.hello()?;
    println!("{}: {limits}", arguments.command.join(" "));

    let start = Instant::now();
    let vectors = vectors::load()?;
    for batch in vectors::requests(&vectors, &limits)?.chunks(BATCH) {
        executor.ask(batch)?;
    }
    let asked = executor.tally.take();
    println!("vectors: {} in {} files; {asked}", vectors.count(), vectors.files());

    let seeds: Vec<Vec<u8>> =
        vectors.messages().filter(|message| message.len() <= arguments.longest).collect();
    let (sender, receiver) = mpsc::sync_channel(2);
    let Arguments { messages, longest, seed, .. } = arguments;
    let random = thread::spawn(move || {
        make_requests((messages, longest), Random::new(seed), (&seeds, &limits), &sender);
    });
    let outcome: Result<()> = receiver.into_iter().try_for_each(|batch: Vec<Request>| executor.ask(&batch));
    if random.join().is_err() {
        bail!("the random messages ended early");
    }
    outcome?;
    let tally = executor.tally.take();
    println!(
        "random: {} messages, seed {}; {tally}; {:.1?} in all",
        arguments.messages,
        arguments.seed,
        start.elapsed()
    );
    executor.end()?;
    verdict(asked, tally)
}

/// Sends batches of requests about `messages` random messages of up to `longest` bytes, some of them made from `seeds`, until nobody receives them.
fn make_requests(
    (messages, longest): (usize, usize),
    mut random: Random,
    (seeds, limits): (&[Vec<u8>], &Limits),
    sender: &SyncSender<Vec<Request>>,
) {
    let mut batch = Vec::new();
    let mut cut = Vec::new();
    for i in 0..messages {
        let message = cut.pop().unwrap_or_else(|| messages::any(&mut random, seeds, longest));
        requests::about_message(&message, limits, &mut random, &mut batch);
        if i % 4 == 0 {
            requests::about_value(&values::any(&mut random, limits), limits, &mut random, &mut batch);
        }
        if i % 512 == 0 {
            cut.extend(messages::beginnings(&mut random, longest));
        }
        if batch.len() >= BATCH && sender.send(std::mem::take(&mut batch)).is_err() {
            return;
        }
    }
    // If the receiver has stopped after a failure, it reports that failure itself.
    let _ = sender.send(batch);
}

fn verdict(vectors: Tally, random: Tally) -> Result<()> {
    match vectors.wrong + random.wrong {
        0 => Ok(()),
        wrong => bail!("{wrong} answers differ"),
    }
}
