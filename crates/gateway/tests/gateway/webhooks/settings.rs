//! Invalid settings of a webhook.

use dunnage_gateway::InputSettings;
use tempfile::TempDir;

#[test]
fn invalid_settings_are_reported_with_their_key() {
    let folder = TempDir::new().unwrap();
    let (short, good) = (folder.path().join("short"), folder.path().join("good"));
    std::fs::write(&short, "password\n").unwrap();
    std::fs::write(&good, "0123456789abcdef").unwrap();
    let token = format!("token_file = {good:?}\n");
    for (provider, settings, key) in [
        ("chirpstack", "format = 'json'", "token_file"),
        ("chirpstack", &*format!("format = 'json'\ntoken_file = {short:?}"), "token_file"),
        ("chirpstack", "format = 'json'\ntoken_file = '/nowhere'", "token_file"),
        ("chirpstack", &format!("format = 'json'\nkey_file = {good:?}"), "key_file"),
        ("rockblock", &format!("format = 'json'\nkey_file = {good:?}"), "key_file"),
        ("chirpstack", &format!("{token}payload = 'normalized'"), "payload"),
        ("chirpstack", &format!("{token}[webhook.formats]\n0 = 'json'"), "formats"),
        ("astrocast", &format!("{token}format = 'json'\n[webhook.formats]\n1 = 'json'"), "formats"),
        ("astrocast", &format!("{token}format = 'json'\nheader = 'a b'"), "header"),
        ("astrocast", &format!("{token}format = 'json'\nlink = 'a b'"), "link"),
        ("astrocast", &format!("{token}format = 'json'\n[webhook.names]\na = ''"), "names"),
        ("astrocast", &format!("{token}format = 'json'\ndevices = []"), "devices"),
        ("astrocast", &format!("{token}format = 'json'\ndevices = ['buoy-*', '']"), "devices"),
        // The provider's key signs the messages of all its customers, so `devices` must restrict them.
        ("rockblock", "format = 'json'", "devices"),
    ] {
        let text = format!("name = 'h'\n[webhook]\nprovider = {provider:?}\n{settings}");
        let input: InputSettings = toml::from_str(&text).unwrap();
        let mut config = crate::support::config(folder.path());
        config.inputs = vec![input];
        let Err(error) = crate::support::runtime().block_on(dunnage_gateway::Gateway::start(config)) else {
            panic!("{text}");
        };
        assert!(error.to_string().contains(&format!(": {key}: ")), "{text}\n{error}");
    }
}
