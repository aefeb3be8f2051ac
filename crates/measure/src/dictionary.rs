//! Dictionaries of zstd, trained from messages.

use crate::size::zstd_bytes_with;

/// The number of messages from which a dictionary is trained: with fewer, training fails or repeats the messages.
const MIN_MESSAGES: usize = 64;

/// The largest dictionary in bytes. A device must store it in flash.
const MAX_DICTIONARY: usize = 4096;

/// A dictionary that was trained from the encoded messages of one format.
pub struct Dictionary(Vec<u8>);

impl Dictionary {
    /// Trains a dictionary from encoded messages. Returns `None` if there are fewer than [`MIN_MESSAGES`], or if zstd finds nothing in them that
    /// repeats.
    pub fn train(messages: &[Vec<u8>]) -> Option<Dictionary> {
        if messages.len() < MIN_MESSAGES {
            return None;
        }
        zstd::dict::from_samples(messages, MAX_DICTIONARY).ok().map(Dictionary)
    }

    /// Returns the size of `bytes` after zstd with this dictionary.
    pub fn compressed_bytes(&self, bytes: &[u8]) -> usize {
        zstd_bytes_with(&self.0, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::zstd_bytes;

    #[test]
    fn a_dictionary_shrinks_messages_like_those_of_its_training() {
        let message = |n: u32| format!(r#"{{"sensor":"hold-{n}","temperature":{},"door":"open"}}"#, n % 37);
        let messages: Vec<Vec<u8>> = (0..200).map(|n| message(n).into_bytes()).collect();
        let dictionary = Dictionary::train(&messages).expect("a dictionary");
        let new = message(1000).into_bytes();
        assert!(2 * dictionary.compressed_bytes(&new) < zstd_bytes(&new));
    }

    #[test]
    fn few_messages_give_no_dictionary() {
        assert!(Dictionary::train(&vec![b"abc".to_vec(); MIN_MESSAGES - 1]).is_none());
    }
}
