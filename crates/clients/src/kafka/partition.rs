//! The partition of a key, as Java's clients choose it.

/// The seed, the multiplier and the shift of murmur2 in `org.apache.kafka.common.utils.Utils`.
const SEED: u32 = 0x9747_b28c;
const M: u32 = 0x5bd1_e995;
const R: u32 = 24;

/// Returns the partition of `key` in a topic with `partitions` partitions, at least one.
pub fn partition_of(key: &[u8], partitions: usize) -> usize {
    (murmur2(key) & 0x7fff_ffff) as usize % partitions
}

fn murmur2(data: &[u8]) -> u32 {
    let mut hash = SEED ^ data.len() as u32;
    let (words, rest) = data.as_chunks::<4>();
    for word in words {
        let mut k = u32::from_le_bytes(*word).wrapping_mul(M);
        k ^= k >> R;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    for (at, byte) in rest.iter().enumerate() {
        hash ^= u32::from(*byte) << (8 * at);
    }
    if !rest.is_empty() {
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ hash >> 15
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of `UtilsTest.testMurmur2` in Kafka.
    #[test]
    fn hashes_are_those_of_kafka() {
        for (text, hash) in [
            ("21", -973_932_308),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
            ("abc", 479_470_107),
        ] {
            assert_eq!(murmur2(text.as_bytes()), hash as u32, "{text}");
        }
    }

    #[test]
    fn a_partition_is_within_the_topic() {
        for key in ["", "21", "foobar", "\u{0}", "ü/+#"] {
            assert!(partition_of(key.as_bytes(), 3) < 3);
            assert_eq!(partition_of(key.as_bytes(), 1), 0);
        }
        assert_eq!(partition_of(b"21", 7), (973_932_308u32.wrapping_neg() & 0x7fff_ffff) as usize % 7);
    }
}
