//! Reads what a codec returns into a message, as `JSON.stringify` would, except that nothing is lost silently: bytes stay bytes, and what
//! JSON would turn into null or an empty object is an error.

use crate::limits;
use dunnage_pson::{Kind, Value as Message};
use rquickjs::{Function, Object, Type, Value};

/// Reads results of one call.
pub struct Reader<'r, 'js> {
    pub tools: &'r Object<'js>,
    /// Whether NaN and infinities become null.
    pub lenient: bool,
    /// How many did.
    pub nulls: u64,
    /// What the result may still take.
    room: usize,
    pointer: String,
}

/// Why a result was not read.
pub enum Failure {
    /// The codec threw in a getter or in `toJSON`.
    Thrown,
    /// The codec returned errors.
    Reported(String),
    /// The value at the pointer has no form as a message.
    Unsuitable(Kind, String, String),
}

impl From<rquickjs::Error> for Failure {
    fn from(_: rquickjs::Error) -> Failure {
        Failure::Thrown
    }
}

/// Integers up to here are exact in a number.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl<'r, 'js> Reader<'r, 'js> {
    pub fn new(tools: &'r Object<'js>, lenient: bool) -> Reader<'r, 'js> {
        Reader { tools, lenient, nulls: 0, room: limits::RESULT, pointer: String::new() }
    }

    /// Reads `value`; `None` if it has no value in JSON, as a function has none.
    pub fn read(&mut self, value: Value<'js>, depth: usize) -> Result<Option<Message>, Failure> {
        self.take(limits::ITEM)?;
        Ok(Some(match value.type_of() {
            Type::Undefined | Type::Uninitialized | Type::Symbol | Type::Function | Type::Constructor => {
                return Ok(None);
            }
            Type::Null => Message::Null,
            Type::Bool => Message::Bool(value.as_bool().unwrap_or_default()),
            Type::Int => i64::from(value.as_int().unwrap_or_default()).into(),
            Type::Float => self.number(value.as_float().unwrap_or_default())?,
            Type::String => Message::Text(self.text(&value)?),
            Type::BigInt => self.big_integer(value)?,
            Type::Promise => return Err(self.unsuitable(Kind::Type, "a codec must not be asynchronous")),
            Type::Array => self.array(&value, depth)?,
            _ => return self.object(value, depth),
        }))
    }

    fn take(&mut self, bytes: usize) -> Result<(), Failure> {
        match self.room.checked_sub(bytes) {
            Some(room) => self.room = room,
            None => return Err(self.unsuitable(Kind::Limit, "the result exceeds 1 MiB")),
        }
        Ok(())
    }

    fn unsuitable(&self, kind: Kind, why: &str) -> Failure {
        Failure::Unsuitable(kind, self.pointer.clone(), why.to_owned())
    }

    fn number(&mut self, number: f64) -> Result<Message, Failure> {
        if !number.is_finite() {
            return self.not_finite(&number.to_string());
        }
        Ok(match number.fract() == 0.0 && number.abs() <= EXACT {
            true => (number as i64).into(),
            false => Message::F64(number),
        })
    }

    fn not_finite(&mut self, shown: &str) -> Result<Message, Failure> {
        if !self.lenient {
            let why = format!(
                "the codec returned {shown}, as from a byte that the message does not have; set numbers = \"lenient\" in the device's profile to store null"
            );
            return Err(self.unsuitable(Kind::Type, &why));
        }
        self.nulls += 1;
        Ok(Message::Null)
    }

    fn text(&mut self, value: &Value<'js>) -> Result<String, Failure> {
        let Some(text) = value.as_string() else { return Ok(String::new()) };
        let text = text.to_string().map_err(|error| match error {
            rquickjs::Error::Exception => Failure::Thrown,
            _ => self.unsuitable(
                Kind::Malformed,
                "the text is not valid Unicode: it has half of a surrogate pair",
            ),
        })?;
        self.take(text.len())?;
        Ok(text)
    }

    fn big_integer(&mut self, value: Value<'js>) -> Result<Message, Failure> {
        let digits: String = self.tools.get::<_, Function<'js>>("string")?.call((value,))?;
        let number =
            digits.parse::<u64>().map(Message::U64).or_else(|_| digits.parse::<i64>().map(Message::I64));
        number.map_err(|_| self.unsuitable(Kind::Range, "the integer does not fit 64 bits"))
    }

    fn array(&mut self, value: &Value<'js>, depth: usize) -> Result<Message, Failure> {
        self.enter(depth)?;
        let Some(array) = value.as_array() else { return Ok(Message::Null) };
        // `Array::len` panics from 2^31 on.
        let length: f64 = array.as_object().get("length")?;
        // Also limits an array of any length without elements.
        if length * limits::ITEM as f64 > self.room as f64 {
            return Err(self.unsuitable(Kind::Limit, "the result exceeds 1 MiB"));
        }
        let count = length as usize;
        let mut items = Vec::with_capacity(count);
        for index in 0..count {
            let item = array.get(index)?;
            let item = self.within(&index.to_string(), |reader| reader.read(item, depth + 1))?;
            items.push(item.unwrap_or(Message::Null));
        }
        Ok(Message::Array(items))
    }

    fn object(&mut self, value: Value<'js>, depth: usize) -> Result<Option<Message>, Failure> {
        self.enter(depth)?;
        let Some(object) = value.as_object() else { return Ok(None) };
        let proto = object.get_prototype();
        let is_plain = proto.is_none_or(|proto| {
            self.tools.get::<_, Object<'js>>("objectPrototype").is_ok_and(|plain| plain == proto)
        });
        if !is_plain || object.contains_key("toJSON")? {
            if let Some(bytes) = object.as_typed_array::<u8>() {
                self.take(bytes.len())?;
                let bytes = (0..bytes.len()).map(|index| object.get::<_, u8>(index as u32));
                return Ok(Some(Message::Bytes(bytes.collect::<rquickjs::Result<_>>()?)));
            }
            let plain: Value<'js> = self.tools.get::<_, Function<'js>>("plain")?.call((value.clone(),))?;
            if plain != value {
                let is_date: bool = self.tools.get::<_, Function<'js>>("isDate")?.call((value,))?;
                return match plain.is_null() && is_date {
                    true => self.not_finite("an invalid date").map(Some),
                    false => self.read(plain, depth + 1),
                };
            }
        }
        let mut entries = Vec::new();
        for property in object.props::<String, Value<'js>>() {
            let (key, member) = property?;
            self.take(key.len())?;
            if let Some(member) = self.within(&key, |reader| reader.read(member, depth + 1))? {
                entries.push((key, member));
            }
        }
        Ok(Some(Message::Map(entries)))
    }

    fn enter(&self, depth: usize) -> Result<(), Failure> {
        match depth < limits::NESTING {
            true => Ok(()),
            false => Err(self
                .unsuitable(Kind::Limit, "the result is nested too deeply (limit 32), or contains itself")),
        }
    }

    /// Calls `read` with the pointer to the member `key`.
    fn within<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let parent = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        let read = read(self)?;
        self.pointer.truncate(parent);
        Ok(read)
    }
}
