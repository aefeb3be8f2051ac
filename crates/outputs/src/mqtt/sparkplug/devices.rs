//! The devices that a host knows, with their current values, which a rebirth sends again.

use super::payload::{Metric, Payload};
use lru::LruCache;
use prost::Message;
use std::sync::Arc;

/// Largest size of all devices and of one, in bytes. A device counts with its ID, its metrics as in a DBIRTH, and [`OVERHEAD`].
const BYTES: usize = 64 << 20;
const DEVICE_BYTES: usize = 256 << 10;
const OVERHEAD: usize = 200;

/// The devices, of which those that sent last are kept.
pub struct Devices {
    /// The metrics of each, encoded.
    known: LruCache<Arc<str>, Box<[u8]>>,
    bytes: usize,
}

impl Default for Devices {
    fn default() -> Devices {
        Devices { known: LruCache::unbounded(), bytes: 0 }
    }
}

impl Devices {
    /// Returns the metrics of a device, if it is known.
    pub fn get(&self, device: &str) -> Option<Vec<Metric>> {
        Some(Payload::decode(&**self.known.peek(device)?).ok()?.metrics)
    }

    /// Returns all devices, from the one that sent last.
    pub fn all(&self) -> Vec<Arc<str>> {
        self.known.iter().map(|(device, _)| Arc::clone(device)).collect()
    }

    /// Keeps the metrics of a device, unless they are too many. Forgets the devices that sent first if there is no room.
    pub fn keep(&mut self, device: &str, metrics: Vec<Metric>) {
        self.forget(device);
        let encoded = Payload { metrics, ..Payload::default() }.encode_to_vec().into_boxed_slice();
        let size = size(device, &encoded);
        if size > DEVICE_BYTES {
            return;
        }
        self.bytes += size;
        self.known.put(device.into(), encoded);
        while self.bytes > BYTES
            && let Some((device, metrics)) = self.known.pop_lru()
        {
            self.bytes -= self::size(&device, &metrics);
        }
    }

    /// Forgets a device. Its next message makes a DBIRTH.
    pub fn forget(&mut self, device: &str) {
        if let Some(metrics) = self.known.pop(device) {
            self.bytes -= size(device, &metrics);
        }
    }
}

fn size(device: &str, metrics: &[u8]) -> usize {
    device.len() + metrics.len() + OVERHEAD
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mqtt::sparkplug::{datatype::DataType, payload::Value};

    fn text(bytes: usize) -> Vec<Metric> {
        vec![Metric::new("t", 1, DataType::STRING.number(), Some(Value::String("x".repeat(bytes))))]
    }

    #[test]
    fn devices_that_sent_first_make_room() {
        let mut devices = Devices::default();
        for number in 0..2000 {
            devices.keep(&number.to_string(), text(100_000));
            devices.keep("often", text(7));
        }
        assert!(devices.bytes <= BYTES && devices.all().len() > 500, "{}", devices.bytes);
        assert_eq!(devices.get("often"), Some(text(7)));
        assert_eq!((devices.get("0"), devices.get("1999").map(|metrics| metrics.len())), (None, Some(1)));
        let all = devices.all();
        all.iter().for_each(|device| devices.forget(device));
        assert_eq!((devices.bytes, devices.all().len()), (0, 0));
    }

    #[test]
    fn a_device_with_too_much_is_not_kept() {
        let mut devices = Devices::default();
        devices.keep("d", text(7));
        devices.keep("d", text(DEVICE_BYTES));
        assert_eq!((devices.get("d"), devices.bytes), (None, 0));
    }
}
