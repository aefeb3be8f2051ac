//! A gateway in a process of its own, which can be killed and can run out of disk.
//!
//! The test program starts itself again with only the test `serve_in_child` of a module, which serves until its input ends.

use super::runtime;
use dunnage_gateway::{Config, Gateway};
use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, Stdio},
};

const FOLDER: &str = "TEST_GATEWAY_FOLDER";

pub struct ChildGateway {
    pub child: Child,
    pub url: String,
}

/// What `serve_in_child` does.
pub fn serve() {
    serve_with(|_, _| ());
}

/// The same, with a configuration that is changed for the folder.
pub fn serve_with(change: impl FnOnce(&Path, &mut Config)) {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let mut config = super::config(Path::new(&folder));
    change(Path::new(&folder), &mut config);
    let runtime = runtime();
    let gateway = runtime.block_on(Gateway::start(config)).unwrap();
    println!("\nlistening {}", gateway.address());
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    runtime.block_on(gateway.stop());
}

/// Starts the gateway of `serve_in_child` in `module` (as `module_path!` has it) with its buffer in `folder`. `before` are shell
/// commands for its process.
pub fn start(module: &str, folder: &Path, before: &str) -> ChildGateway {
    let (_, module) = module.split_once("::").unwrap();
    let mut child = Command::new("sh")
        .args(["-c", &format!("{before}\nexec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", &format!("{module}::serve_in_child"), "--nocapture"])
        .env(FOLDER, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines.find_map(|line| line.unwrap().strip_prefix("listening ").map(str::to_owned));
    let url = format!("http://{}", address.expect("the gateway starts"));
    // What else it prints must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    ChildGateway { child, url }
}

impl ChildGateway {
    /// The most memory that it has had at a time, in bytes.
    pub fn peak(&self) -> u64 {
        let path = Path::new("/proc").join(self.child.id().to_string()).join("status");
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        1024 * line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap()
    }

    /// SIGKILL, and wait until it is gone.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it in order.
    pub fn stop(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}
