//! The resources that the gateway creates in the CSE: an AE, containers and contentInstances (TS-0001, 9.6; TS-0004, 7.4).

use super::settings::{Content, Label, Settings};
use crate::Message;
use base64::{Engine, prelude::BASE64_STANDARD};
use dunnage_base::{clock::rfc3339, hex::hex};
use serde::Serialize;
use serde_json::{json, value::RawValue};
use sha2::{Digest, Sha256};

/// Longest name of a container, and longest labels of an instance as indented JSON, in characters: the columns of Mobius's tables. It has an
/// internal error for longer ones, each time.
const NAME: usize = 45;
const LABELS: usize = 200;

/// A resource to create.
#[derive(Debug)]
pub struct Resource {
    /// Its parent, from the CSE base on.
    pub parent: String,
    /// Its name.
    pub name: String,
    /// Its type: 2 AE, 3 container, 4 contentInstance.
    pub ty: u8,
    /// Its representation, as JSON.
    pub content: Box<RawValue>,
}

impl Resource {
    /// Returns its path, from the CSE base on.
    pub fn path(&self) -> String {
        format!("{}/{}", self.parent, self.name)
    }
}

/// Creates the representations of resources.
pub struct Resources(Settings);

#[derive(Serialize)]
struct Cin<'a> {
    #[serde(rename = "m2m:cin")]
    instance: Instance<'a>,
}

#[derive(Serialize)]
struct Instance<'a> {
    rn: &'a str,
    con: Con<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cnf: Option<&'a str>,
    lbl: Vec<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Con<'a> {
    Text(&'a str),
    Json(&'a RawValue),
}

impl Resources {
    /// Creates resources according to `settings`.
    pub fn new(settings: &Settings) -> Resources {
        Resources(settings.clone())
    }

    /// Returns the path of a message's container, from the CSE base on.
    pub fn container(&self, message: &Message) -> String {
        let Settings { cse, ae, container, .. } = &self.0;
        let path: Vec<_> = message.path.split('/').map(escape).collect();
        let below =
            container.replace("{path}", &path.join("/")).replace("{device}", &escape(&message.device));
        // An empty `{path}` leaves an empty name, which is dropped.
        let below = below.split('/').filter(|name| !name.is_empty()).map(short);
        let names = [cse.clone(), ae.clone()].into_iter().chain(below);
        names.collect::<Vec<_>>().join("/")
    }

    /// Returns the instance of a message in the container `container`, with the name that is the `copy`th choice, from 0. Returns an error if the
    /// message cannot be in it.
    pub fn instance(&self, container: &str, message: &Message, copy: usize) -> Result<Resource, String> {
        let Settings { content, cnf, mbs, .. } = &self.0;
        let payload = message.payload();
        let json: &RawValue = serde_json::from_str(payload).map_err(|e| e.to_string())?;
        let base64 = (*content == Content::Base64).then(|| BASE64_STANDARD.encode(payload));
        let con = match (content, &base64) {
            // An instance whose content is null is invalid, so null becomes text.
            (Content::Object, _) if payload != "null" => Con::Json(json),
            (_, Some(base64)) => Con::Text(base64),
            _ => Con::Text(payload),
        };
        // Mobius answers that it has created such an object, and removes it at once.
        let size = base64.as_ref().map_or(payload.len(), String::len) as u64;
        if let Some(limit) = mbs.filter(|limit| size > *limit) {
            return Err(format!("NOT_ACCEPTABLE (5207): its {size} bytes exceed mbs = {limit}"));
        }
        let name = match copy {
            0 => message.stable_id.clone(),
            copy => format!("{}~{copy}", message.stable_id),
        };
        let cnf = cnf.as_deref().or_else(|| base64.as_ref().map(|_| "application/json:1"));
        let instance = Instance { rn: &name, con, cnf, lbl: self.labels(message) };
        let content = serde_json::value::to_raw_value(&Cin { instance }).map_err(|e| e.to_string())?;
        Ok(Resource { parent: container.to_owned(), name, ty: 4, content })
    }

    /// Returns advice for the operator of a CSE that refuses instances with the answer `detail`; empty if nothing is known.
    pub fn advice(&self, detail: &str) -> &'static str {
        let text_only = self.0.content == Content::Object && detail.contains("invalid attribute : con");
        match text_only {
            true => "; this CSE accepts text only: set content = \"string\" in [output.onem2m]",
            false => "",
        }
    }

    /// Returns the metadata of a message as labels `key:value` (TS-0001, 9.6.1.3). Without a setting, leaves out the last ones if all together
    /// are too long.
    fn labels(&self, message: &Message) -> Vec<String> {
        let chosen = self.0.labels.as_deref().unwrap_or(&Label::ALL);
        let mut labels: Vec<_> = chosen.iter().filter_map(|chosen| label(*chosen, message)).collect();
        // Each is indented by four characters, and has quotation marks, a comma and a line break.
        let long = |labels: &[String]| labels.iter().map(|label| label.len() + 8).sum::<usize>() + 2 > LABELS;
        while self.0.labels.is_none() && long(&labels) {
            labels.pop();
        }
        labels
    }

    /// Returns the resources that a message in `container` needs, from the outside in: the AE, the containers above, and the container
    /// itself.
    pub fn above(&self, container: &str) -> Vec<Resource> {
        let Settings { cse, ae, app_id, release, mni, mbs, mia, .. } = &self.0;
        let application = json!({ "rn": ae, "api": app_id, "rr": false, "srv": [release] });
        let mut above = vec![resource(cse.clone(), ae, 2, "m2m:ae", &application)];
        let names: Vec<_> = container.split('/').skip(2).collect();
        for (n, name) in names.iter().enumerate() {
            let mut attributes = json!({ "rn": name });
            if n + 1 == names.len() {
                for (limit, value) in [("mni", mni), ("mbs", mbs), ("mia", mia)] {
                    if let Some(value) = value {
                        attributes[limit] = (*value).into();
                    }
                }
            }
            let parent = [&[cse.as_str(), ae], &names[..n]].concat().join("/");
            above.push(resource(parent, name, 3, "m2m:cnt", &attributes));
        }
        above
    }
}

