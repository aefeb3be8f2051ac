//! The layout: computed once from a model, then used to encode and decode messages (`message.rs`).

use crate::check::Check;
use crate::coded::{Leaves, Statistics, Trained};
use crate::derive;
use crate::node::Node;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dunnage_schema::{Model, SchemaError};

/// The maximum size of a message of a plain layout in bytes, slot byte included. Layouts with larger messages are modelled.
pub const MAX_PLAIN_BYTES: u64 = 1024;
/// The same for a layout with a series (`x-dunnage-series`), which repeats one part many times.
pub const MAX_SERIES_BYTES: u64 = 4096;

/// The bits of the messages of a schema.
///
/// ```
/// use dunnage_packed::{Layout, Value};
/// use dunnage_schema::Model;
///
/// let model = Model::compile(r#"{"type": "number", "multipleOf": 0.1, "minimum": -40, "maximum": 85}"#)?;
/// let layout = Layout::new(&model)?;
/// let mut bytes = Vec::new();
/// layout.encode(&Value::F64(-39.9), &mut bytes)?;
/// assert_eq!(bytes, [0x01, 0x00, 0x20]); // slot 1, then 1 in 11 bits: a step above the minimum
/// assert_eq!(layout.decode(&bytes, None)?, Value::F64(-39.9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Layout {
    pub(crate) model: Model,
    root: Node,
    definitions: Vec<Node>,
    max_bytes: Option<u64>,
    check: Option<Check>,
    trained: Option<Box<Trained>>,
    /// Whether the schema has rules that the bits do not enforce, so that messages must be validated too.
    pub(crate) validates: bool,
    /// Whether writing may round numbers.
    pub(crate) rounds: bool,
    /// Whether a writer may leave out properties.
    pub(crate) drops: bool,
    /// Whether the schema explains the errors of the encoder.
    pub(crate) explains: bool,
}

impl Layout {
    /// Computes the layout of the messages of `model`.
    ///
    /// # Errors
    /// The statistics of the schema are not those of its layout, or `x-dunnage-slot-from` does not go with the rest of the schema. The error
    /// names the keyword.
    ///
    /// ```
    /// # use dunnage_packed::Layout;
    /// # use dunnage_schema::Model;
    /// let model = Model::compile(r#"{"type": "string", "x-dunnage-slot-from": "port"}"#)?;
    /// let error = Layout::new(&model).unwrap_err();
    /// assert_eq!(error.keyword(), "x-dunnage-slot-from"); // the text has no longest value
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(model: &Model) -> Result<Layout, SchemaError> {
        let mut layout = Layout::untrained(model);
        layout.check_slot_from(model)?;
        layout.model = model.clone();
        layout.check = layout.new_check();
        layout.trained = layout.read_statistics().map_err(SchemaError::of_statistics)?.map(Box::new);
        Ok(layout)
    }

    /// Computes the layout that the messages of `model` would have without `x-dunnage-statistics`.
    pub fn untrained(model: &Model) -> Layout {
        let model = model.clone().with_statistics(None);
        let (root, definitions) = derive::derive(&model);
        let around = u64::from(!model.slot_from_port()) + u64::from(model.check());
        let most = root.bits().max.map(|bits| around + bits.div_ceil(8));
        let max_bytes = most.filter(|max| *max <= plain_limit(&root));
        let (validates, rounds) = (derive::has_more_than_bits(&model), model.rounds());
        let mut layout = Layout {
            model,
            root,
            definitions,
            max_bytes,
            check: None,
            trained: None,
            validates,
            rounds,
            drops: false,
            explains: true,
        };
        layout.drops = !layout.dropped().is_empty();
        layout.check = layout.new_check();
        layout
    }

    /// Returns the layout as libraries know it that interpret its export: without the rules that only restrict. The error of a message is
    /// that of the first part that it does not fit.
    #[doc(hidden)]
    pub fn exported(&self) -> Layout {
        Layout { validates: false, explains: false, ..self.clone() }
    }

    fn new_check(&self) -> Option<Check> {
        Some(Check::new(self.check_bytes()?, &self.fingerprint()))
    }

    /// Returns the check of the bytes of a message, whose slot counts even if it is not among them.
    pub(crate) fn check_of_bytes(&self) -> Option<Check> {
        Some(if self.has_slot_byte() { self.check? } else { self.check?.after(&[self.slot()]) })
    }

    /// Checks that messages without a slot byte can be told from each other and from no message at all.
    fn check_slot_from(&self, model: &Model) -> Result<(), SchemaError> {
        let fault = match self.max_bytes {
            _ if !model.slot_from_port() => return Ok(()),
            _ if model.statistics().is_some() => {
                "messages with statistics need their first byte: leave out x-dunnage-slot-from or x-dunnage-statistics"
            }
            None => "a message without a slot byte needs a schema whose largest message has a bound",
            Some(_) if self.root.bits().max == Some(0) => {
                "a message without a slot byte needs a value that takes bits"
            }
            Some(_) => return Ok(()),
        };
        Err(SchemaError::of_slot_from(fault))
    }

    fn read_statistics(&self) -> Result<Option<Trained>, String> {
        let Some(text) = self.model.statistics() else { return Ok(None) };
        if !self.is_plain() {
            return Err("statistics need a schema whose largest message has a bound".to_owned());
        }
        let bytes = BASE64_STANDARD.decode(text).map_err(|error| format!("not Base64: {error}"))?;
        let leaves = Leaves::of(&self.root);
        let statistics = Statistics::from_bytes(&bytes, leaves.list(), &self.untrained_fingerprint())?;
        Ok(Some(Trained { leaves, statistics, name: Check::new(2, &self.fingerprint()) }))
    }

