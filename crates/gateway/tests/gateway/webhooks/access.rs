//! Access to webhooks: tokens and their devices, forged signatures and limits on guessing.

use super::{
    ASTROCAST, FORM, ROCKBLOCK, TOKEN, assert_answer, assert_problem, call, claims, claims_of, clock, jwt,
    list, signed, start, start_again, webhook,
};
use crate::support::JSON;
use dunnage_gateway::InputSettings;
use serde_json::json;
use tempfile::TempDir;

#[test]
fn requests_without_valid_credentials_are_401_and_not_stored() {
    let gateway = start();
    for (path, header, token) in [
        ("/hooks/astrocast", "x-none", ""),
        ("/hooks/astrocast", "authorization", ""),
        ("/hooks/astrocast", "authorization", "Bearer 0123456789abcdeg"),
        ("/hooks/astrocast", "authorization", "Bearer # while it is changed"),
        ("/hooks/astrocast?token=0123456789abcdef", "x-none", ""),
        ("/hooks/tts", "authorization", TOKEN),
        ("/hooks/rockblock-url", "x-none", ""),
        ("/hooks/rockblock-url?token=x", "x-none", ""),
    ] {
        assert_problem(&call(&gateway, path, (header, token), JSON, ASTROCAST), 401, "unauthorized");
    }
    let mut forged = jwt(&claims());
    forged.replace_range(30..31, if &forged[30..31] == "A" { "B" } else { "A" });
    let others = include_str!("../../webhooks/rock7.jwt").trim().to_owned();
    for jwt in [String::new(), forged, others] {
        let form = format!("{ROCKBLOCK}&JWT={jwt}");
        assert_problem(&call(&gateway, "/hooks/rockblock", ("x-none", ""), FORM, &form), 401, "unauthorized");
    }
    assert!(list(&gateway, "/api/messages").is_empty() && list(&gateway, "/api/quarantine").is_empty());
    let (summary, _) = gateway.stop();
    assert_eq!((summary.received, summary.refused), (11, 11));
}

#[test]
fn many_wrong_tokens_are_429_and_a_valid_one_is_still_accepted() {
    let gateway = start();
    let status =
        |path: &str, header: &str, token: &str| call(&gateway, path, (header, token), JSON, ASTROCAST).status;
    // A request without a token is not a guess.
    let none: Vec<_> = (0..40).map(|_| status("/hooks/astrocast", "x-none", "")).collect();
    assert_eq!(none, [401; 40]);
    let wrong: Vec<_> =
        (0..40).map(|n| status("/hooks/astrocast", "authorization", &format!("Bearer {n}"))).collect();
    assert_eq!((&wrong[..30], wrong[39]), (&[401; 30][..], 429));
    assert_eq!(status("/hooks/rockblock-url?token=x", "x-none", ""), 429);
    assert_eq!(status("/hooks/astrocast", "authorization", "Bearer 0123456789abcdef"), 200);
    let metrics = gateway.get("/metrics").text;
    assert!(metrics.contains("dunnage_access_refusals_total{problem=\"too-many\"}"), "{metrics}");
}

#[test]
fn two_tokens_are_valid_during_a_rotation_and_a_token_may_be_in_the_url() {
    let gateway = start();
    for token in ["Bearer fedcba9876543210", "bearer 0123456789abcdef", "0123456789abcdef"] {
        let answer = call(&gateway, "/hooks/astrocast", ("authorization", token), JSON, ASTROCAST);
        assert_answer(&answer, "stored");
    }
    let path = "/hooks/rockblock-url?token=fedcba9876543210";
    assert_answer(&call(&gateway, path, ("x-none", ""), FORM, ROCKBLOCK), "stored");
    let (summary, _) = gateway.stop();
    assert_eq!((summary.stored, summary.duplicates), (2, 2));
}

#[test]
fn tokens_change_with_a_reload_and_old_and_new_overlap() {
    let gateway = start();
    let file = gateway.folder.path().join("tokens");
    let known = |token: &str| {
        let answer = call(
            &gateway,
            "/hooks/astrocast",
            ("authorization", &format!("Bearer {token}")),
            JSON,
            ASTROCAST,
        );
        assert!([200, 401].contains(&answer.status), "{}", answer.text);
        answer.status == 200
    };
    let reload = || gateway.runtime.block_on(gateway.gateway.reload()).map_err(|e| e.to_string());
    let (old, new) = ("0123456789abcdef", "a-token-that-is-new");
    for (text, valid) in [
        (format!("{old}\n{new}\n"), [true, true]),
        (format!("# the old one is gone\n{new}\n"), [false, true]),
        (format!("{old}\n"), [true, false]),
    ] {
        let before = [old, new].map(known);
        std::fs::write(&file, &text).unwrap();
        assert_eq!([old, new].map(known), before, "without a reload");
        reload().unwrap();
        assert_eq!([old, new].map(known), valid, "{text}");
    }
    for bad in ["", "short\n", "# nothing\n"] {
        std::fs::write(&file, bad).unwrap();
        let error = reload().unwrap_err();
        assert!(error.contains("token_file") && error.contains(file.to_str().unwrap()), "{error}");
        assert_eq!([old, new].map(known), [true, false], "{bad:?}");
    }
    std::fs::write(&file, format!("{old}\n")).unwrap();
    std::fs::write(gateway.folder.path().join("signer.pub.pem"), "no key").unwrap();
    assert!(reload().unwrap_err().contains("key_file"));
}

#[test]
fn a_webhook_sends_only_as_its_own_devices() {
    let folder = TempDir::new().unwrap();
    let signer = folder.path().join("signer.pub.pem");
    let gateway = start_again(folder, |config| {
        let more = |devices: &str| {
            format!("provider = 'rockblock'\nkey_file = {signer:?}\nformat = 'json'\ndevices = {devices}\n")
        };
        webhook(config, "list", &more("['buoy-*', '300234010753370']"));
        webhook(config, "pattern", &more("'LMCU*'"));
        let names = "[webhook.names]\n300234010753370 = 'ship-1'";
        webhook(config, "named", &(more("'ship-*'") + names));
    });
    let fresh = |imei: &str, momsn: &str| {
        let mut claims = claims_of(momsn, clock(0), clock(0));
        claims["imei"] = json!(imei);
        claims
    };
    let own = fresh("300234010753370", "1");
    // A device of another customer of the provider. The same key signs its messages.
    let foreign = fresh("300434062929540", "1");
    assert_answer(&signed(&gateway, "list", &own), "stored");
    assert_problem(&signed(&gateway, "pattern", &own), 403, "forbidden");
    assert_answer(&signed(&gateway, "named", &own), "stored");
    for name in ["list", "pattern", "named"] {
        assert_problem(&signed(&gateway, name, &foreign), 403, "forbidden");
        // Nor under a name that resembles those of the webhook's own devices.
        assert_problem(&signed(&gateway, name, &fresh("LMCX1", "1")), 403, "forbidden");
    }
    let devices = gateway.get_json("/api/devices");
    assert_eq!(devices["devices"].as_array().unwrap().len(), 2, "{devices}");
    assert!(list(&gateway, "/api/quarantine").is_empty());
    let metrics = gateway.get("/metrics").text;
    assert!(metrics.contains("dunnage_access_refusals_total{problem=\"forbidden\"} 7"), "{metrics}");
    let table = "name = 'h'\n[webhook]\nprovider = 'rockblock'\nformat = 'json'\n[webhook.devices]\na = 'b'";
    let error = toml::from_str::<InputSettings>(table).unwrap_err().to_string();
    assert!(error.contains("[input.webhook.names]"), "{error}");
}
