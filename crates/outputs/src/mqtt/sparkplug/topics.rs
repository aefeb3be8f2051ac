//! The topics of an Edge Node (Sparkplug 3.0, section 4).

use super::settings::SparkplugSettings;
use crate::mqtt::topic::level_of;

/// The topics of the gateway's Edge Node.
pub struct Topics {
    pub nbirth: String,
    pub ndeath: String,
    pub ncmd: String,
    dbirth: String,
    ddata: String,
    /// That of the primary host's state, if there is a primary host.
    pub state: Option<String>,
}

impl Topics {
    pub fn new(settings: &SparkplugSettings) -> Topics {
        let SparkplugSettings { group, node, primary_host } = settings;
        let of = |kind: &str| format!("spBv1.0/{group}/{kind}/{node}");
        Topics {
            nbirth: of("NBIRTH"),
            ndeath: of("NDEATH"),
            ncmd: of("NCMD"),
            dbirth: of("DBIRTH"),
            ddata: of("DDATA"),
            state: primary_host.as_ref().map(|host| format!("spBv1.0/STATE/{host}")),
        }
    }

    /// Returns the topic of the births of a device.
    pub fn dbirth(&self, device: &str) -> String {
        format!("{}/{}", self.dbirth, level_of(device))
    }

    /// Returns the topic of the data of a device.
    pub fn ddata(&self, device: &str) -> String {
        format!("{}/{}", self.ddata, level_of(device))
    }
}
