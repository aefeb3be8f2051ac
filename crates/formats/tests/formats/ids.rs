//! Names and numbers of the formats.

use dunnage_formats::Id;
use std::collections::HashMap;

/// The specification is the contract with deployed devices.
#[test]
fn the_numbers_are_those_of_the_specification() {
    let page = include_str!("../../../../spec/ingest.md");
    let section = page.split("## UDP").nth(1).unwrap();
    let table = section.split("\n\n").find(|part| part.starts_with("    01 json")).unwrap();
    let words: Vec<_> = table.split_whitespace().collect();
    let specified: HashMap<u8, &str> =
        words.chunks(2).map(|pair| (u8::from_str_radix(pair[0], 16).unwrap(), pair[1])).collect();
    assert_eq!(specified.len(), Id::all().count());
    for number in 0..=u8::MAX {
        assert_eq!(Id::from_number(number).map(Id::name), specified.get(&number).copied(), "{number:#04x}");
    }
    assert_eq!(Id::readable().filter_map(Id::number).count(), specified.len());
}
