use super::*;
use dunnage_buffer::Provenance;

fn read(text: &str) -> Vec<Profile> {
    #[derive(serde::Deserialize)]
    struct Config {
        profile: Vec<Profile>,
    }
    toml::from_str::<Config>(text).unwrap().profile
}

fn mistakes(text: &str) -> Vec<(usize, &'static str, String)> {
    let (_, mistakes) = Profiles::load_all(&SchemaSettings::default(), &read(text));
    let of = |mistaken: Mistaken| {
        let (index, key) = mistaken.profile.unwrap();
        (index, key, mistaken.error.message)
    };
    mistakes.into_iter().map(of).collect()
}

fn profiles(text: &str) -> Arc<Profiles> {
    Arc::new(Profiles::load(&SchemaSettings::default(), &read(text)).unwrap())
}

#[test]
fn the_first_profile_whose_conditions_hold_is_chosen() {
    let profiles = profiles(
        "[[profile]]\nname = 'register'\n\
         [[profile]]\nmatch = { device = 'em-*', port = 2 }\npath = 'settings'\n\
         [[profile]]\nmatch.provider.profile = 'EM300-*'\npath = 'em'\n\
         [[profile]]\nname = 'rest'\ndevice = 'em-*'\npath = 'rest'\n",
    );
    let path = |device: &str, origin: Option<&str>| profiles.output_path(&Subject::new(device, origin));
    assert_eq!(&*path("em-1", Some(r#"{"profile":"EM300-TH","port":2}"#)), "settings");
    assert_eq!(&*path("em-1", Some(r#"{"profile":"EM300-TH","port":85}"#)), "em");
    assert_eq!(&*path("other", Some(r#"{"profile":"EM300-TH","port":2}"#)), "em");
    assert_eq!(&*path("em-1", Some(r#"{"port":85}"#)), "rest");
    assert_eq!((&*path("em-1", None), &*path("other", None)), ("rest", ""));
    let labels: Vec<_> = profiles.rules().iter().map(|rule| &*rule.label).collect();
    let shown = r#"provider.profile = "EM300-*""#;
    assert_eq!(labels, ["register", r#"device = "em-*", port = 2"#, shown, "rest"]);
    assert_eq!(profiles.label(&"em-1".into()), Some("rest"));
}

#[test]
fn a_port_of_the_content_type_counts_and_stays() {
    let with_port = profiles("[[profile]]\nmatch.port = 85\n");
    let choose = |profiles: &Arc<Profiles>, origin: Option<&str>, content_type: &str| {
        let mut provenance = Provenance::new("d", 0, "");
        provenance.origin = origin.map(Into::into);
        let chosen = Chosen::of(Arc::clone(profiles), &mut provenance, content_type);
        (chosen.rule().is_some(), provenance.origin.as_deref().map(str::to_owned))
    };
    let packed = "application/vnd.dunnage.packed; port=85";
    assert_eq!(choose(&with_port, None, packed), (true, Some(r#"{"port":85}"#.into())));
    let origin = r#"{"port": 85}"#;
    assert_eq!(choose(&with_port, Some(origin), packed), (true, Some(origin.into())));
    assert_eq!(choose(&with_port, Some(origin), "application/json"), (true, Some(origin.into())));
    assert!(choose(&with_port, Some(r#"{"port":1}"#), packed).0);
    assert_eq!(choose(&with_port, None, "application/octet-stream"), (false, None));
    // Without a condition on the port, nothing is added.
    let without = profiles("[[profile]]\ndevice = '*'\n");
    assert_eq!(choose(&without, None, packed), (true, None));
}

#[test]
fn mistakes_have_the_key_that_is_at_fault() {
    let only =
        |text: &str| mistakes(text).into_iter().map(|(index, key, _)| (index, key)).collect::<Vec<_>>();
    assert_eq!(only("[[profile]]\nname = 'only'\n[[profile]]\nname = 'also'\n"), []);
    assert_eq!(only("[[profile]]\nschema = 'weather'\n"), [(0, "")]);
    assert_eq!(
        only("[[profile]]\nname = 'a'\n[[profile]]\nname = 'a'\n[[profile]]\nname = 'a b'\n"),
        [(1, "name"), (2, "name")]
    );
    assert_eq!(only("[[profile]]\ndevice = 'a'\nmatch.device = 'b'\n"), [(0, "match.device")]);
    assert_eq!(only("[[profile]]\nmatch.provider.tenant = ''\n"), [(0, "match.provider.tenant")]);
}

#[test]
fn a_relays_numbers_are_read_with_its_profile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ship-7.json");
    std::fs::write(&path, r#"{"hold-1": {"number": 0}}"#).unwrap();
    let profile = format!("[[profile]]\ndevice = 'ship-7'\nrelay = {path:?}\n");
    let wrong = |text: &str| mistakes(text).into_iter().map(|(_, key, why)| (key, why)).next().unwrap();
    let (key, why) = wrong(&profile);
    assert!(key == "relay" && why.contains("ship-7.json: \"hold-1\": number must be 1 to 65535"), "{why}");
    assert!(
        wrong("[[profile]]\ndevice = 'ship-7'\nrelay = '/nowhere'\n").1.contains("/nowhere: No such file")
    );
    std::fs::write(&path, r#"{"hold-1": {"number": 1}}"#).unwrap();
    let choose = |content_type: &str| {
        let mut provenance = Provenance::new("ship-7", 0, "");
        let chosen = Chosen::of(profiles(&profile), &mut provenance, content_type);
        chosen.numbers(content_type).is_some()
    };
    assert!(choose("") && choose("application/octet-stream") && choose("Application/vnd.Dunnage.relay; v=1"));
    assert!(!choose("application/json"));
}

#[test]
fn a_profile_that_no_message_reaches_is_reported() {
    let of =
        |earlier: &str, later: &str| mistakes(&format!("[[profile]]\n{earlier}\n[[profile]]\n{later}\n"));
    let found = of("device = 'a*'", "match = { device = 'ab*', port = 85 }");
    let why = r#"no message reaches this profile: the earlier "a*" matches them all"#;
    assert_eq!(found, [(1, "match", why.into())]);
    let found = of("match.port = [1, 2]", "device = 'x'\nmatch.port = 2");
    let why = "no message reaches this profile: the earlier port = [1, 2] matches them all";
    assert_eq!(found, [(1, "device", why.into())]);
    let found = of("name = 'n'\nmatch.topic = 'a/*'", "match.topic = 'a/b'");
    assert!(found[0].2.contains(r#"the earlier "n" matches"#), "{found:?}");
    assert_eq!(of("match.port = 85", "device = '*'"), []);
    assert_eq!(of("name = 'n'", "device = '*'"), []);
    assert_eq!(of("device = '*'", "name = 'n'"), []);
}

#[test]
fn a_device_may_be_watched_if_its_message_decides() {
    let profiles =
        profiles("[[profile]]\nmatch = { device = 'a*', topic = 't' }\nsilent_after_seconds = 1\n");
    assert!(profiles.may_watch("a1") && !profiles.may_watch("b1"));
    let after = |origin| profiles.silent_after(&Subject::new("a1", origin));
    assert_eq!((after(Some(r#"{"topic":"t"}"#)), after(None)), (Some(1_000_000), None));
}
