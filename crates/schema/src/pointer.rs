//! JSON pointers (RFC 6901).

use dunnage_pson::Value;

/// Returns `key` as a reference token, with `~` and `/` escaped.
///
/// ```
/// use dunnage_schema::pointer;
/// assert_eq!(pointer::escape("a/b~c"), "a~1b~0c");
/// ```
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns the key of a reference token.
pub fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// Returns the value at `pointer` in `message`, if there is one.
///
/// ```
/// use dunnage_pson::Value;
/// use dunnage_schema::pointer;
/// let message = Value::Map(vec![("t".into(), Value::Array(vec![Value::U64(7)]))]);
/// assert_eq!(pointer::find(&message, "/t/0"), Some(&Value::U64(7)));
/// assert_eq!(pointer::find(&message, "/t/1"), None);
/// ```
pub fn find<'v>(message: &'v Value, pointer: &str) -> Option<&'v Value> {
    let Some(tokens) = pointer.strip_prefix('/') else { return pointer.is_empty().then_some(message) };
    tokens.split('/').try_fold(message, |value, token| match value {
        Value::Array(items) => items.get(token.parse::<usize>().ok()?),
        value => value.get(&unescape(token)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_restored_from_its_token() {
        for (key, token) in [("a/b", "a~1b"), ("~1", "~01"), ("~/", "~0~1"), ("", ""), ("°C", "°C")] {
            assert_eq!((escape(key).as_str(), unescape(token).as_str()), (token, key));
        }
    }
}
