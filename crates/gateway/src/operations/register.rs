//! The register of devices: reads and changes it. The buffer has it on disk, [`Register`] in memory; a change is durable before it applies.

use crate::{live::Retagged, state::GatewayState, visible::Visible};
use axum::http::StatusCode;
use dunnage_base::clock::rfc3339;
use dunnage_buffer::{Change, Memory, Shares};
use dunnage_ingest::profiles::Profiles;
use dunnage_inputs::{Problem, ProblemKind};
use dunnage_register::{Conflict, Edit, Filter, Record, Register, files};
use serde::Serialize;
use serde_json::Value;
use std::{collections::HashSet, fmt, sync::Arc};
use utoipa::ToSchema;

pub use dunnage_register::files::FileFormat;

/// A record, or a file of records, is not valid.
pub const RECORD: ProblemKind =
    ProblemKind::new(StatusCode::UNPROCESSABLE_ENTITY, "record", "Not a valid record");
/// The device is in the register already, or another device has one of its IDs.
pub const CONFLICT: ProblemKind =
    ProblemKind::new(StatusCode::CONFLICT, "conflict", "The ID belongs to a device");

/// Largest file that is imported, in bytes: 100,000 devices with 650 bytes each.
pub const FILE: usize = 64 << 20;

/// Creates the memory of the bodies of operations: for one file of devices at a time.
pub fn memory() -> Memory {
    Memory::new(Shares::of(FILE, FILE))
}

/// A registered device.
#[derive(Serialize, ToSchema)]
pub struct RegisteredObject {
    #[serde(flatten)]
    record: Record,
    /// When its first message was received, if that is known.
    #[schema(required)]
    first_seen: Option<String>,
    /// When its last message was received, if it has sent any.
    #[schema(required)]
    last_seen: Option<String>,
}

impl RegisteredObject {
    /// Adds to `record` what the gateway knows of the device.
    pub fn of(record: &Record, state: &GatewayState) -> RegisteredObject {
        let (first, last) = state.fleet.seen(&record.device);
        let (first_seen, last_seen) = (first.map(rfc3339), last.map(rfc3339));
        RegisteredObject { record: record.clone(), first_seen, last_seen }
    }
}

/// A part of the register, in ascending order of device IDs.
#[derive(Serialize, ToSchema)]
pub struct RegisterPage {
    devices: Vec<RegisteredObject>,
    /// How many devices match.
    matches: usize,
    /// The ID after which the list continues, if there are more.
    #[schema(required)]
    next: Option<String>,
}

/// The result of an import.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Imported {
    /// Devices that were not in the register.
    added: usize,
    /// Devices whose records are replaced by different ones.
    changed: usize,
    /// Devices whose records stay the same.
    unchanged: usize,
}

/// `2 added, 1 changed, 0 unchanged`.
impl fmt::Display for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Imported { added, changed, unchanged } = self;
        write!(f, "{added} added, {changed} changed, {unchanged} unchanged")
    }
}

/// Returns a page of those devices of the register that are visible.
pub async fn list(
    state: &GatewayState,
    visible: Visible,
    filter: Filter,
    after: String,
    limit: usize,
) -> Result<RegisterPage, Problem> {
    let register = Arc::clone(register(state));
    // A search of 100,000 devices takes some tens of milliseconds.
    let accepts = move |record: &Record| visible.has_record(record) && filter.accepts(record);
    let found = tokio::task::spawn_blocking(move || register.list(accepts, &after, limit + 1)).await;
    let (mut found, matches) = found.map_err(|_| Problem::unreadable())?;
    let more = found.len() > limit;
    found.truncate(limit);
    Ok(RegisterPage {
        next: found.last().filter(|_| more).map(|record| record.device.clone()),
        devices: found.iter().map(|record| RegisteredObject::of(record, state)).collect(),
        matches,
    })
}

/// Returns all devices as those that are visible.
pub fn everything(state: &GatewayState) -> Visible {
    Visible::everything(Arc::clone(register(state)))
}

/// Returns the record of `device`.
pub fn show(state: &GatewayState, device: &str) -> Result<RegisteredObject, Problem> {
    let record = register(state).get(device).ok_or_else(|| missing(device))?;
    Ok(RegisteredObject::of(&record, state))
}

/// How [`patch`] treats devices that are, or are not, in the register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// The device must be there.
    Required,
    /// The device must not be there.
    Forbidden,
}

