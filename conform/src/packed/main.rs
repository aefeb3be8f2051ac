//! Random schemas in every language that code is generated for: the bytes of each message are those of `crates/packed`, and each
//! language decodes them to the message; damaged bytes are the same message or the same error.

mod javascript;
mod language;
mod vectors;

use anyhow::{Result, bail};
use clap::Parser;
use dunnage_conform::{Random, Scope, instance, schema};
use dunnage_packed::Layout;
use dunnage_schema::Model;
use javascript::JavaScript;
use language::{Language, Request};
use std::time::Instant;

/// Compares generated code with crates/packed on random schemas and messages of them.
#[derive(Parser)]
#[command(name = "packed")]
struct Arguments {
    /// Schemas that a language is given. Those that it refuses are replaced by others.
    #[arg(long, default_value_t = 50)]
    schemas: usize,
    /// Messages, over all schemas; each is encoded, decoded, and decoded once more with damage.
    #[arg(long, default_value_t = 100_000)]
    messages: usize,
    /// What the random numbers begin with: the same seed asks the same.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Differences that are printed.
const SHOWN: usize = 20;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let languages: Vec<Box<dyn Language>> = vec![Box::new(JavaScript::start()?)];
    let mut wrong = 0;
    for mut language in languages {
        wrong += compare_vectors(language.as_mut())?;
        wrong += compare(language.as_mut(), &arguments)?;
    }
    match wrong {
        0 => Ok(()),
        wrong => bail!("{wrong} answers differ"),
    }
}

/// Asks about `layout`, prints up to `shown` answers that differ, and counts them all.
fn ask(
    language: &mut dyn Language,
    layout: &Layout,
    schema: &str,
    requests: &[Request],
    shown: usize,
) -> Result<usize> {
    let answers = language.ask(requests)?;
    let mut wrong = 0;
    for (request, answer) in requests.iter().zip(&answers) {
        let expected = language.expected(layout, request);
        if !expected.is_met_by(answer) {
            wrong += 1;
            if wrong <= shown {
                println!(
                    "{schema}\n    request  {request:?}\n    expected {expected:?}\n    answered {answer:?}"
                );
            }
        }
    }
    Ok(wrong)
}

/// Gives `language` the vectors, and counts the answers that differ.
fn compare_vectors(language: &mut dyn Language) -> Result<usize> {
    let (mut asked, mut refused, mut wrong) = (0, 0, 0);
    for (layout, requests) in vectors::load()? {
        if language.load(&layout)? {
            asked += 1;
            wrong += ask(language, &layout, &layout.canonical(), &requests, SHOWN)?;
        } else {
            refused += 1;
        }
    }
    println!("{}: {asked} vectors ({refused} refused), {wrong} wrong", language.name());
    Ok(wrong)
}

/// Gives `language` random schemas and messages, and counts the answers that differ.
fn compare(language: &mut dyn Language, arguments: &Arguments) -> Result<usize> {
    let start = Instant::now();
    let mut random = Random::new(arguments.seed);
    let (mut schemas, mut refused, mut asked, mut wrong) = (0, 0, 0, 0);
    while schemas < arguments.schemas {
        let text = schema(&mut random, Scope::Plain);
        let model = Model::compile(&text)?;
        let layout = Layout::new(&model);
        if !language.load(&layout)? {
            refused += 1;
            continue;
        }
        schemas += 1;
        let count = arguments.messages / arguments.schemas;
        let requests: Vec<_> = (0..count).flat_map(|_| requests(&mut random, &model, &layout)).collect();
        let answers = language.ask(&requests)?;
        for (request, answer) in requests.iter().zip(&answers) {
            asked += 1;
            let expected = language.expected(&layout, request);
            if !expected.is_met_by(answer) {
                wrong += 1;
                if wrong <= SHOWN {
                    println!(
                        "{text}\n    request  {request:?}\n    expected {expected:?}\n    answered {answer:?}"
                    );
                }
            }
        }
    }
    println!(
        "{}: {schemas} schemas ({refused} refused), seed {}; {asked} requests, {wrong} wrong; {:.1?}",
        language.name(),
        arguments.seed,
        start.elapsed()
    );
    Ok(wrong)
}

/// What is asked about one random message of the schema.
fn requests(random: &mut Random, model: &Model, layout: &Layout) -> [Request; 3] {
    let instance = instance(random, model);
    let mut bytes = Vec::new();
    // A message that the layout refuses shows as a difference: no language encodes it to nothing.
    let _ = layout.encode(&instance.message, &mut bytes);
    let mut damaged = bytes.clone();
    match random.below(4) {
        0 => damaged.truncate(random.below(bytes.len() + 1)),
        1 => damaged.push(random.byte()),
        _ if bytes.is_empty() => {}
        _ => {
            let at = random.below(bytes.len());
            damaged[at] ^= 1 << random.below(8);
        }
    }
    let device = instance.device;
    [
        Request::Encode { message: instance.message, bytes: bytes.clone() },
        Request::Decode { bytes, device: device.clone() },
        Request::Decode { bytes: damaged, device },
    ]
}
