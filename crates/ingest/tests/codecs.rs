//! Messages that a vendor's codec decodes.

#![allow(clippy::unwrap_used, missing_docs)]

use dunnage_access::{Access, AccessSettings, Keys, Limits, Refusals, Tokens};
use dunnage_buffer::{BufferSettings, Message, Options, Provenance, QuarantineSettings, Quarantined, open};
use dunnage_ingest::{
    Code, Ingest, Metrics, RawMessage, Rejected,
    profiles::{
        Profiles,
        settings::{Profile, SchemaSettings},
    },
};
use std::{fs, path::Path, sync::Arc, time::Instant};

const CODEC: &str = "function decodeUplink(input) {
  switch (input.bytes[0]) {
    case 1: return { data: { port: input.fPort, v: input.bytes[1] } };
    case 2: return { data: {}, errors: ['no channel 2'] };
    case 3: while (true) {}
    case 4: return { data: { v: 1000 }, warnings: ['battery low'] };
    case 5: return { data: { v: NaN } };
  }
  return { data: { v: input.none.x } };
}
";

fn profile(device: &str, codec: &Path) -> Profile {
    Profile { device: device.into(), codec: Some(codec.to_owned()), ..Profile::default() }
}

fn profiles(folder: &Path) -> Profiles {
    let codec = folder.join("codec.js");
    let schema = r#"{"type":"object","properties":{"v":{"type":"integer","minimum":0,"maximum":255},"port":{"type":"integer"}}}"#;
    fs::create_dir_all(folder.join("schemas")).unwrap();
    fs::write(folder.join("schemas/level.json"), schema).unwrap();
    let settings = SchemaSettings { path: folder.join("schemas"), ..SchemaSettings::default() };
    let strict = Profile { schema: Some("level".into()), ..profile("strict-*", &codec) };
    Profiles::load(&settings, &[strict, profile("*", &codec)]).unwrap()
}

fn ingest(folder: &Path) -> Ingest {
    let buffer = BufferSettings { path: folder.join("log.sqlite3"), ..BufferSettings::default() };
    let quarantine = QuarantineSettings::default();
    let options =
        Options { buffer: &buffer, quarantine: &quarantine, formats: &["json", "codec"], outputs: vec![] };
    let (buffer, writer) = open(options, &|_| false).unwrap().start(1 << 16);
    writer.spawn(()).unwrap();
    let (settings, refusals) = (AccessSettings::default(), Refusals::default());
    let access = Access::new(&settings, Tokens::default(), Keys::default(), refusals.clone());
    let limits = Limits::new(&settings, refusals);
    let profiles = Arc::new(arc_swap::ArcSwap::from_pointee(profiles(folder)));
    Ingest::new(buffer, Arc::new(access), limits, profiles, Default::default(), Metrics::default())
}

async fn send(ingest: &Ingest, device: &str, content_type: &str, raw: &[u8]) -> Result<(), Rejected> {
    let message = RawMessage {
        input: "test",
        meter: ingest.metrics.inputs.of("test"),
        provenance: Provenance::new(device, 1_767_225_600_000_000, ingest.request_ids.next()),
        content_type: content_type.to_owned().into(),
        bad: None,
        raw: raw.to_vec().into(),
    };
    let mut in_flight = ingest.receive();
    ingest.store(&mut in_flight, message, ingest.reserve()).await
}

async fn last(ingest: &Ingest) -> Message {
    ingest.buffer.readers.after(0, 1000).await.unwrap().pop().unwrap()
}

