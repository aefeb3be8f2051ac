//! Packed messages, part by part: which bits belong to which field (`spec/packed.md`).

use super::{Stop, item::quoted};
use dunnage_formats::{Error, Format, Json, Kind, Known, Value};
use dunnage_packed::{Check, Layout, Node, Place, Reference, Shape, Step};
use std::{collections::HashMap, io, ops::Range};

/// Receives the parts of a packed message in their order.
pub trait Bits {
    /// Receives a part that has the bits `bits`, counted from the start of the message, the JSON pointer of its value and its meaning.
    fn part(&mut self, bits: Range<usize>, path: &str, meaning: &str) -> io::Result<()>;

    /// Receives a value of a coded body and its share of the body's bits, or a value of a modelled body, which has no bits of its own.
    fn share(&mut self, bits: Option<f64>, path: &str, meaning: &str) -> io::Result<()>;
}

/// The receiver of the parts, and where the last one ended.
struct Out<'v> {
    bits: &'v mut dyn Bits,
    end: usize,
}

impl Out<'_> {
    fn part(&mut self, bits: Range<usize>, path: &str, meaning: &str) -> io::Result<()> {
        self.end = bits.end;
        self.bits.part(bits, path, meaning)
    }
}

/// Reports every part of `bytes`, a message of `layout`, up to the first error.
pub fn walk(layout: &Layout, bytes: &[u8], known: Known<'_>, bits: &mut dyn Bits) -> Result<(), Stop> {
    let mut out = Out { bits, end: 0 };
    let decoded = match layout.has_steps(bytes) {
        true => plain(layout, bytes, known, &mut out)?,
        false => stream(layout, bytes, known, &mut out)?,
    };
    decoded.map_err(Stop::Error)
}

fn plain(
    layout: &Layout,
    bytes: &[u8],
    known: Known<'_>,
    out: &mut Out<'_>,
) -> io::Result<Result<(), Error>> {
    let mut walk = Walk { out, places: Places::of(layout.root()), open: Vec::new(), failed: None };
    let decoded = layout.trace(bytes, known, &mut |step| walk.step(&step));
    if let Some(error) = walk.failed {
        return Err(error);
    }
    if decoded.is_ok() {
        let (end, last) = (out.end, 8 * body_end(layout, bytes));
        if end < last {
            out.part(end..last, "", "fill")?;
        }
        check(layout, bytes, out)?;
    }
    Ok(decoded.map(|_| ()).map_err(Error::from))
}

/// The offset of the byte after the body, where the check begins if there is one.
fn body_end(layout: &Layout, bytes: &[u8]) -> usize {
    bytes.len() - layout.check().map_or(0, Check::bytes)
}

/// Writes the row of the check. Decoding has already verified it.
fn check(layout: &Layout, bytes: &[u8], out: &mut Out<'_>) -> io::Result<()> {
    match layout.check() {
        Some(check) => out.part(
            8 * body_end(layout, bytes)..8 * bytes.len(),
            "",
            &format!("check, CRC-{}, matches", 8 * check.bytes()),
        ),
        None => Ok(()),
    }
}

/// Writes a modelled or coded body as one row, because its parts have no bits of their own, followed by its values.
fn stream(
    layout: &Layout,
    bytes: &[u8],
    known: Known<'_>,
    out: &mut Out<'_>,
) -> io::Result<Result<(), Error>> {
    let message = match layout.decode(bytes, known) {
        Ok(message) => message,
        Err(error) => return Ok(Err(error.into())),
    };
    let body =
        if layout.is_plain() { "a coded body, whose values share it" } else { "one stream: a modelled body" };
    out.part(0..8, "", &slot(layout.slot()))?;
    out.part(8..8 * body_end(layout, bytes), "", body)?;
    if layout.is_plain() {
        shares(layout, bytes, known, out)?;
    } else {
        values(&message, "", out)?;
    }
    check(layout, bytes, out)?;
    Ok(Ok(()))
}

/// Writes the values of a coded body, which has been decoded before, and the share of its bits that each takes.
fn shares(layout: &Layout, bytes: &[u8], known: Known<'_>, out: &mut Out<'_>) -> io::Result<()> {
    let mut walk = Walk { out, places: Places::of(layout.root()), open: Vec::new(), failed: None };
    let _ = layout.trace(bytes, known, &mut |step| {
        if !matches!(step, Step::Slot(_)) {
            walk.step(&step);
        }
    });
    walk.failed.map_or(Ok(()), Err)
}

/// Reports every part of the delta `bytes`, whose reference is one of `references`, from the latest to the oldest.
pub fn walk_delta(
    layout: &Layout,
    bytes: &[u8],
    references: &[Reference],
    known: Known<'_>,
    bits: &mut dyn Bits,
) -> Result<(), Stop> {
    let used = references.iter().find(|one| layout.decode_delta(bytes, [*one], [], known).is_ok());
    let Some(used) = used else {
        let error = Error::new(Kind::Reference, 0, "the message that the delta refers to is not known");
        return Err(Stop::Error(error));
    };
    let mut out = Out { bits, end: 0 };
    out.part(
        0..8,
        "",
        &format!("a delta against the message {:04x}, whose name ends in these 6 bits", used.name()),
    )?;
    out.part(8..24, "", &format!("the name of this message: {:02x}{:02x}", bytes[1], bytes[2]))?;
    out.part(24..8 * bytes.len(), "", "a coded body, whose values share it")?;
    let mut walk = Walk { out: &mut out, places: Places::of(layout.root()), open: Vec::new(), failed: None };
    let traced = layout.trace_delta(bytes, used, known, &mut |step| walk.step(&step));
    walk.failed.map_or(Ok(()), Err)?;
    traced.map(|_| ()).map_err(|error| Stop::Error(error.into()))
}

