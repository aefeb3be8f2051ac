//! The arguments for texts that packed omits because the receiver knows them.

use crate::failure::Failure;
use clap::Args;
use dunnage_schema::DEVICE;
use std::collections::BTreeMap;

#[derive(Args)]
pub struct KnownTexts {
    /// Device that sent the message, for fields that packed omits, because the receiver knows the device
    #[arg(long, value_name = "ID")]
    device: Option<String>,
    /// Another text of the device that packed omits, by its name in x-dunnage-known; may be repeated
    #[arg(long, value_name = "NAME=TEXT", value_parser = named)]
    known: Vec<(String, String)>,
}

impl KnownTexts {
    /// Returns all of the texts by their names.
    pub fn texts(self) -> Result<BTreeMap<String, String>, Failure> {
        let device = self.device.map(|id| (DEVICE.to_owned(), id));
        let mut texts = BTreeMap::new();
        for (name, text) in device.into_iter().chain(self.known) {
            if texts.contains_key(&name) {
                return Err(Failure::Usage(format!("the {name} of the device is given twice")));
            }
            texts.insert(name, text);
        }
        Ok(texts)
    }
}

fn named(argument: &str) -> Result<(String, String), String> {
    match argument.split_once('=') {
        Some((name, text)) if !name.is_empty() => Ok((name.to_owned(), text.to_owned())),
        _ => Err("must be NAME=TEXT, such as msisdn=393315537800".to_owned()),
    }
}
