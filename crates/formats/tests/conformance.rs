//! Runs Google's conformance runner for Protobuf. The runner starts this program again as its testee: `conformance testee` processes the
//! requests with [`Protobuf`].
//!
//! `tests/tools/install suites` puts the runner and its messages into `target/tools/suites/protobuf`. The file
//! `tests/suites/protobuf.txt` lists the tests that are expected to fail, each below its reason. The runner reports any other failure, and
//! each listed test that passes.

#![allow(clippy::unwrap_used)]

use dunnage_formats::{Definition, Format, Protobuf};
use libtest_mimic::{Arguments, Failed, Trial};
use prost::Message;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// A request of the runner, with the fields that the testee reads (`conformance/conformance.proto`).
#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(bytes = "vec", optional, tag = "1")]
    protobuf_payload: Option<Vec<u8>>,
    #[prost(int32, tag = "3")]
    requested_output_format: i32,
    #[prost(string, tag = "4")]
    message_type: String,
}

/// A response, which has exactly one of these fields.
#[derive(Clone, PartialEq, Message)]
struct Response {
    #[prost(string, optional, tag = "1")]
    parse_error: Option<String>,
    #[prost(bytes = "vec", optional, tag = "3")]
    protobuf_payload: Option<Vec<u8>>,
    #[prost(string, optional, tag = "5")]
    skipped: Option<String>,
    #[prost(string, optional, tag = "6")]
    serialize_error: Option<String>,
}

/// `WireFormat.PROTOBUF`.
const PROTOBUF: i32 = 1;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("testee") {
        return testee();
    }
    // The runner is a binary for Linux on x86-64.
    let is_run = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    let trial = Trial::test("protobuf_conformance", run).with_ignored_flag(!is_run);
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

fn run() -> Result<(), Failed> {
    let runner = suite().join("runner");
    let output = Command::new(&runner)
        .env("LD_PRELOAD", suite().join("newer_libc.so"))
        .arg("--enforce_recommended")
        .args(["--maximum_edition", "2023"])
        .arg("--failure_list")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suites/protobuf.txt"))
        .arg("--output_dir")
        .arg(env!("CARGO_TARGET_TMPDIR"))
        .arg(std::env::current_exe()?)
        .arg("testee")
        .output()
        .map_err(|e| format!("{}: {e}; please run: tests/tools/install suites", runner.display()))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    match output.status.success() && stderr.contains("CONFORMANCE SUITE PASSED") {
        true => Ok(()),
        false => Err(format!("{}\n{stderr}", output.status).into()),
    }
}

fn suite() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools");
    std::env::var_os("DUNNAGE_TOOLS").map_or_else(default, PathBuf::from).join("suites/protobuf")
}

/// The messages that the runner sends, and the file of each.
const MESSAGES: [(&str, &str); 5] = [
    ("protobuf_test_messages.proto3.TestAllTypesProto3", "test_messages_proto3.proto"),
    ("protobuf_test_messages.proto2.TestAllTypesProto2", "test_messages_proto2.proto"),
    ("protobuf_test_messages.editions.TestAllTypesEdition2023", "test_messages_edition2023.proto"),
    ("protobuf_test_messages.editions.proto3.TestAllTypesProto3", "test_messages_proto3_editions.proto"),
    ("protobuf_test_messages.editions.proto2.TestAllTypesProto2", "test_messages_proto2_editions.proto"),
];

/// Responds to requests, each after its length, until the end of standard input.
fn testee() -> ExitCode {
    let include = suite().join("include");
    let formats = MESSAGES.map(|(message, file)| {
        let path = include.join("google/protobuf").join(file);
        let definition = Definition::read(&path, std::slice::from_ref(&include), Some(message)).unwrap();
        (message, Protobuf::from_definition(&definition, None).unwrap())
    });
    let mut length = [0; 4];
    loop {
        match io::stdin().read_exact(&mut length) {
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => return ExitCode::SUCCESS,
            read => read.unwrap(),
        }
        let mut request = vec![0; u32::from_le_bytes(length) as usize];
        io::stdin().read_exact(&mut request).unwrap();
        let response = respond(&formats, Request::decode(&*request).unwrap()).encode_to_vec();
        io::stdout().write_all(&(response.len() as u32).to_le_bytes()).unwrap();
        io::stdout().write_all(&response).unwrap();
        io::stdout().flush().unwrap();
    }
}

fn respond(formats: &[(&str, Protobuf)], request: Request) -> Response {
    let skipped = |reason: &str| Response { skipped: Some(reason.to_owned()), ..Response::default() };
    // The runner asks which failures the testee expects. It reads them from the file instead.
    if request.message_type == "conformance.FailureSet" {
        return Response { protobuf_payload: Some(Vec::new()), ..Response::default() };
    }
    let format = formats.iter().find(|(message, _)| *message == request.message_type);
    match (format, request) {
        (
            Some((_, format)),
            Request { protobuf_payload: Some(bytes), requested_output_format: PROTOBUF, .. },
        ) => reencode(format, &bytes),
        (None, request) => skipped(&format!("no definition of {}", request.message_type)),
        _ => skipped("Protobuf's JSON and text formats are not supported"),
    }
}

/// Decodes a message and encodes it again.
fn reencode(format: &Protobuf, bytes: &[u8]) -> Response {
    let message = match format.decode(bytes) {
        Ok(message) => message,
        Err(e) => return Response { parse_error: Some(e.to_string()), ..Response::default() },
    };
    let mut out = Vec::new();
    match format.encode(&message, &mut out) {
        Ok(()) => Response { protobuf_payload: Some(out), ..Response::default() },
        Err(e) => Response { serialize_error: Some(e.to_string()), ..Response::default() },
    }
}
