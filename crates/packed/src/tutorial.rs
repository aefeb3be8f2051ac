//! From a schema to bytes, to a device, to the gateway. Each step is a program that runs.
//!
//! # 1. Describe the message
//!
//! A cold store sends its temperature and whether its door is open. The schema says which values there are: a range and a step for each
//! number, and all properties as required where the device always has them. Anything that the schema leaves open takes bits.
//!
//! ```
//! use dunnage_packed::Layout;
//! use dunnage_schema::Model;
//!
//! let schema = r#"{
//!     "title": "Store",
//!     "type": "object",
//!     "properties": {
//!         "celsius": {"type": "number", "multipleOf": 0.1, "minimum": -40, "maximum": 60},
//!         "open": {"type": "boolean"}
//!     },
//!     "required": ["celsius", "open"],
//!     "additionalProperties": false
//! }"#;
//! let layout = Layout::new(&Model::compile(schema)?)?;
//! assert_eq!(layout.max_bytes(), Some(3)); // also the smallest: every message has the same size
//! # assert_eq!(layout.min_bytes(), 3);
//! # Ok::<(), dunnage_schema::SchemaError>(())
//! ```
//!
//! # 2. Look at the bits
//!
//! The 1001 temperatures take 10 bits, because 2^10 is 1024. The door takes one. The slot byte tells the receiver which schema it is.
//! [`Layout::explain`](crate::Layout::explain) returns what `dunnage schema size` prints.
//!
//! ```
//! # use dunnage_packed::Layout;
//! # use dunnage_schema::Model;
//! # let schema = r#"{"type": "object", "properties": {
//! #     "celsius": {"type": "number", "multipleOf": 0.1, "minimum": -40, "maximum": 60},
//! #     "open": {"type": "boolean"}}, "required": ["celsius", "open"], "additionalProperties": false}"#;
//! let rows = Layout::new(&Model::compile(schema)?)?.explain();
//! let bits: Vec<_> = rows.iter().map(|row| (row.path.as_str(), row.bits.min)).collect();
//! assert_eq!(bits, [("(slot)", 8), ("celsius", 10), ("open", 1)]);
//! # Ok::<(), dunnage_schema::SchemaError>(())
//! ```
//!
//! # 3. Encode
//!
//! 4.2 degrees are 442 steps above -40. A value between two steps is an error unless the schema has `"x-dunnage-round": true`.
//!
//! ```
//! # use dunnage_packed::{Kind, Layout, Value};
//! # use dunnage_schema::Model;
//! # let schema = r#"{"type": "object", "properties": {
//! #     "celsius": {"type": "number", "multipleOf": 0.1, "minimum": -40, "maximum": 60},
//! #     "open": {"type": "boolean"}}, "required": ["celsius", "open"], "additionalProperties": false}"#;
//! # let layout = Layout::new(&Model::compile(schema)?)?;
//! let reading = |celsius, open| {
//!     Value::Map(vec![("celsius".into(), Value::F64(celsius)), ("open".into(), Value::Bool(open))])
//! };
//! let mut bytes = Vec::new();
//! layout.encode(&reading(4.2, true), &mut bytes)?;
//! assert_eq!(bytes, [0x01, 0b0110_1110, 0b1010_0000]); // slot 1; 442 in 10 bits, 1, and five bits that fill the byte
//!
//! let error = layout.encode(&reading(60.5, true), &mut bytes).unwrap_err();
//! assert_eq!((error.kind(), error.pointer()), (Kind::Range, "/celsius"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 4. Encode on the device
//!
//! The device needs neither this crate nor the schema, only the same bits. `dunnage generate c`, or the crate `dunnage-codegen`, writes its C
//! code. This is all that it does:
//!
//! ```
//! # use dunnage_packed::{Layout, Value};
//! # use dunnage_schema::Model;
//! # let schema = r#"{"type": "object", "properties": {
//! #     "celsius": {"type": "number", "multipleOf": 0.1, "minimum": -40, "maximum": 60},
//! #     "open": {"type": "boolean"}}, "required": ["celsius", "open"], "additionalProperties": false}"#;
//! # let layout = Layout::new(&Model::compile(schema)?)?;
//! fn encode(tenths: i16, open: bool) -> [u8; 3] {
//!     let body = ((tenths + 400) as u16) << 6 | u16::from(open) << 5;
//!     [0x01, (body >> 8) as u8, body as u8]
//! }
//!
//! let message = layout.decode(&encode(42, true), None)?;
//! assert_eq!(message.get("celsius"), Some(&Value::F64(4.2)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Compare [`Layout::fingerprint`](crate::Layout::fingerprint) with the constant in the generated header to make sure that both ends have the same layout.
//!
//! # 5. Decode at the gateway
//!
//! The gateway finds the layout by the slot of the first byte. What is not the encoding of a message is an error: it is kept for people, and
//! never guessed.
//!
//! ```
//! # use dunnage_packed::{Error, Kind, Layout, Value};
//! # use dunnage_schema::Model;
//! # let store = r#"{"type": "object", "properties": {
//! #     "celsius": {"type": "number", "multipleOf": 0.1, "minimum": -40, "maximum": 60},
//! #     "open": {"type": "boolean"}}, "required": ["celsius", "open"], "additionalProperties": false}"#;
//! let tank = r#"{"type": "integer", "minimum": 0, "maximum": 255, "x-dunnage-slot": 2}"#;
//! let mut layouts = Vec::new();
//! for schema in [store, tank] {
//!     layouts.push(Layout::new(&Model::compile(schema)?)?);
//! }
//! let decode = |bytes: &[u8]| {
//!     let layout = layouts.iter().find(|layout| bytes.first() == Some(&layout.slot()));
//!     layout.map(|layout| layout.decode(bytes, None))
//! };
//! assert_eq!(decode(&[0x02, 0x64]), Some(Ok(Value::U64(100))));
//! assert_eq!(decode(&[0x07, 0x64]), None); // to the quarantine
//! let error = decode(&[0x01, 0x6e]).unwrap().unwrap_err();
//! assert_eq!((error.kind(), error.offset()), (Kind::Truncated, Some(2)));
//! # Ok::<(), dunnage_schema::SchemaError>(())
//! ```
//!
//! # 6. Change the schema
//!
//! A change that affects the bits makes a new layout, which needs a slot of its own as long as devices with the old one are in the field.
//!
//! ```
//! # use dunnage_packed::{Layout, other_slot};
//! # use dunnage_schema::{Model, with_keyword};
//! let old = r#"{"type": "number", "multipleOf": 0.1, "minimum": -40, "maximum": 60, "x-dunnage-slot": 1}"#;
//! let wider = old.replace("60", "85");
//! let (was, is) = (Layout::new(&Model::compile(old)?)?, Layout::new(&Model::compile(&wider)?)?);
//! assert_ne!(was.fingerprint(), is.fingerprint());
//!
//! let schema = with_keyword(&wider, "x-dunnage-slot", other_slot(&is, was.slot()).into())?;
//! assert_ne!(Model::compile(&schema)?.slot(), 1);
//! # Ok::<(), dunnage_schema::SchemaError>(())
//! ```
//!
//! # 7. Send only what has changed
//!
//! If the gateway can answer, a message that differs little from an acknowledged one is shorter as a delta. Losses do no harm: a delta
//! names the message that it refers to, and the device refers only to what was acknowledged. Deltas pay for messages of more than a few
//! bytes.
//!
//! ```
//! use dunnage_packed::{Layout, Receiver, Sender, Training, Value};
//! use dunnage_schema::Model;
//!
//! let model = Model::compile(r#"{
//!     "type": "array", "minItems": 8, "maxItems": 8,
//!     "items": {"type": "number", "multipleOf": 0.1, "minimum": -40, "maximum": 60, "x-dunnage-changes": 0.1}
//! }"#)?;
//! let statistics = Training::assumed(&Layout::untrained(&model))?;
//! let model = model.with_statistics(statistics.as_deref());
//! let layout = Layout::new(&model)?;
//!
//! let (mut sender, mut receiver) = (Sender::new(&layout, 4), Receiver::new(&layout, 16));
//! let mut sizes = Vec::new();
//! for n in 0..4 {
//!     let message = Value::Array((0..8).map(|at| Value::F64(f64::from(40 + at + n) / 10.0)).collect());
//!     let mut bytes = Vec::new();
//!     sender.encode(&message, &mut bytes)?;
//!     sizes.push(bytes.len());
//!     if n != 1 { // the link loses the second message
//!         assert_eq!(receiver.decode(&bytes, None)?, message);
//!         sender.acknowledged(receiver.last().unwrap().name());
//!     }
//! }
//! assert_eq!(sizes, [11, 6, 8, 6]); // the third refers to the first, from which it differs more
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [docs/fewer-bytes.md](https://github.com/dunnage/dunnage/blob/main/docs/fewer-bytes.md) of the project trains statistics from messages, which makes all of them shorter.
