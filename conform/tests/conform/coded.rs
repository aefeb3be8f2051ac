//! Packed messages with statistics: the prior form and deltas, of random schemas that are trained on random messages.

use dunnage_conform::{Instance, Random, Scope, instance, schema};
use dunnage_packed::{Kind, Layout, Reference, Sender, Training};
use dunnage_schema::Model;

/// The messages that each schema is trained on.
const TRAINING: usize = 40;

/// Calls `check` with each of `schemas` random schemas, trained, and `messages` random messages.
fn each(schemas: usize, messages: usize, mut check: impl FnMut(&Layout, &[Instance], &mut Random)) {
    let mut random = Random::new(11);
    for _ in 0..schemas {
        let text = schema(&mut random, Scope::Plain);
        let model = Model::compile(&text).expect("it compiles");
        let statistics = trained(&model, &mut random);
        let model = model.with_statistics(Some(&statistics));
        let layout = Layout::new(&model).expect("statistics of this schema");
        let instances: Vec<Instance> = (0..messages).map(|_| instance(&mut random, layout.model())).collect();
        check(&layout, &instances, &mut random);
    }
}

/// Returns statistics of random messages, each of which also has the one before it as a reference.
fn trained(model: &Model, random: &mut Random) -> Vec<u8> {
    let layout = Layout::untrained(model);
    let mut training = Training::new(&layout).expect("a plain layout");
    let mut before = None;
    for _ in 0..TRAINING {
        let example = training.example(&instance(random, model).message).expect("a message of the schema");
        training.add(&example);
        if let Some(before) = &before {
            training.add_change(&example, before);
        }
        before = Some(example);
    }
    training.finish().statistics
}

fn encoded(layout: &Layout, instance: &Instance) -> Vec<u8> {
    let mut bytes = Vec::new();
    layout.encode(&instance.message, &mut bytes).expect("a message of the schema");
    bytes
}

fn delta(layout: &Layout, instance: &Instance, reference: &Reference) -> Vec<u8> {
    let mut bytes = Vec::new();
    layout.encode_delta(&instance.message, reference, &mut bytes).expect("a message of the schema");
    bytes
}

/// Inverts a bit of `bytes` after the first byte.
fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut other = bytes.to_vec();
    let at = random.below(8 * (other.len() - 1)) + 8;
    other[at / 8] ^= 0x80 >> (at % 8);
    other
}

#[test]
fn a_message_in_the_prior_form_round_trips_and_has_one_encoding() {
    let mut prior = 0;
    each(150, 12, |layout, instances, random| {
        for instance in instances {
            let bytes = encoded(layout, instance);
            let decode = |bytes: &[u8]| layout.decode(bytes, &instance.known);
            assert_eq!(decode(&bytes).as_ref(), Ok(&instance.message));
            if bytes[0] >> 6 != 1 {
                continue;
            }
            prior += 1;
            for end in 0..bytes.len() {
                assert_eq!(decode(&bytes[..end]).expect_err("a prefix").kind(), Kind::Truncated);
            }
            decode(&[&bytes[..], &[random.byte()]].concat()).expect_err("a byte too many");
            for _ in 0..8 {
                if bytes.len() == 1 {
                    break;
                }
                let other = damaged(&bytes, random);
                if let Ok(message) = decode(&other) {
                    // The writer may prefer the plain form.
                    let form = encoded(layout, &Instance { message, known: instance.known.clone() });
                    assert!(form == other || form[0] >> 6 == 0);
                }
            }
        }
    });
    assert!(prior > 500, "{prior}");
}

#[test]
fn a_delta_round_trips_with_its_reference_and_with_no_other() {
    let (mut tried, mut accepted) = (0u32, 0u32);
    each(100, 12, |layout, instances, random| {
        let reference = |one: &Instance| layout.reference(&one.message).expect("a message");
        let references: Vec<Reference> = instances.iter().map(reference).collect();
        for (instance, reference) in instances.iter().zip(references.iter().rev()) {
            let bytes = delta(layout, instance, reference);
            let decoded =
                layout.decode_delta(&bytes, [reference], [], &instance.known).expect("its reference");
            assert_eq!((&decoded.value, decoded.used), (&instance.message, reference.name()));
            assert_eq!(layout.decode(&bytes, &instance.known).unwrap_err().kind(), Kind::Reference);
            let other = damaged(&bytes, random);
            if let Ok(decoded) = layout.decode_delta(&other, [reference], [], &instance.known) {
                let message = Instance { message: decoded.value, known: instance.known.clone() };
                assert_eq!(delta(layout, &message, reference), other);
            }
            for wrong in references.iter().filter(|wrong| wrong.plain() != reference.plain()) {
                // The tag of the wrong reference, so that it is tried.
                let forged = [&[0x80 | (wrong.name() & 0x3f) as u8], &bytes[1..]].concat();
                tried += 1;
                match layout.decode_delta(&forged, [wrong], [], &instance.known) {
                    Ok(decoded) => accepted += u32::from(decoded.value != instance.message),
                    Err(error) => assert_eq!(error.kind(), Kind::Reference),
                }
            }
        }
    });
    // One in 65,536 is expected.
    assert!(tried > 5000 && accepted < 5, "{accepted} of {tried}");
}

#[test]
fn a_sender_is_understood_whatever_is_lost() {
    each(40, 60, |layout, instances, random| {
        let mut sender = Sender::new(layout, 3);
        let mut references: Vec<Reference> = Vec::new();
        let mut names = Vec::new();
        for instance in instances {
            let mut bytes = Vec::new();
            sender.encode(&instance.message, &mut bytes).expect("a message of the schema");
            assert!(bytes.len() <= encoded(layout, instance).len());
            if random.below(3) > 0 {
                let value = if bytes[0] >> 6 == 2 {
                    let latest = references.iter().rev();
                    layout.decode_delta(&bytes, latest, [], &instance.known).expect("a known reference").value
                } else {
                    layout.decode(&bytes, &instance.known).expect("a message")
                };
                assert_eq!(value, instance.message);
                references.push(layout.reference(&value).expect("a message"));
                names.extend(references.last().map(Reference::name));
            }
            // Late, repeated, unknown and missing acknowledgements.
            for _ in 0..random.below(3) {
                let name = if names.is_empty() { 7 } else { names[random.below(names.len())] };
                sender.acknowledged(if random.below(8) == 0 { name ^ 1 } else { name });
            }
        }
    });
}

#[test]
fn damaged_statistics_are_an_error_or_other_statistics() {
    let (mut errors, mut random) = (0, Random::new(5));
    for _ in 0..60 {
        let model = Model::compile(&schema(&mut random, Scope::Plain)).expect("it compiles");
        let statistics = trained(&model, &mut random);
        for _ in 0..30 {
            let mut other = statistics.clone();
            match random.below(3) {
                0 => other.truncate(random.below(other.len())),
                1 => other.push(random.byte()),
                _ => {
                    let at = random.below(other.len());
                    other[at] = random.byte();
                }
            }
            let model = model.clone().with_statistics(Some(&other));
            let Ok(layout) = Layout::new(&model) else {
                errors += 1;
                continue;
            };
            let instance = instance(&mut random, &model);
            let decoded = layout.decode(&encoded(&layout, &instance), &instance.known);
            assert_eq!(decoded, Ok(instance.message));
        }
    }
    assert!(errors > 900, "{errors}");
}
