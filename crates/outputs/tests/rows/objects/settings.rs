//! Settings that work, and errors that name the key. No store is asked.

use super::environment;
use dunnage_outputs::objects::Objects;
use std::time::Duration;

fn open(settings: &str) -> Result<(), String> {
    let azure = [("AZURE_STORAGE_ACCOUNT_NAME", "account"), ("AZURE_STORAGE_ACCOUNT_KEY", "a2V5")];
    let azure = azure.map(|(name, value)| (name.into(), value.into()));
    let settings = toml::from_str(settings).map_err(|e| e.to_string())?;
    Objects::with(&settings, environment().chain(azure), Duration::from_secs(3)).map(|_| ())
}

#[test]
fn all_three_stores_are_opened_by_their_urls() {
    for url in [
        "url = 's3://bucket'",
        "url = 's3://bucket/a/b/'\nregion = 'eu-west-1'",
        "url = 's3://bucket'\nendpoint = 'http://127.0.0.1:9000'",
        "url = 's3://bucket'\nendpoint = 'http://[::1]:9000'",
        "url = 's3://bucket'\nendpoint = 'http://localhost:9000'",
        "url = 's3://bucket'\nendpoint = 'https://minio.example'",
        "url = 's3://bucket'\nendpoint = 'http://minio.example'\nallow_http = true",
        "url = 'gs://bucket/a'",
        "url = 'gs://bucket'\nendpoint = 'http://127.0.0.1:4443'",
        "url = 'az://container/a'",
        "url = 'az://container'\nendpoint = 'http://127.0.0.1:10000/account'",
    ] {
        assert_eq!(open(&format!("{url}\nkind = 'parquet'")), Ok(()), "{url}");
    }
}

#[test]
fn what_cannot_work_is_an_error_that_names_the_key() {
    let long = format!("url = 's3://bucket/{}'\nkind = 'csv'", "x".repeat(600));
    for (settings, expected) in [
        ("url = 'file:///tmp'\nkind = 'csv'", "url: must begin with s3://"),
        ("url = 'bucket'\nkind = 'csv'", "url: "),
        ("url = 's3:///prefix'\nkind = 'csv'", "url: must name a bucket"),
        ("url = 's3://key:secret@bucket'\nkind = 'csv'", "url: must be only a bucket"),
        ("url = 's3://bucket?region=x'\nkind = 'csv'", "url: must be only a bucket"),
        ("url = 's3://bucket/a//b'\nkind = 'csv'", "url: "),
        (&long, "url: the prefix must have at most 512"),
        ("url = 's3://bucket'\nkind = 'xml'", "kind"),
        ("url = 's3://bucket'\nkind = 'csv'\npath = 'x'", "path"),
        ("url = 'gs://bucket'\nkind = 'csv'\nregion = 'x'", "region: needs a url"),
        ("url = 's3://bucket'\nkind = 'csv'\nallow_http = true", "allow_http: needs an endpoint"),
        (
            "url = 's3://bucket'\nkind = 'csv'\nendpoint = 'http://10.0.0.1'",
            "endpoint: http:// sends messages",
        ),
        ("url = 's3://bucket'\nkind = 'csv'\nendpoint = 'http://localhost.example'", "endpoint: http://"),
        ("url = 's3://bucket'\nkind = 'csv'\nendpoint = 'ftp://127.0.0.1'", "endpoint: must begin"),
        ("url = 's3://bucket'\nkind = 'csv'\nendpoint = '127.0.0.1:9000'", "endpoint: "),
        ("url = 's3://bucket'\nkind = 'ndjson'\nbom = true", "bom: needs kind"),
        ("url = 's3://bucket'\nkind = 'parquet'\nformulas = 'keep'", "formulas: needs kind"),
        ("url = 's3://bucket'\nkind = 'csv'\nobject_bytes = 1000", "object_bytes: must be"),
        ("url = 's3://bucket'\nkind = 'csv'\nreadable_after_seconds = 0", "readable_after_seconds: must be"),
    ] {
        let error = open(settings).unwrap_err();
        assert!(error.contains(expected) && !error.contains("secret"), "{settings}: {error}");
    }
    let settings = toml::from_str("url = 'az://container'\nkind = 'csv'").unwrap();
    let error = Objects::with(&settings, std::iter::empty(), Duration::from_secs(3)).err().unwrap();
    assert!(error.starts_with("url: ") && error.contains("AZURE_STORAGE_ACCOUNT_NAME"), "{error}");
}
