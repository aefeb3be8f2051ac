//! Runs a gateway until its standard input ends. Tests start it as a separate process, which they can kill and whose resources they can limit.
//!
//! The argument is a configuration file; without it, only the environment (`DUNNAGE_...`) changes the defaults.

use dunnage_gateway::{Config, Gateway};
use std::{env, error::Error, path::PathBuf, process::ExitCode};
use tokio::io::{AsyncReadExt, stdin};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    match dunnage_playground::work_if_asked().or_else(dunnage_expression::work_if_asked) {
        Some(code) => Ok(code),
        None => serve().map(|()| ExitCode::SUCCESS),
    }
}

#[tokio::main(worker_threads = 2)]
async fn serve() -> Result<(), Box<dyn Error>> {
    let file = env::args_os().nth(1).map(PathBuf::from);
    let gateway = Gateway::start(Config::load(file.as_deref())?).await?;
    println!("listening {}", gateway.address());
    stdin().read_to_end(&mut Vec::new()).await?;
    gateway.stop().await;
    Ok(())
}
