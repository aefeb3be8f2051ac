//! Apicurio Registry: a schema registry with the API of Confluent's, which keeps schemas in memory.

use crate::{agent, tools::tool, wait::wait_for};
use serde_json::{Value, json};
use std::{
    fs::File,
    net::TcpListener,
    process::{Child, Command, Stdio},
};
use tempfile::TempDir;

const MEDIA_TYPE: &str = "application/vnd.schemaregistry.v1+json";

pub struct Registry {
    process: Child,
    _folder: TempDir,
    /// The address of the API.
    pub url: String,
}

impl Registry {
    pub fn start() -> Registry {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let output = File::create(folder.path().join("output")).unwrap();
        let program = std::fs::read_dir(tool("registry")).unwrap().map(|entry| entry.unwrap().path());
        let program =
            program.into_iter().find(|path| path.to_string_lossy().ends_with("-runner.jar")).unwrap();
        let mut command = Command::new("java");
        command.args(["-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
        command.args(["-Dquarkus.http.host=127.0.0.1", &format!("-Dquarkus.http.port={port}"), "-jar"]);
        command.arg(program).current_dir(folder.path()).stdin(Stdio::null());
        let process = command.stdout(output.try_clone().unwrap()).stderr(output).spawn().unwrap();
        let url = format!("http://127.0.0.1:{port}/apis/ccompat/v7");
        let registry = Registry { process, _folder: folder, url };
        wait_for(|| match agent().get(format!("{}/subjects", registry.url)).call() {
            Ok(answer) if answer.status() == 200 => Ok(()),
            other => Err(format!("{other:?}")),
        });
        registry
    }

    pub fn get(&self, path: &str) -> Value {
        agent().get(format!("{}{path}", self.url)).call().unwrap().body_mut().read_json().unwrap()
    }

    /// Makes the registry refuse versions of a subject that cannot read what its last one wrote.
    pub fn require_compatibility(&self, subject: &str) {
        let request = agent().put(format!("{}/config/{subject}", self.url)).content_type(MEDIA_TYPE);
        let answer = request.send(json!({"compatibility": "BACKWARD"}).to_string()).unwrap();
        assert_eq!(answer.status(), 200);
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
