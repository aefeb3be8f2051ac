use super::*;
use crate::{chosen, tables::make_tables};
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns a buffer ID.
fn id() -> Arc<str> {
    "0a1b2c3d".into()
}

/// Creates a buffer with `messages` messages, received at a thousand times their IDs. `device` returns the device of each ID.
fn buffer(messages: i64, device: impl Fn(i64) -> String) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    make_tables(&connection).unwrap();
    let mut insert = connection.prepare_cached(crate::record::INSERT).unwrap();
    let mut devices = std::collections::HashMap::<String, (u64, i64)>::new();
    connection.execute_batch("BEGIN").unwrap();
    for id in 1..=messages {
        let device = device(id);
        let known = devices.get(&device).copied();
        let (count, previous) = known.map_or((1, None), |(count, last)| (count + 1, Some(last)));
        let (format, raw, json) = ("json", &b"1"[..], "1");
        let record = Record {
            id,
            received_at: id * 1000,
            device: &device,
            format,
            schema: None,
            link: None,
            previous,
            raw,
            json,
            key: None,
            request: None,
            origin: None,
            name: None,
            place: None,
        };
        record.insert(&mut insert).unwrap();
        waypoints::add(&connection, &device, count, id).unwrap();
        devices.insert(device, (count, id));
    }
    for (device, (count, last)) in devices {
        connection
            .execute("INSERT INTO devices VALUES (?, ?, ?, ?, NULL)", (device, count, count, last))
            .unwrap();
    }
    connection.execute("UPDATE totals SET last_message_id = ?", [messages]).unwrap();
    connection.execute_batch("COMMIT").unwrap();
    drop(insert);
    connection
}

/// Returns the result of `query`, and the number of steps of SQLite's virtual machine.
fn steps<T>(connection: &mut Connection, query: impl FnOnce(&Connection) -> T) -> (T, u64) {
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    let count_one = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        false
    };
    connection.progress_handler(1, Some(count_one)).unwrap();
    let found = query(connection);
    connection.progress_handler(1, None::<fn() -> bool>).unwrap();
    (found, count.load(Ordering::Relaxed))
}

#[test]
fn the_cost_of_a_page_of_a_device_does_not_depend_on_its_position() {
    const MESSAGES: i64 = 30_000;
    let is_of = |id: i64| id % 3 == 0;
    let mut connection = buffer(MESSAGES, |id| if is_of(id) { "d".into() } else { "e".into() });
    for before in
        [i64::MIN, -1, 0, 1, 2, 3, 4, 100, 191, 192, 193, 10_000, 15_000, 29_999, 30_000, 30_001, i64::MAX]
    {
        let page = Page { limit: 50, before: Some(before) };
        let (found, steps) =
            steps(&mut connection, |c| device_messages(c, &id(), "d", page, Times::ALL).unwrap().unwrap());
        let found: Vec<_> = found.iter().map(|message| message.id).collect();
        let below = (1..MESSAGES.min(before.max(1) - 1) + 1).rev();
        let expected: Vec<_> = below.filter(|id| is_of(*id)).take(50).collect();
        assert_eq!(found, expected, "before {before}");
        assert!(steps < 10_000, "before {before}: {steps} steps");
    }
    let page = Page { limit: 50, before: Some(0) };
    assert!(device_messages(&connection, &id(), "unknown", page, Times::ALL).unwrap().is_none());
}

#[test]
fn a_range_of_times_is_found_at_the_cost_of_a_page() {
    const MESSAGES: i64 = 30_000;
    let is_of = |id: i64| id % 3 == 0;
    let mut connection = buffer(MESSAGES, |id| if is_of(id) { "d".into() } else { "e".into() });
    let ranges = [(0, 0), (0, 1001), (5_000_500, 5_001_500), (9_999_000, 9_999_001), (20_000_000, i64::MAX)];
    for (from, until) in
        ranges.into_iter().chain([(i64::MIN, 40_000), (40_000, 30_000), (i64::MAX, i64::MAX)])
    {
        for before in [None, Some(9_000)] {
            let (page, times) = (Page { limit: 50, before }, Times { from, until });
            let is_in =
                |id: &i64| (from..until).contains(&(id * 1000)) && before.is_none_or(|before| *id < before);
            let newest = || (1..=MESSAGES).rev().filter(is_in);
            let ids = |found: Vec<Message>| found.iter().map(|message| message.id).collect::<Vec<_>>();
            let ((all, of_d), steps) = steps(&mut connection, |c| {
                let all = messages(c, &id(), page, times).unwrap();
                (all, device_messages(c, &id(), "d", page, times).unwrap().unwrap())
            });
            assert_eq!(ids(all), newest().take(50).collect::<Vec<_>>(), "{times:?} {before:?}");
            let expected: Vec<_> = newest().filter(|id| is_of(*id)).take(50).collect();
            assert_eq!(ids(of_d), expected, "{times:?} {before:?}");
            assert!(steps < 20_000, "{times:?} {before:?}: {steps} steps");
        }
    }
}

