use super::*;

fn parse(text: &str, environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::parse("f.toml", text, environment.iter().map(|(k, v)| (k.to_string(), v.to_string())))
}

#[test]
fn the_commented_default_parses_to_the_default() {
    assert_eq!(parse(&Config::commented_default(), &[]).unwrap(), Config::default());
}

#[test]
fn the_commented_default_names_every_key() {
    let mut expected: Vec<(String, String)> = Vec::new();
    for (section, value) in table(&Config::default()) {
        expected.extend(value.as_table().unwrap().keys().map(|key| (section.clone(), key.clone())));
    }
    let mut named: Vec<_> = keys().map(|(section, key, _)| (section.to_owned(), key.to_owned())).collect();
    expected.sort();
    named.sort();
    assert_eq!(named, expected);
}

#[test]
fn the_commented_profile_is_valid() {
    let lines = PROFILE
        .lines()
        .filter_map(|l| l.strip_prefix("# "))
        .filter(|l| l.contains(" = ") || l.starts_with("[["));
    let config = parse(&lines.collect::<Vec<_>>().join("\n"), &[]).unwrap();
    assert_eq!(config.profiles[0].device, "LMCU*");
    assert_eq!(config.profiles[0].proto.as_deref(), Some(Path::new("container.proto")));
}

#[test]
fn the_commented_inputs_are_valid() {
    for example in dunnage_inputs::EXAMPLES {
        let lines: Vec<_> = example
            .lines()
            .filter_map(|l| l.strip_prefix("# "))
            .filter(|l| l.starts_with('[') || l.contains(" = ") && !l.contains("payload"))
            .collect();
        let config = parse(&lines.join("\n"), &[]).unwrap();
        assert_eq!(
            dunnage_inputs::open_all(&config.inputs, config.beside_inputs()).unwrap().len(),
            1,
            "{example}"
        );
    }
}

#[test]
fn the_commented_outputs_are_valid() {
    let key = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(key.path(), "secret").unwrap();
    for example in dunnage_outputs::EXAMPLES {
        let lines: Vec<_> =
            example.lines().filter_map(|l| l.strip_prefix("# ")).filter(|l| l.contains(['=', '['])).collect();
        let text = lines.join("\n").replace("chirpstack.key", key.path().to_str().unwrap());
        let config = parse(&text, &[]).unwrap();
        assert!(dunnage_outputs::open(&config.outputs[0]).is_ok(), "{example}");
    }
}

#[test]
fn every_key_can_be_set_in_the_environment() {
    for (section, key, _) in keys() {
        let variable = format!("DUNNAGE_{}_{}", section.to_uppercase(), key.to_uppercase());
        let text = match (section, key) {
            ("http", "listen") => "127.0.0.1:9",
            ("log", "format") => "json",
            ("buffer", "when_full") => "refuse",
            ("log", "level") => "warn",
            ("access", "who") => "anyone",
            ("register", "unknown") => "quarantine",
            ("http", "tls" | "forms") | ("schemas", "assert_formats" | "require_check") => "true",
            ("tls", _) => "both.pem",
            (_, "path" | "map" | "socket" | "tokens" | "keys") => "elsewhere",
            ("http", "body_limit_bytes") => "77",
            ("buffer", "queue_bytes" | "limit_bytes") => "2000000",
            _ => "7",
        };
        let both = [("DUNNAGE_TLS_CERTIFICATE", "c.pem"), ("DUNNAGE_TLS_KEY", "k.pem"), (&variable, text)];
        let config = parse("", if variable.contains("TLS") { &both } else { &both[2..] }).unwrap();
        assert_ne!(config, Config::default(), "{variable}");
    }
}

#[test]
fn the_environment_overrides_the_file() {
    let config = parse("[http]\nlisten = '127.0.0.1:1'", &[("DUNNAGE_HTTP_LISTEN", "127.0.0.1:2")]).unwrap();
    assert_eq!(config.http.listen.port(), 2);
}

#[test]
fn an_unknown_key_is_an_error_with_its_line() {
    let e = parse("[http]\nlisten = '127.0.0.1:1'\nlisten_port = 3", &[]).unwrap_err().to_string();
    assert!(e.contains("f.toml") && e.contains("line 3") && e.contains("listen_port"), "{e}");
}

#[test]
fn an_unknown_variable_of_a_section_is_an_error_and_others_are_ignored() {
    let e = parse("", &[("DUNNAGE_HTTP_LISTNE", "x")]).unwrap_err().to_string();
    assert!(e.contains("DUNNAGE_HTTP_LISTNE"), "{e}");
    assert!(parse("", &[("DUNNAGE_COLOUR", "x"), ("HTTP_LISTEN", "x")]).is_ok());
}

#[test]
fn an_error_names_a_variable_of_the_wrong_type() {
    let e = parse("", &[("DUNNAGE_BUFFER_QUEUE_MESSAGES", "many")]).unwrap_err().to_string();
    assert!(e.contains("DUNNAGE_BUFFER_QUEUE_MESSAGES") && e.contains("many"), "{e}");
}

#[test]
fn invalid_values_are_rejected() {
    for text in [
        "[buffer]\nqueue_messages = 0",
        "[buffer]\nqueue_bytes = 10",
        "[http]\nbody_limit_bytes = 2000000",
        "[http]\nheader_timeout_seconds = 0",
        "[http]\ntls = true",
        "[tls]\nkey = 'k.pem'",
        "[tls]\ncertificate = 'c.pem'",
        "[http]\nheader_timeout_seconds = 9223372036854775807",
        "[http]\nbody_timeout_seconds = 9223372036854775807",
        "[http]\nwrite_timeout_seconds = 9223372036854775807",
        "[http]\ndrain_timeout_seconds = 9223372036854775807",
        "[buffer]\nqueue_messages = 9223372036854775807",
        "[buffer]\nduplicate_window_seconds = 9223372036854775807",
    ] {
        assert!(matches!(parse(text, &[]), Err(ConfigError::Value { .. })), "{text}");
    }
}
