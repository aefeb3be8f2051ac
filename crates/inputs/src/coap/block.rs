//! The option Block1 (RFC 7959, 2.2), which describes the part of a message that a datagram contains.

/// Log2 of the smallest block size.
const SMALLEST: u8 = 4;
/// The reserved exponent.
const RESERVED: u8 = 7;

/// A block. It begins at `number` times its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Its number, from 0.
    pub number: u32,
    /// Whether others follow.
    pub more: bool,
    /// Log2 of its size, minus 4: 0 to 6.
    pub exponent: u8,
}

impl Block {
    /// Parses the value of the option. Returns `None` if it is invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Block> {
        if bytes.len() > 3 {
            return None;
        }
        let value = bytes.iter().fold(0, |value, byte| value << 8 | u32::from(*byte));
        let exponent = (value & 7) as u8;
        let block = Block { number: value >> 4, more: value & 8 != 0, exponent };
        (exponent != RESERVED).then_some(block)
    }

    /// Returns the value of the option.
    pub fn to_bytes(self) -> Vec<u8> {
        let value = self.number << 4 | u32::from(self.more) << 3 | u32::from(self.exponent);
        let bytes = value.to_be_bytes();
        bytes.into_iter().skip_while(|byte| *byte == 0).collect()
    }

    /// Returns the size of a block that is not the last, in bytes.
    pub fn size(self) -> usize {
        1 << (self.exponent + SMALLEST)
    }

    /// Returns where it begins in the message, in bytes.
    pub fn offset(self) -> usize {
        self.number as usize * self.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read_as_they_are_written() {
        for (bytes, number, more, size) in [
            (&b""[..], 0, false, 16),
            (b"\x08", 0, true, 16),
            (b"\x0e", 0, true, 1024),
            (b"\x16", 1, false, 1024),
            (b"\xff\xff\xfe", (1 << 20) - 1, true, 1024),
        ] {
            let block = Block::from_bytes(bytes).unwrap();
            assert_eq!((block.number, block.more, block.size()), (number, more, size));
            assert_eq!(block.offset(), number as usize * size);
            assert_eq!(block.to_bytes(), bytes);
        }
        assert_eq!(Block::from_bytes(b"\x07"), None);
        assert_eq!(Block::from_bytes(b"\0\0\0\0"), None);
    }
}
