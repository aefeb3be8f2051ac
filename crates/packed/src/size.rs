//! Computes with numbers of bits: `spec/packed.md`, "Plain bodies" and "Size".

/// The minimum and maximum number of bits.
///
/// ```
/// # use dunnage_packed::{Bits, Layout};
/// # use dunnage_schema::Model;
/// let bits = |schema| Ok::<_, dunnage_schema::SchemaError>(Layout::new(&Model::compile(schema)?)?.root().bits());
/// assert_eq!(bits(r#"{"type": "boolean"}"#)?, Bits { min: 1, max: Some(1) });
/// assert_eq!(bits(r#"{"type": "string"}"#)?.max, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    /// The minimum.
    pub min: u64,
    /// The maximum, or `None` if it is unbounded.
    pub max: Option<u64>,
}

/// The bits of a sized number.
pub(crate) const SIZED: Bits = Bits { min: 6, max: Some(70) };

impl Bits {
    /// Returns a fixed number of bits.
    pub(crate) fn exactly(bits: u64) -> Bits {
        Bits { min: bits, max: Some(bits) }
    }

    /// Returns `min` or more bits.
    pub(crate) fn open(min: u64) -> Bits {
        Bits { min, max: None }
    }

    /// Returns the bits of an index below `count`.
    pub(crate) fn index(count: u64) -> Bits {
        Bits::exactly(index_bits(count).into())
    }

    /// Returns the bits of all parts, one after the other.
    pub(crate) fn sum(parts: impl Iterator<Item = Bits>) -> Bits {
        parts.fold(Bits::exactly(0), Bits::and)
    }

    /// Returns the bits of both parts, one after the other.
    pub(crate) fn and(self, other: Bits) -> Bits {
        let max = self.max.zip(other.max).map(|(a, b)| a.saturating_add(b));
        Bits { min: self.min.saturating_add(other.min), max }
    }

    /// Returns the bits of either part.
    pub(crate) fn or(self, other: Bits) -> Bits {
        Bits { min: self.min.min(other.min), max: self.max.zip(other.max).map(|(a, b)| a.max(b)) }
    }

    /// Returns the bits of a presence bit, and of the part if it is present.
    pub(crate) fn optional(self) -> Bits {
        Bits::exactly(1).and(self.or(Bits::exactly(0)))
    }

    /// Returns the bits of `min` to `max` such parts.
    pub(crate) fn times(self, min: u32, max: Option<u32>) -> Bits {
        let max = self.max.zip(max).map(|(bits, max)| bits.saturating_mul(max.into()));
        Bits { min: self.min.saturating_mul(min.into()), max }
    }
}

/// Returns the number of bits of an index below `count`: ceil(log2 count).
///
/// ```
/// use dunnage_packed::index_bits;
/// assert_eq!([1, 2, 100, 128, 129].map(index_bits), [0, 1, 7, 7, 8]);
/// ```
pub fn index_bits(count: u64) -> u32 {
    u64::BITS - count.saturating_sub(1).leading_zeros()
}
