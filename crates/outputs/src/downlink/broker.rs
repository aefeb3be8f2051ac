//! Downlinks over the MQTT broker of a network server.
//!
//! - ChirpStack 4 and 3 (chirpstack.io/docs/chirpstack/integrations/mqtt.html, "Scheduling a downlink"; the same page of the Application
//!   Server 3): `application/{application}/device/{devEui}/command/down`. There is no command that drops waiting downlinks. Version 3 takes
//!   the DevEUI from the topic.
//! - The Things Stack 3 (thethingsindustries.com/docs/integrations/other-integrations/mqtt, "Publishing Downlink Traffic"):
//!   `v3/{application}@{tenant}/devices/{device_id}/down/push` enqueues, `down/replace` replaces. The page promises QoS 0 alone; its server
//!   (github.com/TheThingsIndustries/mystique, `pkg/session/publishing.go`) acknowledges QoS 1 all the same.

use super::settings::{Provider, Settings, is_level};
use crate::{Class, Failed, publisher::Publisher};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use dunnage_clients::{
    mqtt::{Acknowledgement, Publication},
    secret::SecretFile,
};
use serde::Serialize;
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::time::timeout;

/// The broker of a network server.
pub struct Broker {
    publisher: Publisher,
    timeout: Duration,
    provider: Provider,
    /// The application in topics; without it, that of the message.
    application: Option<String>,
    port: u8,
    replace: bool,
}

/// A downlink for ChirpStack, with its fields in the order of the page.
#[derive(Serialize)]
struct Command<'a> {
    #[serde(rename = "devEui")]
    dev_eui: &'a str,
    confirmed: bool,
    #[serde(rename = "fPort")]
    f_port: u8,
    data: String,
}

impl Broker {
    /// Creates the broker that the settings describe. An error begins with the key.
    pub fn new(settings: &Settings) -> Result<Broker, String> {
        let timeout = Duration::from_secs(settings.timeout_seconds);
        Ok(Broker {
            publisher: Publisher::new(settings.connector()?, timeout),
            timeout,
            provider: settings.provider,
            application: settings.application.clone(),
            port: settings.port,
            replace: settings.replaces(),
        })
    }

    /// Returns the files that a reload reads again.
    pub fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.publisher.secrets()
    }

    /// Sends `name` to the device with the provider's ID `device`, whose message came over `topic`, if that is known. `Ok` means that the
    /// broker has acknowledged the downlink, and, with MQTT 5, that somebody subscribes to its topic.
    pub async fn send(&self, device: &str, topic: Option<&str>, name: u16) -> Result<(), Failed> {
        let (topic, payload) = self.message(device, topic, name)?;
        match timeout(self.timeout, self.publish(topic.clone(), payload)).await {
            Ok(Ok(Acknowledgement::Taken)) => Ok(()),
            Ok(Ok(Acknowledgement::NoSubscriber)) => {
                let reason =
                    format!("nobody subscribes to {topic}: is the network server connected to the broker?");
                Err(Failed::retry(reason).because(Class::Missing))
            }
            Ok(Ok(Acknowledgement::Refused(_, why))) => {
                Err(Failed::retry(format!("the broker refused {topic}: {why}")).because(Class::Denied))
            }
            Ok(Err(failed)) => Err(failed),
            Err(_) => {
                Err(Failed::retry("the broker did not acknowledge the message in time")
                    .because(Class::Timeout))
            }
        }
    }

    async fn publish(&self, topic: String, payload: Vec<u8>) -> Result<Acknowledgement, Failed> {
        let publication = Publication { topic, payload: payload.into(), ..Publication::default() };
        self.publisher.session().await?.publish(publication).await
    }

    /// Returns the topic and the payload of a downlink.
    fn message(&self, device: &str, topic: Option<&str>, name: u16) -> Result<(String, Vec<u8>), Failed> {
        if !is_level(device) {
            return Err(Failed::refused(format!("{device:?} is not the ID of a device")));
        }
        let application = self.application.as_deref().or_else(|| application(self.provider, topic?));
        let application = application.ok_or_else(|| {
            Failed::refused("the topic of the message does not name its application; set application")
        })?;
        let data = BASE64.encode(name.to_be_bytes());
        let (topic, payload) = match self.provider {
            Provider::TheThingsStack => {
                let how = if self.replace { "replace" } else { "push" };
                let payload = serde_json::to_vec(&the_things_stack(&data, self.port));
                (format!("v3/{application}/devices/{device}/down/{how}"), payload)
            }
            _ => {
                let command = Command { dev_eui: device, confirmed: false, f_port: self.port, data };
                let topic = format!("application/{application}/device/{device}/command/down");
                (topic, serde_json::to_vec(&command))
            }
        };
        Ok((topic, payload.map_err(|e| Failed::refused(e.to_string()))?))
    }
}

