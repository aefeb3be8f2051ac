//! XML 1.0 in UTF-8, without a document type, in our own lossless mapping.

mod read;
mod text;

use crate::{Error, Format, Reception, Value, limits, number};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use quick_xml::escape::{escape, partial_escape};

/// XML 1.0 in UTF-8, without a document type, in a lossless mapping of its own.
///
/// | message | element |
/// |---|---|
/// | the message | `<message>`; when reading, any name, which is ignored |
/// | entry of an object | an element named by the key, or `<entry key="...">` when the key is not an XML name |
/// | item of an array | `<i>`; when reading, any name |
/// | text | its text |
/// | text with characters that XML cannot carry | `type="escaped"`; `\` is `\\` and such characters are `\uXXXX`, as in every `key` |
/// | number | `type="number"`, in JSON's notation, or `NaN`, `INF`, `-INF` as in XML Schema |
/// | boolean, null | `type="boolean"`: `true` or `false`; `type="null"`: empty |
/// | bytes | `type="bytes"`, in base64 |
/// | object | its entries; `type="object"` only when it is empty |
/// | array | `type="array"`, its items |
///
/// Elements of others are read, too: an attribute without a meaning here is an entry whose key is `@` and its name, `xmlns` included. An
/// element with such attributes is an object of them, followed by its own entries, or by its other content as `#text`. Prefixes stay in
/// names. Such a message is written back with `<entry>` elements.
///
/// White space between entries and items, comments and an XML declaration are ignored. Text keeps its white space. Line ends are normalized
/// as XML prescribes, so a carriage return is written as `&#13;`.
///
/// Processing instructions are `type` errors. A document type is `malformed`, so entities cannot expand; a
/// duplicate key is `malformed`, too. The offset of an error is that of the tag or text that caused it.
///
/// ```
/// use dunnage_formats::{Format, Value, Xml};
///
/// let mut text = Vec::new();
/// let message = Value::Map(vec![("t".into(), Value::F64(23.5))]);
/// Xml.encode(&message, &mut text)?;
/// assert_eq!(Xml.decode(&text)?, message);
/// assert!(text.ends_with(b"</message>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Xml;

/// The name of the root element when writing.
const ROOT: &str = "message";
/// The element for a key that is not an XML name.
const ENTRY: &str = "entry";
/// The prefix of the name of an attribute in its key.
const ATTRIBUTE: &str = "@";
/// The key of the content of an element that also has attributes.
const CONTENT: &str = "#text";
/// The element for an item of an array.
const ITEM: &str = "i";

impl Format for Xml {
    fn encode(&self, message: &Value, out: &mut Vec<u8>) -> Result<(), Error> {
        limits::bounded(out, |out| write(ROOT, None, message, out, 0))
    }

    fn decode_from(&self, bytes: &[u8], reception: &Reception<'_>) -> Result<Value, Error> {
        limits::check_size(bytes)?;
        let text = limits::text(bytes)?;
        // The byte order mark is not part of the document, but offsets count it.
        let document = text.strip_prefix('\u{feff}').unwrap_or(text);
        let before = text.len() - document.len();
        read::message(document, &reception.budget(), reception.numbers).map_err(|e| e.moved(|at| before + at))
    }
}

fn write(name: &str, key: Option<&str>, value: &Value, out: &mut Vec<u8>, depth: usize) -> Result<(), Error> {
    let kind = kind_to_write(value);
    out.push(b'<');
    out.extend_from_slice(name.as_bytes());
    for (attribute, value) in [("key", key), ("type", kind)] {
        if let Some(value) = value {
            out.extend_from_slice(format!(" {attribute}=\"{}\"", escape(value)).as_bytes());
        }
    }
    let start = out.len();
    out.push(b'>');
    write_content(value, out, depth)?;
    if out.len() == start + 1 {
        out.truncate(start);
        out.extend_from_slice(b"/>");
    } else {
        out.extend_from_slice(b"</");
        out.extend_from_slice(name.as_bytes());
        out.push(b'>');
    }
    Ok(())
}

fn kind_to_write(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => Some("null"),
        Value::Bool(_) => Some("boolean"),
        Value::U64(_) | Value::I64(_) | Value::F64(_) => Some("number"),
        Value::Text(text) => (!text.chars().all(text::is_char)).then_some("escaped"),
        Value::Bytes(_) => Some("bytes"),
        Value::Array(_) => Some("array"),
        Value::Map(entries) => entries.is_empty().then_some("object"),
    }
}

