//! Messages of commercial devices: the vendors' bytes and ours. `bench/vendors/README.md` says which devices, and why.

use crate::bound;
use crate::container::Failed;
use crate::goal::{Goal, Wanted};
use dunnage_packed::{Layout, Value};
use dunnage_schema::Model;
use serde::Deserialize;
use std::{collections::BTreeMap, fs, path::Path};

/// A file of `bench/vendors`. Files with the same device count once.
#[derive(Deserialize)]
struct File {
    vendor: String,
    device: String,
    kind: String,
    messages: Vec<Message>,
    schema: serde_json::Value,
}

impl File {
    /// Returns the layout of the schema with the slot byte, and the one whose slot is the port: the vendors' bytes have no port either.
    fn layouts(&self) -> Result<[Layout; 2], Failed> {
        let mut port = self.schema.clone();
        port["x-dunnage-slot-from"] = "port".into();
        let layout = |schema: &serde_json::Value| -> Result<Layout, Failed> {
            Ok(Layout::new(&Model::compile(&schema.to_string())?)?)
        };
        Ok([layout(&self.schema)?, layout(&port)?])
    }
}

#[derive(Deserialize)]
struct Message {
    vendor_hex: String,
    value: Value,
}

/// The logarithms of the ratios of a device's messages: with the slot byte, without it, and as few bytes as the schema allows.
#[derive(Default)]
struct Ratios {
    kind: String,
    with: Vec<f64>,
    without: Vec<f64>,
    bound: Vec<f64>,
}

/// Encodes all messages.
pub fn goals() -> Result<Vec<Goal>, Failed> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vendors");
    let mut devices: BTreeMap<String, Ratios> = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let file: File = serde_json::from_str(&fs::read_to_string(&path)?)?;
        let ratios = devices.entry(format!("{} {}", file.vendor, file.device)).or_default();
        ratios.kind.clone_from(&file.kind);
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let [with, without] = file.layouts().map_err(|error| failed(&error))?;
        for message in &file.messages {
            let vendor = message.vendor_hex.len() as f64 / 2.0;
            let ratio = |layout: &Layout| -> Result<f64, Failed> {
                let mut packed = Vec::new();
                layout.encode(&message.value, &mut packed).map_err(|error| failed(&error))?;
                Ok((packed.len() as f64 / vendor).ln())
            };
            ratios.with.push(ratio(&with)?);
            ratios.without.push(ratio(&without)?);
            let fewest = bound::bytes(without.root(), &message.value).map_err(|error| failed(&error))?;
            ratios.bound.push((fewest / vendor).ln());
        }
    }
    let mut goals = Vec::new();
    for (kind, what) in [("", "all"), ("fixed", "fixed layouts"), ("tlv", "type-length-value")] {
        let chosen: Vec<&Ratios> =
            devices.values().filter(|ratios| kind.is_empty() || ratios.kind == kind).collect();
        for (metric, values, wanted) in [
            ("of the vendors' bytes", mean(&chosen, |ratios| &ratios.with), Wanted::Nothing),
            ("of them, slot from the port", mean(&chosen, |ratios| &ratios.without), Wanted::AtMost(0.6)),
            (
                "of them, the fewest without statistics",
                mean(&chosen, |ratios| &ratios.bound),
                Wanted::Nothing,
            ),
        ] {
            goals.push(Goal {
                payload: format!("vendors, {what}"),
                sent: "plain".to_owned(),
                metric,
                value: values,
                unit: "",
                wanted,
                repetitions: chosen.len() as u64,
            });
        }
    }
    Ok(goals)
}

/// Returns the geometric mean over devices, each of which counts with the geometric mean of its messages.
fn mean(devices: &[&Ratios], of: impl Fn(&Ratios) -> &Vec<f64>) -> f64 {
    let one = |ratios: &&Ratios| of(ratios).iter().sum::<f64>() / of(ratios).len() as f64;
    (devices.iter().map(one).sum::<f64>() / devices.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_slot_byte_messages_are_smaller_and_no_mean_is_below_the_bound() -> Result<(), Failed> {
        let goals = goals()?;
        for kind in goals.chunks(3) {
            let [with, without, bound] = kind else { return Err("a figure is missing".into()) };
            let of = &with.payload;
            println!(
                "{of}: {:.3} with the slot byte, {:.3} without, {:.3} at least",
                with.value, without.value, bound.value
            );
            assert!(bound.value <= without.value && without.value < with.value, "{of}");
            assert!(without.repetitions > 5, "{of}");
        }
        Ok(())
    }
}
