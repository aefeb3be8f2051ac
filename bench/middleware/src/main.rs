//! Makes the network of [`dunnage_bench_middleware::network`] with the client's end in the caller's namespace, and obeys the lines of the
//! standard input. Each line has an answer, a line of JSON. It ends with the standard input.
//!
//! | line | answer |
//! |---|---|
//! | (start) | the path of the server's namespace |
//! | `link MICROSECONDS LOSS SEED` | `null`; the delay is that of one direction |
//! | `count` | what `up` (client to server) and `down` have sent since the last `count` |
//! | `settle MILLISECONDS LIMIT` | whether the link was quiet for so long, before the limit in milliseconds |

use dunnage_bench_middleware::{link::Link, network::Network};
use serde_json::{Value, json};
use std::{error::Error, io, time::Duration};

fn main() -> Result<(), Box<dyn Error>> {
    let network = Network::start().map_err(|error| {
        format!("needs CAP_NET_ADMIN and /dev/net/tun for network namespaces and TUN devices: {error}")
    })?;
    println!("{}", json!(network.server));
    for line in io::stdin().lines() {
        println!("{}", obey(&network.link, &line?)?);
    }
    Ok(())
}

fn obey(link: &Link, line: &str) -> Result<Value, Box<dyn Error>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    Ok(match words[..] {
        ["link", delay, loss, seed] => {
            link.set(Duration::from_micros(delay.parse()?), loss.parse()?, seed.parse()?);
            Value::Null
        }
        ["count"] => {
            let (up, down) = link.count();
            json!({ "up": up, "down": down })
        }
        ["settle", quiet, limit] => {
            link.settle(Duration::from_millis(quiet.parse()?), Duration::from_millis(limit.parse()?)).into()
        }
        _ => return Err(format!("there is no command {line:?}").into()),
    })
}