fn write_content(value: &Value, out: &mut Vec<u8>, depth: usize) -> Result<(), Error> {
    match value {
        Value::Null => {}
        Value::Bool(b) => out.extend_from_slice(b.to_string().as_bytes()),
        Value::U64(n) => number::write_integer(*n, out),
        Value::I64(n) => number::write_integer(*n, out),
        Value::F64(f) if f.is_nan() => out.extend_from_slice(b"NaN"),
        Value::F64(f) if f.is_infinite() => out.extend_from_slice(if *f > 0.0 { b"INF" } else { b"-INF" }),
        Value::F64(f) => number::write_float(*f, out)?,
        Value::Text(text) if text.chars().all(text::is_char) => {
            out.extend_from_slice(partial_escape(text).as_bytes());
        }
        Value::Text(text) => {
            out.extend_from_slice(partial_escape(text::escape(text, text::is_char)).as_bytes());
        }
        Value::Bytes(bytes) => out.extend_from_slice(BASE64_STANDARD.encode(bytes).as_bytes()),
        Value::Array(items) => {
            let depth = limits::deeper(depth, 0)?;
            for item in items {
                write(ITEM, None, item, out, depth)?;
            }
        }
        Value::Map(entries) => {
            let depth = limits::deeper(depth, 0)?;
            for (key, value) in entries {
                if text::is_name(key) {
                    write(key, None, value, out, depth)?;
                } else {
                    // An XML reader would normalize white space in an attribute to blanks.
                    let key = text::escape(key, |c| text::is_char(c) && c >= ' ');
                    write(ENTRY, Some(&key), value, out, depth)?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn written(message: &Value) -> String {
        let mut out = Vec::new();
        Xml.encode(message, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn value_of(document: &str) -> Value {
        Xml.decode(document.as_bytes()).unwrap()
    }

    fn error_of(document: &str) -> (Kind, usize) {
        let e = Xml.decode(document.as_bytes()).unwrap_err();
        (e.kind(), e.offset().unwrap())
    }

    fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    #[test]
    fn every_kind_of_value_has_its_element() {
        let message = map([
            ("text", Value::from(" 1 < 2\r\n")),
            ("n", Value::F64(1e-7)),
            ("on", Value::Bool(true)),
            ("none", Value::Null),
            ("raw", Value::Bytes(vec![1, 2])),
            ("list", Value::Array(vec![Value::U64(1), map([])])),
            ("no name\n", Value::from("a\u{1}\\")),
            ("", Value::from("")),
            ("nan", Value::F64(f64::NAN)),
        ]);
        let document = concat!(
            "<message><text> 1 &lt; 2&#13;\n</text><n type=\"number\">1e-7</n>",
            "<on type=\"boolean\">true</on><none type=\"null\"/><raw type=\"bytes\">AQI=</raw>",
            "<list type=\"array\"><i type=\"number\">1</i><i type=\"object\"/></list>",
            "<entry key=\"no name\\u000a\" type=\"escaped\">a\\u0001\\\\</entry><entry key=\"\"/>",
            "<nan type=\"number\">NaN</nan></message>",
        );
        assert_eq!(written(&message), document);
        assert_eq!(value_of(document), message);
    }

    #[test]
    fn what_people_write_by_hand_is_read() {
        assert_eq!(
            value_of("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><a>]]&gt;</a>"),
            Value::from("]]>")
        );
        let document = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<!-- one -->\n<reading>\r\n  <t type='number'> 23.5 </t>\n\
             <s><![CDATA[<&>]]>&#x41;&amp;</s>\n  <lines>a\r\nb</lines>\n  <!-- two --><blank>  </blank>\n</reading>\n";
        let message = map([
            ("t", Value::F64(23.5)),
            ("s", Value::from("<&>A&")),
            ("lines", Value::from("a\nb")),
            ("blank", Value::from("  ")),
        ]);
        assert_eq!(value_of(document), message);
    }

    #[test]
    fn elements_of_others_keep_their_attributes_and_prefixes() {
        let document = "<s:station xmlns:s=\"urn:x\" id='7'><t unit='C'>21.5</t><h type='number' unit='%'>54</h>\
            <p unit='hPa'/><s:place x='1'>\n<lat>1</lat>\n</s:place><i type='date'>2026</i><l n='2' type='array'><i>a</i></l></s:station>";
        let message = crate::Json.decode(
            br##"{"@xmlns:s":"urn:x","@id":"7","t":{"@unit":"C","#text":"21.5"},"h":{"@unit":"%","#text":54},
                "p":{"@unit":"hPa"},"s:place":{"@x":"1","lat":"1"},"i":{"@type":"date","#text":"2026"},
                "l":{"@n":"2","#text":["a"]}}"##,
        );
        assert_eq!(Ok(value_of(document)), message);
        assert_eq!(value_of(&written(message.as_ref().unwrap())), message.unwrap());
    }

    #[test]
    fn a_byte_order_mark_may_stand_first() {
        assert_eq!(value_of("\u{feff}<?xml version=\"1.0\"?><m>x</m>"), Value::from("x"));
        assert_eq!(error_of("\u{feff}<m>&x;</m>"), (Kind::Malformed, 6));
    }

    #[test]
    fn a_document_that_is_cut_off_is_truncated() {
        let document =
            "<?xml version=\"1.0\"?><m><a type='number'>1</a><b>x &amp; &#65;<![CDATA[y]]></b><!-- c --></m>";
        value_of(document);
        for end in 0..document.len() {
            assert_eq!(error_of(&document[..end]), (Kind::Truncated, end), "{}", &document[..end]);
        }
    }

    #[test]
    fn faults_have_their_kind_and_offset() {
        for (document, kind, offset) in [
            ("<a></b>", Kind::Malformed, 3),
            ("<a/><b/>", Kind::Malformed, 4),
            ("<a>x<b/></a>", Kind::Malformed, 4),
            ("<a><b/>x</a>", Kind::Malformed, 7),
            ("<a><b/><b/></a>", Kind::Malformed, 7),
            ("<a>&lol;</a>", Kind::Malformed, 3),
            ("<a>&#1;</a>", Kind::Malformed, 3),
            ("<a>\u{1}</a>", Kind::Malformed, 3),
            ("<a>a & b</a>", Kind::Malformed, 5),
            ("<1/>", Kind::Malformed, 0),
            ("<a type='number'>1 2</a>", Kind::Malformed, 0),
            ("<a><b type='number'>1e309</b></a>", Kind::Range, 3),
            ("<a><b type='number'>1.000000000000000005</b></a>", Kind::Range, 3),
            ("<a><b type='number'>1e-400</b></a>", Kind::Range, 3),
            ("<a type='boolean'>1</a>", Kind::Malformed, 0),
            ("<a type='null'>1</a>", Kind::Malformed, 0),
            ("<a type='bytes'>AQI</a>", Kind::Malformed, 0),
            ("<a type='escaped'>\\n</a>", Kind::Malformed, 0),
            ("<a><b unit='C' unit='F'/></a>", Kind::Malformed, 3),
            ("<a><b 1='C'/></a>", Kind::Malformed, 3),
            ("<a x='1'><entry key='@x'/></a>", Kind::Malformed, 0),
            ("<x:y:a/>", Kind::Malformed, 0),
            ("<a><?php ?></a>", Kind::Type, 3),
            ("<!DOCTYPE a [<!ENTITY l 'lol'>]><a>&l;</a>", Kind::Malformed, 0),
            ("<?xml version=\"1.0\" encoding=\"latin1\"?><a/>", Kind::Malformed, 0),
            (" <?xml version=\"1.0\"?><a/>", Kind::Malformed, 1),
            ("<?xml encoding=\"utf-8\"?><a/>", Kind::Malformed, 0),
            ("<?xml version='1.0' standalone='yes' encoding='utf-8'?><a/>", Kind::Malformed, 0),
            ("<?xml version='1.0' standalone='YES'?><a/>", Kind::Malformed, 0),
            ("<?xml version='1.0'encoding='utf-8'?><a/>", Kind::Malformed, 0),
            ("<a><entry key='\"b'type='null'/></a>", Kind::Malformed, 3),
            ("<a>b]]>c</a>", Kind::Malformed, 4),
            ("<a><!-- \u{c} --></a>", Kind::Malformed, 8),
            ("<!ELEMENT>", Kind::Malformed, 0),
        ] {
            assert_eq!(error_of(document), (kind, offset), "{document}");
        }
        assert_eq!(error_of(&"<a>".repeat(40)), (Kind::Limit, 32 * 3));
        assert_eq!(error_of(&"<a b='c'>".repeat(40)), (Kind::Limit, 32 * 9));
    }
}
