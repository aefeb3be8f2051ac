//! How do I write and read PSON without allocating? Item by item, in buffers on the stack.
//!
//!     cargo run -p dunnage-pson --no-default-features --example buffers

use dunnage_pson::{Error, Reader, Writer};

/// Writes a reading to `buffer` and returns its length. Errors: the buffer is too small.
fn write(buffer: &mut [u8], celsius: f64) -> Result<usize, Error> {
    let mut writer = Writer::with_slice(buffer);
    writer.map(2).key("sensor").text("hold 2").key("celsius").f64(celsius);
    writer.finish()
}

/// Reads the temperature of a reading; other keys may stand before and after it.
fn celsius(message: &[u8]) -> Result<f64, Error> {
    let mut reader = Reader::new(message)?;
    reader.enter_map()?;
    reader.find("celsius")?;
    let celsius = reader.f64()?;
    reader.leave()?;
    reader.finish()?;
    Ok(celsius)
}

fn main() -> Result<(), Error> {
    let mut buffer = [0; 32];
    let len = write(&mut buffer, 23.5)?;
    println!("{len} bytes: {} °C", celsius(&buffer[..len])?);
    Ok(())
}
