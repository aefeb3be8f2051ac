//! The writer, item by item.
use dunnage_pson::{Append, Floats, Kind, Options, Writer};

/// Returns the bytes that `write` writes, or the kind and offset of the error.
fn written(write: impl Fn(&mut Writer<Append<'_>>)) -> Result<Vec<u8>, (Kind, usize)> {
    let mut out = Vec::new();
    let mut writer = Writer::with_vec(&mut out);
    write(&mut writer);
    let len = writer.finish().map_err(|error| (error.kind(), error.offset()))?;
    assert_eq!(len, out.len());
    Ok(out)
}

#[test]
fn every_kind_of_item_is_written() {
    let bytes = written(|w| {
        w.array(10)
            .u64(31)
            .i64(-31)
            .i64(5)
            .f64(0.5)
            .bool(true)
            .null()
            .text("on")
            .bytes(&[1, 2])
            .map(0)
            .array(0);
    });
    let expected = b"\xea\x1f\x1f\x3f\x1f\x05\x40\x00\x00\x00\x3f\x61\x62\x82on\xa2\x01\x02\xc0\xe0";
    assert_eq!(bytes.unwrap(), expected);
}

#[test]
fn containers_end_after_their_last_item() {
    let bytes = written(|w| {
        w.map(2).key("a").map(1).key("b").array(1).null();
        w.key("c").u64(1);
    });
    assert_eq!(bytes.unwrap(), b"\xc2\x81a\xc1\x81b\xe1\x62\x81c\x01");
}

#[test]
fn misuse_is_a_type_error_at_its_offset() {
    assert_eq!(written(|_| ()), Err((Kind::Type, 0)));
    assert_eq!(
        written(|w| {
            w.u64(1).u64(2);
        }),
        Err((Kind::Type, 1))
    );
    assert_eq!(
        written(|w| {
            w.array(2).u64(1);
        }),
        Err((Kind::Type, 2))
    );
    assert_eq!(
        written(|w| {
            w.array(1).u64(1).u64(2);
        }),
        Err((Kind::Type, 2))
    );
    assert_eq!(
        written(|w| {
            w.map(1).u64(1).u64(2);
        }),
        Err((Kind::Type, 1))
    );
    assert_eq!(
        written(|w| {
            w.map(1).key("a").key("b");
        }),
        Err((Kind::Type, 3))
    );
    assert_eq!(
        written(|w| {
            w.key("a");
        }),
        Err((Kind::Type, 0))
    );
    assert_eq!(
        written(|w| {
            w.map(1).key("a");
        }),
        Err((Kind::Type, 3))
    );
}

#[test]
fn nesting_and_size_are_limited() {
    let deep = |levels| {
        written(move |w| {
            for _ in 1..levels {
                w.array(1);
            }
            w.array(0);
        })
    };
    assert_eq!(deep(32).unwrap().len(), 32);
    assert_eq!(deep(33), Err((Kind::Limit, 32)));
    let mut writer = Writer::counting().options(Options::new().max_size(3));
    writer.text("abc");
    let error = writer.finish().unwrap_err();
    assert_eq!((error.kind(), error.offset()), (Kind::Limit, 3));
}

#[test]
fn the_first_error_is_kept_and_counting_continues() {
    let mut buffer = [0xee; 3];
    let mut writer = Writer::with_slice(&mut buffer);
    writer.array(2).text("abc").u64(1).u64(2);
    assert_eq!(writer.len(), 7);
    let error = writer.finish().unwrap_err();
    assert_eq!((error.kind(), error.offset()), (Kind::Truncated, 3));

    let mut buffer = [0xee; 3];
    let mut writer = Writer::with_slice(&mut buffer);
    writer.u64(1).text("abc");
    let error = writer.finish().unwrap_err();
    assert_eq!((error.kind(), error.offset()), (Kind::Type, 1));
}

#[test]
fn the_caller_chooses_the_float_policy() {
    let mut out = Vec::new();
    let mut writer = Writer::with_vec(&mut out).options(Options::new().floats(Floats::Single));
    writer.f64(1.03);
    assert_eq!(writer.finish(), Ok(5));
    assert_eq!(out, b"\x40\x0a\xd7\x83\x3f");
}
