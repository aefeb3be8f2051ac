//! How a device's messages get to the gateway.

use crate::fleet::PATIENCE;

/// A connection of one device after the other.
pub trait Sender: Send {
    /// Sends a message once, as far as the protocol does. Answers in the words of HTTP: 204 when it is acknowledged, and
    /// `None` when it is not known what became of it.
    fn send(&mut self, device: &str, key: &str, body: &str) -> Option<u16>;
}

/// As many as there are connections.
pub type Senders = Vec<Box<dyn Sender>>;

/// POST, with the key in `Idempotency-Key`.
pub struct Post {
    agent: ureq::Agent,
    url: String,
}

impl Post {
    /// Connections to `url`, behind which the device's id belongs.
    pub fn senders(url: &str, connections: usize) -> Senders {
        let one = |_| Box::new(Post { agent: agent(), url: url.to_owned() }) as Box<dyn Sender>;
        (0..connections).map(one).collect()
    }
}

/// A client that takes every answer for one, and waits as long as a device does.
pub fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE));
    config.build().into()
}

/// The status of an answer that has arrived whole.
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
