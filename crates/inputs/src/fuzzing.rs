//! Properties that hold for any bytes that reach an input. The fuzz targets of `fuzz/` call these functions. `cargo test` runs each over
//! its corpus, and for a second over mutations of it.

pub use crate::coap::dtls::fuzz::check as coaps;
pub use crate::coap::fuzz::check as coap;
pub use crate::http::batch::fuzz::check as batch;
pub use crate::http::compressed::check as compressed;
pub use crate::mqtt::fuzz::check as mqtt;
pub use crate::udp::check as udp;
pub use crate::webhooks::fuzz::check as webhook;

#[cfg(test)]
mod tests {
    use std::{
        path::Path,
        time::{Duration, Instant},
    };

    /// Checks the corpus, then mutations of it for a second. The seed is fixed, so each run starts with the same ones.
    fn hostile(target: &str, check: fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let mut files: Vec<_> = files.collect();
        files.sort();
        let corpus: Vec<_> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
        assert!(corpus.len() >= 4, "{}", corpus.len());
        corpus.iter().for_each(|input| check(input));
        let mut random = fastrand::Rng::with_seed(7);
        let (begun, mut checked) = (Instant::now(), 0);
        while checked < 1000 || begun.elapsed() < Duration::from_secs(1) {
            let mut input = corpus[random.usize(..corpus.len())].clone();
            for _ in 0..=random.usize(..3) {
                mutate(&mut input, &corpus, &mut random);
            }
            check(&input);
            checked += 1;
        }
    }

    fn mutate(input: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut fastrand::Rng) {
        let at = random.usize(..=input.len());
        let to = random.usize(at..=input.len());
        match random.u8(..6) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..to)),
            2 => input.insert(at, random.u8(..)),
            3 => input.extend_from_within(at..to),
            4 => {
                let other = &corpus[random.usize(..corpus.len())];
                let begin = random.usize(..=other.len());
                input.splice(at..to, other[begin..].iter().copied());
            }
            _ if at < input.len() => input[at] ^= 1 << random.u8(..8),
            _ => {}
        }
        input.truncate(64 << 10);
    }

    #[test]
    fn batch() {
        hostile("batch", super::batch);
    }

    #[test]
    fn coap() {
        hostile("coap", super::coap);
    }

    #[test]
    fn coaps() {
        hostile("coaps", super::coaps);
    }

    #[test]
    fn compressed() {
        hostile("compressed", super::compressed);
    }

    #[test]
    fn mqtt() {
        hostile("mqtt", super::mqtt);
    }

    #[test]
    fn udp() {
        hostile("udp", super::udp);
    }

    #[test]
    fn webhook() {
        hostile("webhook", super::webhook);
    }
}
