//! Requests to an object store.

use super::{
    about::About,
    fault,
    settings::{Destination, Protocol, Settings},
};
use crate::{Class, Failed};
use dunnage_access::tls;
use futures_util::TryStreamExt;
use object_store::{
    Attributes, ClientConfigKey, Error, GetOptions, ObjectStore, PutMode, PutOptions, RetryConfig,
    aws::{AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut},
    azure::{AzureConfigKey, MicrosoftAzureBuilder},
    gcp::{GoogleCloudStorageBuilder, GoogleConfigKey},
    path::Path,
};
use std::{sync::Arc, time::Duration};

/// An object store.
pub struct Store {
    store: Arc<dyn ObjectStore>,
    /// The scheme and the bucket, for people.
    shown: String,
}

/// Applies to a builder of `object_store` what is common to all: the variables of the environment that begin with `$prefix`, and the time of
/// a request. A request is not repeated, because the forwarder repeats calls. (The builders have no trait in common.)
macro_rules! configured {
    ($builder:expr, $prefix:literal, $client:path, $environment:expr, $timeout:expr) => {{
        let mut builder = $builder.with_retry(once());
        for (name, value) in $environment {
            let key = name.starts_with($prefix).then(|| name.to_ascii_lowercase().parse().ok()).flatten();
            if let Some(key) = key {
                builder = builder.with_config(key, value);
            }
        }
        builder.with_config($client(ClientConfigKey::Timeout), format!("{} ms", $timeout.as_millis()))
    }};
}

impl Store {
    /// Opens the store at `destination`, with credentials from `environment`. It need not be reachable yet.
    pub fn open(
        settings: &Settings,
        Destination { protocol, bucket, .. }: &Destination,
        environment: impl Iterator<Item = (String, String)>,
        timeout: Duration,
    ) -> Result<Store, String> {
        tls::prepare();
        settings.check_access(*protocol)?;
        let endpoint = settings.endpoint.as_deref();
        let failed = |e: Error| {
            format!("url: the store cannot be opened with the variables {}: {e}", variables(*protocol))
        };
        // The settings allow it only where it is safe or wanted.
        let http = endpoint.is_some_and(|endpoint| endpoint.starts_with("http:"));
        let store: Arc<dyn ObjectStore> = match protocol {
            Protocol::S3 => {
                let builder = AmazonS3Builder::new();
                let mut builder =
                    configured!(builder, "AWS_", AmazonS3ConfigKey::Client, environment, timeout)
                        .with_bucket_name(bucket)
                        .with_conditional_put(S3ConditionalPut::ETagMatch);
                if let Some(region) = &settings.region {
                    builder = builder.with_region(region);
                }
                if let Some(endpoint) = endpoint {
                    builder = builder.with_endpoint(endpoint).with_allow_http(http);
                }
                Arc::new(builder.build().map_err(failed)?)
            }
            Protocol::Google => {
                let builder = GoogleCloudStorageBuilder::new();
                let mut builder =
                    configured!(builder, "GOOGLE_", GoogleConfigKey::Client, environment, timeout)
                        .with_bucket_name(bucket);
                if let Some(endpoint) = endpoint {
                    let allowed = GoogleConfigKey::Client(ClientConfigKey::AllowHttp);
                    builder = builder.with_base_url(endpoint).with_config(allowed, http.to_string());
                }
                Arc::new(builder.build().map_err(failed)?)
            }
            Protocol::Azure => {
                let builder = MicrosoftAzureBuilder::new();
                let mut builder =
                    configured!(builder, "AZURE_", AzureConfigKey::Client, environment, timeout)
                        .with_container_name(bucket);
                if let Some(endpoint) = endpoint {
                    builder = builder.with_endpoint(endpoint.to_owned()).with_allow_http(http);
                }
                Arc::new(builder.build().map_err(failed)?)
            }
        };
        let scheme = match protocol {
            Protocol::S3 => "s3",
            Protocol::Google => "gs",
            Protocol::Azure => "az",
        };
        Ok(Store { store, shown: format!("{scheme}://{bucket}") })
    }

    /// Returns the URL of a key, for people.
    pub fn shown(&self, key: &Path) -> String {
        format!("{}/{key}", self.shown)
    }

    /// Creates an object. Returns `false` if the key is taken, or may be.
    pub async fn create(&self, key: &Path, bytes: Vec<u8>, attributes: Attributes) -> Result<bool, Failed> {
        let options = PutOptions { mode: PutMode::Create, attributes, ..PutOptions::default() };
        match self.store.put_opts(key, bytes.into(), options).await {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. }) => Ok(false),
            Err(e) => Err(fault::of(&e, &self.shown(key))),
        }
    }

    /// Returns what the object with the key `key` contains, as the store has it.
    pub async fn about(&self, key: &Path) -> Result<About, Failed> {
        let found = self.store.get_opts(key, GetOptions { head: true, ..GetOptions::default() }).await;
        let found = found.map_err(|e| fault::of(&e, &self.shown(key)))?;
        let wrong = |what: String| {
            let what = format!("{}: {what}; move it away", self.shown(key));
            Failed::retry(what).because(Class::Failing)
        };
        let about = About::read(&found.attributes)
            .ok_or_else(|| wrong("this output did not write this object, or its metadata is gone".into()))?;
        match found.meta.size == about.bytes {
            true => Ok(about),
            false => Err(wrong(format!("has {} bytes instead of {}", found.meta.size, about.bytes))),
        }
    }

    /// Returns the greatest value of `id` for the keys in the folder `folder`.
    pub async fn greatest(
        &self,
        folder: &Path,
        id: impl Fn(&Path) -> Option<i64>,
    ) -> Result<Option<i64>, Failed> {
        let mut keys = self.store.list(Some(folder));
        let mut greatest = None;
        while let Some(found) = keys.try_next().await.map_err(|e| fault::of(&e, &self.shown(folder)))? {
            greatest = greatest.max(id(&found.location));
        }
        Ok(greatest)
    }
}

/// Returns the variables of the environment that say who the gateway is.
fn variables(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::S3 => "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY",
        Protocol::Google => "GOOGLE_SERVICE_ACCOUNT",
        Protocol::Azure => "AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY",
    }
}

/// Returns the policy of a request that is not repeated.
fn once() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}
