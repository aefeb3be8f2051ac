//! IDs in a query.

use serde::Deserialize;

/// IDs with commas between them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "String")]
pub struct Ids(pub Vec<i64>);

impl TryFrom<String> for Ids {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.split(',').filter(|id| !id.is_empty()).map(str::parse).collect::<Result<_, _>>().map(Ids)
    }
}
