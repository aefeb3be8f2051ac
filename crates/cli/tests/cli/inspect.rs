use crate::run::{dunnage, golden};

fn inspected(format: &str, json: &str) -> String {
    let bytes = dunnage(&["convert", "--from", "json", "--to", format], json);
    dunnage(&["inspect", "--format", format], &bytes.stdout).text().to_owned()
}

const MESSAGE: &str = r#"{"id":"LMCU1231237","temperature":[23.5,1.03,-40],"door":"öffen\n","ok":true,"none":null,"seen":1351824120}"#;

#[test]
fn every_format_has_its_view() {
    for format in ["pson", "cbor", "msgpack"] {
        golden(&format!("inspect-{format}.txt"), &inspected(format, MESSAGE));
    }
}

#[test]
fn notes_tell_what_is_not_canonical() {
    let hex = "e8 1f8100 3f8100 20 4000004042 41000000000000e03f 9f0161 400000c0ff 1f1e";
    let run = dunnage(&["inspect", "--hex"], hex);
    golden("inspect-lenient.txt", run.text());
}

#[test]
fn what_comes_before_the_damage_is_shown() {
    for (name, hex) in [("truncated", "c2 81 61 01 81 62 9f 2a 31 32 33"), ("malformed", "e3 01 63 02")] {
        let run = dunnage(&["inspect", "--hex"], hex);
        assert_eq!(run.code, 1);
        golden(&format!("inspect-{name}.txt"), &format!("{}{}", run.any_text(), run.stderr));
    }
}

#[test]
fn cbor_tags_chunks_and_indefinite_lengths_are_shown() {
    let hex = "bf 6474616773 82 c1 1a514b67b0 d818 4101 6474657874 7f 6161 6162 ff 6175 f7 ff";
    golden("inspect-cbor-indefinite.txt", dunnage(&["inspect", "--format", "cbor", "--hex"], hex).text());
}

#[test]
fn nothing_in_a_message_reaches_the_terminal_as_it_is() {
    let view = inspected("pson", r#"["\u001b[2J\u009b\u202e"]"#);
    assert!(view.is_ascii() && view.bytes().all(|b| b == b'\n' || !b.is_ascii_control()), "{view}");
}

#[test]
fn an_empty_input_is_truncated() {
    let run = dunnage(&["inspect"], "");
    assert_eq!((run.code, run.stderr.as_str()), (1, "dunnage: truncated: the message ends here at byte 0\n"));
}
