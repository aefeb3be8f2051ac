//! A table by address, bounded in all and for each network.

use dunnage_base::network;
use std::{
    collections::{HashMap, hash_map},
    net::{IpAddr, SocketAddr},
};

/// A bounded table.
pub struct Table<T> {
    all: HashMap<SocketAddr, T>,
    /// The number of entries of each network.
    networks: HashMap<IpAddr, usize>,
    most: usize,
    most_of_network: usize,
}

impl<T> Table<T> {
    /// Creates an empty table for at most `most` entries, and `most_of_network` of an IPv4 address or an IPv6 /64.
    pub fn new(most: usize, most_of_network: usize) -> Table<T> {
        Table { all: HashMap::new(), networks: HashMap::new(), most, most_of_network }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether the table is full.
    pub fn is_full(&self) -> bool {
        self.all.len() >= self.most
    }

    /// Returns whether the network of `address` has its maximum of entries.
    pub fn is_full_for(&self, address: SocketAddr) -> bool {
        self.networks.get(&network(address.ip())).is_some_and(|count| *count >= self.most_of_network)
    }

    /// Returns the entry of `address`.
    pub fn get(&self, address: SocketAddr) -> Option<&T> {
        self.all.get(&address)
    }

    /// Returns the entry of `address`, to change it.
    pub fn get_mut(&mut self, address: SocketAddr) -> Option<&mut T> {
        self.all.get_mut(&address)
    }

    /// Inserts the entry of `address`, or replaces it.
    pub fn insert(&mut self, address: SocketAddr, value: T) {
        if self.all.insert(address, value).is_none() {
            *self.networks.entry(network(address.ip())).or_default() += 1;
        }
    }

    /// Removes the entry of `address`, and returns it.
    pub fn remove(&mut self, address: SocketAddr) -> Option<T> {
        let value = self.all.remove(&address)?;
        if let hash_map::Entry::Occupied(mut count) = self.networks.entry(network(address.ip())) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
        Some(value)
    }

    /// Returns the addresses of the entries for which `which` holds.
    pub fn pick(&self, which: impl Fn(&T) -> bool) -> Vec<SocketAddr> {
        self.all.iter().filter(|(_, value)| which(value)).map(|(address, _)| *address).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_counted_and_leave_nothing() {
        let mut table = Table::new(4, 2);
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let (a, b, c) = (at("192.0.2.1:1"), at("192.0.2.1:2"), at("[2001:db8::1]:1"));
        table.insert(a, 1);
        table.insert(a, 2);
        assert!(!table.is_full_for(a));
        table.insert(b, 3);
        assert!(table.is_full_for(at("192.0.2.1:9")) && !table.is_full_for(c) && !table.is_full());
        table.insert(c, 4);
        table.insert(at("[2001:db8::2]:1"), 5);
        assert!(table.is_full() && table.is_full_for(at("[2001:db8::3]:1")));
        assert_eq!(table.pick(|n| *n < 4).len(), 2);
        for address in table.pick(|_| true) {
            assert!(table.remove(address).is_some());
        }
        assert_eq!((table.len(), table.networks.len()), (0, 0));
    }
}
