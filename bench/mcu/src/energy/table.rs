//! Energy and battery of a message an hour, for people.

use super::{
    Figures as Energies, Mcu,
    budget::{Budget, Sending},
};
use crate::{
    figures::{Figures, Payload},
    payloads::Group,
    sizes::Sizes,
};

/// Seconds: a message an hour.
const INTERVAL: f64 = 3600.0;
/// The messages that are looked at: one that every library was measured with, and the largest of the paper on satellites.
const MESSAGES: [&str; 2] = ["Test10", "container"];
/// The target whose processor encodes them.
const TARGET: &str = "atmega328p";

/// Energy of encoding on each microcontroller, then days of battery over each link.
pub fn print(energies: &Energies, figures: &Figures, groups: &[Group]) {
    print_encoding(energies, figures);
    for name in MESSAGES {
        let payload = groups.iter().flat_map(|group| &group.payloads).find(|payload| payload.name == name);
        if let Some(sizes) = payload.and_then(|payload| Sizes::of(&payload.value))
            && let Some(mcu) = energies.mcu(TARGET)
        {
            print_links(energies, mcu, figures, name, sizes);
        }
    }
    println!("\nSources (~ estimate)");
    for mcu in &energies.mcus {
        println!("{}{}, {}: {}", tilde(mcu.estimate), mcu.target, mcu.part, mcu.source);
    }
    for radio in &energies.radios {
        println!("{}{}: {}", tilde(radio.estimate), radio.id, radio.source);
    }
    println!("{}lorawan: {}", tilde(energies.lorawan.estimate), energies.lorawan.source);
    println!("battery: {}", energies.battery.source);
}

fn tilde(estimate: bool) -> &'static str {
    if estimate { "~" } else { "" }
}

fn print_encoding(energies: &Energies, figures: &Figures) {
    println!("\nEnergy of Test10 in nJ (~ estimate)");
    println!("{:<44}{:>10}{:>10}{:>10}", "", "encode", "decode", "bind");
    for mcu in &energies.mcus {
        let count = |operation| {
            let of = |counts| figures.duel(&mcu.target, operation, counts, Payload::One("Test10")).0;
            of("cycles").or_else(|| of("instructions"))
        };
        let cell = |operation| {
            count(operation).map_or("-".into(), |count| format!("{:.0}", mcu.joules(count) * 1e9))
        };
        let label = format!("{}{}, {}", tilde(mcu.estimate), mcu.target, mcu.part);
        println!("{label:<44}{:>10}{:>10}{:>10}", cell("encode"), cell("decode"), cell("bind"));
    }
}

/// A way to send.
struct Way {
    name: String,
    estimate: bool,
    /// Of a message of so many bytes.
    send: Box<dyn Fn(usize) -> Sending>,
}

fn ways(energies: &Energies) -> Vec<Way> {
    let radios = energies.radios.iter().map(|radio| {
        let sender = radio.clone();
        Way {
            name: radio.name.clone(),
            estimate: radio.estimate,
            send: Box::new(move |bytes| sender.send(bytes)),
        }
    });
    let lorawan = energies.lorawan.spreading_factors().map(|factor| {
        let sender = energies.lorawan.clone();
        Way {
            name: format!("LoRaWAN, SF{factor}"),
            estimate: energies.lorawan.estimate,
            send: Box::new(move |bytes| sender.send(factor, bytes)),
        }
    });
    radios.chain(lorawan).collect()
}

/// For each link: the energy of a message and the days that the battery lasts, with ours and the best encoder of each other format.
fn print_links(energies: &Energies, mcu: &Mcu, figures: &Figures, name: &str, sizes: Sizes) {
    println!("\n\"{name}\" every hour from 5 Wh, encoded on {} (~ estimate)", mcu.part);
    println!(
        "{:<46}{:<34}{:>6}{:>7}{:>12}{:>12}{:>10}{:>8}{:>10}",
        "", "", "bytes", "frames", "encode mJ", "send mJ", "encoding", "days", "ours"
    );
    for way in ways(energies) {
        let mut ours = None;
        for (format, joules, encoder) in encoders(mcu, figures, name) {
            let Some(bytes) = sizes.in_format(&format) else { continue };
            let sending = (way.send)(bytes);
            let budget = Budget {
                encode: joules.unwrap_or(0.0),
                send: sending.joules,
                sleep_watts: mcu.sleep_watts() + sending.sleep_watts,
                interval: INTERVAL,
            };
            let days = budget.days(energies.battery.joules);
            let change =
                ours.map_or(String::new(), |ours: f64| format!("{:+.1} %", (ours / days - 1.0) * 100.0));
            ours = ours.or(Some(days));
            println!(
                "{:<46}{encoder:<34}{bytes:>6}{:>7}{:>12}{:>12.3}{:>10}{days:>8.0}{change:>10}",
                format!("{}{}", tilde(way.estimate), way.name),
                sending.frames,
                joules.map_or("-".into(), |joules| format!("{:.5}", joules * 1e3)),
                sending.joules * 1e3,
                joules.map_or("-".into(), |_| format!("{:.3} %", budget.encoding_share() * 100.0)),
            );
        }
    }
}

/// Ours, then for each other format its best encoder and the joules that it takes; without one, what is known is the size.
fn encoders(mcu: &Mcu, figures: &Figures, payload: &str) -> Vec<(String, Option<f64>, String)> {
    let contenders = figures.contenders(TARGET, "encode", "cycles", Payload::One(payload));
    let best = |format: &str, ours: bool| {
        let (contender, cycles) = contenders
            .iter()
            .find(|(contender, _)| contender.format == format && contender.is_ours() == ours)?;
        let label = format!("{} {}", contender.label(), contender.mark());
        Some((format.to_owned(), Some(mcu.joules(*cycles)), label))
    };
    let others = ["msgpack", "cbor", "json"]
        .map(|format| best(format, false).unwrap_or_else(|| (format.to_owned(), None, format.to_owned())));
    best("pson", true).into_iter().chain(others).collect()
}