    /// Returns whether an array of the schema is a series (`x-dunnage-series`).
    pub fn has_series(&self) -> bool {
        self.root.has_series()
    }

    /// Returns the size in bytes that the largest message of a plain layout with this tree may have.
    ///
    /// ```
    /// # use dunnage_packed::Layout;
    /// # use dunnage_schema::Model;
    /// let layout = |schema| Ok::<_, dunnage_schema::SchemaError>(Layout::new(&Model::compile(schema)?)?);
    /// let array = r#"{"type": "array", "maxItems": 500, "items": {"type": "integer", "minimum": 0, "maximum": 4294967295}}"#;
    /// assert_eq!((layout(array)?.plain_limit(), layout(array)?.is_plain()), (1024, false));
    /// let series = array.replace("{\"type\": \"array\"", "{\"type\": \"array\", \"x-dunnage-series\": true");
    /// assert_eq!((layout(&series)?.plain_limit(), layout(&series)?.is_plain()), (4096, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plain_limit(&self) -> u64 {
        plain_limit(&self.root)
    }

    /// Returns whether the schema has statistics, so that messages have a prior form and deltas.
    pub fn has_statistics(&self) -> bool {
        self.trained.is_some()
    }

    /// Returns what the statistics of the schema tell, if it has any.
    pub(crate) fn trained(&self) -> Option<&Trained> {
        self.trained.as_deref()
    }

    /// Returns the name of the schema, for generated code.
    pub fn name(&self) -> &str {
        self.model.name()
    }

    /// Returns the slot, 1 to 63. It is in the first byte of each message, or the port of the link, see [`Layout::has_slot_byte`].
    pub fn slot(&self) -> u8 {
        self.model.slot()
    }

    /// Returns whether messages begin with a slot byte. Otherwise the slot is the port of the link (`x-dunnage-slot-from`), and all
    /// messages have mode 0.
    ///
    /// ```
    /// # use dunnage_packed::{Layout, Value};
    /// # use dunnage_schema::Model;
    /// let schema = r#"{"type": "integer", "minimum": 0, "maximum": 255, "x-dunnage-slot-from": "port"}"#;
    /// let layout = Layout::new(&Model::compile(schema)?)?;
    /// let mut bytes = Vec::new();
    /// layout.encode(&Value::U64(7), &mut bytes)?;
    /// assert_eq!((layout.has_slot_byte(), bytes), (false, vec![7]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn has_slot_byte(&self) -> bool {
        !self.model.slot_from_port()
    }

    /// Returns the bytes before the body of a plain message: 1 or 0.
    pub(crate) fn before_body(&self) -> usize {
        usize::from(self.has_slot_byte())
    }

    /// Returns the tree of the message.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Returns the trees to which [`Shape::Definition`](crate::Shape::Definition) refers.
    ///
    /// ```
    /// # use dunnage_packed::{Layout, Shape};
    /// # use dunnage_schema::Model;
    /// let schema = r##"{"$defs": {"list": {"type": "array", "items": {"$ref": "#/$defs/list"}}}, "$ref": "#/$defs/list"}"##;
    /// let layout = Layout::new(&Model::compile(schema)?)?;
    /// assert_eq!(layout.root().shape, Shape::Definition(0));
    /// assert!(matches!(layout.definitions()[0].shape, Shape::Array(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn definitions(&self) -> &[Node] {
        &self.definitions
    }

    /// Returns the model that the layout was computed from.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the check behind each message, if the schema asks for one.
    ///
    /// ```
    /// # use dunnage_packed::{Layout, Value};
    /// # use dunnage_schema::Model;
    /// let schema = r#"{"type": "integer", "minimum": 0, "maximum": 255, "x-dunnage-check": 1}"#;
    /// let layout = Layout::new(&Model::compile(schema)?)?;
    /// let mut bytes = Vec::new();
    /// layout.encode(&Value::U64(7), &mut bytes)?;
    /// assert_eq!((layout.check().map(|check| check.bytes()), bytes.len()), (Some(1), 3));
    /// bytes[1] ^= 0x80; // a bit that the link has changed
    /// assert_eq!(layout.decode(&bytes, None).unwrap_err().kind(), dunnage_packed::Kind::Malformed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self) -> Option<Check> {
        self.check
    }

    pub(crate) fn check_bytes(&self) -> Option<u8> {
        Some(self.model.check()).filter(|bytes| *bytes > 0)
    }

    /// Returns the size of the smallest plain message in bytes, slot byte and check included.
    pub fn min_bytes(&self) -> u64 {
        u64::from(self.has_slot_byte()) + self.root.bits().min.div_ceil(8) + u64::from(self.model.check())
    }

    /// Returns the size of the largest message in bytes, slot byte and check included; `None` if the layout is modelled.
    ///
    /// ```
    /// # use dunnage_packed::Layout;
    /// # use dunnage_schema::Model;
    /// let layout = |schema| Ok::<_, dunnage_schema::SchemaError>(Layout::new(&Model::compile(schema)?)?);
    /// let bounded = layout(r#"{"type": "array", "maxItems": 10, "items": {"type": "integer", "minimum": 0, "maximum": 99}}"#)?;
    /// assert_eq!((bounded.min_bytes(), bounded.max_bytes()), (2, Some(11))); // 4 bits for the length, 7 for each element
    /// assert_eq!(layout(r#"{"type": "string"}"#)?.max_bytes(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_bytes(&self) -> Option<u64> {
        self.max_bytes
    }

    /// Returns whether messages are plain bits. Otherwise they are modelled.
    pub fn is_plain(&self) -> bool {
        self.max_bytes.is_some()
    }
}

fn plain_limit(root: &Node) -> u64 {
    if root.has_series() { MAX_SERIES_BYTES } else { MAX_PLAIN_BYTES }
}
