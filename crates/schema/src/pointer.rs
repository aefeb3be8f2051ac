//! JSON pointers (RFC 6901).

/// Returns `key` as a reference token, with `~` and `/` escaped.
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns the key of a reference token.
pub fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
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
