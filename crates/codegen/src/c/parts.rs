//! Translates a layout with statistics to the bytes along which `support/dunnage_modes.h` walks: its parts in their order, each with its
//! tables.

use super::plan::Fault;
use super::tables::{Emitted, Tables, push_constant};
use dunnage_packed::{
    Form, Layout, Node, Number, ObjectNode, Shape, TrainedLeaf, TrainedLeaves, TupleNode, index_bits,
    pattern_pieces,
};
use dunnage_schema::Segment;

/// The kinds of parts, as in `support/dunnage_modes.h`.
const INDEX: u8 = 0;
const PIECE: u8 = 1;
const EVERY: u8 = 2;
const REST: u8 = 3;
const OPAQUE: u8 = 4;
const IF: u8 = 5;
const LOOP: u8 = 6;
/// The flag of a part for values from that one on, or of elements whose number is fixed.
const OTHER: u8 = 0x10;
/// Marks, in place of a part, the fewest bytes of the parts that follow. They let a device give up a form that becomes too long.
const LEAST: u8 = 0x08;
/// How many bytes fewer they have to be than at the last place.
const LEAST_STEP: u8 = 2;

/// The bits in which a record has the number of characters of a piece.
const PIECE_BITS: u64 = 5;

/// The kinds of opaque parts beside the number of bits of a float.
const SIZED: u8 = 0;
const TEXT: u8 = 1;

/// The forms of a float, and the numbers of its decimal places.
const FLOAT_FORMS: u64 = 3;
const FLOAT_PLACES: u64 = 13;
/// The most bits of a decimal after its places: a sized number below 2^48.
const DECIMAL_BITS: u64 = 6 + 47;

/// The kinds of parts that a message has, so that its code has no others.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Needs {
    /// An index, or its distance from the start of a table, has more than 32 bits.
    pub wide: bool,
    /// A table of changes has a weight.
    pub weights: bool,
    /// The value that selects tables has more than 8 bits.
    pub wide_selectors: bool,
    /// The number of a part, as it was coded, selects tables.
    pub number_selectors: bool,
    pub pieces: bool,
    pub every: bool,
    pub opaque: bool,
    pub texts: bool,
    pub branches: bool,
}

/// The parts of a message.
pub(super) struct Parts {
    pub bytes: Vec<u8>,
    /// The tables, at which the parts point.
    pub tables: Vec<u8>,
    pub needs: Needs,
    /// The most bits of a record.
    pub record_bits: u64,
    /// How many values of parts select tables.
    pub selectors: usize,
    /// The bytes that only tables of changes need.
    pub delta_bytes: usize,
}

/// Translates `layout`, whose statistics are `trained`.
pub(super) fn parts(layout: &Layout, trained: TrainedLeaves<'_>) -> Result<Parts, Vec<Fault>> {
    let leaves = trained.list();
    let tables = Tables::of(&leaves)?;
    let mut writer = Writer {
        trained,
        needs: Needs {
            wide: tables.is_wide(),
            weights: tables.has_weights(),
            wide_selectors: tables.has_wide_selectors(&leaves),
            number_selectors: tables.has_number_selectors(),
            ..Needs::default()
        },
        leaves,
        tables,
        bytes: Vec::new(),
        least: 0.0,
        fields: Vec::new(),
    };
    let record_bits = writer.node(layout.root());
    writer.insert_least();
    if writer.bytes.is_empty() {
        // C has no empty array. An index of no bits takes nothing.
        writer.bytes.extend([INDEX, 0, 0]);
    }
    let Writer { bytes, needs, tables, .. } = writer;
    let (selectors, delta_bytes) = (tables.selectors(), tables.delta_bytes);
    Ok(Parts { bytes, tables: tables.bytes, needs, record_bits, selectors, delta_bytes })
}

struct Writer<'a> {
    trained: TrainedLeaves<'a>,
    leaves: Vec<TrainedLeaf<'a>>,
    tables: Tables,
    needs: Needs,
    bytes: Vec<u8>,
    /// The fewest bits that the parts so far have without a reference.
    least: f64,
    /// Where the fields of the message begin, and the fewest bits before them.
    fields: Vec<(usize, f64)>,
}

