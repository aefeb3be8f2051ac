//! A link to the HTTP input of the other gateway.

use super::{HttpSettings, unsent::Unsent};
use crate::{
    Class, Failed,
    http::{bearer, read, reason, retry_after, shown},
};
use dunnage_access::tls;
use dunnage_clients::secret::SecretFile;
use reqwest::{Client, StatusCode, Url, header, redirect::Policy};
use std::{sync::Arc, time::Duration};

/// The link.
pub struct Http {
    client: Client,
    url: Url,
    token: Option<Arc<SecretFile>>,
}

impl Http {
    /// Opens the link. An error begins with the key.
    pub fn new(settings: &HttpSettings, timeout: Duration) -> Result<Http, String> {
        tls::prepare();
        let url = Url::parse(&settings.url).map_err(|e| format!("url: {e}"))?;
        if !["http", "https"].contains(&url.scheme()) {
            return Err("url: must begin with http:// or https://".into());
        }
        let token = settings.token_file.clone();
        let token = token
            .map(|path| SecretFile::open("token_file", path, |text| bearer(text).map(|_| ())))
            .transpose()?;
        let client = Client::builder().http1_only().timeout(timeout).redirect(Policy::none());
        Ok(Http { client: client.build().map_err(|e| e.to_string())?, url, token })
    }

    /// Posts a batch. 204 means that the other gateway has all its readings on disk. Any other success is no gateway's answer to a batch.
    pub async fn send(&self, batch: Vec<u8>) -> Result<(), Unsent> {
        let mut request = self.client.post(self.url.clone());
        request = request.header(header::CONTENT_TYPE, dunnage_relay::MEDIA_TYPE);
        if let Some(token) = &self.token {
            let token = bearer(&token.text()).map_err(Failed::retry)?;
            request = request.header(header::AUTHORIZATION, token);
        }
        let answer = request.body(batch).send().await.map_err(|e| {
            let class = if e.is_timeout() { Class::Timeout } else { Class::Connection };
            Failed::retry(reason(&e.without_url())).because(class)
        })?;
        let (status, wait) = (answer.status(), retry_after(answer.headers()));
        if status == StatusCode::NO_CONTENT {
            return Ok(());
        }
        let text = read(answer).await;
        let reason = format!("{} answered {status}: {text}", shown(&self.url));
        let failed = Failed::retry(reason).because(Class::of_status(status.as_u16())).not_before(wait);
        Err(match status {
            StatusCode::PAYLOAD_TOO_LARGE => Unsent::TooLarge(failed),
            _ => Unsent::Failed(failed),
        })
    }

    /// Returns the file with the token.
    pub fn secret(&self) -> Option<Arc<SecretFile>> {
        self.token.clone()
    }
}
