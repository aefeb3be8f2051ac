//! Prints the energy and the battery life with one message per hour.

use super::{
    Figures as Energies, Mcu,
    budget::{Budget, Sending},
};
use crate::{
    figures::{Figures, Payload},
    payloads::Group,
    sizes::Sizes,
};

use dunnage_links::{Link, Traffic};

/// Seconds from one message to the next: one hour.
const INTERVAL: f64 = 3600.0;
/// The messages of the tables: one that every library was measured with, and the largest of the paper on satellites.
const MESSAGES: [&str; 2] = ["Test10", "container"];
/// The target whose processor encodes them.
const TARGET: &str = "atmega328p";

/// Prints the energy of encoding on each microcontroller, then the battery days over each link.
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
            let of = |counts| figures.ours_and_best(&mcu.target, operation, counts, Payload::One("Test10")).0;
            of("cycles").or_else(|| of("instructions"))
        };
        let cell = |operation| {
            count(operation).map_or("-".into(), |count| format!("{:.0}", mcu.joules(count) * 1e9))
        };
        let label = format!("{}{}, {}", tilde(mcu.estimate), mcu.target, mcu.part);
        println!("{label:<44}{:>10}{:>10}{:>10}", cell("encode"), cell("decode"), cell("bind"));
    }
}

/// A radio or a data rate over which messages are sent.
struct Uplink {
    name: String,
    estimate: bool,
    /// The entry in the link catalogue, which has the price.
    link: Option<&'static Link>,
    /// The cost of sending a message of this number of bytes.
    send: Box<dyn Fn(usize) -> Sending>,
}

fn uplinks(energies: &Energies) -> Vec<Uplink> {
    let radios = energies.radios.iter().map(|radio| {
        let sender = radio.clone();
        let link = radio.link.as_deref().and_then(dunnage_links::link);
        let send = Box::new(move |bytes| sender.send(bytes));
        Uplink { name: radio.name.clone(), estimate: radio.estimate, link, send }
    });
    let lorawan = energies.lorawan.spreading_factors().map(|factor| {
        let sender = energies.lorawan.clone();
        Uplink {
            name: format!("LoRaWAN, SF{factor}"),
            estimate: energies.lorawan.estimate,
            link: None,
            send: Box::new(move |bytes| sender.send(factor, bytes)),
        }
    });
    radios.chain(lorawan).collect()
}

/// Prints, for each link, the energy of a message and the battery days, with our encoder and the best one of each other format.
fn print_links(energies: &Energies, mcu: &Mcu, figures: &Figures, name: &str, sizes: Sizes) {
    println!("\n\"{name}\" every hour from 5 Wh, encoded on {} (~ estimate)", mcu.part);
    println!(
        "{:<46}{:<34}{:>6}{:>7}{:>12}{:>12}{:>10}{:>8}{:>12}{:>12}",
        "", "", "bytes", "frames", "encode mJ", "send mJ", "encoding", "days", "ours lasts", "EUR/month"
    );
    for uplink in uplinks(energies) {
        let mut ours = None;
        for (format, joules, encoder) in encoders(mcu, figures, name) {
            let Some(bytes) = sizes.in_format(&format) else { continue };
            let sending = (uplink.send)(bytes);
            let budget = Budget {
                encode: joules.unwrap_or(0.0),
                send: sending.joules,
                sleep_watts: mcu.sleep_watts() + sending.sleep_watts,
                interval: INTERVAL,
            };
            let days = budget.days(energies.battery.joules);
            let change = ours.map_or(String::new(), |ours| gain(ours, days));
            ours = ours.or(Some(days));
            println!(
                "{:<46}{encoder:<34}{bytes:>6}{:>7}{:>12}{:>12.3}{:>10}{days:>8.0}{change:>12}{:>12}",
                format!("{}{}", tilde(uplink.estimate), uplink.name),
                sending.frames,
                joules.map_or("-".into(), |joules| format!("{:.5}", joules * 1e3)),
                sending.joules * 1e3,
                joules.map_or("-".into(), |_| format!("{:.3} %", budget.encoding_share() * 100.0)),
                uplink.link.and_then(|link| price(link, bytes)).map_or("-".into(), |eur| format!("{eur:.5}")),
            );
        }
    }
}

/// The price of a device's messages per month, in euros; `None` if the catalogue has no price.
fn price(link: &Link, bytes: usize) -> Option<f64> {
    let messages_per_day = 24.0 * 3600.0 / INTERVAL;
    Traffic { message_bytes: bytes, messages_per_day, devices: 1 }.monthly().eur(link)
}

/// How much longer the battery lasts with ours, in percent.
fn gain(ours: f64, theirs: f64) -> String {
    let percent = (ours / theirs - 1.0) * 100.0;
    if percent.abs() < 0.05 { "same".into() } else { format!("{percent:+.1} %") }
}

/// Format, joules and label of our encoder, then of the best encoder of each other format. Joules are `None` if no encoder was measured.
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
    let ours = best("pson", true).unwrap_or_else(|| ("pson".into(), None, "dunnage pson".into()));
    [ours].into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_listed_even_without_measurements() {
        let energies = Energies::load().expect("the files can be read");
        let mcu = energies.mcu(TARGET).expect("it is in the file");
        let encoders = encoders(mcu, &Figures::new(&[]), "Test10");
        let formats: Vec<_> = encoders.iter().map(|(format, ..)| format.as_str()).collect();
        assert_eq!(formats, ["pson", "msgpack", "cbor", "json"]);
        assert!(encoders.iter().all(|(_, joules, _)| joules.is_none()));
    }

    #[test]
    fn gains_are_percentages_of_the_peers_battery_days() {
        assert_eq!(gain(110.0, 100.0), "+10.0 %");
        assert_eq!(gain(100.0, 100.01), "same");
    }

    /// 720 messages of 160 bytes at 0.183 euros a kilobyte.
    #[test]
    fn the_monthly_price_is_that_of_the_bytes() {
        let link = dunnage_links::link("astrocast").expect("it is in the catalogue");
        assert!((price(link, 160).expect("it has a price") - 720.0 * 160.0 / 1024.0 * 0.183).abs() < 1e-9);
        assert!(price(dunnage_links::link("kineis").expect("it is in the catalogue"), 19).is_none());
    }
}
