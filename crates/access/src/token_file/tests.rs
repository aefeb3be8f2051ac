use super::*;

#[test]
fn a_token_is_known_by_its_hash_alone() {
    let (token, secret) = Token::make("a", Right::Read(Scope::EVERYTHING), None).unwrap();
    assert_eq!(secret.len(), LENGTH);
    assert_eq!(Fingerprint::of_credential(&secret), Some(token.fingerprint));
    assert_ne!(Token::make("a", Right::Read(Scope::EVERYTHING), None).unwrap().1, secret);
    for other in ["", "dn_", &secret[1..], &format!("{secret}A"), &secret.to_lowercase()] {
        assert_ne!(Fingerprint::of_credential(other), Some(token.fingerprint), "{other}");
    }
    let text = toml::to_string(&TokenFile { tokens: vec![token.entry()] }).unwrap();
    assert!(!text.contains(&secret) && !format!("{token:?}").contains(&secret), "{text}");
    let (tokens, mistakes) = Unique::default().tokens(toml::from_str(&text).unwrap());
    assert!(mistakes.is_empty() && tokens[0].fingerprint == token.fingerprint, "{text}");
}

#[test]
fn a_token_that_reads_a_part_is_written_and_read_again() {
    let tags = [("site".to_owned(), "pisa".to_owned())].into();
    let scope = Scope::new(Some("buoy-*".into()), tags).unwrap();
    let (token, _) = Token::make("a", Right::Read(scope.clone()), "2027-01-31".parse().ok()).unwrap();
    let (other, _) = Token::make("b", Right::Read(Scope::EVERYTHING), None).unwrap();
    let text = toml::to_string(&TokenFile { tokens: vec![token.entry(), other.entry()] }).unwrap();
    let (tokens, mistakes) = Unique::default().tokens(toml::from_str(&text).unwrap());
    let rights: Vec<_> = tokens.into_iter().map(|token| token.right).collect();
    assert_eq!(rights, [Right::Read(scope), Right::Read(Scope::EVERYTHING)], "{text}\n{mistakes:?}");
    // An older version refuses such a token; none takes it for one that reads everything.
    for (rest, key) in [
        ("read = true\ndevice = ''", "device"),
        ("read = true\ntags = { site = '' }", "tags"),
        ("device = 'a'\ntags = { site = 'pisa' }", "tags"),
        ("operate = true\ndevice = 'a'", "operate"),
        ("operate = true\ntags = { site = 'pisa' }", "tags"),
        ("operate = true\nread = true", "read"),
        ("", "device"),
    ] {
        let text = format!("[[token]]\nname = 'a'\nhash = '{}'\n{rest}", "0".repeat(64));
        let (tokens, mistakes) = Unique::default().tokens(toml::from_str(&text).unwrap());
        assert!(tokens.is_empty() && mistakes[0].key == key, "{rest}: {mistakes:?}");
    }
}

#[test]
fn a_day_ends_with_itself_and_a_moment_needs_an_offset() {
    let text = |until: &str| until.parse::<Until>().map(|until| until.text());
    assert_eq!(text("2027-01-31").unwrap(), "2027-02-01T00:00:00.000Z");
    assert_eq!(text("2027-01-31T08:00:00Z").unwrap(), "2027-01-31T08:00:00.000Z");
    assert_eq!(text("2027-01-31T08:00:00+02:00").unwrap(), "2027-01-31T06:00:00.000Z");
    for bad in ["", "tomorrow", "2027-02-30", "08:00:00", "2027-01-31T08:00:00"] {
        assert!(text(bad).is_err(), "{bad}");
    }
}

#[test]
fn patterns_are_ids_with_stars() {
    for pattern in ["*", "buoy-*", "*7", "urn:imei:*", "a*b*c", "buoy-7", "é*", "Garten *", "a/*"] {
        assert!(is_pattern(pattern), "{pattern}");
    }
    for pattern in ["", "a\n", "\u{7f}", &"x".repeat(129)] {
        assert!(!is_pattern(pattern), "{pattern}");
    }
}
