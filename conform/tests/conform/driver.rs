//! Tests that the driver detects faulty executors. The executors here are one line of shell.

use std::process::{Command, Output};

const HELLO: &str = "read -r line; read -r line; echo ok nesting 32 size 1048576 float 64 line 200";

fn ask(executor: &str) -> (bool, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_conform"))
        .args(["--messages", "200", "sh", "-c", executor])
        .output()
        .expect("the driver starts");
    (status.success(), String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr))
}

#[test]
fn wrong_answers_are_counted_and_the_first_are_shown() {
    let (success, output) =
        ask(&format!("{HELLO}; while read -r line; do [ -z \"$line\" ] || echo ok i0; done"));
    assert!(!success, "{output}");
    assert!(output.contains("    answered ok i0\n"), "{output}");
    assert!(output.contains("answers differ"), "{output}");
    assert_eq!(output.matches("    expected ").count(), 20, "{output}");
}

#[test]
fn skipped_requests_are_counted() {
    let (success, output) =
        ask(&format!("{HELLO}; while read -r line; do [ -z \"$line\" ] || echo skip; done"));
    assert!(success, "{output}");
    let lines: Vec<&str> = output.lines().filter(|line| line.contains(" skipped, 0 wrong")).collect();
    assert_eq!(lines.len(), 2, "{output}");
    for line in lines {
        let count = |word: &str| {
            line.split(word).next().and_then(|before| before.rsplit(' ').next()).map(str::to_owned)
        };
        assert!(count(" requests, ").is_some());
        assert_eq!(count(" requests, "), count(" skipped, "), "{line}");
    }
}

#[test]
fn an_executor_that_ends_early_fails_at_a_request() {
    let (success, output) = ask(&format!("{HELLO}; read -r line; echo skip"));
    assert!(!success, "{output}");
    assert!(output.contains("the executor exited") || output.contains("Broken pipe"), "{output}");
}
