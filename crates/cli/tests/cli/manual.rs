use crate::run::dunnage;

/// A full disk is a failure of every output, of the help as well.
#[test]
fn help_that_cannot_be_written_is_a_failure() {
    for argument in ["--help", "--version"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dunnage"));
        let status = command.arg(argument).stdout(full).stderr(std::process::Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(1), "{argument}");
    }
}

const COMMANDS: [&str; 10] =
    ["codec", "compare", "plan", "convert", "inspect", "schema", "gateway", "demo", "completions", "man"];

#[test]
fn every_shell_completes_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = dunnage(&["completions", shell], "");
        assert!(COMMANDS.iter().all(|command| run.text().contains(command)), "{shell}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            dunnage(&["completions", shell], "").text().contains("thrift-compact"),
            "{shell} completes formats"
        );
        assert!(
            dunnage(&["completions", shell], "").text().contains("lorawan-eu868-dr5"),
            "{shell} completes links"
        );
    }
}

#[test]
fn there_is_a_page_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    dunnage(&["man", "--dir", folder.path().to_str().unwrap()], "").text();
    for command in COMMANDS {
        let page = std::fs::read_to_string(folder.path().join(format!("dunnage-{command}.1"))).unwrap();
        assert!(page.contains(".TH") && page.contains(".SH SYNOPSIS"), "{command}");
    }
    let page = dunnage(&["man"], "");
    assert!(COMMANDS.iter().all(|command| page.text().contains(&format!("dunnage\\-{command}(1)"))));
}
