//! How do I generate C for a device?
//!
//!     cargo run -p dunnage-codegen --example device -- target/reading
//!
//! The argument is the folder of the files. Without it, the example prints what they offer.

use dunnage_codegen::c;
use dunnage_packed::Layout;
use dunnage_schema::Model;
use std::{error::Error, fs, path::Path};

const SCHEMA: &str = r#"{
    "title": "Reading",
    "type": "object",
    "properties": {
        "celsius": {"type": "number", "multipleOf": 0.01, "minimum": -40, "maximum": 85},
        "door": {"enum": ["open", "closed"]}
    },
    "required": ["celsius", "door"],
    "additionalProperties": false
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let layout = Layout::new(&Model::compile(SCHEMA)?)?;
    // The compiler of the device then checks that every message fits.
    let options = c::Options { link: Some(c::Link { name: "Sigfox", limit: 12 }), ..c::Options::default() };
    let files = c::c(&layout, &options).map_err(|faults| format!("{}: {}", faults[0].field, faults[0]))?;
    let Some(folder) = std::env::args().nth(1) else {
        for line in files.header.lines().filter(|line| line.starts_with("#define") || line.contains('(')) {
            println!("{line}");
        }
        return Ok(());
    };
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    fs::write(folder.join(format!("{}.h", files.name)), &files.header)?;
    fs::write(folder.join(format!("{}.c", files.name)), &files.source)?;
    for &(name, text) in c::SUPPORT {
        fs::write(folder.join(name), text)?; // shared by all messages of a program
    }
    println!("{}.c, {}.h and the shared code are in {}", files.name, files.name, folder.display());
    Ok(())
}
