//! IEEE 754 binary16, which Rust has no stable type for.

/// Returns the bits of `number` as binary16 if the conversion is exact. NaNs keep the upper bits of their payload and become quiet.
pub(super) fn exact_bits(number: f32) -> Option<u16> {
    let bits = number.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let fraction = bits & 0x7f_ffff;
    let magnitude = match (bits >> 23) & 0xff {
        0 if fraction == 0 => 0,
        255 if fraction == 0 => 0x7c00,
        255 => 0x7e00 | fraction >> 13,
        biased @ 113..=142 if fraction.trailing_zeros() >= 13 => (biased - 112) << 10 | fraction >> 13,
        biased @ 103..=112 => {
            let (significand, shift) = (fraction | 0x80_0000, 126 - biased);
            if significand.trailing_zeros() < shift {
                return None;
            }
            significand >> shift
        }
        _ => return None,
    };
    Some(sign | magnitude as u16)
}

/// Returns the number that the `bits` of a binary16 represent. NaNs keep their payload and become quiet.
pub(super) fn number(bits: u16) -> f32 {
    let (exponent, fraction) = (u32::from(bits >> 10) & 0x1f, u32::from(bits) & 0x3ff);
    let magnitude = match (exponent, fraction) {
        (0, _) => fraction as f32 * 2f32.powi(-24),
        (31, 0) => f32::INFINITY,
        (31, _) => f32::from_bits(0x7fc0_0000 | fraction << 13),
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    f32::from_bits(magnitude.to_bits() | u32::from(bits & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    #[test]
    fn every_binary16_converts_as_in_the_crate_half() {
        for bits in 0..=u16::MAX {
            let peer = f16::from_bits(bits).to_f32();
            assert_eq!(number(bits).to_bits(), peer.to_bits(), "{bits:04x}");
            assert_eq!(exact_bits(peer), Some(f16::from_f32(peer).to_bits()), "{bits:04x}");
        }
    }

    #[test]
    fn only_exact_numbers_convert() {
        for upper in 0..=u16::MAX {
            for lower in [0, 1, 0x1fff, 0x2000, 0x8000, 0xffff] {
                let number = f32::from_bits(u32::from(upper) << 16 | lower);
                let peer = f16::from_f32(number);
                let is_exact = peer.to_f32() == number || number.is_nan();
                assert_eq!(exact_bits(number), is_exact.then_some(peer.to_bits()), "{number}");
            }
        }
    }
}
