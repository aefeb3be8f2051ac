//! Words for sentences.

use dunnage_links::Link;

/// The name of a link without what follows its comma.
pub fn short(link: &Link) -> &str {
    link.name.split(',').next().unwrap_or_default()
}

/// `a, b and c`.
pub fn list(items: impl Iterator<Item = String>) -> String {
    let mut items: Vec<String> = items.collect();
    match items.pop() {
        Some(last) if items.is_empty() => last,
        Some(last) => format!("{} and {last}", items.join(", ")),
        None => String::new(),
    }
}
