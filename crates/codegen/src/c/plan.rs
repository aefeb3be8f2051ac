//! The C side of a layout: structs, members and constants, with their names.

use super::number::{Count, Whole};
use dunnage_packed::OpenPart;
use dunnage_schema::Segment;

/// Everything that the header and the source are written from.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The name of the struct, with which functions and types begin: the prefix if there is one, and the schema's name.
    pub name: String,
    /// What macros begin with: `CONTAINER`.
    pub prefix: String,
    /// The struct of the message.
    pub root: Struct,
    /// The fields that an error can name: constant and path. The first is the message.
    pub fields: Vec<(String, String)>,
    /// The patterns of all texts.
    pub patterns: Vec<Vec<Segment>>,
}

/// A struct type.
#[derive(Debug, Clone)]
pub struct Struct {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub content: Content,
}

/// What a struct stands for.
#[derive(Debug, Clone)]
pub enum Content {
    /// An object: each field, and the name of its presence flag when it is optional.
    Object(Vec<(Option<String>, Slot)>),
    /// One value, and what goes with it: a message that is no object, or an element of an array.
    Value(Box<Slot>),
    /// Several numbers in one text.
    Numbers(Vec<(String, Count)>),
    /// An array whose first elements have types of their own.
    Tuple(Tuple),
    /// One of several types.
    Union(Vec<Alternative>),
}

/// A value in a struct.
#[derive(Debug, Clone)]
pub struct Slot {
    /// Its member; empty where there is none.
    pub name: String,
    /// What its macros begin with.
    pub constant: String,
    /// Its number in [`Plan::fields`].
    pub field: usize,
    /// Lines of the comment: the schema's description, and what else is to be known.
    pub notes: Vec<String>,
    /// What it is.
    pub kind: Kind,
    /// The C constant that initialises a single member, or the flag of what may be `null`.
    pub initial: String,
}

/// What a value is.
#[derive(Debug, Clone)]
pub enum Kind {
    /// Nothing to say: a constant, or what the receiver knows.
    Nothing,
    /// `bool`
    Bool,
    /// An integer.
    Number(Count),
    /// `double`, with its bounds.
    Float(Option<f64>, Option<f64>),
    /// The index of one of the constants of an enumeration.
    Choice(Choice),
    /// `char[]` of a pattern.
    Pattern(Pattern),
    /// `char[]` of other text.
    Text(Text),
    /// A member of a struct type.
    Struct(Struct),
    /// Elements of one kind.
    Array(Array),
    /// `null` or something: the flag that says null, and the something, which has the same member.
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

/// Text without an exact pattern.
#[derive(Debug, Clone)]
pub struct Text {
    /// Fewest characters.
    pub min: u32,
    /// Most characters.
    pub max: u32,
    /// Whether all of them are ASCII.
    pub ascii: bool,
}

/// Text of an exact pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// Its number in [`Plan::patterns`].
    pub index: usize,
    /// Most characters of the pattern.
    pub longest: u32,
    /// The lengths that the schema allows, where they are fewer than those of the pattern.
    pub lengths: Option<(u32, u32)>,
}

/// Elements of one kind.
#[derive(Debug, Clone)]
pub struct Array {
    /// The member with their number; `None` when it is always the same.
    pub count: Option<String>,
    /// Fewest.
    pub min: u32,
    /// Most.
    pub max: u32,
    /// What each is. Its name is empty.
    pub item: Box<Slot>,
}

/// An array whose first elements have types of their own.
#[derive(Debug, Clone)]
pub struct Tuple {
    /// The member with the number of elements; `None` when it is always the same.
    pub count: Option<String>,
    /// Fewest.
    pub min: u32,
    /// Most.
    pub max: u32,
    /// The first ones.
    pub items: Vec<Slot>,
    /// Those behind: the member that is their array, and what each is. Its name is empty.
    pub rest: Option<(String, Box<Slot>)>,
}

/// One of several types.
#[derive(Debug, Clone)]
pub struct Alternative {
    /// The constant of its tag.
    pub tag: String,
    /// What it is; its member is in the union `as`.
    pub slot: Slot,
}

/// A part of the schema that C cannot have.
pub type Fault = OpenPart;

impl Plan {
    /// Whether the numbers of fields have more than 8 bits.
    pub(super) fn has_pages(&self) -> bool {
        self.fields.len() > 256
    }
}

impl Text {
    /// Bytes of the member, its NUL included.
    pub fn room(&self) -> u32 {
        if self.ascii { self.max + 1 } else { 4 * self.max + 1 }
    }
}

impl Pattern {
    /// Bytes of the member, its NUL included.
    pub fn room(&self) -> u32 {
        self.lengths.map_or(self.longest, |(_, most)| most) + 1
    }
}

impl Kind {
    /// Whether it is nothing but one member of its struct.
    pub fn is_single(&self) -> bool {
        !matches!(self, Kind::Nothing | Kind::Array(_) | Kind::Nullable(..))
    }
}

impl Array {
    /// The type that counts the elements.
    pub fn counter(&self) -> Whole {
        Whole::holding(0, self.max.into())
    }
}

impl Tuple {
    /// The type that counts the elements.
    pub fn counter(&self) -> Whole {
        Whole::holding(0, self.max.into())
    }
}
