//! Codecs and what they return.

#![allow(clippy::unwrap_used, missing_docs)]

use dunnage_pson::{Kind, Value};
use dunnage_vendor_codec::{Codec, Engine, Error, Input, limits};
use std::time::Instant;

fn codec(text: &str) -> Engine {
    Engine::new(Codec::compile("codecs/test.js", text.into()).unwrap())
}

fn decode(engine: &mut Engine, bytes: &[u8]) -> Result<Value, Error> {
    engine.decode_uplink(&Input::new(bytes, Some(85), 1_767_225_600_000_000)).map(|output| output.data)
}

/// Decodes `{x: EXPRESSION}`.
fn value(expression: &str) -> Result<Option<Value>, Error> {
    let text = format!("function decodeUplink(input) {{ return {{ data: {{ x: {expression} }} }}; }}");
    decode(&mut codec(&text), &[1, 2, 3]).map(|data| data.get("x").cloned())
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

#[test]
fn the_three_forms_of_codecs_decode() {
    let x = map(&[("p", Value::U64(85)), ("b", Value::U64(7))]);
    for text in [
        "function decodeUplink(input) { return { data: { p: input.fPort, b: input.bytes[0] } } }",
        "const decodeUplink = ({ bytes, fPort }) => ({ data: { p: fPort, b: bytes[0] }, errors: [] })",
        "var decodeUplink = function (i) { return { data: { p: i.fPort, b: i.bytes[0] }, errors: null } }",
        "function Decode(fPort, bytes, variables) { return { p: fPort, b: bytes[0] } }",
        "function Decoder(bytes, port) { return { p: port, b: bytes[0] } }",
        "'use strict'; function Decoder(bytes, port) { return { p: port, b: bytes[0] } } // a comment",
        "\u{feff}function Decoder(bytes, port) { return { p: port, b: bytes[0] } }",
    ] {
        assert_eq!(decode(&mut codec(text), &[7]).unwrap(), x, "{text}");
    }
}

/// The codecs of ThingPark's catalogue are modules of CommonJS.
#[test]
fn a_codec_may_export_its_functions() {
    let x = map(&[("p", Value::U64(85)), ("b", Value::U64(7))]);
    let decode_uplink = "function (i) { return { data: { p: i.fPort, b: i.bytes[0] } } }";
    // The last one changes a built-in object, so that it gets new globals for each message.
    for before in ["", "'use strict'; ", "let counter = 0; ", "Array.prototype.last = 1; "] {
        for text in [
            format!("exports.decodeUplink = {decode_uplink}"),
            format!("module.exports = {{ decodeUplink: {decode_uplink} }}"),
            format!("exports = module.exports = {{ decodeUplink: {decode_uplink} }}"),
            format!("var decodeUplink = {decode_uplink}; exports.decodeUplink = decodeUplink;"),
            format!("if (typeof module !== 'undefined') {{ module.exports.decodeUplink = {decode_uplink} }}"),
            // What a codec calls so itself is its own.
            format!("var decodeUplink = {decode_uplink}; const module = 7, exports = null;"),
        ] {
            let mut engine = codec(&format!("{before}{text}"));
            for _ in 0..2 {
                assert_eq!(decode(&mut engine, &[7]).unwrap(), x, "{before}{text}");
            }
        }
    }
    for text in ["exports.decode = 1", "module.exports = null", "exports.decodeUplink = 7", "module = null"] {
        let error = Codec::compile("codecs/test.js", text.into()).err().unwrap();
        assert!(error.to_string().contains("or export"), "{text}: {error}");
    }
    let throwing = "exports.decodeUplink = function (i) {\n  return i.x.y;\n}";
    let error = decode(&mut codec(throwing), &[7]).unwrap_err().to_string();
    assert!(error.contains("codecs/test.js:2"), "{error}");
}

#[test]
fn exports_do_not_outlive_a_message() {
    let mut engine = codec(
        "exports.n = exports.n || 0; exports.decodeUplink = function () { return { data: { n: ++exports.n } } }",
    );
    for _ in 0..3 {
        assert_eq!(decode(&mut engine, &[7]).unwrap(), map(&[("n", Value::U64(1))]));
    }
}

#[test]
fn results_become_values() {
    let text = |text: &str| Value::Text(text.into());
    for (expression, expected) in [
        ("1", Value::U64(1)),
        ("-3", Value::I64(-3)),
        ("-0", Value::U64(0)),
        ("2.0", Value::U64(2)),
        ("1e15", Value::U64(1_000_000_000_000_000)),
        ("21.5", Value::F64(21.5)),
        ("1e300", Value::F64(1e300)),
        ("18446744073709551615n", Value::U64(u64::MAX)),
        ("-9223372036854775808n", Value::I64(i64::MIN)),
        ("null", Value::Null),
        ("'a\\u0000é'", text("a\0é")),
        ("[1, undefined, () => 1]", Value::Array(vec![Value::U64(1), Value::Null, Value::Null])),
        ("new Uint8Array([1, 255])", Value::Bytes(vec![1, 255])),
        ("new Uint8Array(input.bytes).subarray(1)", Value::Bytes(vec![2, 3])),
        ("new Int16Array([-1, 2])", Value::Array(vec![Value::I64(-1), Value::U64(2)])),
        ("new Date(0)", text("1970-01-01T00:00:00.000Z")),
        ("{ toJSON() { return 7 } }", Value::U64(7)),
        ("new Number(7)", Value::U64(7)),
        ("new (class { constructor() { this.a = 1 } })()", map(&[("a", Value::U64(1))])),
        (
            "{ get a() { return 1 }, b: undefined, [Symbol('c')]: 1, 2: 2 }",
            map(&[("2", Value::U64(2)), ("a", Value::U64(1))]),
        ),
        ("Object.assign(Object.create(null), { a: 1 })", map(&[("a", Value::U64(1))])),
    ] {
        assert_eq!(value(expression).unwrap(), Some(expected), "{expression}");
    }
    for none in ["undefined", "Symbol('a')", "() => 1", "class {}"] {
        assert_eq!(value(none).unwrap(), None, "{none}");
    }
}

#[test]
fn results_without_a_form_are_errors() {
    for (expression, kind, part) in [
        ("NaN", Kind::Type, "NaN"),
        ("input.bytes[9] * 2", Kind::Type, "NaN"),
        ("-Infinity", Kind::Type, "-inf"),
        ("new Date('x')", Kind::Type, "invalid date"),
        ("18446744073709551616n", Kind::Range, "64 bits"),
        ("new Map([[1, 2]])", Kind::Malformed, "Map or Set"),
        ("'\\ud800'", Kind::Malformed, "surrogate"),
        ("(() => { const a = []; a.push(a); return a })()", Kind::Limit, "contains itself"),
        ("'x'.repeat(2000000)", Kind::Limit, "1 MiB"),
        ("new Array(100000000)", Kind::Limit, "1 MiB"),
        ("new Array(140000).fill(1)", Kind::Limit, "1 MiB"),
        ("(function () { var a = []; a[4294967294] = 1; return a })()", Kind::Limit, "1 MiB"),
        ("{ get a() { while (true) {} } }", Kind::Limit, "100 ms"),
        ("{ get a() { throw new Error('no') } }", Kind::Malformed, "Error: no"),
        ("(async () => 1)()", Kind::Type, "asynchronous"),
    ] {
        let error = value(expression).unwrap_err();
        assert!(error.kind == kind && error.message.contains(part), "{expression}: {error:?}");
    }
    let error = value("{ a: [0, NaN] }").unwrap_err();
    assert_eq!(error.pointer, "/x/a/1");
    let mut engine =
        codec("function decodeUplink() { return { data: { x: NaN, y: [Infinity], d: new Date('x') } } }");
    let lenient = engine.decode_uplink(&Input { lenient: true, ..Input::new(&[], None, 0) }).unwrap();
    assert_eq!(lenient.nulls, 3);
    assert_eq!(
        lenient.data,
        map(&[("x", Value::Null), ("y", Value::Array(vec![Value::Null])), ("d", Value::Null)])
    );
}

#[test]
fn a_codec_without_data_is_an_error() {
    for (body, part) in [
        ("", "no object"),
        ("return {}", "no data"),
        ("return null", "no object"),
        ("return { data: null }", "no data"),
        ("return { data: 5 }", "must be an object"),
        ("return { data: [5] }", "must be an object"),
        ("return { data: {}, errors: ['port 85 is unknown'] }", "port 85 is unknown"),
        ("return { data: {}, errors: 'short' }", "short"),
        ("return async () => 1", "no object"),
        ("throw 'text'", "text"),
        ("throw null", "the codec threw null"),
        ("throw undefined", "the codec threw undefined"),
        ("throw 7", "the codec threw 7"),
        ("throw NaN", "the codec threw NaN"),
        ("throw Symbol('s')", "the codec threw Symbol(s)"),
        ("throw '\\ud800'", "\u{fffd}"),
        ("throw { code: 3 }", "the codec threw {\"code\":3}"),
        ("throw { message: 'short' }", "the codec threw short"),
        ("throw { toString() { throw 1 } }", "the codec threw {}"),
        ("throw { get message() { throw 1 } }", "the codec threw a value without a text"),
        ("throw Object.assign(new Error(), { toString() { throw 1 } })", "the codec threw"),
        ("return { errors: [NaN] }", "NaN"),
    ] {
        let error = decode(&mut codec(&format!("function decodeUplink(i) {{ {body} }}")), &[]).unwrap_err();
        assert!(error.message.contains(part), "{body}: {error:?}");
    }
}

#[test]
fn a_warning_is_a_text_whatever_it_is() {
    for (warnings, texts) in [
        ("['battery low', '']", &["battery low"][..]),
        ("'battery low'", &["battery low"]),
        (
            "[NaN, Infinity, 7, -1.5, 2n ** 70n, true]",
            &["NaN", "Infinity", "7", "-1.5", "1180591620717411303424", "true"],
        ),
        ("[null, undefined, false, () => 1, Symbol('s')]", &[]),
        ("[{ message: 'low' }, { code: 3 }, new Map([[1, 2]])]", &["low", "{\"code\":3}", "{}"]),
        ("NaN", &["NaN"]),
        ("'\\ud800'", &["\u{fffd}"]),
        ("[{ get message() { throw 1 } }]", &["a value without a text"]),
        ("(() => { const a = {}; a.a = a; return [a]; })()", &["a value without a text"]),
        ("new Array(1e9)", &[]),
    ] {
        let mut engine =
            codec(&format!("function decodeUplink() {{ return {{ data: {{}}, warnings: {warnings} }} }}"));
        let output = engine.decode_uplink(&Input::new(&[], None, 0)).unwrap();
        assert_eq!(
            (output.data, output.warnings),
            (map(&[]), texts.iter().map(|t| (*t).to_owned()).collect())
        );
    }
    let long = "function decodeUplink() { return { data: {}, warnings: Array(99).fill('x'.repeat(9999)) } }";
    let output = codec(long).decode_uplink(&Input::new(&[], None, 0)).unwrap();
    assert_eq!(output.warnings, vec!["x".repeat(limits::TEXT); limits::WARNINGS]);
}

#[test]
fn errors_name_the_file_and_the_line() {
    let mut engine = codec(
        "function f(b) {\n  return b.x.y;\n}\n\nfunction decodeUplink(input) {\n  return { data: f(input) };\n}",
    );
    let error = decode(&mut engine, &[]).unwrap_err();
    assert_eq!(error.to_string(), "codecs/test.js:2: TypeError: cannot read property 'y' of undefined");
    for (text, shown) in [
        ("function decodeUplink() {\n return 1 +;\n}", "codecs/test.js:2: SyntaxError"),
        ("\n\nimport x from 'y'", "codecs/test.js:3: SyntaxError"),
        ("let a = 1;\nnone();", "codecs/test.js:2: ReferenceError: none is not defined"),
        ("export function decodeUplink() {}", "codecs/test.js:1: SyntaxError"),
        (
            "function decodeUplink() { return {data: {}} } while (true) {}",
            "codecs/test.js:1: the codec takes more than 2000 ms",
        ),
        ("var a = 1", "codecs/test.js: the codec must define"),
    ] {
        let error = Codec::compile("codecs/test.js", text.into()).unwrap_err();
        assert!(error.to_string().starts_with(shown), "{error}");
    }
}

#[test]
fn files_have_a_limit_and_are_utf8() {
    let folder = std::env::temp_dir().join(format!("vendor-codec-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("big.js");
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Codec::read(&path).unwrap_err()
    };
    let big = read(&vec![b' '; 1 << 20]);
    assert!(big.kind == Kind::Limit && big.message.contains("1 MiB"), "{big}");
    assert_eq!(read(b"//\n//\xff").line, Some(2));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(Codec::read(&path).unwrap_err().to_string().contains("big.js: "));
}

#[test]
fn a_message_that_takes_too_much_costs_itself_only() {
    let mut engine = codec(
        "function f() { return f() + 1 }
         function decodeUplink(input) {
           switch (input.bytes[0]) {
             case 1: while (true) {}
             case 2: return f();
             case 3: { const all = []; while (true) all.push(new Array(1000).fill(1)) }
             case 4: return /^(a+)+$/.test('a'.repeat(40) + 'b');
             case 5: throw new Error('no');
             case 6: { let s = 'abc'; while (true) s = s + s }
             case 7: return { data: { x: JSON.parse('['.repeat(100000)) } };
             case 8: return new Array(4294967295).reduce((a) => a, 0);
             case 9: try { while (true) {} } catch (e) { return { data: {} } }
             case 10: { const a = {}; a.a = a; return { data: a } }
           }
           return { data: { ok: true } };
         }",
    );
    for (byte, kind, part) in [
        (1, Kind::Limit, "100 ms"),
        (2, Kind::Limit, "stack"),
        (3, Kind::Limit, "memory"),
        (4, Kind::Limit, "100 ms"),
        (5, Kind::Malformed, "Error: no"),
        (6, Kind::Limit, ""),
        (7, Kind::Limit, "stack"),
        (8, Kind::Limit, "100 ms"),
        (9, Kind::Limit, "100 ms"),
        (10, Kind::Limit, "itself"),
    ] {
        let begun = Instant::now();
        let error = decode(&mut engine, &[byte]).unwrap_err();
        // "string too long" of case 6 is an ordinary exception.
        assert!((error.kind == kind || byte == 6) && error.message.contains(part), "{byte}: {error:?}");
        assert!(begun.elapsed() < limits::ABANDON, "{byte}");
        assert_eq!(decode(&mut engine, &[0]).unwrap(), map(&[("ok", Value::Bool(true))]), "{byte}");
    }
    let long = vec![0; limits::INPUT + 1];
    assert_eq!(decode(&mut engine, &long).unwrap_err().kind, Kind::Limit);
}

#[test]
fn an_engine_that_lacks_memory_anywhere_ends_its_message_only() {
    // Takes all memory but a little, then does what codecs do: whatever lacks memory must fail cleanly.
    let mut engine = codec(
        "function decodeUplink(input) {
           const all = [];
           try { for (let size = 1 << 20; size >= 64; size /= 2) for (;;) try { all.push(new Uint8Array(size)) } catch (e) { break } } catch (e) {}
           all.length -= input.bytes[0];
           const o = {}; for (let i = 0; i < 1000; i++) o['key' + i] = { a: [i], b: 'text' + i, c: i.toString().match(/(\\d)+/) };
           return { data: o };
         }",
    );
    for left in 0..=100 {
        let _ = decode(&mut engine, &[left]);
    }
}

#[test]
fn no_message_changes_a_later_one() {
    let count = |text: &str, fresh: bool| {
        let codec = Codec::compile("codecs/test.js", text.into()).unwrap();
        let mut engine = Engine::new(codec.clone());
        let first = decode(&mut engine, &[1]).unwrap();
        for _ in 0..3 {
            assert_eq!(decode(&mut engine, &[1]).unwrap(), first, "{text}");
        }
        assert_eq!(codec.is_fresh(), fresh, "{text}");
        first
    };
    let one = map(&[("n", Value::U64(1))]);
    for text in [
        "var n = 0; function decodeUplink() { n++; return { data: { n } } }",
        "let n = 0; const decodeUplink = () => ({ data: { n: ++n } })",
        "var data = { n: 0 }; function decodeUplink() { data.n += 1; return { data } }",
        "function decodeUplink() { if (typeof n === 'undefined') n = 0; n++; return { data: { n: n } } }",
        "function decodeUplink() { this.n = (this.n || 0) + 1; return { data: { n: this.n } } }",
        "function decodeUplink() { globalThis.n = (globalThis.n || 0) + 1; return { data: { n } } }",
        "var s = Symbol.for('n'); function decodeUplink() { this[s] = (this[s] || 0) + 1; return { data: { n: this[s] } } }",
        "function decodeUplink() { Object.defineProperty(this, 'n', { value: (this.n || 0) + 1, configurable: true }); return { data: { n: this.n } } }",
        "function decodeUplink() { var n = (this.n || 0) + 1; Object.defineProperty(this, 'n', { value: n, configurable: false }); return { data: { n: n } } }",
        "function decodeUplink() { if (!('n' in this)) Object.setPrototypeOf(this, { n: 0 }); this.__proto__.n++; return { data: { n: this.n } } }",
        "function decodeUplink() { return { data: { n: Error.stackTraceLimit === undefined ? 1 : ++Error.stackTraceLimit } } }",
        "var all = typeof arguments === 'undefined' ? {} : arguments.callee; function decodeUplink() { all.n = (all.n || 0) + 1; return { data: { n: all.n || 1 } } }",
        "var list = []; function decodeUplink() { list.n = list.fill = 1; list.push(1); return { data: { n: list.length } } }",
        "function decodeUplink() { var o = {}; o.toString = o.constructor = o.valueOf = 1; return { data: { n: o.constructor } } }",
        "function P() { this.n = 1 } P.prototype.toString = function () { return 'p' }; function decodeUplink() { return { data: { n: String(new P()).length } } }",
        "function decodeUplink() { if (!Object.assign) Object.defineProperty(Object, 'assign', { value: 1 }); return { data: { n: 1 } } }",
    ] {
        assert_eq!(count(text, false), one, "{text}");
    }
    for text in [
        "Array.prototype.first = function () { return this[0] }; function decodeUplink(i) { return { data: { n: i.bytes.first() } } }",
        "function decodeUplink(i) { Array.prototype.first = function () { return this[0] }; return { data: { n: i.bytes.first() } } }",
        "function decodeUplink(i) { try { String.one = () => 1; return { data: { n: String.one() } } } catch (e) { return { errors: [e.message] } } }",
        "Math.n = 0; function decodeUplink() { Math.n++; return { data: { n: Math.n } } }",
        "function decodeUplink() { return { data: { n: globalThis['de' + 'codeUplink'].length + 1 } } }",
        "'use strict'; function decodeUplink() { Math.n = (Math.n || 0) + 1; return { data: { n: Math.n } } }",
    ] {
        assert_eq!(count(text, true), one, "{text}");
    }
}

#[test]
fn a_codec_has_neither_a_clock_nor_randomness() {
    let text = |text: &str| Some(Value::Text(text.into()));
    for (expression, expected) in [
        ("Date.now()", Some(Value::U64(1_767_225_600_000))),
        ("+new Date()", Some(Value::U64(1_767_225_600_000))),
        ("input.recvTime", text("2026-01-01T00:00:00.000Z")),
        (
            "input.recvTime instanceof Date && new Date() instanceof Date && new Date().constructor === Date",
            Some(Value::Bool(true)),
        ),
        ("Date()", text("Thu Jan 01 2026 00:00:00 GMT+0000 (UTC)")),
        ("new Date(1e12)", text("2001-09-09T01:46:40.000Z")),
        ("new Date(2020, 0, 2, 3)", text("2020-01-02T03:00:00.000Z")),
        ("new Date('2020-01-02T03:04:05')", text("2020-01-02T03:04:05.000Z")),
        ("new Date('2020-01-02T03:04:05+02:00')", text("2020-01-02T01:04:05.000Z")),
        ("new Date('2020-01-02')", text("2020-01-02T00:00:00.000Z")),
        ("new Date('Jan 2, 2020 03:04:05')", text("2020-01-02T03:04:05.000Z")),
        ("new Date('Thu, 02 Jan 2020 03:04:05 GMT')", text("2020-01-02T03:04:05.000Z")),
        ("new Date(new Date(5))", text("1970-01-01T00:00:00.005Z")),
        ("new Date(1e12).getHours()", Some(Value::U64(1))),
        ("new Date(1e12).toLocaleString()", text("9/9/2001, 1:46:40 AM")),
        ("new Date(1e12).getTimezoneOffset()", Some(Value::U64(0))),
        (
            "typeof performance + typeof Promise + typeof setTimeout + typeof require + typeof WeakRef",
            text("undefinedundefinedundefinedundefinedundefined"),
        ),
        ("Math.random()", Some(Value::F64(0.5))),
        ("console.log('x')", None),
    ] {
        assert_eq!(value(expression).unwrap(), expected, "{expression}");
    }
}

#[test]
fn downlinks_are_encoded_and_decoded() {
    let mut engine = codec(
        "function decodeUplink() { return { data: {} } }
         function encodeDownlink(input) { return { bytes: [input.data.led ? 1 : 0, input.data.list.length], fPort: 7, warnings: ['w'] } }
         function decodeDownlink(input) { return { data: { led: input.bytes[0] === 1 } } }",
    );
    let data = map(&[("led", Value::Bool(true)), ("list", Value::Array(vec![Value::Null, Value::F64(0.5)]))]);
    let downlink = engine.encode_downlink(&data, 0).unwrap();
    assert_eq!(
        (downlink.bytes, downlink.port, downlink.warnings),
        (vec![1, 2], Some(7), vec!["w".to_owned()])
    );
    let decoded = engine.decode_downlink(&Input::new(&[1], Some(7), 0)).unwrap();
    assert_eq!(decoded.data, map(&[("led", Value::Bool(true))]));
    let mut uplinks = codec("function decodeUplink() { return { data: {} } }");
    let error = uplinks.encode_downlink(&data, 0).unwrap_err();
    assert!(error.message.contains("no function encodeDownlink"), "{error}");
    let mut bad = codec(
        "function decodeUplink() { return { data: {} } } function encodeDownlink() { return { bytes: [256] } }",
    );
    assert!(bad.encode_downlink(&data, 0).unwrap_err().message.contains("0 to 255"));
}
