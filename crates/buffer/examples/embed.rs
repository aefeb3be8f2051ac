//! How do I embed the buffer in my own program?
//!
//!     cargo run -p dunnage-buffer --example embed
//!
//! A producer stores messages and learns when they are on disk. A consumer reads them after its own cursor.

use dunnage_buffer::{
    BufferSettings, Change, NewMessage, Options, Position, Provenance, QuarantineSettings, open,
};
use std::error::Error;

/// The message `raw` of `device`. The key makes repetitions of the sender one message.
fn message(device: &str, raw: &str, key: u32) -> NewMessage {
    let provenance = Provenance {
        key: Some(key.to_string()),
        ..Provenance::new(device, 1_767_225_600_000_000, format!("request {key}"))
    };
    let (raw, json) = (raw.to_owned().into(), raw.into());
    NewMessage { provenance, format: "json", raw, json, layout: None, reference: None }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let settings = BufferSettings { path: folder.path().join("log.sqlite3"), ..BufferSettings::default() };
    let options = Options {
        buffer: &settings,
        quarantine: &QuarantineSettings::default(),
        formats: &["json"],
        outputs: vec!["archive".into()],
    };
    // Messages of at most 64 KiB.
    let (buffer, writer) = open(options, &|_device| false)?.start(1 << 16);
    let writer = writer.spawn(())?;

    for (key, celsius) in [(1, "23.5"), (2, "23.6"), (2, "23.6")] {
        let room = buffer.queue.reserve();
        let acknowledgement = buffer.queue.store(message("buoy-7", celsius, key), room, || ())?;
        acknowledgement.commit().await?; // only now may the sender forget the message
    }
    let messages = buffer.readers.after(0, 10).await?;
    for message in &messages {
        println!("message {} is {}", message.id, &*message.json);
    }
    let last = messages.last().ok_or("messages were stored")?.id;
    buffer.queue.change(Change::Position { output: "archive".into(), position: Position::at(last) }).await?;
    println!("stored {}, the repetition is not among them", buffer.stats.totals().stored);

    buffer.close().await;
    writer.join().map_err(|_| "the writer has panicked")?;
    Ok(())
}
