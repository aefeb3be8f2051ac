//! The check behind a message: `spec/packed.md`, "The check".
//!
//! One routine is the CRC-8 with the polynomial 0x07 and the CRC-16 with 0x1021: the shorter one uses the upper half of its register.

/// How much of the fingerprint goes through the register before a message does.
const SEEDING: usize = 4;

/// A check of one or two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    bytes: u8,
    seed: u16,
}

impl Check {
    /// The check of `bytes` bytes of the layout with this fingerprint.
    pub(crate) fn new(bytes: u8, fingerprint: &[u8; 32]) -> Check {
        let start = Check { bytes, seed: if bytes == 1 { 0xff00 } else { 0xffff } };
        Check { seed: start.register(&fingerprint[..SEEDING]), ..start }
    }

    /// How many bytes it has, 1 or 2.
    pub fn bytes(self) -> usize {
        self.bytes.into()
    }

    /// What the register holds before the message's first byte.
    pub fn seed(self) -> u16 {
        self.seed
    }

    /// What the register is combined with when a 1 leaves it.
    pub fn polynomial(self) -> u16 {
        if self.bytes == 1 { 0x0700 } else { 0x1021 }
    }

    /// The check of `message`.
    pub(crate) fn of(self, message: &[u8]) -> impl Iterator<Item = u8> {
        self.register(message).to_be_bytes().into_iter().take(self.bytes())
    }

    fn register(self, bytes: &[u8]) -> u16 {
        bytes.iter().fold(self.seed, |register, byte| {
            (0..8).fold(register ^ u16::from(*byte) << 8, |register, _| {
                register << 1 ^ if register & 0x8000 == 0 { 0 } else { self.polynomial() }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registers_are_those_of_the_known_codes() {
        // Their check values: the codes of "123456789" with all ones at the start.
        let plain = |bytes, seed| Check { bytes, seed }.of(b"123456789").collect::<Vec<_>>();
        assert_eq!(plain(2, 0xffff), [0x29, 0xb1]);
        assert_eq!(plain(1, 0xff00), [0xfb]);
    }
}
