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

use dunnage_links::{Link, Traffic};

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
    /// In the catalogue of links, where it has a price.
    link: Option<&'static Link>,
    /// Of a message of so many bytes.
    send: Box<dyn Fn(usize) -> Sending>,
}

fn ways(energies: &Energies) -> Vec<Way> {
    let radios = energies.radios.iter().map(|radio| {
        let sender = radio.clone();
        let link = radio.link.as_deref().and_then(dunnage_links::link);
        let send = Box::new(move |bytes| sender.send(bytes));
        Way { name: radio.name.clone(), estimate: radio.estimate, link, send }
    });
    let lorawan = energies.lorawan.spreading_factors().map(|factor| {
        let sender = energies.lorawan.clone();
        Way {
            name: format!("LoRaWAN, SF{factor}"),
            estimate: energies.lorawan.estimate,
            link: None,
            send: Box::new(move |bytes| sender.send(factor, bytes)),
        }
    });
    radios.chain(lorawan).collect()
}

/// For each link: the energy of a message and the days that the battery lasts, with ours and the best encoder of each other format.
fn print_links(energies: &Energies, mcu: &Mcu, figures: &Figures, name: &str, sizes: Sizes) {
    println!("\n\"{name}\" every hour from 5 Wh, encoded on {} (~ estimate)", mcu.part);
    println!(
        "{:<46}{:<34}{:>6}{:>7}{:>12}{:>12}{:>10}{:>8}{:>12}{:>12}",
        "", "", "bytes", "frames", "encode mJ", "send mJ", "encoding", "days", "ours lasts", "EUR/month"
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
            let change = ours.map_or(String::new(), |ours| gain(ours, days));
            ours = ours.or(Some(days));
            println!(
                "{:<46}{encoder:<34}{bytes:>6}{:>7}{:>12}{:>12.3}{:>10}{days:>8.0}{change:>12}{:>12}",
                format!("{}{}", tilde(way.estimate), way.name),
                sending.frames,
                joules.map_or("-".into(), |joules| format!("{:.5}", joules * 1e3)),
                sending.joules * 1e3,
                joules.map_or("-".into(), |_| format!("{:.3} %", budget.encoding_share() * 100.0)),
                way.link.and_then(|link| price(link, bytes)).map_or("-".into(), |eur| format!("{eur:.5}")),
            );
        }
    }
}

/// Euros of a device's messages of a month, where the catalogue has a price.
fn price(link: &Link, bytes: usize) -> Option<f64> {
    let messages_per_day = 24.0 * 3600.0 / INTERVAL;
    Traffic { message_bytes: bytes, messages_per_day, devices: 1 }.monthly().eur(link)
}

/// How much longer ours lasts, in percent.
fn gain(ours: f64, theirs: f64) -> String {
    let percent = (ours / theirs - 1.0) * 100.0;
    if percent.abs() < 0.05 { "same".into() } else { format!("{percent:+.1} %") }
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
    let ours = best("pson", true).unwrap_or_else(|| ("pson".into(), None, "dunnage pson".into()));
    [ours].into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_is_compared_with_the_others_and_named_even_when_it_was_not_measured() {
        let energies = Energies::load().expect("the files can be read");
        let mcu = energies.mcu(TARGET).expect("it is in the file");
        let encoders = encoders(mcu, &Figures::new(&[]), "Test10");
        let formats: Vec<_> = encoders.iter().map(|(format, ..)| format.as_str()).collect();
        assert_eq!(formats, ["pson", "msgpack", "cbor", "json"]);
        assert!(encoders.iter().all(|(_, joules, _)| joules.is_none()));
    }

    #[test]
    fn gains_are_percentages_of_the_others_days() {
        assert_eq!(gain(110.0, 100.0), "+10.0 %");
        assert_eq!(gain(100.0, 100.01), "same");
    }

    /// 720 messages of 160 bytes at 0.183 euros a kilobyte.
    #[test]
    fn a_month_costs_what_its_bytes_cost() {
        let link = dunnage_links::link("astrocast").expect("it is in the catalogue");
        assert!((price(link, 160).expect("it has a price") - 720.0 * 160.0 / 1024.0 * 0.183).abs() < 1e-9);
        assert!(price(dunnage_links::link("kineis").expect("it is in the catalogue"), 19).is_none());
    }
}
