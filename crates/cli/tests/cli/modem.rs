//! `dunnage modem` with modems that answer right, wrong, late and not at all, on a pseudo-terminal.

use crate::run::{Run, dunnage};
use rustix::{
    fs::OFlags,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{OptionalActions, tcgetattr, tcsetattr},
};
use std::{
    fs::File,
    io::{ErrorKind, Read, Write},
    thread,
    time::Duration,
};

/// What a modem does.
#[derive(Clone)]
enum Step {
    /// It waits for exactly these bytes.
    Expects(Vec<u8>),
    /// It sends these bytes.
    Says(Vec<u8>),
    /// It does nothing for a while.
    Waits(Duration),
}

fn expects(text: &str) -> Step {
    Step::Expects(text.into())
}

fn says(text: &str) -> Step {
    Step::Says(text.into())
}

/// The dialogue of each session up to the message: MAN0009, "AT", "E0", "&K0".
fn beginning() -> Vec<Step> {
    let commands = [("AT\r", "AT\r\r\nOK\r\n"), ("ATE0\r", "ATE0\r\r\nOK\r\n"), ("AT&K0\r", "\r\nOK\r\n")];
    commands.into_iter().flat_map(|(command, answer)| [expects(command), says(answer)]).collect()
}

/// "+SBDWB": the message and its checksum, after READY.
fn writing(result: &str) -> Vec<Step> {
    let bytes = [&b"\x00\xffbatch"[..], &[0x03, 0x01]].concat();
    vec![
        expects("AT+SBDWB=7\r"),
        says("\r\nREADY\r\n"),
        Step::Expects(bytes),
        says(&format!("\r\n{result}\r\n\r\nOK\r\n")),
    ]
}

/// "+SBDIX", and "+SBDD0" after it.
fn session(answer: &str) -> Vec<Step> {
    vec![expects("AT+SBDIX\r"), says(&format!("\r\n+SBDIX: {answer}\r\n\r\nOK\r\n"))]
}

fn clearing() -> Vec<Step> {
    vec![expects("AT+SBDD0\r"), says("\r\n0\r\n\r\nOK\r\n")]
}

/// Sends 7 bytes through a modem that does `steps`. Returns what the program did, and whether the modem came to its end.
fn send(steps: Vec<Step>) -> (Run, bool) {
    send_bytes(steps, b"\x00\xffbatch")
}

fn send_bytes(steps: Vec<Step>, message: &[u8]) -> (Run, bool) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    // Held open, so that the line does not hang up before the program opens it.
    let line = rustix::fs::open(&path, OFlags::RDWR | OFlags::NOCTTY, rustix::fs::Mode::empty()).unwrap();
    let mut settings = tcgetattr(&line).unwrap();
    settings.make_raw();
    tcsetattr(&line, OptionalActions::Now, &settings).unwrap();
    let modem = thread::spawn(move || {
        let mut master = File::from(master);
        // The line stays until the program has ended.
        (follow(&mut master, steps), master)
    });
    let run = dunnage(&["modem", "iridium", "--port", &path, "--session", "2"], message);
    drop(line);
    (run, modem.join().unwrap().0)
}

/// Follows the steps. Returns whether all were made.
fn follow(line: &mut File, steps: Vec<Step>) -> bool {
    for step in steps {
        match step {
            Step::Expects(bytes) => {
                let mut got = vec![0; bytes.len()];
                match line.read_exact(&mut got) {
                    Ok(()) => assert_eq!(String::from_utf8_lossy(&got), String::from_utf8_lossy(&bytes)),
                    // The program has given up.
                    Err(e) => {
                        assert!(e.kind() == ErrorKind::UnexpectedEof || e.raw_os_error() == Some(5), "{e}");
                        return false;
                    }
                }
            }
            Step::Says(bytes) => line.write_all(&bytes).unwrap(),
            Step::Waits(time) => thread::sleep(time),
        }
    }
    true
}