fn resource(parent: String, name: &str, ty: u8, kind: &str, attributes: &serde_json::Value) -> Resource {
    let content = serde_json::value::to_raw_value(&json!({ kind: attributes })).unwrap_or_default();
    Resource { parent, name: name.to_owned(), ty, content }
}

fn label(label: Label, message: &Message) -> Option<String> {
    Some(match label {
        Label::Device => format!("device:{}", message.device),
        Label::Received => format!("received:{}", rfc3339(message.received_at)),
        Label::Format => format!("format:{}", message.format),
        Label::Schema => format!("schema:{}", message.schema.as_ref()?),
        Label::Link => format!("link:{}", message.link.as_ref()?),
        Label::Request if message.request.is_empty() => return None,
        Label::Request => format!("request:{}", message.request),
    })
}

/// Shortens a name to [`NAME`] characters, the last of which are a hash of the whole. No other name ends in `~` and small letters.
fn short(name: &str) -> String {
    if name.len() <= NAME {
        return name.to_owned();
    }
    let hash = hex(&Sha256::digest(name)[..4]);
    format!("{}~{hash}", &name[..NAME - hash.len() - 1])
}

/// Names of virtual resources (TS-0001, 9.6; TS-0004, 6.2.4), short and long. They have a special meaning in a path.
const RESERVED: [&str; 12] = [
    "la",
    "latest",
    "ol",
    "oldest",
    "fopt",
    "fanoutpoint",
    "pcu",
    "pollingchanneluri",
    "sti",
    "semanticfanoutpoint",
    "smf",
    "ntpr",
];

