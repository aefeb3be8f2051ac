//! The MQTT binding of oneM2M (TS-0010).

use super::{
    request::{self, Answer, Request},
    settings::Settings,
};
use crate::{Class, Failed};
use dunnage_clients::{
    mqtt::{Client, Event, Options, Version},
    secret::{self, SecretFile},
};
use mqtt_protocol_core::mqtt::packet::Qos;
use serde::Serialize;
use serde_json::{Value, value::RawValue};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::AbortHandle,
};

/// Largest packet, in bytes. The JSON of a message is at most a few times 1 MiB.
const PACKET: usize = 16 << 20;
/// Largest number of requests that wait to be written to the connection.
const CAPACITY: usize = 64;
/// Delay before the next connection.
const RECONNECT_DELAY: Duration = Duration::from_millis(500);

/// A client of a CSE that uses a broker.
pub struct Mqtt {
    link: Arc<Link>,
    release: String,
    originator: String,
    timeout: Duration,
    /// Spawned by the first request, because no runtime exists before.
    connection: OnceLock<AbortHandle>,
}

/// The state that the connection shares with the requests.
struct Link {
    options: Options,
    /// The file with the password, if the settings name one.
    password: Option<Arc<SecretFile>>,
    /// The topic for requests.
    requests: String,
    /// The topic for responses.
    topic: String,
    state: watch::Sender<State>,
    waiting: Mutex<HashMap<String, oneshot::Sender<Answer>>>,
}

/// The state of the connection to the broker.
enum State {
    /// Connected and subscribed. The channel accepts requests.
    Up(mpsc::Sender<Vec<u8>>),
    /// Not connected, for this reason.
    Down(String),
}

#[derive(Serialize)]
struct Primitive<'a> {
    op: u8,
    fr: &'a str,
    to: &'a str,
    rqi: &'a str,
    rvi: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ty: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rcn: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pc: Option<&'a RawValue>,
}

impl Mqtt {
    /// Creates a client for the CSE and the broker in `settings`.
    pub fn new(settings: &Settings) -> Result<Mqtt, String> {
        let url = settings.address()?;
        let Settings { originator, release, timeout_seconds, .. } = settings;
        let cse = settings.cse_id.as_deref().unwrap_or_default().trim_start_matches('/');
        // Client identifiers must be unique at a broker.
        let name = format!("{originator}-{:x}", dunnage_base::clock::now());
        let host = url.host_str().unwrap_or_default();
        let mut options = Options::new(Version::V3, name, host, url.port().unwrap_or(1883));
        options.packet_limit = PACKET;
        if !url.username().is_empty() {
            let password = url.password().unwrap_or_default().as_bytes().to_vec();
            options.login = Some((url.username().to_owned(), password));
        }
        let password = settings.password_file.clone();
        let password =
            password.map(|path| SecretFile::open("password_file", path, secret::any)).transpose()?;
        if let Some(user) = &settings.user {
            options.login = Some((user.clone(), Vec::new()));
        }
        let link = Link {
            options,
            password,
            requests: format!("/oneM2M/req/{originator}/{cse}/json"),
            topic: format!("/oneM2M/resp/{originator}/{cse}/json"),
            state: watch::Sender::new(State::Down("not connected yet".into())),
            waiting: Mutex::default(),
        };
        Ok(Mqtt {
            link: Arc::new(link),
            release: release.clone(),
            originator: originator.clone(),
            timeout: Duration::from_secs(*timeout_seconds),
            connection: OnceLock::new(),
        })
    }

    /// Returns the files that a reload reads again.
    pub fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.link.password.iter().cloned().collect()
    }

    /// Sends a request and waits for its response.
    pub async fn send(&self, request: &Request<'_>) -> Result<Answer, Failed> {
        self.connection.get_or_init(|| tokio::spawn(Arc::clone(&self.link).run()).abort_handle());
        let payload = self.payload(request).map_err(|e| Failed::refused(e.to_string()))?;
        if payload.len() + self.link.requests.len() + 16 > PACKET {
            return Err(Failed::refused(format!("the request exceeds {PACKET} bytes")));
        }
        match tokio::time::timeout(self.timeout, self.ask(&request.identifier, payload)).await {
            Ok(answer) => answer,
            Err(_) => Err(self.no_answer()),
        }
    }

    fn payload(&self, request: &Request<'_>) -> serde_json::Result<Vec<u8>> {
        let Request { to, child, identifier } = request;
        serde_json::to_vec(&Primitive {
            op: if child.is_some() { 1 } else { 2 },
            fr: &self.originator,
            to,
            rqi: identifier,
            rvi: &self.release,
            ty: child.map(|child| child.ty),
            // The response need not repeat the resource.
            rcn: child.map(|_| 0),
            pc: child.map(|child| &*child.content),
        })
    }

    async fn ask(&self, identifier: &str, payload: Vec<u8>) -> Result<Answer, Failed> {
        let mut state = self.link.state.subscribe();
        let requests = match state.wait_for(|state| matches!(state, State::Up(_))).await.as_deref() {
            Ok(State::Up(requests)) => requests.clone(),
            _ => return Err(self.no_answer()),
        };
        let (sender, answer) = oneshot::channel();
        self.link.waiting().insert(identifier.to_owned(), sender);
        let _waiting = Waiting { link: &self.link, identifier };
        let lost = || Failed::retry("the connection to the broker was lost").because(Class::Connection);
        requests.send(payload).await.map_err(|_| lost())?;
        answer.await.map_err(|_| lost())
    }

    fn no_answer(&self) -> Failed {
        match &*self.link.state.borrow() {
            State::Up(_) => Failed::retry("the CSE did not answer in time").because(Class::Timeout),
            State::Down(why) => Failed::retry(why.clone()).because(Class::Connection),
        }
    }
}