/// Writes the leaf values of a message in their order.
fn values(value: &Value, path: &str, out: &mut Out<'_>) -> io::Result<()> {
    match value {
        Value::Map(entries) if !entries.is_empty() => {
            entries.iter().try_for_each(|(key, value)| values(value, &under(path, key), out))
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().try_for_each(|(at, item)| values(item, &format!("{path}/{at}"), out))
        }
        value => out.bits.share(None, path, &shown(value)),
    }
}

/// The nodes of a plain layout by number.
struct Places<'l>(HashMap<u32, (Place<'l>, &'l Node)>);

impl<'l> Places<'l> {
    fn of(root: &'l Node) -> Self {
        let mut places = Places(HashMap::new());
        places.add(Place::Same, root);
        places
    }

    fn add(&mut self, place: Place<'l>, node: &'l Node) {
        self.0.insert(node.id, (place, node));
        node.children().into_iter().for_each(|(place, node)| self.add(place, node));
    }
}

/// The size of parts: bits of their own, or a share of those of a coded body.
#[derive(Debug, Clone)]
enum Taken {
    Bits(Range<usize>),
    Share(f64),
}

impl Taken {
    fn is_nothing(&self) -> bool {
        matches!(self, Taken::Bits(bits) if bits.is_empty())
    }

    /// Adds the parts after these.
    fn and(self, after: Taken) -> Taken {
        match (self, after) {
            (Taken::Bits(first), Taken::Bits(last)) => Taken::Bits(first.start..last.end),
            (Taken::Share(one), Taken::Share(other)) => Taken::Share(one + other),
            (_, after) => after,
        }
    }
}

/// A node that has begun but not ended.
struct Open<'l> {
    node: &'l Node,
    /// JSON pointer of its value.
    path: String,
    /// Number of child nodes that have begun.
    children: usize,
    /// The size of the parts of this node that are not yet in a row.
    taken: Option<Taken>,
}

struct Walk<'v, 'w, 'l> {
    out: &'v mut Out<'w>,
    places: Places<'l>,
    open: Vec<Open<'l>>,
    failed: Option<io::Error>,
}

impl Walk<'_, '_, '_> {
    fn step(&mut self, step: &Step<'_>) {
        match step {
            Step::Slot(number) => self.row(Taken::Bits(0..8), "", &slot(*number)),
            Step::Begin(node) => self.begin(*node),
            Step::Bits { node, value, bits } => self.part(*node, *value, Taken::Bits(bits.clone())),
            Step::Share { node, value, bits } => self.part(*node, *value, Taken::Share(*bits)),
            Step::End(value) => self.finish(value),
        }
    }

    fn begin(&mut self, node: u32) {
        let path = self.path(node);
        if let Some(parent) = self.open.last_mut() {
            parent.children += 1;
        }
        if let Some((_, node)) = self.places.0.get(&node) {
            self.open.push(Open { node, path, children: 0, taken: None });
        }
    }

    /// The JSON pointer of the value of `node`, a child of the innermost open node.
    fn path(&self, node: u32) -> String {
        let Some(parent) = self.open.last() else { return String::new() };
        match self.places.0.get(&node) {
            Some((Place::Field(name), _)) => under(&parent.path, name),
            Some((Place::Elements | Place::Element(_), _)) => format!("{}/{}", parent.path, parent.children),
            _ => parent.path.clone(),
        }
    }

    fn part(&mut self, node: u32, value: u64, taken: Taken) {
        let path = self.path(node);
        let Some(open) = self.open.last_mut().filter(|_| !taken.is_nothing()) else { return };
        if let Shape::Object(_) = open.node.shape {
            return self.row(taken, &path, if value == 1 { "is present" } else { "is absent" });
        }
        let Some(meaning) = open.node.meaning(value) else {
            open.taken = Some(match open.taken.take() {
                Some(before) => before.and(taken),
                None => taken,
            });
            return;
        };
        let path = open.path.clone();
        self.row(taken, &path, &meaning);
    }

    /// Closes the innermost open node, which has `value`. Writes a row only if the node has no children.
    fn finish(&mut self, value: &Value) {
        let Some(open) = self.open.pop() else { return };
        let note = match &open.node.shape {
            Shape::Object(_) => return,
            _ if open.node.meaning(0).is_some() => return,
            Shape::Constant(_) => ", always",
            Shape::Known(_) => ", known to the receiver",
            _ => "",
        };
        let end = self.out.end;
        self.row(open.taken.unwrap_or(Taken::Bits(end..end)), &open.path, &format!("{}{note}", shown(value)));
    }

    fn row(&mut self, taken: Taken, path: &str, meaning: &str) {
        if self.failed.is_none() {
            let written = match taken {
                Taken::Bits(bits) => self.out.part(bits, path, meaning),
                Taken::Share(bits) => self.out.bits.share(Some(bits), path, meaning),
            };
            self.failed = written.err();
        }
    }
}

fn slot(number: u8) -> String {
    format!("slot {number}")
}

/// The JSON pointer of `key` in the object at `path`, escaped for terminals.
fn under(path: &str, key: &str) -> String {
    let key = quoted(&dunnage_schema::pointer::escape(key));
    format!("{path}/{}", &key[1..key.len() - 1])
}

fn shown(value: &Value) -> String {
    let mut json = Vec::new();
    match value {
        Value::Text(text) => quoted(text),
        // JSON can represent all other values that a schema allows.
        value => match Json.encode(value, &mut json) {
            Ok(()) => String::from_utf8_lossy(&json).into_owned(),
            Err(error) => error.to_string(),
        },
    }
}