/// Changes the record of a device by a JSON merge patch (RFC 7396), or creates it.
pub async fn patch(
    state: &Arc<GatewayState>,
    device: String,
    patch: Value,
    existing: Existing,
) -> Result<RegisteredObject, Problem> {
    let name = device.clone();
    change(state, move |register| {
        let record = match (register.get(&device), existing) {
            (Some(record), Existing::Required) => (*record).clone(),
            (None, Existing::Forbidden) => Record { device: device.clone(), ..Record::default() },
            (None, Existing::Required) => return Err(missing(&device)),
            (Some(_), Existing::Forbidden) => {
                return Err(Problem::new(
                    CONFLICT,
                    format!("the device {device:?} is in the register already"),
                ));
            }
        };
        Ok((vec![Edit::set(patched(&record, patch)?)], ()))
    })
    .await?;
    show(state, &name)
}

/// Creates or replaces the record of a device.
pub async fn put(
    state: &Arc<GatewayState>,
    device: String,
    body: &[u8],
) -> Result<RegisteredObject, Problem> {
    let mut value: Value = serde_json::from_slice(body).map_err(|e| invalid(e.to_string()))?;
    if let Some(object) = value.as_object_mut() {
        // The path has the ID; a body may repeat it.
        object.entry("device").or_insert_with(|| device.clone().into());
    }
    let record = Record::from_json(&value.to_string()).map_err(invalid)?;
    check_same(&record, &device)?;
    change(state, move |_| Ok((vec![Edit::set(record)], ()))).await?;
    show(state, &device)
}

/// Removes devices from the register. Their messages stay.
pub async fn remove(state: &Arc<GatewayState>, devices: Vec<String>) -> Result<(), Problem> {
    change(state, move |register| {
        if let Some(device) = devices.iter().find(|device| register.get(device).is_none()) {
            return Err(missing(device));
        }
        Ok((devices.into_iter().map(Edit::remove).collect(), ()))
    })
    .await
}

/// Adds the devices of a file, and replaces the records of those that are there: all of them, or none. Without `apply`, only says what
/// would happen.
pub async fn import(
    state: &Arc<GatewayState>,
    file: impl AsRef<[u8]> + Send + 'static,
    format: FileFormat,
    apply: bool,
) -> Result<Imported, Problem> {
    change(state, move |register| {
        let edits = files::read(file.as_ref(), format, register).map_err(|e| invalid(e.to_string()))?;
        let mut imported = Imported { added: 0, changed: 0, unchanged: 0 };
        for edit in &edits {
            *match register.get(&edit.device) {
                None => &mut imported.added,
                Some(known) if Some(&*known) == edit.record.as_ref() => &mut imported.unchanged,
                Some(_) => &mut imported.changed,
            } += 1;
        }
        Ok((if apply { edits } else { Vec::new() }, imported))
    })
    .await
}

/// Returns those devices of the register that are visible as a file.
pub async fn export(state: &GatewayState, visible: Visible, format: FileFormat) -> Result<Vec<u8>, Problem> {
    let all = register(state).all();
    let written = tokio::task::spawn_blocking(move || {
        let records: Vec<_> = all.iter().filter(|record| visible.has_record(record)).cloned().collect();
        files::write(&records, format)
    });
    let written = written.await;
    written.ok().and_then(Result::ok).ok_or_else(Problem::unreadable)
}

/// Makes the edits that `plan` returns durable, then applies them. One change runs at a time, and to its end, even if its client
/// disconnects.
async fn change<T: Send + 'static>(
    state: &Arc<GatewayState>,
    plan: impl FnOnce(&Register) -> Result<(Vec<Edit>, T), Problem> + Send + 'static,
) -> Result<T, Problem> {
    let state = Arc::clone(state);
    let changed = tokio::spawn(async move {
        let _turn = state.register.lock().await;
        let register = Arc::clone(register(&state));
        let (known, profiles) = (Arc::clone(&register), state.ingest().profiles.load_full());
        // A file of 100,000 devices takes most of a second.
        let planned = tokio::task::spawn_blocking(move || {
            let (edits, outcome) = plan(&known)?;
            known.check(&edits).map_err(|conflict| conflicts(&conflict))?;
            check_profiles(&edits, &profiles)?;
            let rows = edits.iter().map(row).collect::<Vec<_>>();
            Ok::<_, Problem>((edits, rows, outcome))
        });
        let (edits, rows, outcome) = planned.await.map_err(|_| Problem::unreadable())??;
        if !edits.is_empty() {
            let devices: Vec<_> = edits.iter().map(|edit| edit.device.clone()).collect();
            let before: Vec<_> = devices.iter().map(|device| register.get(device)).collect();
            state.buffer().queue.change(Change::Register { rows }).await.map_err(Problem::from)?;
            register.apply(edits);
            state.fleet.registered(devices.iter().map(|device| &**device));
            let changes = devices.into_iter().zip(before);
            let changes = changes.map(|(device, before)| Retagged::new(device, before, &register));
            // After the change applies: a client that loads again because of this must find it.
            state.live.retagged(changes.collect());
        }
        Ok(outcome)
    });
    changed.await.map_err(|_| Problem::unreadable())?
}