impl Drop for Mqtt {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.get() {
            connection.abort();
        }
    }
}

/// Removes a request from `waiting` when its future ends.
struct Waiting<'a> {
    link: &'a Link,
    identifier: &'a str,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.link.waiting().remove(self.identifier);
    }
}

impl Link {
    fn waiting(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Answer>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects repeatedly. Each connection has a new client and session. The client does not resend requests that were in progress; their
    /// callers retry them.
    async fn run(self: Arc<Link>) {
        loop {
            let why = self.serve().await.err().unwrap_or_default();
            tracing::debug!(why, "no connection to the MQTT broker");
            // First prevent further requests, then fail those in progress.
            self.state.send_replace(State::Down(format!("no connection to the broker: {why}")));
            self.waiting().clear();
            tokio::time::sleep(RECONNECT_DELAY).await;
        }
    }

    /// Sends requests and dispatches responses until the connection ends.
    async fn serve(&self) -> Result<(), String> {
        let text = |why: dunnage_clients::mqtt::Error| why.to_string();
        let mut options = self.options.clone();
        if let (Some((_, password)), Some(file)) = (&mut options.login, &self.password) {
            *password = file.text().as_bytes().to_vec();
        }
        let (mut client, _) = Client::connect(&options).await.map_err(text)?;
        client.subscribe(std::slice::from_ref(&self.topic)).map_err(text)?;
        let (sender, mut requests) = mpsc::channel(CAPACITY);
        let mut sender = Some(sender);
        // The next request is accepted after the previous ones have been written.
        loop {
            tokio::select! {
                event = client.next(true) => match event.map_err(text)? {
                    Event::Subscribed(Ok(())) => {
                        sender.take().map(|sender| self.state.send_replace(State::Up(sender)));
                    }
                    Event::Subscribed(Err(why)) => {
                        return Err(format!("it refused the subscription to {}: {why}", self.topic));
                    }
                    Event::Message(answer) => {
                        if answer.qos == Qos::AtLeastOnce {
                            client.acknowledge(answer.id);
                        }
                        self.answer(&answer.payload);
                    }
                    Event::Acknowledged(..) | Event::Answered => {}
                },
                Some(request) = requests.recv() => drop(client.publish(&self.requests, &request).map_err(text)?),
            }
        }
    }

    fn answer(&self, payload: &[u8]) {
        let waiting = read(payload).and_then(|(of, answer)| Some((self.waiting().remove(&of)?, answer)));
        match waiting {
            // A caller that no longer waits will retry.
            Some((sender, answer)) => drop(sender.send(answer)),
            None => tracing::debug!("a response arrived that no request waits for"),
        }
    }
}

/// Parses a response primitive, with or without `m2m:rsp`. Returns the identifier of its request, and the response.
fn read(payload: &[u8]) -> Option<(String, Answer)> {
    let primitive: Value = serde_json::from_slice(payload).ok()?;
    let primitive = primitive.get("m2m:rsp").unwrap_or(&primitive);
    let code = match primitive.get("rsc")? {
        Value::String(text) => text.parse().ok()?,
        number => u16::try_from(number.as_u64()?).ok()?,
    };
    let content = match primitive.get("pc") {
        None | Some(Value::Null) => Vec::new(),
        Some(content) => content.to_string().into_bytes(),
    };
    let (detail, has_size) = (request::detail(&content), request::has_size(&content));
    let answer = Answer { code, detail, has_size, wait: None };
    Some((primitive.get("rqi")?.as_str()?.to_owned(), answer))
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn answers_are_read_in_both_spellings_and_anything_else_is_none() {
        for text in [
            r#"{"rsc":4004,"rqi":"r","pc":{"m2m:dbg":"no"}}"#,
            r#"{"m2m:rsp":{"rsc":"4004","rqi":"r","pc":{"m2m:dbg":"no"}}}"#,
        ] {
            let (of, answer) = read(text.as_bytes()).unwrap();
            assert_eq!((&*of, answer.code, &*answer.detail), ("r", 4004, "no"));
        }
        for text in
            ["", "[]", "{}", r#"{"rsc":2001}"#, r#"{"rsc":70000,"rqi":"r"}"#, r#"{"rsc":2001,"rqi":1}"#]
        {
            assert!(read(text.as_bytes()).is_none(), "{text}");
        }
    }
}
