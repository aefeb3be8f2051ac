//! The records in memory.

use crate::Record;
use foldhash::fast::RandomState;
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::{
        Arc, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicBool, Ordering},
    },
};

/// A change of one device: its new record, or `None` to remove it.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// The device's ID.
    pub device: String,
    /// Its record.
    pub record: Option<Record>,
}

impl Edit {
    /// Creates or replaces the record of a device.
    pub fn set(record: Record) -> Edit {
        Edit { device: record.device.clone(), record: Some(record) }
    }

    /// Removes a device.
    pub fn remove(device: impl Into<String>) -> Edit {
        Edit { device: device.into(), record: None }
    }
}

/// Two devices claim one ID.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("external_ids: {id:?} of the device {device:?} belongs to the device {owner:?}")]
pub struct Conflict {
    /// Which of the edits, from 0.
    pub edit: usize,
    /// The ID.
    pub id: String,
    /// The device of the edit.
    pub device: String,
    /// The other device.
    pub owner: String,
}

/// Selects records. Empty fields accept all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Text in the ID, the name, an external ID or the notes, in lower case.
    pub text: String,
    /// Tags that the device has, all of them.
    pub tags: Vec<(String, String)>,
}

impl Filter {
    /// Returns whether the filter selects `record`.
    pub fn accepts(&self, record: &Record) -> bool {
        let contains = |text: &str| text.to_lowercase().contains(&self.text);
        let Record { device, name, external_ids, notes, .. } = record;
        self.tags.iter().all(|(key, value)| record.tags.get(key) == Some(value))
            && (self.text.is_empty()
                || contains(device)
                || [name, notes].into_iter().flatten().any(|text| contains(text))
                || external_ids.iter().any(|id| contains(id)))
    }
}

/// All records. Lookups do not wait for each other.
#[derive(Default)]
pub struct Register {
    index: RwLock<Index>,
    /// Whether there is any record: most gateways have none, and look up nothing.
    is_used: AtomicBool,
}

#[derive(Default)]
struct Index {
    /// In ascending order of IDs. Shared, so that a search holds up no message.
    sorted: Arc<Vec<Arc<Record>>>,
    /// By ID and by external ID. Only an operator adds IDs, so nobody else can make them collide: the hash need not resist that.
    by_id: HashMap<Box<str>, Arc<Record>, RandomState>,
}

impl Register {
    /// Creates a register of `records`. Of two that claim one ID, the later one wins.
    pub fn new(records: Vec<Record>) -> Register {
        let register = Register::default();
        register.apply(records.into_iter().map(Edit::set).collect());
        register
    }

    fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the record of the device with this ID or external ID.
    pub fn find(&self, id: &str) -> Option<Arc<Record>> {
        if !self.is_used.load(Ordering::Relaxed) {
            return None;
        }
        self.index().by_id.get(&*key(id)).cloned()
    }

    /// Returns the record of the device with this ID.
    pub fn get(&self, device: &str) -> Option<Arc<Record>> {
        self.find(device).filter(|record| record.device == device)
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.index().sorted.len()
    }

    /// Returns whether there is no record.
    pub fn is_empty(&self) -> bool {
        !self.is_used.load(Ordering::Relaxed)
    }

    /// Returns the records that are accepted, in ascending order of IDs: at most `limit` with IDs after `after`, and how many there are in
    /// all. Examines every record.
    pub fn list(
        &self,
        accepts: impl Fn(&Record) -> bool,
        after: &str,
        limit: usize,
    ) -> (Vec<Arc<Record>>, usize) {
        let sorted = Arc::clone(&self.index().sorted);
        let (mut found, mut matches) = (Vec::new(), 0);
        for record in sorted.iter().filter(|record| accepts(record)) {
            matches += 1;
            if found.len() < limit && *record.device > *after {
                found.push(Arc::clone(record));
            }
        }
        (found, matches)
    }

