//! Checks documents that show commands and their output. A shell runs each ```console block; `BLESS=1` writes its output to the
//! document.

use crate::run::root;
use std::{
    env, fs,
    io::Write,
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
};

const BEGIN: &str = "```console\n";
const END: &str = "```\n";
/// The address in the documents, which the test replaces with a free port.
const DOCUMENTED: &str = "127.0.0.1:8080";
/// Printed after each command, to separate its output from that of the next one.
const MARK: &str = "---- the command has ended ----";

#[test]
fn the_commands_of_the_tutorial_print_its_output() {
    check("docs/tutorial.md");
}

#[test]
fn the_commands_of_the_page_about_codecs_print_its_output() {
    check("docs/codecs.md");
}

#[test]
fn the_commands_of_the_page_about_bought_sensors_print_its_output() {
    check("docs/lorawan.md");
}

/// Runs the commands of the document `name`, and compares their output, or writes it to the document.
#[track_caller]
fn check(name: &str) {
    let path = root().join(name);
    let document = fs::read_to_string(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let run = run(&document, folder.path());
    if env::var_os("BLESS").is_some() {
        return fs::write(path, run).unwrap();
    }
    for (line, (expected, actual)) in document.lines().zip(run.lines()).enumerate() {
        assert_eq!(without_changes(expected), without_changes(actual), "{name}:{}", line + 1);
    }
    assert_eq!(document.lines().count(), run.lines().count(), "{run}");
}

/// Returns `document` with the output that its commands print in `folder`.
fn run(document: &str, folder: &Path) -> String {
    let commands: Vec<_> = document.split(BEGIN).skip(1).flat_map(|block| commands(body(block))).collect();
    let mut outputs = outputs(&commands, folder).into_iter();
    let mut blocks = document.split(BEGIN);
    let mut out = blocks.next().unwrap().to_owned();
    for block in blocks {
        out.push_str(BEGIN);
        for command in commands_as_written(body(block)) {
            out.push_str(&command);
            let output = outputs.next().unwrap();
            out.push_str(&output);
            if !output.is_empty() && !output.ends_with('\n') {
                out.push('\n');
            }
        }
        out.push_str(&block[body(block).len()..]);
    }
    out
}

/// The lines of a block, without the text after it.
fn body(block: &str) -> &str {
    &block[..block.find(END).expect("a block ends")]
}

/// The commands of a block with their prompts: lines that begin with `$ `, each with its `>` continuation lines.
fn commands_as_written(body: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in body.lines() {
        match commands.last_mut() {
            _ if line.starts_with("$ ") => commands.push(format!("{line}\n")),
            Some(command) if line.starts_with('>') => *command += &format!("{line}\n"),
            // Output.
            _ => {}
        }
    }
    commands
}

/// The commands of a block as a shell reads them.
fn commands(body: &str) -> Vec<String> {
    let line = |line: &str| line.strip_prefix("$ ").or(line.strip_prefix("> ")).unwrap_or("").to_owned();
    commands_as_written(body)
        .iter()
        .map(|text| text.lines().map(line).collect::<Vec<_>>().join("\n"))
        .collect()
}

/// Runs all commands in one shell in `folder`. Returns the output of each command.
fn outputs(commands: &[String], folder: &Path) -> Vec<String> {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let programs = Path::new(env!("CARGO_BIN_EXE_dunnage")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), env::var("PATH").unwrap());
    let mut shell = Command::new("bash")
        .current_dir(folder)
        .env("PATH", path)
        .env("DUNNAGE_HTTP_LISTEN", &address)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut script = "exec 2>&1\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n".to_owned();
    for command in commands {
        script += &format!("{}\n", command.replace(DOCUMENTED, &address));
        if command.ends_with('&') {
            // Wait until a server in the background has started.
            script += "for _ in $(seq 100); do curl -s http://$DUNNAGE_HTTP_LISTEN/readyz >/dev/null && break; sleep 0.1; done\n";
        }
        script += &format!("echo '{MARK}'\n");
    }
    shell.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = shell.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap().replace(&address, DOCUMENTED);
    let mut outputs: Vec<_> = text.split(&format!("{MARK}\n")).map(str::to_owned).collect();
    assert_eq!(outputs.pop().as_deref(), Some(""), "{text}");
    assert_eq!(outputs.len(), commands.len(), "{text}");
    outputs
}

/// Replaces what differs in each run: the digits of a receive time, and the ID of the buffer in a message's name.
fn without_changes(line: &str) -> String {
    let masked = |line: &str, start: &str, mask: fn(&str) -> String| {
        let Some((head, rest)) = line.split_once(start) else { return line.to_owned() };
        let (value, tail) = rest.split_once('"').unwrap();
        format!("{head}{start}{}\"{tail}", mask(value))
    };
    let line = masked(line, "\"received_at\":\"", |time| time.replace(|c: char| c.is_ascii_digit(), "0"));
    masked(&line, "\"name\":\"m", |name| name.split('-').skip(1).collect())
}
