//! The C side of a layout: structs, members and constants, with their names.

use super::number::{Count, Whole};
use dunnage_packed::OpenPart;
use dunnage_schema::Segment;

/// The input of the header and source generators.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plan {
    /// The name of the struct, and the prefix of functions and types: the library's prefix, if any, and the schema's name.
    pub name: String,
    /// The prefix of macros, such as `CONTAINER`.
    pub prefix: String,
    /// The struct of the message.
    pub root: Struct,
    /// The constants and paths of the fields that an error can name. The first one is the message.
    pub fields: Vec<(String, String)>,
    /// The patterns of all texts, as segments.
    pub patterns: Vec<Vec<Segment>>,
}

/// A struct type.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Struct {
    /// Its name.
    pub name: String,
    /// Its content.
    pub content: Content,
}

/// The content of a struct.
#[derive(Debug, Clone)]
pub enum Content {
    /// An object: each field, with the name of its presence flag if it is optional.
    Object(Vec<(Option<String>, Slot)>),
    /// One value with all its members: a message that is not an object, or an element of an array.
    Value(Box<Slot>),
    /// Several numbers in one text.
    Numbers(Vec<(String, Count)>),
    /// An array whose first elements have their own types.
    Tuple(Tuple),
    /// One of several types.
    Union(Vec<Alternative>),
}

/// A value in a struct.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Slot {
    /// The name of its member; empty if it has no name of its own.
    pub name: String,
    /// The prefix of its macros.
    pub constant: String,
    /// Its number in [`Plan::fields`].
    pub field: usize,
    /// The lines of its comment: the schema's description, and further notes.
    pub notes: Vec<String>,
    /// The kind of value.
    pub kind: SlotKind,
    /// The C constant that initialises a single member, or the flag of a value that may be `null`.
    pub initial: String,
    /// Its rank among the properties that a writer leaves out, if it may.
    pub drop: Option<u8>,
}

/// The kind of a value.
#[derive(Debug, Clone)]
pub enum SlotKind {
    /// A value without members: a constant, or something that the receiver knows.
    Nothing,
    /// `bool`
    Bool,
    /// An integer.
    Number(Count),
    /// `double`, with its minimum and maximum.
    Float(Option<f64>, Option<f64>),
    /// The index of one of the constants of an enumeration.
    Choice(Choice),
    /// `char[]` that matches a pattern.
    Pattern(Pattern),
    /// `char[]` of other text.
    Text(Text),
    /// A member of a struct type.
    Struct(Struct),
    /// Elements of one kind.
    Array(Array),
    /// A value that may be `null`: the flag for `null`, and the value, which has the same member.
    Nullable(String, Box<Slot>),
}

/// An enumeration: its type and its constants.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The name of the type.
    pub name: String,
    /// The constants, in the order of their indices.
    pub values: Vec<String>,
}

/// Text that is not encoded by a pattern.
#[derive(Debug, Clone)]
pub struct Text {
    /// Minimum number of characters.
    pub min: u32,
    /// Maximum number of characters.
    pub max: u32,
    /// Whether all characters are ASCII.
    pub ascii: bool,
}

/// Text that is encoded by a pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// Its number in [`Plan::patterns`].
    pub index: usize,
    /// The pattern's maximum number of characters.
    pub longest: u32,
    /// The lengths that the schema allows, if they are fewer than those of the pattern.
    pub lengths: Option<(u32, u32)>,
}

/// Elements of one kind.
#[derive(Debug, Clone)]
pub struct Array {
    /// The member that holds the number of elements; `None` if the number is fixed.
    pub count: Option<String>,
    /// Minimum number of elements.
    pub min: u32,
    /// Maximum number of elements.
    pub max: u32,
    /// The element. Its name is empty.
    pub item: Box<Slot>,
    /// Whether the elements are readings one after the other.
    pub series: bool,
}

/// An array whose first elements have their own types.
#[derive(Debug, Clone)]
pub struct Tuple {
    /// The member that holds the number of elements; `None` if the number is fixed.
    pub count: Option<String>,
    /// Minimum number of elements.
    pub min: u32,
    /// Maximum number of elements.
    pub max: u32,
    /// The first elements.
    pub items: Vec<Slot>,
    /// The other elements: the member that is their array, and the element, whose name is empty.
    pub rest: Option<(String, Box<Slot>)>,
}

/// One of several types.
#[derive(Debug, Clone)]
pub struct Alternative {
    /// The constant of its tag.
    pub tag: String,
    /// Its value, whose member is in the union `as`.
    pub slot: Slot,
}

/// A part of the schema that C cannot represent.
pub type Fault = OpenPart;

impl Plan {
    /// Whether field numbers need more than 8 bits.
    pub(super) fn has_pages(&self) -> bool {
        self.fields.len() > 256
    }
}

impl Text {
    /// Returns the size of the member in bytes, including its NUL.
    pub fn room(&self) -> u32 {
        if self.ascii { self.max + 1 } else { 4 * self.max + 1 }
    }
}

impl Pattern {
    /// Returns the size of the member in bytes, including its NUL.
    pub fn room(&self) -> u32 {
        self.lengths.map_or(self.longest, |(_, most)| most) + 1
    }
}

impl SlotKind {
    /// Whether the value is exactly one member of its struct.
    pub fn is_single(&self) -> bool {
        !matches!(self, SlotKind::Nothing | SlotKind::Array(_) | SlotKind::Nullable(..))
    }
}

impl Array {
    /// Returns the type of the element count.
    pub fn counter(&self) -> Whole {
        Whole::holding(0, self.max.into())
    }
}

impl Tuple {
    /// Returns the type of the element count.
    pub fn counter(&self) -> Whole {
        Whole::holding(0, self.max.into())
    }
}