    /// Returns all records, in ascending order of IDs.
    pub fn all(&self) -> Arc<Vec<Arc<Record>>> {
        Arc::clone(&self.index().sorted)
    }

    /// Checks that no ID would belong to two devices after `edits`.
    ///
    /// # Errors
    ///
    /// The first edit that claims an ID of another device.
    pub fn check(&self, edits: &[Edit]) -> Result<(), Conflict> {
        let index = self.index();
        let edited: HashSet<&str> = edits.iter().map(|edit| &*edit.device).collect();
        let mut owners: HashMap<Cow<'_, str>, &str> = HashMap::new();
        for (at, edit) in edits.iter().enumerate() {
            let Some(record) = &edit.record else { continue };
            let conflict = |id: &str, owner: &str| Conflict {
                edit: at,
                id: id.into(),
                device: record.device.clone(),
                owner: owner.into(),
            };
            for id in ids(record) {
                let stored = || index.by_id.get(&*key(id)).filter(|other| !edited.contains(&*other.device));
                if let Some(owner) =
                    owners.insert(key(id), &record.device).filter(|owner| *owner != record.device)
                {
                    return Err(conflict(id, owner));
                }
                if let Some(other) = stored() {
                    return Err(conflict(id, &other.device));
                }
            }
        }
        Ok(())
    }

    /// Applies `edits`, which [`Register::check`] has accepted. Of several edits of one device, the last one counts.
    pub fn apply(&self, edits: Vec<Edit>) {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        let Index { sorted, by_id } = &mut *index;
        let sorted = Arc::make_mut(sorted);
        let edits: HashMap<String, Option<Record>> =
            edits.into_iter().map(|edit| (edit.device, edit.record)).collect();
        sorted.retain(|record| {
            let stays = !edits.contains_key(&record.device);
            if !stays {
                ids(record).for_each(|id| drop(by_id.remove(&*key(id))));
            }
            stays
        });
        for mut record in edits.into_values().flatten() {
            record.tags.shrink();
            record.external_ids.shrink_to_fit();
            let record = Arc::new(record);
            by_id.extend(ids(&record).map(|id| (key(id).into(), Arc::clone(&record))));
            sorted.push(record);
        }
        sorted.sort_by(|a, b| a.device.cmp(&b.device));
        self.is_used.store(!sorted.is_empty(), Ordering::Relaxed);
    }
}

/// What an ID is found by. 16 hexadecimal digits are an EUI-64, such as a DevEUI, which devices have printed in capitals and network servers
/// send in small letters.
fn key(id: &str) -> Cow<'_, str> {
    let bytes = id.as_bytes();
    match bytes.len() == 16
        && bytes.iter().all(u8::is_ascii_hexdigit)
        && bytes.iter().any(u8::is_ascii_uppercase)
    {
        true => id.to_ascii_lowercase().into(),
        false => id.into(),
    }
}

