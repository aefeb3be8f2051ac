//! Suggests corrections for misspelt names.

/// Returns the one of `known` that is most similar to `name`. At most a third of its characters may be inserted, deleted, changed or
/// swapped; upper and lower case do not matter.
///
/// ```
/// use dunnage_schema::alike;
///
/// assert_eq!(alike("temprature", ["pressure", "temperature"]), Some("temperature"));
/// assert_eq!(alike("voltage", ["pressure", "temperature"]), None);
/// ```
///
/// ```
/// use dunnage_schema::alike;
/// assert_eq!(alike("minimun", ["minimum", "maximum"]), Some("minimum"));
/// assert_eq!(alike("colour", ["minimum", "maximum"]), None);
/// ```
#[doc(hidden)]
pub fn alike<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let distance = |known: &str| {
        // Compare the lengths first, to skip the costly distance for long names.
        let most = known.len() / 3;
        let is_near = known.len().abs_diff(lower.len()) <= most;
        is_near.then(|| strsim::osa_distance(&lower, &known.to_lowercase())).filter(|d| *d <= most)
    };
    let near = known.into_iter().filter_map(|known| Some((distance(known)?, known)));
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}
