use crate::run::{command, dunnage, finish};
use std::io::{Read, Write};

#[test]
fn a_reader_that_closes_early_is_not_an_error() {
    let message = format!("[{}1]", "1,".repeat(100_000));
    let lines = "[1,2,3]\n".repeat(100_000);
    let cases: [(&[&str], &str); 2] = [
        (&["convert", "--from", "json", "--to", "pson", "--lines"], &lines),
        (&["convert", "--from", "json", "--to", "json"], &message),
    ];
    for (arguments, input) in cases {
        let mut child = command(arguments).spawn().unwrap();
        drop(child.stdout.take());
        let run = finish(child, input.as_bytes());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments:?}");
    }
}

#[test]
fn inspect_ends_quietly_when_its_reader_closes() {
    let pson =
        dunnage(&["convert", "--from", "json", "--to", "pson"], format!("[{}1]", "1,".repeat(100_000)));
    let mut child = command(&["inspect"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&pson.stdout));
    let mut start = [0; 100];
    stdout.read_exact(&mut start).unwrap();
    drop(stdout);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
    writer.join().unwrap().unwrap();
}

#[test]
fn wrong_arguments_exit_with_2_and_an_error_on_stderr() {
    let cases: [&[&str]; 6] = [
        &[],
        &["convert", "--from", "json"],
        &["convert", "--from", "json", "--to", "jsonx"],
        &["compare", "x.json", "--link", "pigeon"],
        &["inspect", "--format", "json"],
        &["demo", "--containers", "0"],
    ];
    for arguments in cases {
        let run = dunnage(arguments, "");
        assert_eq!((run.code, run.any_text()), (2, ""), "{arguments:?}");
        assert!(!run.stderr.is_empty());
    }
}

#[test]
fn using_standard_input_twice_is_a_usage_error() {
    let cases: [&[&str]; 5] = [
        &["convert", "--from", "json", "--to", "packed", "--schema", "-"],
        &["compare", "--schema", "-"],
        &["schema", "check", "-", "-"],
        &["schema", "diff", "-", "-"],
        &["schema", "infer", "-", "-"],
    ];
    for arguments in cases {
        let run = dunnage(arguments, r#"{"type":"object"}"#);
        assert_eq!((run.code, run.any_text()), (2, ""), "{arguments:?}");
        assert!(run.stderr.contains("can be read only once: use a file"), "{}", run.stderr);
    }
}

#[test]
fn a_missing_file_is_reported_in_one_line() {
    let cases: [&[&str]; 4] = [
        &["compare", "no-such-file"],
        &["schema", "check", "no-such-file"],
        &["gateway", "--config", "no-such-file"],
        &["compare", "bench/corpus/container.json", "--proto", "no-such-file"],
    ];
    for arguments in cases {
        let run = dunnage(arguments, "");
        assert_eq!(run.code, 1, "{arguments:?}");
        assert!(run.stderr.starts_with("dunnage: ") && run.stderr.contains("no-such-file"), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
}

#[test]
fn colours_follow_no_color_and_clicolor_force() {
    let escapes = |variable: &str| {
        let mut command = command(&["compare", "-"]);
        if !variable.is_empty() {
            command.env(variable, "1");
        }
        finish(command.spawn().unwrap(), b"{\"a\":1}").text().contains('\x1b')
    };
    assert!(!escapes(""));
    assert!(!escapes("NO_COLOR"));
    assert!(escapes("CLICOLOR_FORCE"));
}

#[test]
fn version_and_help_exit_with_0() {
    assert!(dunnage(&["--version"], "").text().starts_with("dunnage "));
    for command in ["compare", "convert", "inspect", "schema", "gateway", "demo", "completions", "man"] {
        assert!(dunnage(&[command, "--help"], "").text().contains("Usage: dunnage "));
        assert!(dunnage(&["--help"], "").text().contains(command));
    }
}
