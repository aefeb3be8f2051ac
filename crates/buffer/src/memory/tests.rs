use super::*;

fn sender(address: &str, device: &'static str) -> Sender<'static> {
    Sender { address: address.parse().unwrap(), device: Some(device) }
}

fn memory() -> Memory {
    Memory::new(Shares { all: 100, incomplete: 50, address: 30, device: 20, message: 30 })
}

#[test]
fn reservations_stay_within_the_limit_and_release_their_memory() {
    let memory = memory();
    let (mut a, mut b) = (memory.reserve(), memory.reserve());
    a.grow(60).unwrap();
    a.grow(30).unwrap();
    assert_eq!(b.grow(11), Err(NoRoom::All));
    b.grow(10).unwrap();
    assert_eq!(memory.used(), 100);
    drop(a);
    b.grow(90).unwrap();
    assert_eq!(b.grow(1), Err(NoRoom::All));
    drop(b);
    assert_eq!(memory.used(), 0);
}

#[test]
fn incomplete_messages_have_shares_and_complete_ones_the_whole_memory() {
    let memory = memory();
    let now = Instant::now();
    let mut held = Vec::new();
    let mut wait = |address, device, bytes| {
        let mut reservation = memory.reserve();
        let waits = reservation.wait_at(sender(address, device), now);
        let grown = waits.and_then(|()| reservation.grow_at(bytes, now));
        held.push(reservation);
        grown
    };
    assert_eq!(wait("10.0.0.1", "a", 20), Ok(()));
    assert_eq!(wait("10.0.0.2", "a", 1), Err(NoRoom::Device));
    assert_eq!(wait("10.0.0.1", "b", 11), Err(NoRoom::Address));
    assert_eq!(wait("10.0.0.1", "b", 10), Ok(()));
    assert_eq!(wait("2001:db8::1", "c", 20), Ok(()));
    assert_eq!(wait("2001:db8:0:0:1::", "d", 11), Err(NoRoom::Address));
    assert_eq!(wait("10.0.0.3", "e", 1), Err(NoRoom::Incomplete));
    let mut complete = memory.reserve();
    complete.grow(50).unwrap();
    assert_eq!(complete.grow(1), Err(NoRoom::All));
    held.clear();
    drop(complete);
    assert_eq!(memory.used(), 0);
    assert!(memory.arriving().owners.is_empty() && memory.arriving().transfers.is_empty());
}

#[test]
fn stalled_transfers_give_way_and_steady_ones_do_not() {
    let memory = memory();
    let begun = Instant::now();
    let mut slow = memory.reserve();
    slow.wait_at(sender("10.0.0.1", "slow"), begun).unwrap();
    slow.grow_at(10, begun).unwrap();
    let mut steady = memory.reserve();
    steady.wait_at(sender("10.0.0.2", "steady"), begun).unwrap();
    let later = begun + GRACE + Duration::from_millis(1);
    // An occasional byte does not count as progress.
    slow.grow_at(1, begun + GRACE / 2).unwrap();
    steady.grow_at(19, later).unwrap();
    let mut complete = memory.reserve();
    complete.grow_at(70, begun).unwrap();
    assert_eq!(complete.grow_at(5, begun + GRACE), Err(NoRoom::All), "no transfer gives way yet");
    complete.grow_at(5, later).unwrap();
    assert!(slow.has_given_way() && !steady.has_given_way());
    assert_eq!(slow.grow_at(1, later), Err(NoRoom::GaveWay));
    assert_eq!(slow.whole(), Err(NoRoom::GaveWay));
    // A complete message cannot be evicted.
    steady.whole().unwrap();
    assert_eq!(complete.grow_at(7, later + GRACE * 2), Err(NoRoom::All));
    assert_eq!(memory.used(), 94);
    drop((slow, steady, complete));
    assert_eq!(memory.used(), 0);
}

#[test]
fn the_sender_with_the_most_memory_gives_way_even_if_it_makes_progress() {
    let now = Instant::now();
    /// Begins transfers of five bytes that stay incomplete, by address and device.
    fn begin(
        memory: &Memory,
        all: &[(&str, &'static str)],
        now: Instant,
    ) -> Vec<Result<Reservation, NoRoom>> {
        let begin = |(address, device): &(&str, &'static str)| {
            let mut transfer = memory.reserve();
            transfer.wait_at(sender(address, device), now)?;
            transfer.grow_at(5, now)?;
            Ok(transfer)
        };
        all.iter().map(begin).collect()
    }
    let shares = || Memory::new(Shares::of(80, 5));
    let gave_way = |all: &[Result<Reservation, NoRoom>]| {
        all.iter().filter(|transfer| transfer.as_ref().is_ok_and(Reservation::has_given_way)).count()
    };

    // Two addresses with many devices use all memory for incomplete messages.
    let memory = shares();
    let of = |address| ["a", "b", "c", "d"].map(|device| (address, device));
    let two = begin(&memory, &[of("10.0.0.1"), of("10.0.0.2")].concat(), now);
    assert!(two.iter().all(Result::is_ok) && memory.used() == 40);
    let third = begin(&memory, &[("10.0.0.3", "x"), ("10.0.0.3", "x"), ("10.0.0.3", "y")], now);
    assert!(third[0].is_ok() && third[1].is_ok());
    // A third address gets at most as much as each of the others.
    assert_eq!(third[2].as_ref().err(), Some(&NoRoom::Incomplete));
    assert_eq!((gave_way(&two[..4]), gave_way(&two[4..]), memory.used()), (1, 1, 40));

    // A sender with one message is never evicted in favor of another.
    let memory = shares();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let addresses: Vec<_> = (0..8).map(|n| format!("10.0.1.{n}")).collect();
    let each: Vec<_> = addresses.iter().map(String::as_str).zip(names).collect();
    let each = begin(&memory, &each, now);
    assert_eq!(begin(&memory, &[("10.0.0.3", "x")], now)[0].as_ref().err(), Some(&NoRoom::Incomplete));
    assert_eq!(gave_way(&each), 0);

    // Addresses compete within a device (or a webhook), and devices within an address.
    let memory = shares();
    let hook = begin(&memory, &[("10.0.0.1", "hook"), ("10.0.0.1", "hook")], now);
    let other = begin(&memory, &[("10.0.0.2", "hook")], now);
    assert!(other[0].is_ok() && gave_way(&hook) == 1);
    let memory = shares();
    let busy =
        begin(&memory, &[("10.0.0.1", "a"), ("10.0.0.1", "a"), ("10.0.0.1", "b"), ("10.0.0.1", "b")], now);
    let other = begin(&memory, &[("10.0.0.1", "c")], now);
    assert!(other[0].is_ok() && gave_way(&busy) == 1);
    drop((busy, other));
    assert_eq!(memory.used(), 0);
}

#[test]
fn every_share_fits_at_least_one_message() {
    assert_eq!(Shares::of(64, 1), Shares { all: 64, incomplete: 32, address: 16, device: 8, message: 1 });
    assert_eq!(Shares::of(64, 40), Shares { all: 64, incomplete: 40, address: 40, device: 40, message: 40 });
    assert_eq!(Shares::of(64, 100), Shares { all: 64, incomplete: 64, address: 64, device: 64, message: 64 });
}