async fn quarantined(ingest: &Ingest) -> Quarantined {
    let find = ingest.buffer.readers.find_quarantined(Default::default(), |_| true, (0, i64::MAX), 1 << 30);
    find.await.unwrap().pop().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_codec_decodes_what_names_no_format() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("codec.js"), CODEC).unwrap();
    let ingest = ingest(folder.path());
    send(&ingest, "a", "application/octet-stream; port=85", &[1, 7]).await.unwrap();
    let message = last(&ingest).await;
    assert_eq!(
        (&*message.json, &*message.format, &*message.raw),
        (r#"{"port":85,"v":7}"#, "codec", &[1, 7][..])
    );
    assert_eq!(message.origin.as_deref(), Some(r#"{"port":85}"#));
    // Without a port, and with a format of its own.
    send(&ingest, "a", "", &[1, 8]).await.unwrap();
    assert_eq!(&*last(&ingest).await.json, r#"{"v":8}"#);
    send(&ingest, "a", "application/json", br#"{"v":9}"#).await.unwrap();
    assert_eq!((&*last(&ingest).await.json, &*last(&ingest).await.format), (r#"{"v":9}"#, "json"));
    // With warnings.
    send(&ingest, "a", "", &[4]).await.unwrap();
    assert_eq!(last(&ingest).await.origin.as_deref(), Some(r#"{"warnings":["battery low"]}"#));
    // By the schema of the profile.
    send(&ingest, "strict-a", "", &[1, 8]).await.unwrap();
    assert_eq!(last(&ingest).await.schema.as_deref(), Some("level"));
    let rejected = send(&ingest, "strict-a", "", &[4]).await.unwrap_err();
    assert_eq!((rejected.code, rejected.pointer.as_deref()), (Code::Schema, Some("/v")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_a_codec_rejects_is_in_the_quarantine_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("codec.js"), CODEC).unwrap();
    let ingest = ingest(folder.path());
    for (raw, code, kind, reason) in [
        (&[2][..], Code::Malformed, "malformed", "codec.js: no channel 2"),
        (&[3], Code::Malformed, "limit", "the codec takes more than 100 ms"),
        (&[5], Code::NotRepresentable, "type", "NaN"),
        (&[6], Code::Malformed, "malformed", "codec.js:9: TypeError: cannot read property 'x' of undefined"),
        (&[0; 70_000], Code::Malformed, "limit", "at most 65536 bytes"),
    ] {
        let rejected = send(&ingest, "a", "application/octet-stream;port=2", raw).await.unwrap_err();
        assert!(rejected.code == code && rejected.detail.contains(reason), "{rejected:?}");
        let kept = quarantined(&ingest).await;
        assert!(kept.kind == kind && kept.reason.contains(reason) && *kept.raw == *raw, "{kept:?}");
    }
    let rejected = send(&ingest, "a", "application/octet-stream;port=0", &[1, 1]).await.unwrap_err();
    assert_eq!(rejected.code, Code::MediaType);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mended_codec_decodes_what_is_in_the_quarantine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codec.js");
    fs::write(&path, CODEC).unwrap();
    let ingest = ingest(folder.path());
    send(&ingest, "a", "application/octet-stream; port=85", &[2, 5]).await.unwrap_err();
    let kept = quarantined(&ingest).await;
    fs::write(&path, CODEC.replace("data: {}, errors: ['no channel 2']", "data: { p: input.fPort }"))
        .unwrap();
    ingest.profiles.store(Arc::new(profiles(folder.path())));
    let message = ingest.decode_again(kept, None).await.ok().unwrap();
    assert_eq!((&*message.json, message.format), (r#"{"p":85}"#, "codec"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_codec_that_never_ends_does_not_stop_other_devices() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("codec.js"), CODEC).unwrap();
    let ingest = Arc::new(ingest(folder.path()));
    let slow: Vec<_> = (0..20)
        .map(|_| {
            let ingest = Arc::clone(&ingest);
            tokio::spawn(async move { send(&ingest, "slow", "", &[3]).await })
        })
        .collect();
    let begun = Instant::now();
    send(&ingest, "json", "application/json", b"{}").await.unwrap();
    assert!(slow.iter().any(|one| !one.is_finished()), "{:?}", begun.elapsed());
    for one in slow {
        assert_eq!(one.await.unwrap().unwrap_err().kind, Some("limit"));
    }
}

#[test]
fn mistakes_in_a_codec_name_its_file_and_line_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codec.js");
    fs::write(&path, "function decodeUplink(input) {\n  return { data: };\n}\n").unwrap();
    let all = [profile("a-*", &path), profile("b-*", &path), profile("c", &folder.path().join("none.js"))];
    let (_, mistakes) = Profiles::load_all(&SchemaSettings::default(), &all);
    let name = |path: &Path| path.display().to_string();
    let [first, second] = &mistakes[..] else { panic!("{} mistakes", mistakes.len()) };
    let (syntax, missing) = (format!("{}:2: SyntaxError", name(&path)), name(&folder.path().join("none.js")));
    assert!(
        first.profile == Some((0, "codec")) && first.error.message.starts_with(&syntax),
        "{}",
        first.error
    );
    assert!(
        second.profile == Some((2, "codec")) && second.error.message.starts_with(&missing),
        "{}",
        second.error
    );
}
