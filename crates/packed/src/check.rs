//! The check after a message: `spec/packed.md`, "The check".
//!
//! One routine computes both the CRC-8 with the polynomial 0x07 and the CRC-16 with 0x1021. The CRC-8 uses the upper half of the
//! 16-bit register.

/// The number of bytes of the fingerprint that seed the register.
const SEEDING: usize = 4;
/// The polynomials of the checks of one and of two bytes.
const POLYNOMIALS: [u16; 2] = [0x0700, 0x1021];
/// The value that replaces the upper byte of the register when it is shifted out, for each polynomial.
const TABLES: [[u16; 256]; 2] = [table(POLYNOMIALS[0]), table(POLYNOMIALS[1])];

const fn table(polynomial: u16) -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        let (mut register, mut bit) = ((byte as u16) << 8, 0);
        while bit < 8 {
            register = register << 1 ^ if register & 0x8000 == 0 { 0 } else { polynomial };
            bit += 1;
        }
        table[byte] = register;
        byte += 1;
    }
    table
}

/// A check of one or two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    bytes: u8,
    seed: u16,
}

impl Check {
    /// Creates the check of `bytes` bytes, seeded with the layout's fingerprint.
    pub(crate) fn new(bytes: u8, fingerprint: &[u8; 32]) -> Check {
        let start = Check { bytes, seed: if bytes == 1 { 0xff00 } else { 0xffff } };
        Check { seed: start.register(&fingerprint[..SEEDING]), ..start }
    }

    /// Returns the same check after `bytes`, which are not in the message.
    pub fn after(self, bytes: &[u8]) -> Check {
        Check { seed: self.register(bytes), ..self }
    }

    /// Returns its length in bytes: 1 or 2.
    pub fn bytes(self) -> usize {
        self.bytes.into()
    }

    /// Returns the value of the register before the first byte of the message.
    pub fn seed(self) -> u16 {
        self.seed
    }

    /// Returns the value that is XORed into the register when a 1 is shifted out.
    pub fn polynomial(self) -> u16 {
        POLYNOMIALS[self.width()]
    }

    /// Returns the check bytes of `message`.
    pub(crate) fn of(self, message: &[u8]) -> impl Iterator<Item = u8> {
        self.register(message).to_be_bytes().into_iter().take(self.bytes())
    }

    /// Returns the index of its polynomial.
    fn width(self) -> usize {
        usize::from(self.bytes != 1)
    }

    fn register(self, bytes: &[u8]) -> u16 {
        let table = &TABLES[self.width()];
        let shifted =
            |register: u16, byte: &u8| register << 8 ^ table[usize::from(register.to_be_bytes()[0] ^ byte)];
        bytes.iter().fold(self.seed, shifted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registers_are_those_of_the_known_codes() {
        // The check values that CRC catalogues list: the codes of "123456789" with all ones at the start.
        let plain = |bytes, seed| Check { bytes, seed }.of(b"123456789").collect::<Vec<_>>();
        assert_eq!(plain(2, 0xffff), [0x29, 0xb1]);
        assert_eq!(plain(1, 0xff00), [0xfb]);
    }
}
