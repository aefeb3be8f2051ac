//! The schemas of `spec/schemas`, embedded.

const BUNDLED: [(&str, &str); 5] = [
    ("container", include_str!("../schemas/container.json")),
    ("container-voyage", include_str!("../schemas/container-voyage.json")),
    ("container-numeric", include_str!("../schemas/container-numeric.json")),
    ("weather", include_str!("../schemas/weather.json")),
    ("meter", include_str!("../schemas/meter.json")),
];

/// Returns the name and text of every schema in `spec/schemas`.
pub fn bundled() -> &'static [(&'static str, &'static str)] {
    &BUNDLED
}

/// Returns the text of the schema `name`: `container` for `spec/schemas/container.json`.
///
/// ```
/// use dunnage_schema::{Model, bundled_named};
/// assert_eq!(Model::compile(bundled_named("container").unwrap())?.name(), "Container");
/// assert_eq!(bundled_named("submarine"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn bundled_named(name: &str) -> Option<&'static str> {
    BUNDLED.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}