/// The IDs that a record claims.
fn ids(record: &Record) -> impl Iterator<Item = &str> {
    std::iter::once(&*record.device).chain(record.external_ids.iter().map(|id| &**id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(device: &str, external_ids: &[&str]) -> Record {
        let external_ids = external_ids.iter().map(|id| (*id).to_owned()).collect();
        Record { device: device.into(), external_ids, ..Record::default() }
    }

    fn devices(found: &(Vec<Arc<Record>>, usize)) -> (Vec<&str>, usize) {
        (found.0.iter().map(|record| &*record.device).collect(), found.1)
    }

    #[test]
    fn a_device_is_found_by_each_of_its_ids_until_it_loses_them() {
        let register = Register::default();
        assert!(register.is_empty() && register.find("a").is_none());
        register.apply(vec![Edit::set(record("b", &["1", "2"])), Edit::set(record("a", &[]))]);
        assert_eq!(register.find("2").unwrap().device, "b");
        assert!(register.get("2").is_none() && register.get("b").is_some());
        register.apply(vec![Edit::set(record("b", &["2", "3"]))]);
        assert_eq!((register.find("1"), register.find("3").unwrap().device.as_str()), (None, "b"));
        register.apply(vec![Edit::remove("b"), Edit::remove("never")]);
        assert_eq!((register.find("3"), register.find("b"), register.len()), (None, None, 1));
        register.apply(vec![Edit::remove("a")]);
        assert!(register.is_empty());
    }

    #[test]
    fn an_eui_is_found_in_capitals_and_in_small_letters() {
        let register =
            Register::new(vec![record("hive", &["70B3D57ED0050A1C"]), record("70B3D57ED0050A1D", &["AB"])]);
        for id in ["70B3D57ED0050A1C", "70b3d57ed0050a1c", "70b3D57ED0050A1C"] {
            assert_eq!(register.find(id).unwrap().device, "hive", "{id}");
        }
        assert_eq!(register.find("70b3d57ed0050a1d").unwrap().device, "70B3D57ED0050A1D");
        assert!(register.get("70b3d57ed0050a1d").is_none() && register.find("ab").is_none());
        let taken = register.check(&[Edit::set(record("other", &["70b3d57ed0050a1c"]))]).unwrap_err();
        assert_eq!((&*taken.id, &*taken.owner), ("70b3d57ed0050a1c", "hive"));
        register.apply(vec![Edit::remove("hive")]);
        assert!(register.find("70b3d57ed0050a1c").is_none());
    }

    #[test]
    fn an_id_belongs_to_one_device() {
        let register = Register::new(vec![record("a", &["1"]), record("b", &["2"])]);
        let check = |edits: &[Edit]| register.check(edits).map_err(|e| (e.edit, e.to_string()));
        let of = |device: &str, ids: &[&str]| Edit::set(record(device, ids));
        for edits in [
            vec![of("a", &["1", "3"])],
            // The ID moves.
            vec![of("a", &[]), of("c", &["1"])],
            vec![of("c", &["1"]), Edit::remove("a")],
            vec![of("a", &["2"]), of("b", &["1"])],
        ] {
            assert_eq!(check(&edits), Ok(()), "{edits:?}");
        }
        let owned = |id: &str, device: &str, owner: &str| {
            format!("external_ids: {id:?} of the device {device:?} belongs to the device {owner:?}")
        };
        assert_eq!(check(&[of("x", &[]), of("c", &["1"])]), Err((1, owned("1", "c", "a"))));
        assert_eq!(check(&[of("c", &["9"]), of("d", &["9"])]), Err((1, owned("9", "d", "c"))));
        // The ID of a device is no external ID of another one, and the reverse.
        assert_eq!(check(&[of("c", &["a"])]), Err((0, owned("a", "c", "a"))));
        assert_eq!(check(&[of("2", &[])]), Err((0, owned("2", "2", "b"))));
    }

    #[test]
    fn lists_are_sorted_filtered_and_continued() {
        let mut hive = record("c", &["70B3"]);
        hive.tags.insert("site".into(), "pisa".into());
        hive.name = Some("Hive Seven".into());
        let register = Register::new(vec![hive, record("a", &[]), record("b", &[])]);
        let all = Filter::default();
        assert_eq!(devices(&register.list(|record| all.accepts(record), "", 2)), (vec!["a", "b"], 3));
        assert_eq!(devices(&register.list(|record| all.accepts(record), "b", 2)), (vec!["c"], 3));
        for text in ["seven", "70b3", "c"] {
            let filter = Filter { text: text.into(), ..Filter::default() };
            assert_eq!(
                devices(&register.list(|record| filter.accepts(record), "", 9)),
                (vec!["c"], 1),
                "{text}"
            );
        }
        let tag = |value: &str| Filter { tags: vec![("site".into(), value.into())], ..Filter::default() };
        let count = |value| register.list(|record| tag(value).accepts(record), "", 9).1;
        assert_eq!((count("pisa"), count("pis")), (1, 0));
    }
}
