//! Helpers that run `dunnage`.

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// The result of a run.
pub struct Run {
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Run {
    /// Standard output as text. Panics if the exit code is not 0.
    #[track_caller]
    pub fn text(&self) -> &str {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self.any_text()
    }

    pub fn any_text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout).unwrap()
    }
}

/// The root folder of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns a command for `dunnage` with `arguments`, in the root folder, without variables that configure the gateway or colours.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dunnage"));
    command.args(arguments).current_dir(root());
    for (name, _) in env::vars().filter(|(name, _)| name.starts_with("DUNNAGE_") || name.contains("COLOR")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs `dunnage` to completion with `input` on standard input.
pub fn dunnage(arguments: &[&str], input: impl AsRef<[u8]>) -> Run {
    finish(command(arguments).spawn().unwrap(), input.as_ref())
}

/// Writes `input` to `child` and waits until it exits.
pub fn finish(mut child: Child, input: &[u8]) -> Run {
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // The child may stop reading early. That shows in its output, so a failed write is ignored.
        scope.spawn(move || stdin.write_all(input));
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        Run { code: output.status.code().unwrap(), stdout: output.stdout, stderr }
    })
}

/// Compares `text` with the golden file `name`, or writes the file if `BLESS` is set.
#[track_caller]
pub fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if env::var_os("BLESS").is_some() {
        return fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap();
    assert_eq!(text, expected, "{name} has changed; if that is right, run with BLESS=1");
}

/// Sends SIGTERM to `child`, as an init system does.
pub fn terminate(child: &Child) {
    let status = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}
