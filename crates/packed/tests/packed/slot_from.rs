//! Layouts whose slot is the port of the link.

use dunnage_packed::{Layout, Training};
use dunnage_pson::{Kind, Value};
use dunnage_schema::Model;

fn compiled(members: &str) -> Result<Layout, String> {
    let model =
        Model::compile(&format!(r#"{{"x-dunnage-slot":9,"x-dunnage-slot-from":"port",{members}}}"#)).unwrap();
    Layout::new(&model).map_err(|error| format!("{}: {error}", error.pointer()))
}

#[test]
fn schemas_whose_messages_need_their_first_byte_are_refused() {
    for (members, part) in [
        (
            r#""type":"boolean","x-dunnage-statistics":"AA=="#.to_owned() + "\"",
            "statistics need their first byte",
        ),
        (r#""type":"string""#.to_owned(), "has a bound"),
        (r#""type":"array","maxItems":2000,"items":{"type":"number"}"#.to_owned(), "has a bound"),
        (r#""const":7"#.to_owned(), "takes bits"),
        (r#""const":7,"x-dunnage-check":2"#.to_owned(), "takes bits"),
    ] {
        let error = compiled(&members).unwrap_err();
        assert!(error.starts_with("/x-dunnage-slot-from: ") && error.contains(part), "{members}: {error}");
    }
    let layout = compiled(r#""type":"boolean""#).unwrap();
    assert_eq!(Training::new(&layout).err().map(|error| error.kind()), Some(Kind::Type));
}

#[test]
fn the_slot_changes_the_check_and_not_the_fingerprint() {
    let layout = |slot: u8, from: &str| {
        let schema = format!(r#"{{"type":"boolean","x-dunnage-slot":{slot}{from},"x-dunnage-check":2}}"#);
        Layout::new(&Model::compile(&schema).unwrap()).unwrap()
    };
    let port = r#","x-dunnage-slot-from":"port""#;
    let [one, two, byte] = [layout(1, port), layout(2, port), layout(1, "")];
    assert_eq!(one.fingerprint(), two.fingerprint());
    assert_ne!(one.fingerprint(), byte.fingerprint());
    assert_eq!((one.max_bytes(), byte.max_bytes()), (Some(3), Some(4)));
    let mut bytes = Vec::new();
    one.encode(&Value::Bool(true), &mut bytes).unwrap();
    assert_eq!(bytes.len(), 3);
    assert_eq!(one.decode(&bytes, None), Ok(Value::Bool(true)));
    assert_eq!(two.decode(&bytes, None).unwrap_err().kind(), Kind::Malformed);
    let row = &one.explain()[0];
    assert_eq!((&*row.path, row.bits.max, &*row.why), ("(slot)", Some(0), "the port of the link"));
}