#[test]
fn waypoints_of_an_older_buffer_are_rebuilt() {
    let connection = buffer(1000, |id| format!("d{}", id % 7));
    let all = |c: &Connection| -> Vec<(Vec<u8>, i64)> {
        let mut statement = c.prepare("SELECT device, id FROM waypoints ORDER BY device, id").unwrap();
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    };
    let before = all(&connection);
    assert_eq!(before.len(), 14);
    connection.execute_batch("DELETE FROM waypoints").unwrap();
    waypoints::fill(&connection).unwrap();
    assert_eq!(all(&connection), before);
    waypoints::remove(&connection, "d1", 500).unwrap();
    assert_eq!(all(&connection).len(), 13);
}

/// A walk from the oldest to the newest finds each message of the device once, and no message of another device.
#[test]
fn the_messages_of_a_device_come_in_order_and_in_few_steps() {
    let mut connection = buffer(20_000, |id| if id % 7 == 0 { "a".into() } else { format!("b{}", id % 3) });
    connection.execute("DELETE FROM messages WHERE id <= 700", []).unwrap();
    connection.execute("UPDATE totals SET dropped_to = 700", []).unwrap();
    let device: Arc<str> = "a".into();
    for (after, up_to) in
        [(700, 20_000), (700, 19_999), (5000, 5100), (5000, 5001), (19_996, 20_000), (699, 5000)]
    {
        let expected: Vec<_> = (after.max(700) + 1..=up_to).filter(|id| id % 7 == 0).collect();
        let (mut found, mut last) = (Vec::new(), after);
        loop {
            let devices = [(Arc::clone(&device), last)];
            let (parts, steps) =
                steps(&mut connection, |c| of_devices(c, &id(), &devices, up_to, 50).unwrap());
            assert!(steps < 10_000, "{after} {up_to}: {steps}");
            let [(messages, more)] = &parts[..] else { panic!("one device") };
            found.extend(messages.iter().map(|message| message.id));
            last = found.last().copied().unwrap_or(last);
            if !more {
                break;
            }
        }
        assert_eq!(found, expected, "{after} {up_to}");
        assert_eq!(count_of(&connection, &device, (after, up_to)).unwrap(), expected.len() as u64);
    }
    assert_eq!(of_devices(&connection, &id(), &[("none".into(), 0)], 9, 50).unwrap(), [(vec![], false)]);
    // Another message is missing than those that were dropped.
    connection.execute("DELETE FROM messages WHERE id = 1400", []).unwrap();
    assert!(of_devices(&connection, &id(), &[(device, 1399)], 20_000, 50).is_err());
}

/// Reads the pages of the messages of some devices, and returns their IDs and the most steps of a page.
fn chosen_ids(connection: &mut Connection, is_chosen: fn(&str) -> bool, limit: u32) -> (Vec<i64>, u64) {
    let (mut all, mut most, mut before) = (Vec::new(), 0, None);
    loop {
        let page = Page { limit, before };
        let (found, steps) =
            steps(connection, |c| chosen::messages(c, &id(), is_chosen, page, Times::ALL).unwrap());
        most = most.max(steps);
        let Some(last) = found.last() else { return (all, most) };
        before = Some(last.id);
        all.extend(found.iter().map(|message| message.id));
    }
}

#[test]
fn the_messages_of_few_devices_among_many_are_merged() {
    const MESSAGES: i64 = 20_000;
    // Two that sent long ago, and one that sends now and then.
    let device = |id: i64| match id {
        1..=300 => format!("old-{}", id % 2),
        _ if id % 500 == 0 => "rare".into(),
        _ => format!("other-{}", id % 100),
    };
    let mut connection = buffer(MESSAGES, device);
    let is_chosen = |device: &str| device.starts_with("old") || device == "rare";
    let (found, steps) = chosen_ids(&mut connection, is_chosen, 50);
    let expected: Vec<_> = (1..=MESSAGES).rev().filter(|id| is_chosen(&device(*id))).collect();
    assert_eq!(found, expected);
    assert!(steps < 10_000, "{steps} steps");
    assert_eq!(chosen_ids(&mut connection, |_| false, 50).0, [0_i64; 0]);
}

#[test]
fn the_messages_of_many_devices_are_searched() {
    const MESSAGES: i64 = 6000;
    // More devices than are entered in the middle of their lists, each with messages throughout.
    let device = |id: i64| format!("{}-{}", if id % 2 == 0 { "a" } else { "b" }, id % 3000);
    let mut connection = buffer(MESSAGES, device);
    let (found, _) = chosen_ids(&mut connection, |device| device.starts_with("a"), 1000);
    assert_eq!(found, (1..=MESSAGES).rev().filter(|id| id % 2 == 0).collect::<Vec<_>>());
    // Times limit them.
    let times = Times { from: 101_000, until: 2_101_000 };
    for page in [Page { limit: 1000, before: None }, Page { limit: 1000, before: Some(2000) }] {
        let found =
            chosen::messages(&connection, &id(), |device| device.starts_with("a"), page, times).unwrap();
        let ids: Vec<_> = found.iter().map(|message| message.id).collect();
        let end = page.before.unwrap_or(2101);
        assert_eq!(ids, (101..end).rev().filter(|id| id % 2 == 0).take(1000).collect::<Vec<_>>());
    }
}
