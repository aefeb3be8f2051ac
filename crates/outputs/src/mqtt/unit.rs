//! The units that a schema gives to values.

use dunnage_schema::pointer::unescape;

/// In a pointer to a unit: every field.
const EVERY: &str = "*";

/// The units of a schema, as [`dunnage_schema::units`] returns them, by the names that lead to the values.
pub struct Units<'u>(Vec<(Vec<String>, &'u str)>);

impl<'u> Units<'u> {
    pub fn new(units: &'u [(String, String)]) -> Units<'u> {
        let path = |pointer: &str| pointer.split('/').skip(1).map(unescape).collect();
        Units(units.iter().map(|(pointer, unit)| (path(pointer), unit.as_str())).collect())
    }

    /// Returns the unit of the value at `path`: that of the first pointer that fits it.
    pub fn at(&self, path: &[String]) -> Option<&'u str> {
        let fits = |tokens: &[String]| {
            tokens.len() == path.len()
                && tokens.iter().zip(path).all(|(token, name)| token == EVERY || token == name)
        };
        self.0.iter().find(|(tokens, _)| fits(tokens)).map(|(_, unit)| *unit)
    }
}
