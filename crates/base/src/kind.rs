//! `[[input]]` and `[[output]]`: tables of the configuration that must contain a table of exactly one kind.

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, MapAccess, Visitor},
};
use std::{collections::BTreeMap, fmt, marker::PhantomData};

/// The end of the error about a table without a kind.
pub const NONE: &str = "this one has none";

/// The kind of an input or output: the key of the table within its table.
pub trait Kind: Sized {
    /// The section: `[[input]]`.
    const SECTION: &'static str;
    /// The key of each kind.
    const KEYS: &'static [&'static str];

    /// Returns the key of this kind.
    fn key(&self) -> &'static str;

    /// Deserializes the table of the kind `key`, which is one of `KEYS`.
    fn read<'de, D: Deserializer<'de>>(key: &str, table: D) -> Result<Self, D::Error>;
}

/// A table after reading.
pub struct Read<K> {
    /// `name`
    pub name: String,
    /// `concurrency`, if the section has that key.
    pub concurrency: Option<usize>,
    /// The other keys, whose values are texts.
    pub texts: BTreeMap<String, String>,
    /// The settings of the kind.
    pub kind: K,
}

/// Deserializes a table that has the keys `own` besides its kind. A second kind is an error at its key.
pub fn read<'de, K: Kind, D: Deserializer<'de>>(
    table: D,
    own: &'static [&'static str],
) -> Result<Read<K>, D::Error> {
    table.deserialize_map(Table { own, kind: PhantomData })
}

/// Defines the enum of the kinds of a section: a line for each, with its key, its variant, and the module that has its `Settings` and its
/// `EXAMPLE` for the commented default configuration. `EXAMPLES` lists these in the same order.
///
/// ```
/// mod lamp {
///     pub const EXAMPLE: &str = "# [[thing]]\n# [thing.lamp]\n";
///     #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
///     pub struct Settings {
///         pub watts: u32,
///     }
/// }
/// dunnage_base::kinds! {
///     /// A thing.
///     Things in "[[thing]]":
///     /// It shines.
///     "lamp" => Lamp(lamp),
/// }
/// let table: toml::Table = "name = 'desk'\nlamp = { watts = 7 }".parse().unwrap();
/// let read = dunnage_base::kind::read::<Things, _>(table, &["name"]).unwrap();
/// assert_eq!((&*read.name, read.kind), ("desk", Things::Lamp(lamp::Settings { watts: 7 })));
/// assert_eq!(EXAMPLES, [lamp::EXAMPLE]);
/// ```
#[macro_export]
macro_rules! kinds {
    (
        $(#[doc = $about:literal])*
        $Kinds:ident in $section:literal:
        $($(#[doc = $doc:literal])* $key:literal => $Kind:ident($module:ident),)*
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        pub enum $Kinds {
            $(
                $(#[doc = $doc])*
                #[serde(rename = $key)]
                $Kind($module::Settings),
            )*
        }

        /// A commented-out example of each kind, for the commented default configuration.
        pub const EXAMPLES: &[&str] = &[$($module::EXAMPLE,)*];

        impl $crate::kind::Kind for $Kinds {
            const SECTION: &'static str = $section;
            const KEYS: &'static [&'static str] = &[$($key,)*];

            fn key(&self) -> &'static str {
                match self {
                    $($Kinds::$Kind(_) => $key,)*
                }
            }

            fn read<'de, D: serde::Deserializer<'de>>(key: &str, table: D) -> Result<$Kinds, D::Error> {
                match key {
                    $($key => serde::Deserialize::deserialize(table).map($Kinds::$Kind),)*
                    key => Err(serde::de::Error::unknown_field(key, Self::KEYS)),
                }
            }
        }
    };
}

struct Table<K> {
    own: &'static [&'static str],
    kind: PhantomData<K>,
}

impl<'de, K: Kind> Visitor<'de> for Table<K> {
    type Value = Read<K>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a table {}", K::SECTION)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read<K>, A::Error> {
        let (mut name, mut concurrency, mut kind) = (None, None, None::<K>);
        let mut texts = BTreeMap::new();
        while let Some(key) = map.next_key_seed(Key { own: self.own, first: kind.as_ref() })? {
            match &*key {
                "name" => name = Some(map.next_value()?),
                "concurrency" => concurrency = Some(map.next_value()?),
                key if self.own.contains(&key) => {
                    texts.insert(key.to_owned(), map.next_value()?);
                }
                key => kind = Some(map.next_value_seed(Value { key, kind: PhantomData })?),
            }
        }
        let name = name.ok_or_else(|| de::Error::missing_field("name"))?;
        let kind = kind.ok_or_else(|| {
            let (section, keys) = (K::SECTION, K::KEYS.join(", "));
            de::Error::custom(format!("an {section} must have exactly one of: {keys}; {NONE}"))
        })?;
        Ok(Read { name, concurrency, texts, kind })
    }
}

/// A key of the table. It is checked while it is deserialized, because an error gets the place of the value that is being deserialized.
struct Key<'k, K> {
    own: &'static [&'static str],
    first: Option<&'k K>,
}

impl<'de, K: Kind> DeserializeSeed<'de> for Key<'_, K> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<String, D::Error> {
        let key = String::deserialize(key)?;
        if self.own.contains(&&*key) {
            return Ok(key);
        }
        if !K::KEYS.contains(&&*key) {
            let known: Vec<_> = self.own.iter().chain(K::KEYS).map(|known| format!("`{known}`")).collect();
            let known = known.join(", ");
            return Err(de::Error::custom(format!("unknown field `{key}`, expected one of {known}")));
        }
        match self.first {
            None => Ok(key),
            Some(first) => {
                let (section, keys, first) = (K::SECTION, K::KEYS.join(", "), first.key());
                let rule = format!("an {section} must have exactly one of: {keys}");
                Err(de::Error::custom(format!(
                    "{rule}; this one already has {first:?}; add another {section} for {key:?}"
                )))
            }
        }
    }
}

struct Value<'k, K> {
    key: &'k str,
    kind: PhantomData<K>,
}

impl<'de, K: Kind> DeserializeSeed<'de> for Value<'_, K> {
    type Value = K;

    fn deserialize<D: Deserializer<'de>>(self, table: D) -> Result<K, D::Error> {
        K::read(self.key, table)
    }
}
