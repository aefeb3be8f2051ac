//! Limits of the messages of each device and each address.

use super::{AccessSettings, Peer, buckets::Buckets};
use crate::{Denied, Refusals};
use dunnage_base::network;
use std::net::IpAddr;

/// The limits of `[access]`.
pub struct Limits {
    devices: Option<Buckets<str>>,
    addresses: Option<Buckets<IpAddr>>,
    refusals: Refusals,
}

impl Limits {
    /// Creates the limits of `settings`. `refusals` counts what they deny.
    pub fn new(settings: &AccessSettings, refusals: Refusals) -> Limits {
        let (device, address) = (settings.device_messages_per_minute, settings.address_messages_per_minute);
        Limits {
            devices: (device > 0).then(|| Buckets::new(device)),
            addresses: (address > 0).then(|| Buckets::new(address)),
            refusals,
        }
    }

    /// Counts a message of `device` from `peer`, or denies it: 429 with the time to wait. Counts the refusal. Call it after the access
    /// check, so that only peers that may send as a device use up its limit.
    pub fn admit(&self, peer: &Peer, device: &str) -> Result<(), Denied> {
        // A loopback address may be a proxy for many clients.
        if let Some(addresses) = self.addresses.as_ref().filter(|_| !peer.is_loopback()) {
            let seconds = addresses.take(&network(peer.address));
            seconds.map_err(|seconds| self.refuse("too many messages from this address", seconds))?;
        }
        if let Some(devices) = &self.devices {
            let seconds = devices.take(device);
            seconds.map_err(|seconds| self.refuse("too many messages from this device", seconds))?;
        }
        Ok(())
    }

    fn refuse(&self, detail: &str, seconds: u32) -> Denied {
        let denied = Denied::TooMany { detail: detail.into(), seconds };
        self.refusals.count(&denied);
        denied
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(device: u32, address: u32) -> Limits {
        let settings = AccessSettings {
            device_messages_per_minute: device,
            address_messages_per_minute: address,
            ..AccessSettings::default()
        };
        Limits::new(&settings, Refusals::default())
    }

    fn peer(address: &str) -> Peer {
        Peer::of_address(address.parse().unwrap())
    }

    #[test]
    fn a_device_and_an_address_have_limits_of_their_own() {
        let limits = limits(2, 3);
        let (a, b) = (peer("10.0.0.1"), peer("10.0.0.2"));
        assert!(limits.admit(&a, "d").is_ok() && limits.admit(&b, "d").is_ok());
        let refused = limits.admit(&b, "d").unwrap_err();
        assert!(matches!(refused, Denied::TooMany { seconds: 30, .. }), "{refused:?}");
        assert!(limits.admit(&a, "e").is_ok() && limits.admit(&a, "f").is_ok());
        assert!(limits.admit(&a, "g").is_err());
    }

    #[test]
    fn a_network_of_ipv6_is_one_address_and_the_loopback_is_none() {
        let limits = limits(0, 1);
        assert!(limits.admit(&peer("2001:db8::1"), "d").is_ok());
        assert!(limits.admit(&peer("2001:db8::2"), "d").is_err());
        assert!(limits.admit(&peer("2001:db8:0:1::2"), "d").is_ok());
        assert!(limits.admit(&peer("::ffff:10.0.0.1"), "d").is_ok());
        assert!(limits.admit(&peer("10.0.0.1"), "d").is_err());
        assert!((0..9).all(|_| limits.admit(&peer("127.0.0.1"), "d").is_ok()));
    }
}
