//! The schema registry, over the API of Confluent's: <https://docs.confluent.io/platform/current/schema-registry/develop/api.html>.

use super::settings;
use crate::{
    Class, Failed,
    http::{read, reason, retry_after},
};
use dunnage_access::tls;
use dunnage_clients::{
    mqtt::Trust,
    secret::{self, SecretFile},
};
use reqwest::{Client, StatusCode, Url, redirect::Policy};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(4);
/// Largest answer, in bytes. It may have the text of the schema.
const ANSWER: usize = 1 << 20;
const MEDIA_TYPE: &str = "application/vnd.schemaregistry.v1+json";

/// A registry, and the IDs of schemas in it.
pub struct Registry {
    client: Client,
    /// The address of the subject.
    subject: Url,
    user: Option<String>,
    password: Option<Arc<SecretFile>>,
    ca: Option<Arc<SecretFile>>,
    /// The ID of each schema, by its text.
    ids: Mutex<HashMap<String, u32>>,
}

/// A schema, as it is sent.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Schema<'s> {
    schema: &'s str,
    schema_type: &'static str,
}

#[derive(Deserialize)]
struct Registered {
    id: u32,
}

impl Registry {
    /// Reads the settings. The subject is `TOPIC-value`. An error begins with the key.
    pub fn new(settings: &settings::Registry, topic: &str) -> Result<Registry, String> {
        tls::prepare();
        let bad = |why: &str| format!("url: {why}");
        let mut subject = Url::parse(&settings.url).map_err(|e| bad(&e.to_string()))?;
        if !subject.username().is_empty() || subject.password().is_some() {
            return Err(bad("must not have a user or password; set user and password_file"));
        }
        let is_local =
            subject.host_str().is_some_and(|host| ["localhost", "127.0.0.1", "[::1]"].contains(&host));
        match subject.scheme() {
            "https" => {}
            "http" if settings.ca_file.is_some() => return Err("ca_file: requires an https:// URL".into()),
            "http" if settings.user.is_none() || is_local => {}
            "http" => {
                return Err(bad("must begin with https://, because a password goes to another machine"));
            }
            _ => return Err(bad("must begin with http:// or https://")),
        }
        let mut path = subject.path_segments_mut().map_err(|()| bad("has no host"))?;
        path.pop_if_empty().extend(["subjects", &format!("{topic}-value")]);
        drop(path);
        if settings.user.is_some() != settings.password_file.is_some() {
            return Err("user, password_file: must be set together".into());
        }
        let open = |key, path: &Option<_>, check| {
            path.clone().map(|path| SecretFile::open(key, path, check)).transpose()
        };
        let ca = open("ca_file", &settings.ca_file, secret::certificates)?;
        let mut client = Client::builder().http1_only().timeout(TIMEOUT).redirect(Policy::none());
        if let Some(file) = &ca {
            let trust = Trust::new(Some(file.text().as_bytes())).map_err(|e| format!("ca_file: {e}"))?;
            client = client.tls_backend_preconfigured((*trust.config()).clone());
        }
        Ok(Registry {
            client: client.build().map_err(|e| bad(&e.to_string()))?,
            subject,
            user: settings.user.clone(),
            password: open("password_file", &settings.password_file, secret::any)?,
            ca,
            ids: Mutex::default(),
        })
    }

    /// Returns the files that a reload reads again. That of the certificates is used at the start only.
    pub fn secrets(&self) -> Vec<Arc<SecretFile>> {
        self.password.iter().chain(&self.ca).cloned().collect()
    }

    /// Returns the ID of a schema of the kind `schema_type`, which is registered if the registry does not have it.
    pub async fn id(&self, schema_type: &'static str, text: &str) -> Result<u32, Failed> {
        let known = self.ids.lock().unwrap_or_else(PoisonError::into_inner).get(text).copied();
        if let Some(id) = known {
            return Ok(id);
        }
        let schema = Schema { schema: text, schema_type };
        // Whoever may only read finds what is there.
        let found = self.post(self.subject.clone(), &schema).await?;
        let id = match found {
            Ok(id) => id,
            Err((StatusCode::NOT_FOUND, _, _)) => {
                let mut versions = self.subject.clone();
                if let Ok(mut path) = versions.path_segments_mut() {
                    path.push("versions");
                }
                self.post(versions, &schema)
                    .await?
                    .map_err(|(status, text, wait)| refused(status, &text, wait))?
            }
            Err((status, text, wait)) => return Err(refused(status, &text, wait)),
        };
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned(), id);
        Ok(id)
    }

    /// Posts a schema. Returns its ID, or the status of the answer, its text, and how long to wait.
    async fn post(
        &self,
        url: Url,
        schema: &Schema<'_>,
    ) -> Result<Result<u32, (StatusCode, String, Option<Duration>)>, Failed> {
        let body = serde_json::to_vec(schema).map_err(|e| Failed::refused(e.to_string()))?;
        let mut request =
            self.client.post(url).header("content-type", MEDIA_TYPE).header("accept", MEDIA_TYPE);
        if let Some(user) = &self.user {
            request = request.basic_auth(user, self.password.as_ref().map(|file| file.read_again()));
        }
        let mut answer = request.body(body).send().await.map_err(|e| lost(&e))?;
        let status = answer.status();
        if !status.is_success() {
            let wait = retry_after(answer.headers());
            return Ok(Err((status, read(answer).await, wait)));
        }
        let mut text = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|e| lost(&e))? {
            text.extend_from_slice(&chunk);
            if text.len() > ANSWER {
                return Err(Failed::retry(format!("schema registry: its answer exceeds {ANSWER} bytes")));
            }
        }
        let registered: Registered = serde_json::from_slice(&text).map_err(|e| {
            Failed::retry(format!("schema registry: its answer is not what its API says: {e}"))
        })?;
        Ok(Ok(registered.id))
    }
}

fn lost(error: &reqwest::Error) -> Failed {
    let class = if error.is_timeout() { Class::Timeout } else { Class::Connection };
    Failed::retry(format!("schema registry: {}", reason(error))).because(class)
}

/// Returns what an answer means. A schema that is incompatible (409) or that the registry does not understand (422) is refused for good.
fn refused(status: StatusCode, text: &str, wait: Option<Duration>) -> Failed {
    let reason = format!("schema registry: it answered {status}: {text}");
    match status {
        StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY => Failed::refused(reason),
        _ => Failed::retry(reason).because(Class::of_status(status.as_u16())).not_before(wait),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{Read, Write},
        net::TcpListener,
        thread,
    };

    /// Returns the failure of a registry that answers `head` and then zeros for ever.
    async fn failure(head: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            let mut sent = 0;
            while head.ends_with("\r\n\r\n") && stream.write_all(&[b'0'; 1 << 16]).is_ok() {
                sent += 1 << 16;
            }
            sent
        });
        let settings = settings::Registry { url, user: None, password_file: None, ca_file: None };
        let failed = Registry::new(&settings, "t").unwrap().id("AVRO", "{}").await.unwrap_err();
        assert!(server.join().unwrap() < 64 << 20);
        failed.reason
    }

    // The connection is closed by another task than the one that waits for the server.
    #[tokio::test(flavor = "multi_thread")]
    async fn an_answer_without_an_end_is_not_read_to_its_end() {
        let reason = failure("HTTP/1.1 200 OK\r\n\r\n").await;
        assert_eq!(reason, "schema registry: its answer exceeds 1048576 bytes");
    }

    #[tokio::test]
    async fn an_answer_of_another_server_is_no_id() {
        let reason = failure("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").await;
        assert!(reason.contains("missing field `id`"), "{reason}");
    }
}
