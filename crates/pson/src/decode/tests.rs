use super::*;

#[test]
fn varints_of_all_lengths_are_read_alike() {
    for bits in 0..64 {
        for n in [1u64 << bits, (1 << bits) - 1, u64::MAX >> bits, 0x0123_4567_89ab_cdef >> bits] {
            let mut bytes = [0xff; 18];
            let (mut rest, mut len) = (n, 0);
            while rest >= 0x80 {
                bytes[len] = rest as u8 | 0x80;
                (rest, len) = (rest >> 7, len + 1);
            }
            bytes[len] = rest as u8;
            for room in [8, 0] {
                let message = &bytes[..len + 1 + room];
                let mut decoder = Decoder::new(message, Options::new()).unwrap();
                assert_eq!(decoder.varint(0), Ok(n));
                assert_eq!(decoder.at, len + 1);
            }
        }
    }
}
