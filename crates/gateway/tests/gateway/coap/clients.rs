//! CoAP with third-party clients, a lossy network, and a gateway that is killed.

use super::stored;
use crate::support::{
    child,
    coap::{Client, JSON, aiocoap, coap_client, code_and_diagnostic, gateway, is_changed},
    lossy::Lossy,
    start_in,
};
use coap_lite::Packet;
use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

#[test]
fn libcoap_sends_small_and_large_messages() {
    let (gateway, address) = gateway();
    let uri = format!("coap://{address}/ingest/libcoap");
    assert_eq!(coap_client(&["-t", "50", "-e", "{\"t\":1}"], &uri).trim(), "");
    assert_eq!(coap_client(&["-N", "-t", "50", "-e", "{\"t\":2}"], &uri).trim(), "");
    let output = coap_client(&["-t", "50", "-e", "[1,"], &uri);
    assert!(output.contains("4.00 malformed kind=truncated offset=3"), "{output}");
    let large = format!("\"{}\"", "y".repeat(9000));
    let file = gateway.folder.path().join("large.json");
    std::fs::write(&file, &large).unwrap();
    let file = file.to_str().unwrap();
    for size in ["64", "1024"] {
        assert_eq!(coap_client(&["-t", "50", "-b", size, "-f", file], &uri).trim(), "");
    }
    assert_eq!(stored(&gateway), ["{\"t\":1}", "{\"t\":2}", &large, &large]);
}

#[test]
fn aiocoap_sends_small_and_large_messages() {
    let (gateway, address) = gateway();
    let uri = format!("coap://{address}/ingest/aiocoap");
    let file = gateway.folder.path().join("message");
    let send = |content: &[u8], format: &str, more: &[&str]| {
        std::fs::write(&file, content).unwrap();
        let lines = aiocoap(&[&[&uri, format, file.to_str().unwrap()], more].concat());
        (lines[0]["code"].as_str().unwrap().to_owned(), lines[0]["diagnostic"].as_str().unwrap().to_owned())
    };
    let large = format!("\"{}\"", "z".repeat(20_000));
    assert_eq!(send(b"{\"t\":1}", "50", &[]).0, "2.04");
    assert_eq!(send(b"\xa1atc\x02", "60", &["--non"]).0, "4.00");
    assert_eq!(send(b"\xa1at\x02", "60", &["--non"]).0, "2.04");
    assert_eq!(send(large.as_bytes(), "50", &[]).0, "2.04");
    let too_large = vec![b' '; (1 << 20) + 1];
    assert_eq!(send(&too_large, "50", &[]).0, "4.13");
    assert_eq!(stored(&gateway), ["{\"t\":1}", "{\"t\":2}", &large]);
}

/// The network loses 30 % of the datagrams in each direction, and duplicates and reorders others. Every acknowledged message is stored,
/// and none twice.
#[test]
fn a_lossy_network_neither_loses_nor_duplicates_messages() {
    const CLIENTS: usize = 24;
    const MESSAGES: usize = 6;
    let (gateway, address) = gateway();
    let lossy = Lossy::start(address, 7);
    let uri = format!("coap://{}/ingest/c", lossy.address);
    let lines = aiocoap(&[&uri, "--clients", &CLIENTS.to_string(), "--messages", &MESSAGES.to_string()]);
    assert_eq!(lines.len(), CLIENTS * MESSAGES);
    let [lost, duplicated, reordered] = lossy.counts();
    assert!(lost > CLIENTS && duplicated > 0 && reordered > 0, "{lost} {duplicated} {reordered}");
    let all = stored(&gateway);
    let found: HashSet<_> = all.iter().collect();
    assert_eq!(found.len(), all.len(), "some are stored twice");
    let acknowledged: Vec<_> = lines.iter().filter(|line| line["code"] == "2.04").collect();
    for line in &acknowledged {
        assert!(found.contains(&format!("{{\"c\":{},\"n\":{}}}", line["c"], line["n"])), "{line} is lost");
    }
    println!(
        "{} acknowledged, {} stored; {lost} lost, {duplicated} duplicated, {reordered} reordered",
        acknowledged.len(),
        all.len()
    );
    assert!(acknowledged.len() * 10 >= lines.len() * 9, "{}", acknowledged.len());
}

/// kill -9 under load: every acknowledged message is stored. A message that is sent again after a kill, with the same message ID, is
/// stored once, although the process that received it first has ended.
#[test]
fn kill_under_load_neither_loses_nor_duplicates_messages() {
    const ROUNDS: usize = 4;
    const CLIENTS: usize = 16;
    let folder = tempfile::tempdir().unwrap();
    let port = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    child::configure(
        folder.path(),
        &format!("[[input]]\nname = 'coap'\n[input.coap]\nlisten = '127.0.0.1:{port}'"),
    );
    let address = ([127, 0, 0, 1], port).into();
    let mut process = child::start(folder.path(), "");
    let done = AtomicBool::new(false);
    let (acknowledged, process): (usize, _) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|c| {
                let done = &done;
                scope.spawn(move || {
                    let mut client = Client::new(address);
                    client.socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
                    let mut n = 0;
                    while !done.load(Ordering::Relaxed) {
                        let request =
                            client.request(&format!("ingest/c{c}"), JSON, format!("[{c},{n}]").as_bytes());
                        send_until_answered(&client, &request);
                        n += 1;
                    }
                    n
                })
            })
            .collect();
        for round in 0..ROUNDS {
            std::thread::sleep(Duration::from_millis(300 + 61 * round as u64));
            process.kill();
            process = child::start(folder.path(), "");
        }
        std::thread::sleep(Duration::from_millis(300));
        done.store(true, Ordering::Relaxed);
        (clients.into_iter().map(|client| client.join().unwrap()).sum(), process)
    });
    process.stop();
    let gateway = start_in(folder, |_| ());
    let all = stored(&gateway);
    let found: HashSet<_> = all.iter().collect();
    println!("{acknowledged} acknowledged, {} stored, {} different", all.len(), found.len());
    assert!(acknowledged > ROUNDS * CLIENTS);
    assert_eq!((all.len(), found.len()), (acknowledged, acknowledged));
}

/// Repeats a request until the answer is 2.04, as a client does that cannot know whether its message was stored.
fn send_until_answered(client: &Client, request: &Packet) {
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < Duration::from_secs(60), "no answer");
        // Sending fails while the gateway is down.
        if client.socket.send(&request.to_bytes().unwrap()).is_err() {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        let mut buffer = [0; 2048];
        while let Ok(length) = client.socket.recv(&mut buffer) {
            let answer = Packet::from_bytes(&buffer[..length]).unwrap();
            if answer.get_token() == request.get_token() {
                assert!(is_changed(&answer), "{:?}", code_and_diagnostic(&answer));
                return;
            }
        }
    }
}
