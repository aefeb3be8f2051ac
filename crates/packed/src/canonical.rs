//! The canonical text of a layout, and its fingerprint.

use crate::json::list;
use crate::{Layout, Node};
use sha2::{Digest, Sha256};

/// The version of `spec/packed.md`.
const VERSION: u32 = 1;

impl Layout {
    /// Returns the layout as JSON text in its only form. Parts that change neither its bits nor their meaning are left out.
    pub fn canonical(&self) -> String {
        let modelled = !self.is_plain();
        let mut out = format!("{{\"packed\":{VERSION}");
        if !self.has_slot_byte() {
            out.push_str(",\"slot\":\"port\"");
        }
        if let Some(check) = self.check_bytes() {
            out.push_str(&format!(",\"check\":{check}"));
        }
        if let Some(statistics) = self.model().statistics() {
            out.push_str(&format!(",\"statistics\":\"{statistics}\""));
        }
        out.push_str(",\"layout\":");
        self.root().canonical(modelled, &mut out);
        if !self.definitions().is_empty() {
            out.push_str(",\"definitions\":");
            list(&mut out, '[', self.definitions(), ']', |node, out| node.canonical(modelled, out));
        }
        out.push('}');
        out
    }

    /// Returns the numbers of the nodes that a writer rounds (`x-dunnage-round`), which the canonical text does not tell.
    pub fn rounded(&self) -> Vec<u32> {
        let mut rounded = Vec::new();
        let mut left: Vec<&Node> = std::iter::once(self.root()).chain(self.definitions()).collect();
        while let Some(node) = left.pop() {
            if node.is_rounded() {
                rounded.push(node.id);
            }
            left.extend(node.children().into_iter().map(|(_, child)| child));
        }
        rounded.sort_unstable();
        rounded
    }

    /// Returns a slot, 1 to 63, computed from the fingerprint, for schemas whose author has not chosen one.
    pub fn derived_slot(&self) -> u8 {
        let first = self.fingerprint().into_iter().take(8).fold(0u64, |sum, byte| sum << 8 | u64::from(byte));
        u8::try_from(1 + first % 63).unwrap_or(1)
    }

    /// Returns the fingerprint of the same layout without statistics, which the statistics belong to.
    pub(crate) fn untrained_fingerprint(&self) -> [u8; 32] {
        let mut untrained = self.clone();
        untrained.model = untrained.model.with_statistics(None);
        untrained.fingerprint()
    }

    /// Returns the SHA-256 of [`Layout::canonical`].
    ///
    /// ```
    /// # use dunnage_packed::Layout;
    /// # use dunnage_schema::Model;
    /// let fingerprint = |schema| Ok::<_, dunnage_schema::SchemaError>(Layout::new(&Model::compile(schema)?)?.fingerprint());
    /// let old = fingerprint(r#"{"type": "integer", "minimum": 0, "maximum": 100}"#)?;
    /// assert_eq!(old, fingerprint(r#"{"title": "Humidity", "type": "integer", "minimum": 0, "maximum": 100}"#)?);
    /// assert_ne!(old, fingerprint(r#"{"type": "integer", "minimum": 0, "maximum": 101}"#)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fingerprint(&self) -> [u8; 32] {
        Sha256::digest(self.canonical()).into()
    }
}