/// Writes all records again, after a recovery of the buffer that may have lost some.
pub async fn restore(state: Arc<GatewayState>) {
    let _turn = state.register.lock().await;
    let records = register(&state).all();
    let rows: Vec<_> = records.iter().map(|record| (record.device.clone(), Some(record.to_json()))).collect();
    if !rows.is_empty() && state.buffer().queue.change(Change::Register { rows }).await.is_err() {
        tracing::error!("the register of devices could not be written after the recovery of the buffer");
    }
}

/// Reads the records that the buffer had at its start. One that this version cannot read is left out, and logged.
pub fn load(records: Vec<String>) -> Register {
    let read = |json: String| {
        Record::from_json(&json)
            .inspect_err(|error| {
                tracing::error!(error, record = json, "a device of the register cannot be read");
            })
            .ok()
    };
    Register::new(records.into_iter().filter_map(read).collect())
}

fn register(state: &GatewayState) -> &Arc<Register> {
    &state.ingest().registered.register
}

fn row(edit: &Edit) -> (String, Option<String>) {
    (edit.device.clone(), edit.record.as_ref().map(Record::to_json))
}

/// Returns `record` after a JSON merge patch.
fn patched(record: &Record, patch: Value) -> Result<Record, Problem> {
    if !patch.is_object() {
        return Err(invalid("the body must be an object with the fields to change".into()));
    }
    let mut value = serde_json::to_value(record).map_err(|e| invalid(e.to_string()))?;
    merge(&mut value, patch);
    let changed = Record::from_json(&value.to_string()).map_err(invalid)?;
    check_same(&changed, &record.device)?;
    Ok(changed)
}

/// RFC 7396: null removes a member, an object is merged, everything else replaces.
fn merge(target: &mut Value, patch: Value) {
    let Value::Object(members) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(object) = target else { return };
    for (name, value) in members {
        match value {
            Value::Null => drop(object.remove(&name)),
            value => merge(object.entry(name).or_insert(Value::Null), value),
        }
    }
}

/// Rejects a profile that is not there: a device would silently have another one.
fn check_profiles(edits: &[Edit], profiles: &Profiles) -> Result<(), Problem> {
    let given = |edit: &Edit| edit.record.as_ref()?.profile.clone();
    let names: HashSet<&str> = profiles.names().collect();
    match edits.iter().filter_map(given).find(|name| !names.contains(&**name)) {
        None => Ok(()),
        Some(name) => Err(invalid(format!("profile: no [[profile]] has the name {name:?}"))),
    }
}

fn check_same(record: &Record, device: &str) -> Result<(), Problem> {
    match record.device == device {
        true => Ok(()),
        false => {
            Err(invalid(format!("device: {:?} is not {device:?}, which the address names", record.device)))
        }
    }
}

/// The answer for a device that is not in the register, or which the client may not read.
pub fn missing(device: &str) -> Problem {
    Problem::not_found(format!("the device {device:?} is not in the register"))
}

fn invalid(detail: String) -> Problem {
    Problem::new(RECORD, detail)
}

fn conflicts(conflict: &Conflict) -> Problem {
    Problem::new(CONFLICT, conflict.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_patch_sets_merges_and_removes() {
        let record =
            Record::from_json(r#"{"device":"d","name":"N","tags":{"a":"1","b":"2"},"notes":"x"}"#).unwrap();
        let patch = |patch| patched(&record, patch).map(|record| record.to_json());
        assert_eq!(
            patch(json!({"name": null, "tags": {"a": null, "c": "3"}, "disabled": true})).unwrap(),
            r#"{"device":"d","tags":{"b":"2","c":"3"},"notes":"x","disabled":true}"#
        );
        for wrong in [json!([]), json!({"device": "e"}), json!({"tags": "x"}), json!({"nmae": "x"})] {
            assert!(patch(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