/// Escapes a name of the gateway for use as the name of a resource, which has unreserved characters only. Other characters become `~` and
/// two hexadecimal digits, and so does the first character of a reserved name. The gateway's names have no `~`, so the result is unique.
pub fn escape(ours: &str) -> String {
    let reserved = RESERVED.contains(&ours.to_ascii_lowercase().as_str());
    let mut name = String::with_capacity(ours.len() + 4);
    for (at, byte) in ours.bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if plain && !(reserved && at == 0) {
            name.push(byte.into());
        } else {
            name.push_str(&format!("~{byte:02X}"));
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn resources(text: &str) -> Resources {
        let settings = format!("url = 'http://h:1'\ncse = 'cse-in'\n{text}");
        Resources::new(&toml::from_str(&settings).unwrap())
    }

    fn message(json: &str) -> Message {
        let stored = dunnage_buffer::Message {
            id: 7,
            buffer: "0a1b2c3d".into(),
            stable_id: "m0a1b2c3d-7".into(),
            device: "urn:imei:1".into(),
            received_at: 1_587_602_980_049_999,
            format: "cbor".into(),
            schema: None,
            link: Some("astrocast".into()),
            request: "r1".into(),
            raw: bytes::Bytes::new(),
            json: json.into(),
            origin: None,
            name: None,
        };
        Message { stored, path: "fleet:north/sea".into(), ..Message::default() }
    }

    #[test]
    fn names_of_devices_are_names_of_resources_and_no_two_the_same() {
        assert_eq!(escape("buoy-7.a_B"), "buoy-7.a_B");
        assert_eq!(escape("urn:imei:1"), "urn~3Aimei~3A1");
        assert_eq!(escape("la"), "~6Ca");
        assert_eq!(escape("Latest"), "~4Catest");
        assert_eq!(escape("lab"), "lab");
    }

    #[test]
    fn an_instance_has_the_messages_own_json_and_what_is_known_of_it() {
        let resources = resources("cnf = 'application/json:0'");
        let exact = r#"{"n":18446744073709551615,"d":1.50,"t":"é"}"#;
        let made = resources.instance("cse-in/dunnage/x", &message(exact), 0).unwrap();
        assert!(made.content.get().contains(exact), "{}", made.content);
        let content: Value = serde_json::from_str(made.content.get()).unwrap();
        assert_eq!(content["m2m:cin"]["rn"], "m0a1b2c3d-7");
        assert_eq!(content["m2m:cin"]["cnf"], "application/json:0");
        let labels = [
            "device:urn:imei:1",
            "received:2020-04-23T00:49:40.049Z",
            "format:cbor",
            "link:astrocast",
            "request:r1",
        ];
        assert_eq!(content["m2m:cin"]["lbl"], json!(labels));
    }

    #[test]
    fn content_can_be_text_and_null_always_is() {
        let con = |text: &str, json: &str| {
            let made = resources(text).instance("c", &message(json), 0).unwrap();
            serde_json::from_str::<Value>(made.content.get()).unwrap()["m2m:cin"]["con"].clone()
        };
        assert_eq!(con("content = 'string'", r#"{"a":1}"#), r#"{"a":1}"#);
        assert_eq!(con("", "null"), "null");
        assert_eq!(con("", "[null]"), json!([null]));
    }

    #[test]
    fn long_names_are_shortened_and_no_two_the_same() {
        let container = |device: &str| {
            let mut message = message("1");
            message.stored.device = device.into();
            resources("").container(&message)
        };
        let (fits, one, other) = ("d".repeat(45), "d".repeat(46), format!("{}e", "d".repeat(45)));
        assert_eq!(container(&fits), format!("cse-in/dunnage/{fits}"));
        let names = [container(&one), container(&other), container(&format!("urn:{}", ":".repeat(60)))];
        assert!(names.iter().all(|name| name.len() == "cse-in/dunnage/".len() + 45), "{names:?}");
        assert_eq!(
            names[0],
            format!("cse-in/dunnage/{}~{}", "d".repeat(36), &hex(&Sha256::digest(&one))[..8])
        );
        assert_ne!(names[0], names[1]);
    }

    #[test]
    fn labels_are_those_that_fit_or_those_of_the_setting() {
        let lbl = |text: &str, request: &str| {
            let mut message = message("1");
            message.stored.device = "urn:imei:356938035643810".into();
            message.stored.schema = Some("container".into());
            message.stored.link = Some("iridium-sbd-mo".into());
            message.stored.request = request.into();
            let made = resources(text).instance("c", &message, 0).unwrap();
            let made: Value = serde_json::from_str(made.content.get()).unwrap();
            let labels = made["m2m:cin"]["lbl"].clone();
            let length = serde_json::to_string_pretty(&labels).unwrap().replace("  ", "    ").len();
            let labels: Vec<_> =
                labels.as_array().unwrap().iter().map(|l| l.as_str().unwrap().to_owned()).collect();
            (labels, length)
        };
        let uuid = "0d5a9f1e-8a3b-4c55-9d0e-6f7a8b9c0d1e";
        let (labels, length) = lbl("", uuid);
        assert!(length <= 200 && labels.last().unwrap() == "link:iridium-sbd-mo", "{length} {labels:?}");
        let (labels, length) = lbl("", "r");
        assert!(length <= 200 && labels.last().unwrap() == "request:r", "{length} {labels:?}");
        let (labels, _) = lbl("labels = ['request', 'device']", uuid);
        assert_eq!(labels, [format!("request:{uuid}"), "device:urn:imei:356938035643810".into()]);
        assert_eq!(lbl("labels = []", uuid).0, [""; 0]);
    }

    #[test]
    fn content_can_be_base64_and_what_exceeds_mbs_is_not_sent() {
        let instance = |text: &str, copy| resources(text).instance("c", &message(r#"{"a":"\\s"}"#), copy);
        let made = instance("content = 'base64'", 2).unwrap();
        let content: Value = serde_json::from_str(made.content.get()).unwrap();
        assert_eq!(content["m2m:cin"]["con"], "eyJhIjoiXFxzIn0=");
        assert_eq!(content["m2m:cin"]["cnf"], "application/json:1");
        assert_eq!((&*made.name, &content["m2m:cin"]["rn"]), ("m0a1b2c3d-7~2", &json!("m0a1b2c3d-7~2")));
        let with = instance("content = 'base64'\ncnf = 'text/plain:1'", 0).unwrap();
        assert!(with.content.get().contains("text/plain:1"));
        assert!(instance("mbs = 11", 0).is_ok() && instance("mbs = 10", 0).unwrap_err().contains("5207"));
        assert!(instance("content = 'base64'\nmbs = 11", 0).unwrap_err().contains("16 bytes"));
    }

    #[test]
    fn a_profiles_path_is_containers() {
        let resources = resources("container = '{path}/{device}'");
        assert_eq!(resources.container(&message("1")), "cse-in/dunnage/fleet~3Anorth/sea/urn~3Aimei~3A1");
        let without = Message { path: "".into(), ..message("1") };
        assert_eq!(resources.container(&without), "cse-in/dunnage/urn~3Aimei~3A1");
    }

    #[test]
    fn what_is_above_a_message_is_an_ae_and_containers_of_which_the_last_has_limits() {
        let resources = resources("container = 'fleet/{device}/data'\nmni = 9");
        let container = resources.container(&message("1"));
        assert_eq!(container, "cse-in/dunnage/fleet/urn~3Aimei~3A1/data");
        let above = resources.above(&container);
        let paths: Vec<_> = above.iter().map(|r| (r.ty, r.path())).collect();
        assert_eq!(paths[0], (2, "cse-in/dunnage".into()));
        assert_eq!(paths[1], (3, "cse-in/dunnage/fleet".into()));
        assert_eq!(paths[3], (3, container));
        assert_eq!(above[2].content.get(), r#"{"m2m:cnt":{"rn":"urn~3Aimei~3A1"}}"#);
        let limited: Value = serde_json::from_str(above[3].content.get()).unwrap();
        assert_eq!(limited, json!({"m2m:cnt": {"rn": "data", "mni": 9}}));
    }
}
