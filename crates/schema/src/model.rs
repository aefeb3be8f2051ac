//! The compiled schema: the tree of its types, and what holds for the whole message.

use crate::{
    SchemaError, Type,
    compile::{checked_slot, identifier},
};
use base64::{Engine, prelude::BASE64_STANDARD};

/// A compiled schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub(crate) name: String,
    pub(crate) root: Type,
    pub(crate) definitions: Vec<Type>,
    pub(crate) slot: u8,
    pub(crate) slot_from_port: bool,
    pub(crate) check: u8,
    pub(crate) statistics: Option<String>,
}

impl Model {
    /// Returns the name for generated code and definitions: an identifier (`[A-Za-z][A-Za-z0-9]*`) made from the schema's `title`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the model with the name that a schema with this `title` has.
    #[must_use]
    pub fn with_title(self, title: &str) -> Model {
        Model { name: identifier(title), ..self }
    }

    /// Returns the type of the message.
    pub fn root(&self) -> &Type {
        &self.root
    }

    /// Returns the type of the message, and drops the rest.
    pub fn into_root(self) -> Type {
        self.root
    }

    /// Returns the schemas that refer to themselves. [`Type::Definition`] is an index into them.
    pub fn definitions(&self) -> &[Type] {
        &self.definitions
    }

    /// Returns the slot of the packed layout, 1 to 63: `x-dunnage-slot`, and 1 without the keyword.
    pub fn slot(&self) -> u8 {
        self.slot
    }

    /// Whether the slot is the port of the link, and not in the message (`x-dunnage-slot-from`).
    pub fn slot_from_port(&self) -> bool {
        self.slot_from_port
    }

    /// Returns the length of the check after a packed message, 0 to 2 bytes: `x-dunnage-check`, and 0 without the keyword.
    pub fn check(&self) -> u8 {
        self.check
    }

    /// Returns what training has learnt about the messages, in Base64 (`x-dunnage-statistics`).
    pub fn statistics(&self) -> Option<&str> {
        self.statistics.as_deref()
    }

    /// Returns the model with another slot.
    ///
    /// # Errors
    /// The slot is not between 1 and 63.
    ///
    /// ```
    /// # use dunnage_schema::Model;
    /// let model = Model::compile("{}")?;
    /// assert_eq!(model.clone().with_slot(7)?.slot(), 7);
    /// assert!(model.with_slot(64).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_slot(self, slot: u8) -> Result<Model, SchemaError> {
        Ok(Model { slot: checked_slot(slot)?, ..self })
    }

    /// Returns the model with the statistics that training made, or without any. A layout checks them when it is made.
    #[must_use]
    pub fn with_statistics(self, statistics: Option<&[u8]>) -> Model {
        Model { statistics: statistics.map(|bytes| BASE64_STANDARD.encode(bytes)), ..self }
    }

    /// Returns a model of types that come from no schema text.
    #[doc(hidden)]
    pub fn of_types(root: Type, definitions: Vec<Type>) -> Model {
        let name = "Message".to_owned();
        Model { name, root, definitions, slot: 1, slot_from_port: false, check: 0, statistics: None }
    }
}