#[test]
fn a_message_is_written_and_sent_in_one_session() {
    let steps = [beginning(), writing("0"), session("0, 1234, 0, 0, 0, 0"), clearing()].concat();
    let (run, ended) = send(steps);
    assert_eq!((run.text(), &*run.stderr), ("", "sent as message 1234\n"));
    assert!(ended);
}

#[test]
fn a_message_for_the_device_is_printed_and_rings_echoes_and_old_answers_are_skipped() {
    let reading = [expects("AT+SBDRB\r"), Step::Says([&[0, 5][..], b"reset", &[0x02, 0x23]].concat())];
    let mut steps = vec![
        says("\r\n+SBDIX: 32, 7, 2, 0, 0, 0\r\n\r\nOK\r\nSBDRING\r\n"),
        Step::Waits(Duration::from_millis(50)),
    ];
    steps.extend([beginning(), writing("2"), writing("0")].concat());
    steps.extend([expects("AT+SBDIX\r"), says("\r\nSBDRING\r\n"), Step::Waits(Duration::from_millis(300))]);
    steps.push(says("\r\n+SBDIX: 2, 8, 1, 3, 5, 0\r\n"));
    steps.extend([Step::Waits(Duration::from_millis(20)), says("\r\nOK\r\n")]);
    steps.extend(reading.into_iter().chain(clearing()));
    let (run, ended) = send(steps);
    assert_eq!((run.text(), &*run.stderr), ("reset", "sent as message 8\n"));
    assert!(ended);
}

#[test]
fn a_modem_that_fails_or_says_nothing_has_not_sent_the_message() {
    let no_network = session("32, 9, 2, 0, 0, 0");
    for (steps, reason) in [
        (vec![], "AT: the modem does not answer"),
        (vec![expects("AT\r"), says("\r\nOK")], "AT: the modem does not answer"),
        (
            [expects("AT\r"), says("OK\r\n"), expects("ATE0\r"), says(&"\u{7f}".repeat(400))].to_vec(),
            "ATE0: the modem sends a line without an end",
        ),
        (
            [beginning(), vec![expects("AT+SBDWB=7\r"), says("\r\nERROR\r\n")]].concat(),
            "AT+SBDWB=7: the modem answered ERROR",
        ),
        ([beginning(), writing("1")].concat(), "AT+SBDWB=7: the modem did not get the bytes in time"),
        (
            [beginning(), writing("2"), writing("2"), writing("2")].concat(),
            "AT+SBDWB=7: the checksum was wrong 3 times",
        ),
        ([beginning(), writing("3")].concat(), "AT+SBDWB=7: the modem does not take so many bytes"),
        ([beginning(), writing("0"), no_network].concat(), "AT+SBDIX: no network (32)"),
        (
            [beginning(), writing("0"), session("99, 9, 2, 0, 0, 0")].concat(),
            "AT+SBDIX: the session failed (99)",
        ),
        // It reboots in the middle, and greets with its name.
        (
            [
                beginning(),
                writing("0"),
                vec![expects("AT+SBDIX\r"), says("\r\nIRIDIUM 9600 Family\r\n+SBDIX: 0, 1\r\n")],
            ]
            .concat(),
            "AT+SBDIX: the modem does not answer",
        ),
    ] {
        let (run, _) = send(steps);
        assert_eq!(run.code, 1, "{reason}: {}", run.stderr);
        assert!(run.stderr.ends_with(&format!(": {reason}\n")), "{}", run.stderr);
    }
}

#[test]
fn wrong_uses_are_named() {
    for (file, reason) in
        [("/dev/null", "/dev/null: "), ("/nowhere/tty", "/nowhere/tty: No such file or directory")]
    {
        let run = dunnage(&["modem", "iridium", "--port", file], "x");
        assert!(run.code == 1 && run.stderr.starts_with(&format!("dunnage: {reason}")), "{}", run.stderr);
    }
    let (run, _) = send_bytes(Vec::new(), &[b'x'; 341]);
    assert!(run.stderr.ends_with(": a message has 1 to 340 bytes, not 341\n"), "{}", run.stderr);
}
