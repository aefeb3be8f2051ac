//! The last messages of a device, to which its deltas may refer.

use std::collections::VecDeque;

/// The last messages of a device, from the latest to the oldest.
///
/// A sender refers to what was acknowledged last. Those before it are therefore *late*: only a delta that was overtaken by a later one refers
/// to them, so that [`Layout::decode_delta`](crate::Layout::decode_delta) tries them second. `T` is a [`Reference`](crate::Reference), or what
/// the caller keeps with it.
///
/// ```
/// use dunnage_packed::Window;
///
/// let mut window = Window::new(3, 1);
/// for message in ["a", "b", "c"] {
///     assert_eq!(window.push(message, |kept| *kept == message).count(), 0);
/// }
/// window.refer(|message| *message == "b"); // a delta referred to b
/// assert_eq!(window.likely().collect::<Vec<_>>(), [&"c", &"b"]);
/// assert_eq!(window.late().collect::<Vec<_>>(), [&"a"]);
/// ```
#[derive(Debug, Clone)]
pub struct Window<T> {
    list: VecDeque<T>,
    /// The index of the message that was last referred to.
    used: Option<usize>,
    most: usize,
    most_late: usize,
}

impl<T> Window<T> {
    /// Creates an empty window of at most `most` messages, of which at most `most_late` are late.
    pub fn new(most: usize, most_late: usize) -> Window<T> {
        Window { list: VecDeque::new(), used: None, most: most.max(1), most_late }
    }

    /// Takes note that a delta referred to the latest message that `is` accepts.
    pub fn refer(&mut self, is: impl FnMut(&T) -> bool) {
        self.used = self.list.iter().position(is).or(self.used);
    }

    /// Adds a message as the latest one, and returns those that leave. If `is_same` accepts one of the window, that one leaves: repetitions, as
    /// of a message that several gateways have heard, must not displace other messages.
    pub fn push(&mut self, message: T, is_same: impl FnMut(&T) -> bool) -> impl Iterator<Item = T> {
        let same = self.list.iter().position(is_same);
        let repeated = same.and_then(|at| self.list.remove(at));
        self.list.push_front(message);
        // The message in place of a repeated one is as late as that was.
        if let Some(used) = &mut self.used
            && same.is_none_or(|at| at > *used)
        {
            *used += 1;
        }
        let most = self.most.min(self.likely_count() + self.most_late);
        repeated.into_iter().chain(self.list.drain(most.min(self.list.len())..))
    }

    /// Returns the messages from the one on that was last referred to, or all if none was, from the latest on.
    pub fn likely(&self) -> impl Iterator<Item = &T> {
        self.list.iter().take(self.likely_count())
    }

    /// Returns the older ones, from the latest on.
    pub fn late(&self) -> impl Iterator<Item = &T> {
        self.list.iter().skip(self.likely_count())
    }

    /// Returns all messages, from the latest on.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.list.iter()
    }

    /// Returns the message that was last referred to.
    pub fn used(&self) -> Option<&T> {
        self.list.get(self.used?)
    }

    fn likely_count(&self) -> usize {
        self.used.map_or(self.list.len(), |used| used + 1)
    }
}

impl<T> IntoIterator for Window<T> {
    type Item = T;
    type IntoIter = std::collections::vec_deque::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(window: &Window<u8>) -> (Vec<u8>, Vec<u8>) {
        (window.likely().copied().collect(), window.late().copied().collect())
    }

    /// Returns what leaves.
    fn push(window: &mut Window<u8>, message: u8) -> Vec<u8> {
        window.push(message, |kept| *kept == message).collect()
    }

    #[test]
    fn messages_before_the_one_that_was_used_are_late_and_few() {
        let mut window = Window::new(6, 2);
        for message in 1..=6 {
            assert!(push(&mut window, message).is_empty());
        }
        assert_eq!(push(&mut window, 7), [1]);
        assert_eq!(parts(&window), (vec![7, 6, 5, 4, 3, 2], vec![]));
        window.refer(|message| *message == 6);
        assert_eq!(push(&mut window, 8), [3, 2]);
        assert_eq!(parts(&window), (vec![8, 7, 6], vec![5, 4]));
        window.refer(|message| *message == 1);
        assert_eq!(window.used(), Some(&6));
        // A delta that was overtaken.
        window.refer(|message| *message == 5);
        assert_eq!(parts(&window), (vec![8, 7, 6, 5], vec![4]));
    }

    #[test]
    fn a_repeated_message_moves_to_the_front() {
        for (repeated, likely, late) in [
            (4, vec![4, 3, 2], vec![1]),
            (3, vec![3, 4, 2], vec![1]),
            (2, vec![2, 4, 3], vec![1]),
            (1, vec![1, 4, 3, 2], vec![]),
        ] {
            let mut window = Window::new(8, 8);
            for message in 1..=4 {
                push(&mut window, message);
            }
            window.refer(|message| *message == 2);
            assert_eq!(push(&mut window, repeated), [repeated]);
            assert_eq!(parts(&window), (likely, late), "{repeated}");
        }
    }
}
