//! A serial line in raw mode, whose reads have a deadline.

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{FlockOperation, Mode, OFlags, flock, open},
    termios::{OptionalActions, QueueSelector, tcflush, tcgetattr, tcsetattr},
};
use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
    time::{Duration, Instant},
};

/// Longest line of a modem.
const MAX_LINE: usize = 256;

/// The line.
pub struct Port {
    file: File,
    /// What was received and not read.
    received: Vec<u8>,
}

impl Port {
    /// Opens the device file `path`, which no other program may have open through this function.
    pub fn open(path: &Path, baud: u32) -> io::Result<Port> {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(open(path, flags, Mode::empty())?);
        flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| io::Error::other("another program uses this line"))?;
        let mut settings = tcgetattr(&file)?;
        settings.make_raw();
        settings.set_speed(baud)?;
        tcsetattr(&file, OptionalActions::Now, &settings)?;
        Ok(Port { file, received: Vec::new() })
    }

    /// Discards what was received, such as a late answer.
    pub fn discard(&mut self) -> io::Result<()> {
        self.received.clear();
        Ok(tcflush(&self.file, QueueSelector::IFlush)?)
    }

    /// Writes all `bytes` before `end`.
    pub fn write(&mut self, mut bytes: &[u8], end: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            self.wait(PollFlags::OUT, end)?;
            match self.file.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(e) if [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted].contains(&e.kind()) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Reads the next line that is not empty, before `end`, without its end.
    pub fn line(&mut self, end: Instant) -> io::Result<String> {
        loop {
            if let Some(at) = self.received.iter().position(|byte| b"\r\n".contains(byte)) {
                let line: Vec<u8> = self.received.drain(..=at).collect();
                if at > 0 {
                    return Ok(String::from_utf8_lossy(&line[..at]).into_owned());
                }
                continue;
            }
            if self.received.len() > MAX_LINE {
                return Err(io::Error::other("the modem sends a line without an end"));
            }
            self.receive(end)?;
        }
    }

    /// Reads `count` bytes before `end`.
    pub fn bytes(&mut self, count: usize, end: Instant) -> io::Result<Vec<u8>> {
        while self.received.len() < count {
            self.receive(end)?;
        }
        Ok(self.received.drain(..count).collect())
    }

    fn receive(&mut self, end: Instant) -> io::Result<()> {
        let mut part = [0; 512];
        self.wait(PollFlags::IN, end)?;
        match self.file.read(&mut part) {
            Ok(0) => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            Ok(count) => {
                self.received.extend_from_slice(&part[..count]);
                Ok(())
            }
            Err(e) if [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted].contains(&e.kind()) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// Waits until the line is ready, or fails at `end`.
    fn wait(&self, flags: PollFlags, end: Instant) -> io::Result<()> {
        let left = end.saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the modem does not answer"));
        }
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&self.file, flags)], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }
}
