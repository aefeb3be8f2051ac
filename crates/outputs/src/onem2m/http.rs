//! The HTTP binding of oneM2M (TS-0009).

use super::{
    request::{self, Answer, Request},
    settings::Settings,
};
use crate::{Class, Failed, http::retry_after};
use dunnage_access::tls;
use reqwest::{Client, RequestBuilder, Response, Url, header, redirect::Policy};
use std::time::Duration;

/// How many bytes of a response's content are kept. An instance may have the attributes after its content.
const KEPT: usize = 16 << 20;

/// An HTTP client of the CSE.
pub struct Http {
    client: Client,
    url: String,
    originator: String,
    release: String,
}

impl Http {
    /// Creates a client for the CSE in `settings`.
    pub fn new(settings: &Settings) -> Result<Http, String> {
        tls::prepare();
        let client = Client::builder()
            .http1_only()
            .timeout(Duration::from_secs(settings.timeout_seconds))
            // A redirect would turn a POST into a GET.
            .redirect(Policy::none())
            .build()
            .map_err(|e| e.to_string())?;
        let url: Url = settings.address()?;
        Ok(Http {
            client,
            url: url.as_str().trim_end_matches('/').to_owned(),
            originator: settings.originator.clone(),
            release: settings.release.clone(),
        })
    }

    /// Sends a request and waits for its response.
    pub async fn send(&self, request: &Request<'_>) -> Result<Answer, Failed> {
        let answer = self.request(request).send().await;
        let answer = match answer {
            Ok(answer) => read(answer).await,
            Err(e) => Err(e),
        };
        answer.map_err(|e| {
            let class = if e.is_timeout() { Class::Timeout } else { Class::Connection };
            Failed::retry(explain(&e.without_url())).because(class)
        })
    }

    fn request(&self, request: &Request<'_>) -> RequestBuilder {
        let Request { to, child, identifier } = request;
        let url = format!("{}/{to}", self.url);
        let built = match child {
            // rcn=0: the response need not repeat the resource.
            Some(child) => (self.client.post(format!("{url}?rcn=0")))
                .header(header::CONTENT_TYPE, format!("application/json;ty={}", child.ty))
                .body(child.content.get().to_owned()),
            None => self.client.get(url),
        };
        built
            .header(header::ACCEPT, "application/json")
            .header("x-m2m-origin", &self.originator)
            .header("x-m2m-ri", identifier)
            .header("x-m2m-rvi", &self.release)
    }
}

async fn read(mut answer: Response) -> reqwest::Result<Answer> {
    let code = answer.headers().get("x-m2m-rsc").and_then(|code| code.to_str().ok()?.parse().ok());
    let code = code.unwrap_or(answer.status().as_u16());
    let wait = retry_after(answer.headers());
    // Read to the end, so that the connection can be reused.
    let mut content = Vec::new();
    while let Some(part) = answer.chunk().await? {
        content.extend_from_slice(&part[..part.len().min(KEPT - content.len())]);
    }
    Ok(Answer { code, detail: request::detail(&content), has_size: request::has_size(&content), wait })
}

/// Describes an error with its causes.
fn explain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
