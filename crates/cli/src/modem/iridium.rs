//! Short Burst Data over Iridium's 9602 and 9603, by their AT commands (ISU AT Command Reference, MAN0009; the sections are named below).

use super::port::Port;
use std::{
    io,
    time::{Duration, Instant},
};

/// Longest message from the device, in bytes (+SBDWB).
const MAX_BYTES: usize = 340;
/// How long the modem may take for a command that does not use the network.
const COMMAND: Duration = Duration::from_secs(5);
/// How often a modem that wakes up is asked whether it is there.
const GREETINGS: usize = 3;
/// How often a message is written to the modem that says that its checksum is wrong.
const WRITES: usize = 3;

/// A message that the network has.
#[derive(Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its number, MOMSN.
    pub number: u16,
    /// The message for the device that came back; empty for none. An error says why it could not be read.
    pub received: Result<Vec<u8>, String>,
}

/// Sends `message` in one session, which takes at most `session`.
///
/// # Errors
///
/// The network may not have the message. A session whose end is not known may have sent it.
pub fn send(port: &mut Port, message: &[u8], session: Duration) -> Result<Sent, String> {
    if !(1..=MAX_BYTES).contains(&message.len()) {
        return Err(format!("a message has 1 to {MAX_BYTES} bytes, not {}", message.len()));
    }
    greet(port)?;
    // Without echo, and without flow control, for which many boards have no wires.
    for command in ["ATE0", "AT&K0"] {
        expect(port, command, "OK", COMMAND)?;
    }
    write(port, message)?;
    let status = Session::start(port, session)?;
    let received = match status.incoming {
        0 => Ok(Vec::new()),
        _ => read(port),
    };
    // The message would be sent again by the next session otherwise. If that fails, the next one overwrites it.
    let _ = expect(port, "AT+SBDD0", "0", COMMAND);
    Ok(Sent { number: status.number, received })
}

/// Asks the modem whether it is there.
fn greet(port: &mut Port) -> Result<(), String> {
    let mut answer = Ok(());
    for _ in 0..GREETINGS {
        answer = expect(port, "AT", "OK", COMMAND / GREETINGS as u32);
        if answer.is_ok() {
            break;
        }
    }
    answer
}

/// Sends a command, and waits for the line `wanted`.
fn expect(port: &mut Port, command: &str, wanted: &str, within: Duration) -> Result<(), String> {
    answer(port, command, within, |line| (line == wanted).then_some(()))
}

/// Sends a command, and returns what `read` makes of a line. Other lines are skipped: echoes, and `SBDRING`, which comes at any time.
fn answer<T>(
    port: &mut Port,
    command: &str,
    within: Duration,
    read: impl Fn(&str) -> Option<T>,
) -> Result<T, String> {
    let failed = |e: io::Error| format!("{command}: {e}");
    let end = Instant::now() + within;
    port.discard().map_err(failed)?;
    port.write(format!("{command}\r").as_bytes(), end).map_err(failed)?;
    loop {
        let line = port.line(end).map_err(failed)?;
        if let Some(answer) = read(&line) {
            return Ok(answer);
        }
        if line == "ERROR" {
            return Err(format!("{command}: the modem answered ERROR"));
        }
    }
}

/// Writes the message into the modem: "+SBDWB - Short Burst Data: Write Binary Data to the ISU".
fn write(port: &mut Port, message: &[u8]) -> Result<(), String> {
    let command = format!("AT+SBDWB={}", message.len());
    for _ in 0..WRITES {
        expect(port, &command, "READY", COMMAND)?;
        let end = Instant::now() + COMMAND;
        let failed = |e: io::Error| format!("{command}: {e}");
        port.write(&[message, &checksum(message)].concat(), end).map_err(failed)?;
        let result = loop {
            let line = port.line(end).map_err(failed)?;
            if let Ok(result) = line.parse::<u8>() {
                break result;
            }
        };
        match result {
            0 => return Ok(()),
            1 => return Err(format!("{command}: the modem did not get the bytes in time")),
            2 => continue,
            3 => return Err(format!("{command}: the modem does not take so many bytes")),
            other => return Err(format!("{command}: the modem answered {other}")),
        }
    }
    Err(format!("{command}: the checksum was wrong {WRITES} times"))
}

/// Reads the message for the device: "+SBDRB - Short Burst Data: Read Binary Data from the ISU".
fn read(port: &mut Port) -> Result<Vec<u8>, String> {
    let failed = |e: io::Error| format!("AT+SBDRB: {e}");
    let end = Instant::now() + COMMAND;
    port.discard().map_err(failed)?;
    port.write(b"AT+SBDRB\r", end).map_err(failed)?;
    let length = port.bytes(2, end).map_err(failed)?;
    let message = port.bytes(u16::from_be_bytes([length[0], length[1]]).into(), end).map_err(failed)?;
    match port.bytes(2, end).map_err(failed)?[..] == checksum(&message) {
        true => Ok(message),
        false => Err("AT+SBDRB: the checksum is wrong".into()),
    }
}

/// The least significant two bytes of the sum of all bytes, the higher one first.
fn checksum(bytes: &[u8]) -> [u8; 2] {
    bytes.iter().fold(0u16, |sum, byte| sum.wrapping_add((*byte).into())).to_be_bytes()
}

/// The result of a session: "+SBDIX - Short Burst Data: Initiate an SBD Session Extended".
struct Session {
    /// MOMSN
    number: u16,
    /// The length of the message for the device.
    incoming: usize,
}

impl Session {
    fn start(port: &mut Port, within: Duration) -> Result<Session, String> {
        let numbers = answer(port, "AT+SBDIX", within, |line| {
            let numbers = line.strip_prefix("+SBDIX:")?.split(',');
            let numbers: Vec<u32> =
                numbers.map(|number| number.trim().parse().ok()).collect::<Option<_>>()?;
            <[u32; 6]>::try_from(numbers).ok()
        })?;
        // Whatever follows the numbers is not of the next answer.
        let end = Instant::now() + COMMAND;
        while port.line(end).is_ok_and(|line| line != "OK") {}
        let [status, number, incoming_status, _, length, _] = numbers;
        if let Some(reason) = failure(status) {
            return Err(format!("AT+SBDIX: {reason} ({status})"));
        }
        let incoming = if incoming_status == 1 { length as usize } else { 0 };
        Ok(Session { number: number as u16, incoming })
    }
}

/// Returns why a session with the MO status `status` did not send the message; `None` if it did.
fn failure(status: u32) -> Option<&'static str> {
    Some(match status {
        0..=4 => return None,
        10 => "the network did not finish the session in time",
        11 => "the network's queue of messages from the device is full",
        12 => "the message has too many segments",
        13 => "the network did not complete the session",
        14 => "a segment has an invalid size",
        15 => "access is denied",
        16 => "the modem is locked",
        17 => "the network does not answer",
        18 => "the connection was lost",
        19 => "the link failed",
        32 => "no network",
        33 => "the antenna has a fault",
        34 => "the radio is off",
        35 => "the modem is busy",
        36 => "three minutes must pass after the last registration",
        37 => "the service is disabled for the moment",
        38 => "the network asks to send later",
        64 | 65 => "the radio has a fault",
        _ => "the session failed",
    })
}
