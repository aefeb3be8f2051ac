//! Signatures that authenticate the sender of a request: the symmetric scheme of Standard Webhooks 1.0.

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;

/// A secret shared with the receiver. It has no `Debug`, so that it is never printed.
pub struct Secret(hmac::Key);

impl Secret {
    /// Parses a secret: 24 to 64 bytes in base64, optionally after `whsec_`.
    pub fn parse(text: &str) -> Result<Secret, &'static str> {
        let text = text.trim();
        let bytes = STANDARD.decode(text.strip_prefix("whsec_").unwrap_or(text));
        match bytes {
            Ok(bytes) if (24..=64).contains(&bytes.len()) => {
                Ok(Secret(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
            }
            Ok(_) => Err("must be 24 to 64 bytes"),
            Err(_) => Err("must be base64, optionally after whsec_"),
        }
    }

    /// Returns the value of the header `webhook-signature`. `timestamp` is in seconds since 1970.
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(format!("{id}.{timestamp}.").as_bytes());
        context.update(body);
        format!("v1,{}", STANDARD.encode(context.sign()))
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn secrets_are_base64_of_some_length() {
        for (text, good) in [
            ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", true),
            ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true),
            ("whsec_", false),
            ("whsec_AAAA", false),
            ("secret!", false),
        ] {
            assert_eq!(Secret::parse(text).is_ok(), good, "{text}");
        }
    }

    /// The example of the specification's reference libraries.
    #[test]
    fn the_example_has_its_signature() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature =
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
