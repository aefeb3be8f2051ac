//! VictoriaMetrics, which takes the requests of InfluxDB 2, and keeps numbers alone, each a series.

use super::{deliver, deliver_all, open_at};
use crate::postgres::{learn, message};
use dunnage_outputs::Message;
use dunnage_test_support::victoria::Victoria;

#[test]
#[ignore = "the server takes a minute to build; make nightly runs this"]
fn numbers_are_series_with_the_tags_and_the_times_in_milliseconds() {
    let server = Victoria::start();
    let output = open_at(&server.url("/api/v2/write?org=acme&bucket=telemetry"), "").unwrap();
    let schema = r#"{"type":"object","properties":{"t":{"type":"number"},"n":{"type":"integer"},"ok":{"type":"boolean"},"s":{"type":"string"}}}"#;
    learn(&output, "soil", &[schema]);
    let messages: Vec<Message> = (0..500)
        .map(|n| {
            let mut message =
                message(n, "soil", &format!(r#"{{"t":{n}.25,"n":{n},"ok":true,"s":"b \" c,d\\"}}"#));
            message.stored.device = format!("a b,c={}\"\\", n % 2);
            message
        })
        .collect();
    // It keeps a line break in no text, and refuses the request as a whole.
    let broken = message(500, "soil", r#"{"t":1,"s":"a\nb"}"#);
    let refused = deliver_all(&output, &[&messages[..300], &[broken], &messages[300..]].concat());
    assert!(refused.len() == 1 && refused[0].contains("missing closing quote"), "{refused:?}");
    assert_eq!(deliver(&output, &messages), Ok(()));
    let sum = |name: &str| {
        let series = server.export(&format!("{{__name__=\"{name}\"}}"));
        let values = series.iter().flat_map(|series| series["values"].as_array().unwrap());
        (series.len(), values.map(|value| value.as_f64().unwrap()).sum::<f64>())
    };
    assert_eq!(sum("soil_t"), (2, 499.0 * 250.0 + 125.0));
    assert_eq!(sum("soil_n"), (2, 499.0 * 250.0));
    assert_eq!(sum("soil_ok"), (2, 500.0));
    let series = server.export(r#"{__name__="soil_t",device="a b,c=1\"%5C"}"#);
    assert_eq!(series.len(), 1);
    // 0.001001 s later than the first, and with the place of the message: 1.
    assert_eq!(series[0]["timestamps"][0], 1_767_225_600_001_i64);
    assert_eq!(series[0]["timestamps"].as_array().unwrap().len(), 250);
}
