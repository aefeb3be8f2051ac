use super::{index::*, query::*};
use crate::visible::Visible;
use dunnage_ingest::profiles::Profiles;
use dunnage_register::Filter;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

fn index(capacity: usize) -> Index {
    let profiles = Profiles::load(&Default::default(), &[]).unwrap();
    Index::new(capacity, Arc::new(profiles), HashMap::new())
}

fn seen(device: &str, messages: u64, at: i64) -> Seen<'_> {
    Seen {
        device,
        messages,
        bytes: messages * 10,
        last_id: at + 1,
        first_at: Some(0),
        received_at: at,
        message_bytes: 10,
        link: None,
        format: "json",
        schema: None,
        origin: None,
        position: None,
    }
}

fn query(sort: Sort, direction: Direction, limit: usize) -> Query {
    Query {
        visible: Visible::everything(Arc::default()),
        filter: Filter::default(),
        names: [const { None }; 4],
        late: None,
        quarantined: None,
        sort,
        direction,
        limit,
        cursor: None,
        now: 1_000_000,
    }
}

fn find(text: &str) -> Filter {
    Filter { text: text.into(), ..Filter::default() }
}

fn names(page: &Page) -> Vec<String> {
    page.devices.iter().map(|(entry, _)| entry.device.to_string()).collect()
}

/// Reads all pages from `query` on, forwards.
fn all(index: &Mutex<Index>, mut query: Query) -> (Vec<String>, Page) {
    let mut found = Vec::new();
    loop {
        let page = query.run(index);
        assert_eq!(page.offset, found.len());
        found.extend(names(&page));
        let Some(next) = &page.next else { return (found, page) };
        query.cursor = Some(query.read(next).unwrap());
    }
}

const ORDERS: [(Sort, Direction); 6] = [
    (Sort::Name, Direction::Asc),
    (Sort::Name, Direction::Desc),
    (Sort::Last, Direction::Desc),
    (Sort::Messages, Direction::Asc),
    (Sort::Bytes, Direction::Desc),
    (Sort::Late, Direction::Desc),
];

#[test]
fn pages_have_each_device_once_in_both_directions() {
    let mut some = index(1000);
    // More than one step, and equal keys.
    for n in 0..1000 {
        some.apply(&seen(&format!("d{}", n * 7919 % 1000), n % 5, (n % 300) as i64));
    }
    let some = Mutex::new(some);
    for (sort, direction) in ORDERS {
        let mut query = query(sort, direction, 37);
        let (forwards, last) = all(&some, query.clone());
        assert_eq!((forwards.len(), last.matches), (1000, 1000), "{sort:?}");
        assert_eq!(forwards.iter().collect::<std::collections::HashSet<_>>().len(), 1000, "{sort:?}");
        // Backwards from the last page.
        let mut backwards = names(&last);
        let mut previous = last.previous;
        while let Some(cursor) = previous {
            query.cursor = Some(query.read(&cursor).unwrap());
            let page = query.run(&some);
            assert_eq!(page.offset, 1000 - backwards.len() - page.devices.len());
            backwards.splice(..0, names(&page));
            previous = page.previous;
        }
        assert_eq!(backwards, forwards, "{sort:?} {direction:?}");
    }
}

#[test]
fn devices_that_do_not_change_are_neither_skipped_nor_repeated() {
    for (sort, direction) in ORDERS {
        let mut some = index(10_000);
        (0..200).for_each(|n| some.apply(&seen(&format!("still-{n}"), n % 7, n as i64 * 10)));
        let some = Mutex::new(some);
        let mut query = query(sort, direction, 20);
        let mut found: Vec<String> = Vec::new();
        let mut round = 0;
        loop {
            let page = query.run(&some);
            found.extend(names(&page).into_iter().filter(|name| name.starts_with("still")));
            // New devices everywhere in the order, and some that change.
            for n in 0..30 {
                some.lock().unwrap().apply(&seen(&format!("s{n}-{round}"), n, n as i64 * 70));
                some.lock().unwrap().apply(&seen(&format!("busy-{n}"), round + n, (round * 100 + n) as i64));
            }
            round += 1;
            let Some(next) = page.next.filter(|_| round < 100) else { break };
            query.cursor = Some(query.read(&next).unwrap());
        }
        found.sort_unstable();
        let mut still: Vec<_> = (0..200).map(|n| format!("still-{n}")).collect();
        still.sort_unstable();
        assert_eq!(found, still, "{sort:?} {direction:?}");
    }
}