impl Writer<'_> {
    /// Writes before some fields what they and all that follow have at least.
    fn insert_least(&mut self) {
        let mut last = 0;
        for (at, before) in std::mem::take(&mut self.fields).into_iter().rev() {
            // A little less, because logarithms are not exact.
            let bytes = ((self.least - before) * 0.999 / 8.0).ceil().min(255.0) as u8;
            if bytes >= last + LEAST_STEP {
                self.bytes.splice(at..at, [LEAST, bytes]);
                last = bytes;
            }
        }
    }

    /// Writes the parts of a node. Returns the most bits that it has in a record.
    fn node(&mut self, node: &Node) -> u64 {
        let id = node.id;
        match &node.shape {
            Shape::Constant(_) | Shape::Known(_) | Shape::Any | Shape::Definition(_) => 0,
            Shape::Bool => self.index(self.trained.value(id, 0), 2),
            Shape::Number(number) => self.number(id, 0, number),
            Shape::Numbers(numbers) => {
                let parts = numbers.parts.iter().enumerate();
                parts.map(|(nth, (_, part))| self.number(id, nth, part)).sum()
            }
            Shape::Float => self.float(id),
            Shape::Choice(values) => self.index(self.trained.value(id, 0), values.len() as u64),
            Shape::Pattern(segments) => self.pattern(id, segments),
            Shape::Text(text) => self.text(id, text.min, text.max.unwrap_or(text.min)),
            Shape::Array(array) => {
                let max = array.max.unwrap_or(array.min);
                let count = self.count(id, array.min, max);
                count + self.elements(&array.item, max, array.min == max)
            }
            Shape::Tuple(tuple) => self.tuple(id, tuple),
            Shape::Object(object) => self.object(id, object),
            Shape::Nullable(inner) => {
                let flag = self.index(self.trained.nullable(id), 2);
                flag + self.branch(IF, 0, |writer| writer.node(inner))
            }
            Shape::Union(nodes) => self.union(id, nodes),
        }
    }

    fn object(&mut self, id: u32, object: &ObjectNode) -> u64 {
        let mut bits = 0;
        for field in &object.fields {
            if id == 0 {
                self.fields.push((self.bytes.len(), self.least));
            }
            if field.optional {
                bits += self.index(self.trained.presence(field.node.id), 2);
                bits += self.branch(IF, 0, |writer| writer.node(&field.node));
            } else {
                bits += self.node(&field.node);
            }
        }
        bits
    }

    fn union(&mut self, id: u32, nodes: &[Node]) -> u64 {
        if let [only] = nodes {
            return self.node(only);
        }
        let form = self.index(self.trained.form(id), nodes.len() as u64);
        let last = nodes.len() - 1;
        let mut most = 0;
        for (at, node) in nodes.iter().enumerate() {
            most = most.max(self.branch(IF, last - at, |writer| writer.node(node)));
        }
        form + most
    }

    fn tuple(&mut self, id: u32, tuple: &TupleNode) -> u64 {
        let max = tuple.max.unwrap_or(tuple.min);
        let mut bits = self.count(id, tuple.min, max);
        for (at, item) in tuple.items.iter().enumerate().take(max as usize) {
            // An item that is always there is in a branch, too: its own indexes must not replace the number of items.
            bits += if tuple.min == max {
                self.node(item)
            } else {
                self.branch(IF | OTHER, max as usize - at - 1, |writer| writer.node(item))
            };
        }
        let more = max.saturating_sub(tuple.items.len() as u32);
        bits + tuple.rest.as_ref().map_or(0, |rest| self.elements(rest, more, tuple.min == max))
    }

    fn count(&mut self, id: u32, min: u32, max: u32) -> u64 {
        self.index(self.trained.count(id, 0), u64::from(max - min) + 1)
    }

    fn elements(&mut self, item: &Node, max: u32, is_fixed: bool) -> u64 {
        if max == 0 {
            return 0;
        }
        let kind = if is_fixed { LOOP | OTHER } else { LOOP };
        u64::from(max) * self.branch(kind, max as usize, |writer| writer.node(item))
    }

    /// Writes a part whose content depends on the index before it.
    fn branch(&mut self, kind: u8, selector: usize, content: impl FnOnce(&mut Self) -> u64) -> u64 {
        let (before, least) = (std::mem::take(&mut self.bytes), self.least);
        let bits = content(self);
        let inside = std::mem::replace(&mut self.bytes, before);
        // The content may be absent.
        self.least = least;
        if !inside.is_empty() {
            self.needs.branches = true;
            self.bytes.push(kind);
            self.constant(selector as u64);
            self.constant(inside.len() as u64);
            self.bytes.extend(inside);
        }
        bits
    }

    fn number(&mut self, id: u32, nth: usize, number: &Number) -> u64 {
        let leaf = self.trained.value(id, nth);
        let count = match number.form() {
            Form::Index(count) => {
                let every = leaf.and_then(|leaf| self.leaves[leaf].every.map(|every| (leaf, every)));
                return match every {
                    Some((leaf, every)) => self.every(leaf, count, every),
                    None => self.index(leaf, count),
                };
            }
            Form::Offset => u64::try_from((number.max - number.min) / i128::from(number.step)),
            Form::Signed => u64::try_from((number.max - number.min) / i128::from(number.step)),
        };
        let sized = sized_bits(count.unwrap_or(u64::MAX));
        let rest = |writer: &mut Self| {
            let sign = match number.form() {
                Form::Signed => writer.index(writer.trained.sign(id, nth), 2),
                _ => 0,
            };
            sign + writer.opaque(id, nth, &[SIZED], sized)
        };
        match number.usual_count() {
            Some(usual) => self.index(leaf, usual + 1) + self.branch(IF, 0, rest),
            None => rest(self),
        }
    }

    /// Writes a number that grows: its steps and its rest, of which a record has each as an index.
    fn every(&mut self, leaf: usize, count: u64, every: u64) -> u64 {
        self.needs.every = true;
        let (bits, rest_bits) = (index_bits((count - 1) / every + 1), index_bits(every));
        let differences = self.leaves[leaf].count;
        let (first, last) = (self.tables.emitted(leaf), self.tables.emitted(leaf + 1));
        self.bytes.extend([EVERY | first.flags, bits as u8]);
        self.constant(every);
        self.bytes.extend([rest_bits as u8, index_bits(differences) as u8]);
        self.constant(differences / 2);
        self.emit(&first);
        self.bytes.extend([REST | last.flags, 0, rest_bits as u8]);
        self.emit(&last);
        u64::from(bits) + u64::from(rest_bits)
    }

    fn float(&mut self, id: u32) -> u64 {
        let form = self.index(self.trained.form(id), FLOAT_FORMS);
        self.branch(IF, 2, |writer| {
            writer.index(writer.trained.sign(id, 0), 2);
            writer.index(writer.trained.places(id), FLOAT_PLACES);
            writer.opaque(id, 0, &[SIZED], DECIMAL_BITS)
        });
        self.branch(IF, 1, |writer| writer.opaque(id, 0, &[32], 32));
        form + self.branch(IF, 0, |writer| writer.opaque(id, 0, &[64], 64))
    }

    fn text(&mut self, id: u32, min: u32, max: u32) -> u64 {
        self.needs.texts = true;
        let bits = index_bits(u64::from(max - min) + 1);
        let mut kind = vec![TEXT, bits as u8];
        push_constant(&mut kind, min.into());
        push_constant(&mut kind, max.into());
        self.opaque(id, 0, &kind, u64::from(bits) + 1 + 32 * u64::from(max))
    }

    /// Writes an opaque part of the kind that these bytes describe.
    fn opaque(&mut self, id: u32, nth: usize, kind: &[u8], bits: u64) -> u64 {
        self.needs.opaque = true;
        let leaf = self.trained.opaque(id, nth).map(|leaf| self.tables.emitted(leaf)).unwrap_or_default();
        self.bytes.push(OPAQUE | leaf.flags);
        self.bytes.extend(kind);
        self.emit(&leaf);
        bits
    }

    /// Writes an index out of `count`.
    fn index(&mut self, leaf: Option<usize>, count: u64) -> u64 {
        let bits = index_bits(count);
        let leaf = leaf.map(|leaf| self.tables.emitted(leaf)).unwrap_or_default();
        if bits > 32 && leaf.flags == 0 {
            // The upper half and the rest take the same steps as the whole.
            self.bytes.extend([INDEX, 32, 0, INDEX, bits as u8 - 32, 0]);
            self.least += f64::from(bits);
        } else if bits > 0 {
            self.bytes.extend([INDEX | leaf.flags, bits as u8]);
            self.constant(count - 1);
            self.emit(&leaf);
            if leaf.least.is_none() {
                self.least += f64::from(bits);
            }
        }
        bits.into()
    }

    fn pattern(&mut self, id: u32, segments: &[Segment]) -> u64 {
        let mut bits = 0;
        for (nth, segment) in segments.iter().enumerate() {
            bits += self.index(self.trained.count(id, nth), u64::from(segment.max - segment.min) + 1);
        }
        for (nth, piece) in pattern_pieces(segments).iter().enumerate() {
            let (segment, leaf) = (&segments[piece.segment], self.trained.value(id, nth));
            let count = u64::from(piece.radix).pow(piece.most);
            if segment.min == segment.max {
                bits += self.index(leaf, count);
                continue;
            }
            self.needs.pieces = true;
            let leaf = leaf.map(|leaf| self.tables.emitted(leaf)).unwrap_or_default();
            self.bytes.extend([PIECE | leaf.flags, index_bits(count) as u8]);
            self.constant(piece.radix.into());
            self.constant(count / 2);
            self.emit(&leaf);
            bits += u64::from(index_bits(count)) + PIECE_BITS;
        }
        bits
    }

    fn emit(&mut self, leaf: &Emitted) {
        self.least += leaf.least.unwrap_or_default();
        self.bytes.extend(&leaf.bytes);
    }

    fn constant(&mut self, n: u64) {
        push_constant(&mut self.bytes, n);
    }
}

/// Returns the most bits of a sized number up to `max`.
fn sized_bits(max: u64) -> u64 {
    match u64::from(u64::BITS - max.leading_zeros()) {
        size @ 0..=62 => 6 + size.saturating_sub(1),
        _ => 6 + 64,
    }
}
