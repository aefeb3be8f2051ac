//! Prints how many messages a core decodes per second with a codec of 300 lines, and the memory of an engine.
//!
//!     cargo run --release -p dunnage-vendor-codec --example throughput

use dunnage_vendor_codec::{Codec, Engine, Error, Input};
use std::time::{Duration, Instant};

/// Twelve measurements: battery, temperature, humidity, motion, light, CO2, TVOC, pressure, formaldehyde, PM2.5, PM10, ozone.
const MESSAGE: [u8; 46] = [
    0x01, 0x75, 0x5c, 0x03, 0x67, 0xe7, 0x00, 0x04, 0x68, 0x7b, 0x05, 0x6a, 0x05, 0x00, 0x06, 0x65, 0x39,
    0x01, 0x00, 0x07, 0x7d, 0xe7, 0x04, 0x08, 0x7d, 0x07, 0x00, 0x09, 0x73, 0x3f, 0x27, 0x0a, 0x7d, 0x04,
    0x00, 0x0b, 0x7d, 0x20, 0x00, 0x0c, 0x7d, 0x30, 0x00, 0x0e, 0x00, 0x01,
];
/// How long each figure is measured.
const TIME: Duration = Duration::from_secs(2);

fn main() -> Result<(), Error> {
    let text = include_str!("room_sensor.js");
    let fresh = format!("{text}\nArray.prototype.changed = true;\n");
    let lines = text.lines().count();
    for (name, text) in
        [("constant built-in objects", text.to_owned()), ("new globals for each message", fresh)]
    {
        let mut engine = Engine::new(Codec::compile("room_sensor.js", text)?);
        let input = Input::new(&MESSAGE, Some(85), 0);
        engine.decode_uplink(&input)?;
        let (mut count, begun) = (0_u32, Instant::now());
        while begun.elapsed() < TIME {
            for _ in 0..100 {
                engine.decode_uplink(&input)?;
            }
            count += 100;
        }
        let rate = f64::from(count) / begun.elapsed().as_secs_f64();
        let (memory, bytes) = (engine.memory() >> 10, MESSAGE.len());
        println!(
            "{name}: {rate:.0} messages of {bytes} bytes per second with {lines} lines; {memory} KiB per engine"
        );
    }
    Ok(())
}
