//! The code and the definitions that `dunnage generate` writes for a schema.

use crate::{
    limits::{FILE_BYTES, sentence},
    schema::Compiled,
};
use dunnage_codegen::{Mapped, Mapping, avro, c, cddl, proto, thrift, ts013};
use serde::Serialize;
use std::fmt::Display;
use utoipa::ToSchema;

/// The code in one language.
#[derive(Debug, Serialize, ToSchema)]
pub struct Code {
    /// As `dunnage generate` calls it: `c`, `ts013`, `proto`, `avro`, `thrift`, `cddl`.
    pub language: &'static str,
    /// The files; none if the schema has something that the language cannot express.
    pub files: Vec<File>,
    /// Why `files` is empty.
    pub reasons: Vec<String>,
}

/// A generated file.
#[derive(Debug, Serialize, ToSchema)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its content.
    pub text: String,
}

impl File {
    pub fn of(name: impl Into<String>, text: impl Into<String>) -> File {
        File { name: name.into(), text: text.into() }
    }
}

/// Generates everything.
pub fn all(compiled: &Compiled) -> Vec<Code> {
    let Compiled { model, layout } = compiled;
    let name = model.name().to_lowercase();
    let mapped = Mapped::of(model, Mapping::Exact);
    let one = |language, ending: &str, text: String| code(language, vec![(format!("{name}.{ending}"), text)]);
    vec![
        match c::c(layout, &c::Options::default()) {
            Ok(c) => {
                code("c", vec![(format!("{}.h", c.name), c.header), (format!("{}.c", c.name), c.source)])
            }
            Err(faults) => refused("c", &faults),
        },
        match ts013(layout, &format!("{name}.schema.json")) {
            Ok(text) => one("ts013", "js", text),
            Err(parts) => refused("ts013", &parts),
        },
        one("proto", "proto", proto(&mapped)),
        one("avro", "avsc", avro(&mapped)),
        one("thrift", "thrift", thrift(&mapped)),
        one("cddl", "cddl", cddl(model)),
    ]
}

fn code(language: &'static str, files: Vec<(String, String)>) -> Code {
    if let Some((name, text)) = files.iter().find(|(_, text)| text.len() > FILE_BYTES) {
        let reason = format!(
            "{name} has {} bytes, more than is shown here: `dunnage generate {language}` writes it",
            text.len()
        );
        return Code { language, files: Vec::new(), reasons: vec![reason] };
    }
    let files = files.into_iter().map(|(name, text)| File::of(name, text)).collect();
    Code { language, files, reasons: Vec::new() }
}

fn refused(language: &'static str, faults: &[impl Display]) -> Code {
    const MOST: usize = 20;
    Code {
        language,
        files: Vec::new(),
        reasons: faults.iter().take(MOST).map(|fault| sentence(&fault.to_string())).collect(),
    }
}
