//! Third-party clients in Python: one process per connection, which receives a message as a line and answers with a line.

use crate::{
    Failure,
    sender::{Sender, Senders},
    tools::tool,
};
use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// A script of this folder, which runs until its input ends.
pub struct Script {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Script {
    /// Starts `connections` scripts, each with `arguments` and its own number.
    pub fn senders(name: &str, arguments: &[String], connections: usize) -> Result<Senders, Failure> {
        let one = |number: usize| {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults").join(name);
            let mut command = Command::new(tool("venv/bin/python"));
            command.arg(script).args(arguments).arg(number.to_string());
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
            let input = child.stdin.take().ok_or("no input")?;
            let output = BufReader::new(child.stdout.take().ok_or("no output")?);
            Ok(Box::new(Script { child, input, output }) as Box<dyn Sender>)
        };
        (0..connections).map(one).collect()
    }

    /// Sends a line and returns the line that answers it.
    fn exchange(&mut self, line: &str) -> std::io::Result<String> {
        self.input.write_all(line.as_bytes())?;
        self.input.flush()?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        Ok(answer)
    }
}

impl Sender for Script {
    fn send(&mut self, device: &str, key: &str, body: &str) -> Option<u16> {
        // A script that exits has printed why. The missing answer becomes a problem of the row.
        let answer = self.exchange(&format!("{device} {key} {body}\n")).ok()?;
        answer.trim().parse().ok().filter(|status| *status != 0)
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
