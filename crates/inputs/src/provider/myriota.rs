//! Myriota's HTTP destinations (support.myriota.com, article 6482340814351, "HTTP": "POST request structure", "Data payload"): JSON whose
//! `Data` is a text with JSON again, an array of packets of any terminals. Packets may come again in another request, and out of order; they
//! have no IDs. The signature is not checked, because its certificate would have to be fetched; a token authorizes the sender.

use super::{
    envelope::{Content, Envelope, Packet, Uplink, foreign, hex},
    fields::{Fields, id, number, raw, text},
    ids,
    origin::{Origin, unix},
};
use dunnage_formats::Value;
use dunnage_ingest::Rejected;

/// The most packets of a request, above what fits a request of 1 MiB in the documented form. Each may become a row of the quarantine, so that
/// a few bytes would otherwise fill it.
const MOST: usize = 16_384;

/// Opens a request.
pub fn read(envelope: &Envelope<'_>) -> Result<Content, Rejected> {
    let fields = Fields::read(envelope.bytes)?;
    let data = fields.text("/Data").ok_or_else(|| foreign("the envelope has no Data"))?;
    let data = Fields::read(data.as_bytes())?;
    if !matches!(data.value().get("Packets"), Some(Value::Array(_))) {
        return Err(foreign("Data has no array Packets"));
    }
    let packets = data.items("/Packets");
    if packets.len() > MOST {
        return Err(foreign(format!("an envelope may hold at most {MOST} packets")));
    }
    let packets = packets.iter();
    Ok(Content::Packets(packets.map(|value| Packet::new(raw(value), packet(value))).collect()))
}

fn packet(value: &Value) -> Result<Uplink, Rejected> {
    let missing = |name: &str| foreign(format!("the packet has no {name}"));
    let device = id(value, "/TerminalId").ok_or_else(|| missing("TerminalId"))?;
    let Some(Value::Text(digits)) = value.get("Value") else { return Err(missing("Value")) };
    let payload = hex(digits)?;
    // In milliseconds: when the satellite got it.
    let sent_at = unix(number(value, "/Timestamp").map(|millis| millis / 1000.0));
    let id = text(value, "/Timestamp").map(|time| ids::of_content(&time, &payload));
    Ok(Uplink { device, id, payload, origin: Origin { sent_at, ..Origin::default() }, ..Uplink::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::testing::open;
    use serde_json::{Value as Json, json};

    const TERMINAL: &str = "f74636ec549f9bde50cf765d2bcacbf9";

    /// The example of the article, with these packets.
    fn body(packets: &Json) -> Json {
        json!({
            "EndpointRef": "N_HlfTNgRsqe:uyXKvYTmTAO5", "Timestamp": 1_563_521_870,
            "Data": json!({"Packets": packets}).to_string(),
            "Id": "fe77e2c7-8e9c-40d0-8980-43720b9dab75",
            "CertificateUrl": "https://security.myriota.com/data-13f7751f3c5df569a6c9c42a9ce73a8a.crt",
            "Signature": "k2OIBppMRmBT520rUlIvMxNg"})
    }

    fn packets(packets: &Json) -> Vec<Packet> {
        match open(read, &body(packets)).unwrap() {
            Content::Packets(packets) => packets,
            _ => panic!("no packets"),
        }
    }

    fn one(packet: &Json) -> Result<Uplink, Rejected> {
        packets(&json!([packet])).remove(0).opened
    }

    fn documented() -> Json {
        json!({"Timestamp": 1_563_521_870_359_u64, "TerminalId": TERMINAL, "Value": "0101010101010101010101010101010101010101"})
    }

    #[test]
    fn myriota_in_its_documented_form() {
        let up = one(&documented()).unwrap();
        assert_eq!((&*up.device, &up.payload[..]), (TERMINAL, &[1; 20][..]));
        assert_eq!(up.origin.sent_at.as_deref(), Some("2019-07-19T07:37:50.359Z"));
    }

    #[test]
    fn each_packet_has_an_id_that_it_keeps_in_another_request() {
        let id = |packet: Json| one(&packet).unwrap().id;
        let first = id(documented()).unwrap();
        assert!(first.starts_with("1563521870359@"), "{first}");
        let mut as_text = documented();
        as_text["Timestamp"] = json!("1563521870359");
        assert_eq!(id(as_text).as_ref(), Some(&first));
        for (key, other) in [("Timestamp", json!(1_563_521_870_360_u64)), ("Value", json!("02"))] {
            let mut packet = documented();
            packet[key] = other;
            assert_ne!(id(packet).as_ref(), Some(&first), "{key}");
        }
    }

    #[test]
    fn a_mistake_in_one_packet_concerns_that_packet_alone() {
        let with = |key: &str, value: Json| {
            let mut packet = documented();
            packet[key] = value;
            packet
        };
        let all = packets(&json!([
            documented(),
            with("Value", json!("0g")),
            with("Value", Json::Null),
            with("TerminalId", Json::Null),
            with("TerminalId", json!(1e30)),
            7,
            with("Timestamp", Json::Null),
            with("Value", json!("")),
            with("Timestamp", json!(0)),
        ]));
        let opened: Vec<bool> = all.iter().map(|packet| packet.opened.is_ok()).collect();
        assert_eq!(opened, [true, false, false, false, false, false, true, true, true]);
        assert_eq!(all[5].raw, b"7");
        let untimed = all[6].opened.as_ref().unwrap();
        assert_eq!((&untimed.id, &untimed.origin.sent_at), (&None, &None));
        assert!(all[7].opened.as_ref().unwrap().payload.is_empty());
        assert_eq!(
            all[8].opened.as_ref().unwrap().origin.sent_at.as_deref(),
            Some("1970-01-01T00:00:00.000Z")
        );
        assert!(packets(&json!([])).is_empty());
    }

    #[test]
    fn an_envelope_without_packets_is_an_error() {
        for packets in [Json::Null, json!({}), json!("[]")] {
            assert!(open(read, &body(&packets)).is_err(), "{packets}");
        }
        let too_many = open(read, &body(&json!(vec![0; MOST + 1]))).err().unwrap();
        assert!(too_many.detail.contains("16384"), "{too_many:?}");
        assert_eq!(packets(&json!(vec![0; MOST])).len(), MOST);
        for data in [Json::Null, json!(""), json!("{"), json!({"Packets": []})] {
            assert!(open(read, &json!({"Data": data})).is_err(), "{data}");
        }
        assert!(open(read, &json!([])).is_err());
    }
}
