//! Tests generated code of every language with random schemas. Each message must encode to the bytes of `crates/packed` and
//! decode to the same message. Damaged bytes must give the same message or the same error.

mod javascript;
mod language;
mod library;
mod modes;
mod sequences;
mod trained;
mod vectors;

use anyhow::{Result, bail};
use clap::Parser;
use dunnage_conform::{Instance, Random, Scope, instance, schema};
use dunnage_packed::Layout;
use dunnage_schema::Model;
use javascript::JavaScript;
use language::{Language, Request};
use std::time::Instant;

/// Compares generated code with crates/packed, on random schemas and messages.
#[derive(Parser)]
#[command(name = "packed")]
struct Arguments {
    /// Number of schemas per language. Schemas that a language rejects are replaced by others.
    #[arg(long, default_value_t = 50)]
    schemas: usize,
    /// Number of messages over all schemas. Each is encoded, decoded, and decoded again with damage.
    #[arg(long, default_value_t = 100_000)]
    messages: usize,
    /// Seed of the random numbers. The same seed gives the same requests.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Ask only a library that interprets exported layouts: the command of its executor.
    #[arg(long, num_args = 1.., allow_hyphen_values = true, value_name = "COMMAND")]
    library: Vec<String>,
    /// The library has modelled layouts. It is asked about them, too.
    #[arg(long, requires = "library")]
    modelled: bool,
}

/// One in this many messages is also decoded from each of its prefixes.
const PREFIXES: usize = 8;
/// Number of differences that are printed.
const SHOWN: usize = 20;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if !arguments.library.is_empty() {
        return told(library::compare(&arguments.library, &arguments)?);
    }
    let languages: Vec<Box<dyn Language>> = vec![Box::new(JavaScript::start()?)];
    let mut wrong = 0;
    for mut language in languages {
        wrong += compare_vectors(language.as_mut())?;
        wrong += compare(language.as_mut(), &arguments)?;
        wrong += compare_trained(language.as_mut(), &arguments)?;
    }
    wrong += sequences::compare()?;
    wrong += compare_modes(&arguments)?;
    told(wrong)
}

fn told(wrong: usize) -> Result<()> {
    match wrong {
        0 => Ok(()),
        wrong => bail!("{wrong} answers differ"),
    }
}

/// Sends requests about `layout`, prints up to `shown` wrong answers, and returns the number of all wrong answers.
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

/// Tests `language` with the vectors. Returns the number of wrong answers.
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

/// Tests `language` with random schemas and messages. Returns the number of wrong answers.
fn compare(language: &mut dyn Language, arguments: &Arguments) -> Result<usize> {
    let start = Instant::now();
    let mut random = Random::new(arguments.seed);
    let (mut schemas, mut refused, mut asked, mut wrong) = (0, 0, 0, 0);
    while schemas < arguments.schemas {
        let text = schema(&mut random, Scope::Plain);
        let model = Model::compile(&text)?;
        let layout = Layout::new(&model).expect("a layout");
        if !language.load(&layout)? {
            refused += 1;
            continue;
        }
        schemas += 1;
        let count = arguments.messages / arguments.schemas;
        let mut next = || {
            let instance = instance(&mut random, &model);
            requests(&mut random, instance, &layout)
        };
        let requests: Vec<_> = (0..count).flat_map(|_| next()).collect();
        asked += requests.len();
        wrong += ask(language, &layout, &text, &requests, SHOWN.saturating_sub(wrong))?;
    }
    println!(
        "{}: {schemas} schemas ({refused} refused), seed {}; {asked} requests, {wrong} wrong; {:.1?}",
        language.name(),
        arguments.seed,
        start.elapsed()
    );
    Ok(wrong)
}

/// Tests `language` with statistics: schemas with every part that statistics are about, then random ones. Returns the number of wrong
/// answers.
fn compare_trained(language: &mut dyn Language, arguments: &Arguments) -> Result<usize> {
    let start = Instant::now();
    let mut random = Random::new(arguments.seed);
    let (mut schemas, mut refused, mut asked, mut wrong) = (0, 0, 0, 0);
    let mut chosen = trained::SCHEMAS.into_iter();
    while schemas < arguments.schemas {
        let text = chosen.next().map_or_else(|| schema(&mut random, Scope::Plain), str::to_owned);
        let trained = trained::Trained::new(&text, &mut random)?;
        if !language.load(&trained.layout)? {
            refused += 1;
            continue;
        }
        schemas += 1;
        let mut all = Vec::new();
        for _ in 0..arguments.messages / arguments.schemas {
            let instance = trained.instance(&mut random);
            let requests = requests(&mut random, instance, &trained.layout);
            if random.below(PREFIXES) == 0 {
                all.extend(trained::prefixes(&requests));
            }
            all.extend(requests);
        }
        asked += all.len();
        wrong += ask(language, &trained.layout, &text, &all, SHOWN.saturating_sub(wrong))?;
    }
    println!(
        "{}: {schemas} trained schemas ({refused} refused), seed {}; {asked} requests, {wrong} wrong; {:.1?}",
        language.name(),
        arguments.seed,
        start.elapsed()
    );
    Ok(wrong)
}

/// Tests the C of modes 1 and 2: schemas with every part that statistics are about, then random ones. Returns the number of wrong answers.
fn compare_modes(arguments: &Arguments) -> Result<usize> {
    let start = Instant::now();
    let mut random = Random::new(arguments.seed);
    let (mut schemas, mut refused, mut asked, mut wrong) = (0, 0, 0, 0);
    let mut chosen = trained::SCHEMAS.into_iter();
    while schemas < arguments.schemas {
        let text = chosen.next().map_or_else(|| schema(&mut random, Scope::Plain), str::to_owned);
        let trained = trained::Trained::new(&text, &mut random)?;
        let depth = [1, 1, 2, 5][random.below(4)];
        let Some(compiled) = modes::Compiled::new(&trained.layout, depth)? else {
            refused += 1;
            continue;
        };
        schemas += 1;
        let messages = arguments.messages / arguments.schemas;
        let (requests, differences) = modes::compare(&compiled, &trained, depth, messages, &mut random)?;
        asked += requests;
        wrong += differences;
    }
    println!(
        "C, modes 1 and 2: {schemas} trained schemas ({refused} refused), seed {}; {asked} requests, {wrong} wrong; {:.1?}",
        arguments.seed,
        start.elapsed()
    );
    Ok(wrong)
}

/// The requests about one message: encode, decode, and decode with damage.
fn requests(random: &mut Random, instance: Instance, layout: &Layout) -> [Request; 3] {
    let mut bytes = Vec::new();
    // If the layout rejects the message, `bytes` stay empty. That shows as a difference, because no language encodes it to
    // nothing.
    let _ = layout.encode(&instance.message, &mut bytes);
    let damaged = damaged(&bytes, random);
    let known = instance.known;
    // Generated code encodes no other form.
    let mut without_statistics = Vec::new();
    let _ = layout.encode_without_statistics(&instance.message, &mut without_statistics);
    [
        Request::Encode { message: instance.message, bytes: without_statistics },
        Request::Decode { bytes, known: known.clone() },
        Request::Decode { bytes: damaged, known },
    ]
}

/// Returns bytes with damage: cut, longer, or with another bit.
fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    match random.below(4) {
        0 => damaged.truncate(random.below(bytes.len() + 1)),
        1 => damaged.push(random.byte()),
        _ if bytes.is_empty() => {}
        _ => {
            let at = random.below(bytes.len());
            damaged[at] ^= 1 << random.below(8);
        }
    }
    damaged
}
