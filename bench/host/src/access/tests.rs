use super::*;
use crate::corpus::message_sets;
use std::collections::HashMap;

fn message(text: &str) -> Value {
    Json.decode(text.as_bytes()).expect("JSON")
}

fn key(name: &str) -> Step {
    Step::Key(name.to_owned())
}

#[test]
fn the_nested_value_is_the_first_of_the_deepest() {
    let found = paths(&message(r#"{"a":1,"b":[{"c":2},{"d":3}],"e":4}"#));
    assert_eq!(found[0], ("read first", vec![key("a")]));
    assert_eq!(found[1], ("read last", vec![key("e")]));
    assert_eq!(found[2], ("read nested", vec![key("b"), Step::Index(0), key("c")]));
    assert_eq!(paths(&message(r#"{"a":1,"b":2}"#)).len(), 2, "a flat message has no nested value");
}

#[test]
fn every_way_reads_the_value_of_the_message() {
    let mut reads: HashMap<&str, usize> = HashMap::new();
    let sets = message_sets().expect("a corpus");
    for set in sets.iter().filter(|set| MESSAGES.contains(&set.name.as_str())) {
        for (operation, path) in paths(&set.messages[0]) {
            for access in accesses(set, &path).expect("every format carries the message") {
                let wanted = expected(set, access.format, &path).expect("a value");
                let mut found = false;
                (access.read)(&access.bytes, &mut |leaf| found = Some(leaf) == Leaf::of(&wanted));
                assert!(found, "{} {operation}: {} does not find {wanted:?}", set.name, access.format);
                *reads.entry(access.format).or_default() += 1;
            }
        }
    }
    assert_eq!(reads["json"], reads["msgpack"]);
    assert!(reads["rkyv"] == 5 && reads["flatbuffers"] > 5, "{reads:?}");
}

#[test]
fn two_messages_have_a_struct_that_comes_back() {
    let sets = message_sets().expect("a corpus");
    let names: Vec<&str> = sets.iter().filter(|set| archived(set).is_some()).map(|set| &*set.name).collect();
    assert_eq!(names, ["container", "weather"]);
}

#[test]
fn a_value_that_is_not_there_is_not_found() {
    let bytes = encoded(&Cbor, &message(r#"{"a":[1]}"#)).expect("CBOR");
    for path in [vec![key("b")], vec![key("a"), Step::Index(1)], vec![key("a"), key("a")]] {
        readers::cbor(&path)(&bytes, &mut |leaf| panic!("{path:?} finds {leaf:?}"));
    }
}

#[test]
fn messagepack_skips_every_kind_of_item() {
    let text = format!(
        r#"{{"skipped":[null,true,1,-1,200,-100,60000,-30000,4000000000,-2000000000,5000000000,-5000000000,0.5,0.1,"x","{}",{{"a":[]}},{:?}],"b":7}}"#,
        "y".repeat(300),
        vec![1; 20],
    );
    let bytes = encoded(&Msgpack, &message(&text)).expect("MessagePack");
    let mut found = None;
    readers::msgpack(&[key("b")])(&bytes, &mut |leaf| found = Some(leaf == Leaf::Integer(7)));
    assert_eq!(found, Some(true));
}