#[test]
fn the_end_of_a_page_may_disappear() {
    let mut some = index(16);
    (0..16).for_each(|n| some.apply(&seen(&format!("d{n:02}"), 1, n)));
    let some = Mutex::new(some);
    let mut query = query(Sort::Last, Direction::Desc, 15);
    let page = query.run(&some);
    query.cursor = Some(query.read(&page.next.unwrap()).unwrap());
    assert_eq!(names(&query.run(&some)), ["d00"]);
    // A new device takes the place of the oldest one.
    some.lock().unwrap().apply(&seen("new", 1, 99));
    let page = query.run(&some);
    assert_eq!((names(&page), page.offset, page.matches), (vec![], 16, 16));
    assert!(page.previous.is_none() || query.read(&page.previous.unwrap()).is_some());
}

#[test]
fn a_full_index_keeps_the_devices_that_sent_last() {
    let mut some = index(160);
    (0..1000).for_each(|n| some.apply(&seen(&format!("d{n}"), 1, n)));
    assert!(some.len() > 150 && some.len() <= 160, "{}", some.len());
    assert!(some.get("d999").is_some() && some.get("d850").is_some() && some.get("d800").is_none());
    assert_eq!(some.most_used(Kind::Format, 10), [("json".into(), some.len() as u32)].into());
    // Reading the buffer takes nobody's place.
    let before = some.len();
    (0..100).for_each(|n| some.add(&seen(&format!("old{n}"), 1, n)));
    assert!(some.len() <= 160 && some.len() >= before && some.get("d999").is_some());
}

#[test]
fn names_are_counted_and_those_that_most_devices_have_are_returned() {
    let mut some = index(1000);
    for n in 0..100 {
        let (device, link) = (format!("d{n}"), format!("link-{}", n.min(10)));
        some.apply(&Seen { link: Some(&link), ..seen(&device, 1, n) });
    }
    assert_eq!(some.most_used(Kind::Link, 1), [("link-10".into(), 90)].into());
    assert_eq!(some.most_used(Kind::Link, 50).len(), 11);
    for n in 0..100 {
        some.apply(&seen(&format!("d{n}"), 2, n + 1000));
    }
    assert!(some.most_used(Kind::Link, 50).is_empty());
    some.clear(HashMap::new());
    assert_eq!((some.len(), some.generation), (0, 1));
    assert!(some.most_used(Kind::Format, 50).is_empty());
}

