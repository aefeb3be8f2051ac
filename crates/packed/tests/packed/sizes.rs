//! The sizes of the bundled schemas' layouts, worked out by hand from `spec/packed.md`.

use dunnage_packed::Layout;
use dunnage_schema::{Model, bundled_named};

fn bytes(schema: &str) -> (u64, Option<u64>) {
    let text = bundled_named(schema).expect("a bundled schema");
    let layout = Layout::new(&Model::compile(text).expect("the schema compiles")).expect("a layout");
    (layout.min_bytes(), layout.max_bytes())
}

#[test]
fn bundled_schemas_have_known_minimum_and_maximum_sizes() {
    // msisdn 30..54, iso6346 39, time 35, rssi 7, cgi 33..70, ble-m 1, bat-soc 7, acc 87, temperature 15, humidity 14, pressure 24,
    // door 2, gnss 1, latitude 21, longitude 22, altitude 20, speed 14, heading 16, nsat 7, hdop 10
    assert_eq!(bytes("container"), (52, Some(60)));
    // msisdn 27, time 33, rssi 6..13, acc 48, temperature 14, pressure 15, altitude 17, speed 10, nsat 5, hdop 8, the others as above
    assert_eq!(bytes("container-voyage"), (44, Some(49)));
    // time 30, rssi 8, acc 45, temperature 14, humidity 10, pressure 17, altitude 17, speed 11, heading 12, nsat 6, the others as above
    assert_eq!(bytes("container-numeric"), (43, Some(51)));
}
