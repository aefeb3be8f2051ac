//! Senders of device messages to the gateway.

use crate::fleet::PATIENCE;

/// A connection that devices use one after another.
pub trait Sender: Send {
    /// Sends a message once, except for the protocol's own retransmissions. Returns the result as an HTTP status, 204 if the
    /// message is acknowledged, or `None` if the outcome is unknown.
    fn send(&mut self, device: &str, key: &str, body: &str) -> Option<u16>;
}

/// One sender per connection.
pub type Senders = Vec<Box<dyn Sender>>;

/// Sends with POST, with the key in `Idempotency-Key`.
pub struct Post {
    agent: ureq::Agent,
    url: String,
}

impl Post {
    /// Senders that post to `url` followed by the device ID.
    pub fn senders(url: &str, connections: usize) -> Senders {
        let one = |_| Box::new(Post { agent: agent(), url: url.to_owned() }) as Box<dyn Sender>;
        (0..connections).map(one).collect()
    }
}

/// A client that returns error statuses as answers, not as errors, and waits as long as a device does.
pub fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE));
    config.build().into()
}

/// The status of a complete answer; `None` if the answer is incomplete.
pub fn status(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Option<u16> {
    let mut answer = answer.ok()?;
    answer.body_mut().read_to_vec().ok()?;
    Some(answer.status().as_u16())
}

impl Sender for Post {
    fn send(&mut self, device: &str, key: &str, body: &str) -> Option<u16> {
        let request = self.agent.post(format!("{}/{device}", self.url));
        let request = request.header("content-type", "application/json").header("idempotency-key", key);
        status(request.send(body))
    }
}