#[test]
fn filters_narrow_the_list() {
    let mut some = index(100);
    let minute = 60_000_000;
    for n in 0..4 {
        some.apply(&seen("Regular-1", n, n as i64 * minute));
        some.apply(&Seen { link: Some("kineis"), ..seen("odd<b>", n, n as i64 * 100 * minute) });
    }
    some.quarantine("odd<b>", 1);
    some.quarantine("odd<b>", 1);
    some.quarantine("stored-nothing", 99);
    let some = Mutex::new(some);
    let base = Query { now: 300 * minute, ..query(Sort::Name, Direction::Asc, 10) };
    let found = |query: Query| names(&query.run(&some));
    assert_eq!(found(base.clone()), ["Regular-1", "odd<b>", "stored-nothing"]);
    assert_eq!(found(Query { filter: find("gular"), ..base.clone() }), ["Regular-1"]);
    assert_eq!(found(Query { filter: find(&"x".repeat(1000)), ..base.clone() }), [""; 0]);
    assert_eq!(found(Query { late: Some(true), ..base.clone() }), ["Regular-1"]);
    assert_eq!(found(Query { late: Some(false), ..base.clone() }), ["odd<b>", "stored-nothing"]);
    assert_eq!(found(Query { quarantined: Some(true), ..base.clone() }), ["odd<b>", "stored-nothing"]);
    let link = |name: &str| [Some(name.to_owned()), None, None, None];
    assert_eq!(found(Query { names: link("kineis"), ..base.clone() }), ["odd<b>"]);
    assert_eq!(found(Query { names: link(""), ..base.clone() }), ["Regular-1", "stored-nothing"]);
    assert_eq!(found(Query { names: link("kin"), ..base.clone() }), [""; 0]);
    assert_eq!(
        found(Query { sort: Sort::Late, direction: Direction::Desc, ..base.clone() }),
        ["Regular-1", "odd<b>", "stored-nothing"]
    );
    assert_eq!(base.run(&some).devices[1].1, 2);
    let mut index = some.lock().unwrap();
    index.leave_quarantine("odd<b>");
    index.leave_quarantine("odd<b>");
    assert_eq!(index.quarantined("odd<b>"), 0);
    // A device that has stored nothing is gone with its last message in the quarantine.
    index.leave_quarantine("stored-nothing");
    assert!(index.get("odd<b>").is_some() && index.get("stored-nothing").is_none());
    index.quarantine("late", 5);
    index.quarantine("late", 3);
    assert_eq!(
        index.get("late").map(|entry| (entry.messages, entry.last_id, entry.received_at)),
        Some((0, 0, 5))
    );
    // Its first message was received before those that stay in the quarantine.
    index.apply(&seen("late", 1, 2));
    assert_eq!(index.get("late").map(|entry| (entry.messages, entry.received_at)), Some((1, 2)));
}

#[test]
fn a_cursor_belongs_to_its_order() {
    let mut some = index(100);
    (0..10).for_each(|n| some.apply(&seen(&format!("d{n}"), 1, n)));
    let some = Mutex::new(some);
    let name = query(Sort::Name, Direction::Asc, 3);
    let next = name.run(&some).next.unwrap();
    assert!(name.read(&next).is_some());
    for other in [query(Sort::Last, Direction::Asc, 3), query(Sort::Name, Direction::Desc, 3)] {
        assert!(other.read(&next).is_none());
    }
    for bad in ["", "x", "=", "!", "TmFtZSBBc2M", &"A".repeat(10_000)] {
        assert!(name.read(bad).is_none(), "{bad}");
    }
}

#[test]
fn a_device_is_classified_by_its_last_message() {
    let load = |text: &str| {
        let profile = toml::from_str(text).unwrap();
        Arc::new(Profiles::load(&Default::default(), &[profile]).unwrap())
    };
    let by_port = load("name = 'alarm'\nmatch.port = 3\nsilent_after_seconds = 9");
    let mut index = Index::new(10, Arc::clone(&by_port), HashMap::new());
    let profile = |index: &Index| {
        let entry = index.get("d").unwrap();
        (entry.names[Kind::Profile as usize].as_deref().map(str::to_owned), entry.cadence.silent_after)
    };
    let (on_3, on_4) = (Some(r#"{"port":3}"#), Some(r#"{"port":4}"#));
    let (alarm, none) = ((Some("alarm".into()), Some(9_000_000)), (None, None));
    index.apply(&Seen { origin: on_3, ..seen("d", 1, 10) });
    assert_eq!(profile(&index), alarm);
    index.apply(&Seen { origin: on_4, ..seen("d", 2, 20) });
    assert_eq!(profile(&index), none);
    // A message that was received before the last one does not count.
    index.apply(&Seen { origin: on_3, last_id: 21, ..seen("d", 3, 15) });
    assert_eq!(profile(&index), none);
    index.apply(&Seen { origin: on_3, ..seen("d", 4, 30) });
    assert_eq!(profile(&index), alarm);
    // Other profiles need the last message again, unless the device alone decides.
    assert!(!index.classify(&load("device = 'd'")));
    assert_eq!(profile(&index).0.as_deref(), Some("d"));
    let generation = index.generation;
    assert!(index.classify(&load("name = 'alarm'\nmatch.port = 3\nsilent_after_seconds = 9")));
    assert_eq!((profile(&index), index.generation), (none, generation + 1));
    index.add(&Seen { origin: on_3, ..seen("d", 4, 30) });
    assert_eq!((profile(&index), index.get("d").unwrap().messages), (alarm, 4));
}
