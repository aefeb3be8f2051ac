//! What expressions say about a message.

use crate::limits;

/// What expressions say about a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// `when` holds, or there is no `when`. With a `map`, its result as JSON.
    Holds(Option<String>),
    /// `when` does not hold, or `map` has no result. Whether `until` holds.
    Skipped {
        /// `until` holds: the alarm of the device ends, if it has one.
        ends: bool,
    },
    /// An expression failed.
    Failed(String),
}

impl Verdict {
    /// Creates a failure of the expression `key`.
    pub(crate) fn failed(key: &str, reason: &str) -> Verdict {
        let reason = reason.replace(char::is_control, " ");
        Verdict::Failed(format!("{key}: {reason}").chars().take(limits::TEXT).collect())
    }

    /// Writes the verdict as the bytes of a frame.
    pub(crate) fn write(&self, frame: &mut Vec<u8>) {
        let (tag, text) = match self {
            Verdict::Holds(None) => (b'h', ""),
            Verdict::Holds(Some(json)) => (b'm', json.as_str()),
            Verdict::Skipped { ends: false } => (b's', ""),
            Verdict::Skipped { ends: true } => (b'e', ""),
            Verdict::Failed(reason) => (b'f', reason.as_str()),
        };
        frame.push(tag);
        frame.extend_from_slice(text.as_bytes());
    }

    /// Reads what [`Verdict::write`] wrote; `None` for anything else.
    pub(crate) fn read(frame: &[u8]) -> Option<Verdict> {
        let (tag, text) = frame.split_first()?;
        let text = || String::from_utf8(text.to_vec()).ok();
        Some(match tag {
            b'h' => Verdict::Holds(None),
            b'm' => Verdict::Holds(Some(text()?)),
            b's' => Verdict::Skipped { ends: false },
            b'e' => Verdict::Skipped { ends: true },
            b'f' => Verdict::Failed(text()?),
            _ => return None,
        })
    }
}