/// Returns a downlink for The Things Stack, which its HTTP API takes, too.
pub fn the_things_stack(data: &str, port: u8) -> serde_json::Value {
    json!({"downlinks": [{"f_port": port, "frm_payload": data, "priority": "NORMAL"}]})
}

/// Returns the application in the topic of a message, if that is one of the provider's own.
fn application(provider: Provider, topic: &str) -> Option<&str> {
    let levels: Vec<&str> = topic.split('/').collect();
    let application = match (provider, &levels[..]) {
        (Provider::Chirpstack, ["application", id, "device", _, "event", _]) => id,
        (Provider::TheThingsStack, ["v3", id, "devices", _, ..]) => id,
        _ => return None,
    };
    Some(*application).filter(|id| is_level(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(
        settings: &str,
        device: &str,
        topic: Option<&str>,
        name: u16,
    ) -> Result<(String, String), Failed> {
        let broker = Broker::new(&toml::from_str(settings).unwrap()).unwrap();
        let (topic, payload) = broker.message(device, topic, name)?;
        Ok((topic, String::from_utf8(payload).unwrap()))
    }

    /// The example of the page, without its spaces, comments and the decoded object.
    #[test]
    fn chirpstacks_command_is_that_of_the_document() {
        let settings = "provider = 'chirpstack'\nurl = 'mqtt://127.0.0.1'\nport = 10";
        let (up, eui) = ("application/7/device/0102030405060708/event/up", "0102030405060708");
        let (topic, payload) = message(settings, eui, Some(up), 0xbeef).unwrap();
        assert_eq!(topic, "application/7/device/0102030405060708/command/down");
        assert_eq!(payload, r#"{"devEui":"0102030405060708","confirmed":false,"fPort":10,"data":"vu8="}"#);
        let given = message(&format!("{settings}\napplication = 'a'"), eui, Some(up), 1).unwrap();
        assert_eq!(given.0, "application/a/device/0102030405060708/command/down");
    }

    /// The example of the page, which sends BE EF to the port 15.
    #[test]
    fn the_things_stacks_downlink_is_that_of_the_document() {
        let settings = "provider = 'the-things-stack'\nurl = 'mqtt://127.0.0.1'\nport = 15\nreplace = false";
        let example = r#"{"downlinks":[{"f_port": 15,"frm_payload":"vu8=","priority": "NORMAL"}]}"#;
        let (topic, payload) =
            message(settings, "dev1", Some("v3/app1@ttn/devices/dev1/up"), 0xbeef).unwrap();
        assert_eq!((&*topic, payload), ("v3/app1@ttn/devices/dev1/down/push", example.replace(' ', "")));
        let replacing = settings.replace("false", "true") + "\napplication = 'app1'";
        assert_eq!(message(&replacing, "dev1", None, 1).unwrap().0, "v3/app1/devices/dev1/down/replace");
    }

    #[test]
    fn no_id_reaches_another_topic() {
        let settings = "provider = 'chirpstack'\nurl = 'mqtt://127.0.0.1'\n";
        let with = |device: &str, topic| message(settings, device, topic, 1);
        let up = Some("application/7/device/d/event/up");
        for device in ["", "a/b", "+", "#", "a\0"] {
            assert!(with(device, up).is_err(), "{device:?}");
        }
        for topic in [
            None,
            Some("up"),
            Some("application//device/d/event/up"),
            Some("application/+/device/d/event/up"),
        ] {
            assert!(with("d", topic).unwrap_err().reason.contains("set application"), "{topic:?}");
        }
    }
}
