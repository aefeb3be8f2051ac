//! Dictionaries of zstd, trained from messages.

use crate::size::Zstd;

/// The number of messages from which a dictionary is trained: with fewer, training fails or repeats the messages.
const MIN_MESSAGES: usize = 64;

/// The largest dictionary in bytes. A device must store it in flash.
const MAX_DICTIONARY: usize = 4096;

/// Returns the mean size of the messages after zstd with a dictionary that was trained from other messages: each half trains the dictionary of
/// the other. `None` if a half has fewer than [`MIN_MESSAGES`], or if zstd finds nothing in it that repeats.
pub fn mean_bytes(messages: &[Vec<u8>]) -> Option<f64> {
    let half = |first| messages.iter().skip(first).step_by(2).cloned().collect::<Vec<_>>();
    let halves = [half(0), half(1)];
    let total = compressed(&halves[0], &halves[1])? + compressed(&halves[1], &halves[0])?;
    Some(total as f64 / messages.len() as f64)
}

/// The size of all `messages` together with a dictionary from `training`.
fn compressed(training: &[Vec<u8>], messages: &[Vec<u8>]) -> Option<usize> {
    if training.len() < MIN_MESSAGES {
        return None;
    }
    let dictionary = zstd::dict::from_samples(training, MAX_DICTIONARY).ok()?;
    let mut zstd = Zstd::with_dictionary(&dictionary).ok()?;
    Some(messages.iter().map(|bytes| zstd.bytes(bytes)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(count: u32) -> Vec<Vec<u8>> {
        let message = |n: u32| format!(r#"{{"sensor":"hold-{n}","temperature":{},"door":"open"}}"#, n % 37);
        (0..count).map(|n| message(n).into_bytes()).collect()
    }

    #[test]
    fn a_dictionary_shrinks_messages_like_those_of_its_training() {
        let messages = messages(200);
        let mut zstd = Zstd::new().expect("memory");
        let without: usize = messages.iter().map(|bytes| zstd.bytes(bytes)).sum();
        assert!(2.0 * mean_bytes(&messages).expect("a dictionary") < without as f64 / 200.0);
    }

    #[test]
    fn the_order_of_the_messages_does_not_choose_which_are_measured() {
        let mut state = 1u64;
        let mut noise = |length: usize| -> Vec<u8> {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as u8
            };
            (0..length).map(|_| next()).collect()
        };
        let mut messages: Vec<Vec<u8>> = (0..200).map(|n| noise(if n % 2 == 0 { 300 } else { 8 })).collect();
        let before = mean_bytes(&messages);
        messages.rotate_left(1);
        let after = mean_bytes(&messages);
        assert_eq!(before, after);
        assert!(before.is_none_or(|bytes| bytes > 150.0), "{before:?}");
    }

    #[test]
    fn few_messages_give_no_dictionary() {
        assert!(mean_bytes(&messages(2 * MIN_MESSAGES as u32 - 1)).is_none());
    }
}
