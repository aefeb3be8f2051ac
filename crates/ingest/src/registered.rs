//! What the register of devices means for a message: the ID under which it is stored, and whether it is stored at all.

use crate::{
    origin,
    rejected::{Code, Rejected},
};
use documented::DocumentedFields;
use dunnage_buffer::Provenance;
use dunnage_register::Register;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// `[register]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields, default)]
pub struct RegisterSettings {
    /// Messages of devices that are not in the register: accept or quarantine.
    pub unknown: Unknown,
}

/// What happens to messages of devices that are not in the register.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unknown {
    /// They are stored.
    #[default]
    Accept,
    /// They go into the quarantine.
    Quarantine,
}

/// The register, and its settings.
#[derive(Default)]
pub struct Registered {
    /// The devices.
    pub register: Arc<Register>,
    /// Its settings.
    pub settings: RegisterSettings,
}

impl Registered {
    /// Gives a message that names its device by an external ID the device's own ID. Its origin keeps the external one.
    ///
    /// # Errors
    ///
    /// The device is disabled, or it is not in the register and has to be.
    pub fn admit(&self, provenance: &mut Provenance) -> Result<(), Rejected> {
        let Some(record) = self.register.find(&provenance.device) else {
            return match self.settings.unknown {
                Unknown::Accept => Ok(()),
                Unknown::Quarantine => {
                    let detail =
                        "the device is not in the register, and [register] unknown is \"quarantine\"";
                    Err(Rejected::new(Code::Unregistered, detail))
                }
            };
        };
        if record.device != provenance.device {
            let given = std::mem::replace(&mut provenance.device, record.device.clone());
            provenance.origin = origin::with(provenance.origin.take(), origin::EXTERNAL_ID, given);
        }
        match record.disabled {
            true => Err(Rejected::new(Code::Disabled, "the device is disabled in the register")),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dunnage_register::Record;

    #[test]
    fn an_external_id_becomes_the_devices_own_and_the_register_decides_who_may_send() {
        let record = |json| Record::from_json(json).unwrap();
        let records = vec![
            record(r#"{"device":"hive","external_ids":["70b3"]}"#),
            record(r#"{"device":"off","external_ids":["868"],"disabled":true}"#),
        ];
        let register = Arc::new(Register::new(records));
        let mut registered = Registered { register, ..Registered::default() };
        let admit = |registered: &Registered, device: &str| {
            let mut provenance = Provenance::new(device, 0, "r");
            let code = registered.admit(&mut provenance).map_err(|rejected| rejected.code);
            (provenance.device, provenance.origin, code)
        };
        let external = |id: &str| Some(format!(r#"{{"external_id":"{id}"}}"#).into());
        assert_eq!(admit(&registered, "hive"), ("hive".into(), None, Ok(())));
        assert_eq!(admit(&registered, "70b3"), ("hive".into(), external("70b3"), Ok(())));
        assert_eq!(admit(&registered, "868"), ("off".into(), external("868"), Err(Code::Disabled)));
        assert_eq!(admit(&registered, "new"), ("new".into(), None, Ok(())));
        registered.settings.unknown = Unknown::Quarantine;
        assert_eq!(admit(&registered, "new"), ("new".into(), None, Err(Code::Unregistered)));
        assert_eq!(admit(&registered, "70b3").2, Ok(()));
    }
}
