//! The C of modes 1 and 2: it compiles without a warning with every installed compiler, has no data in RAM, and keeps its state as
//! `dunnage_packed::Sender` does. `conform` compares both on random schemas and messages.

use crate::c::{COMPILERS, assert_golden, compile, is_installed, program, write};
use dunnage_codegen::{c, ts013};
use dunnage_packed::{Layout, Training, Value};
use dunnage_schema::{Model, bundled_named};
use std::{fs, path::Path, process::Command};

/// Vectors whose schemas have statistics.
const VECTORS: &str = include_str!("../../../../spec/vectors/packed/coded.json");

/// Returns the container with statistics of its examples, and a schema with every kind of part.
fn layouts() -> [Layout; 2] {
    let text = bundled_named("container").expect("a bundled schema");
    let model = Model::compile(text).expect("the schema compiles");
    let untrained = Layout::untrained(&model);
    let mut training = Training::new(&untrained).expect("a plain layout");
    let mut before = None;
    // Each message is sent several times, so that it is likely that nothing changes.
    for message in examples().iter().cycle().take(100).flat_map(|message| [message; 3]) {
        let example = training.example(message).expect("a message of the schema");
        training.add(&example);
        if let Some(before) = &before {
            training.add_change(&example, before);
        }
        before = Some(example);
    }
    let container =
        Layout::new(&model.with_statistics(Some(&training.finish().statistics))).expect("its statistics");
    let vectors: serde_json::Value = serde_json::from_str(VECTORS).expect("JSON");
    let parts = Model::compile(&vectors["vectors"][0]["schema"].to_string()).expect("the schema compiles");
    [container, Layout::new(&parts).expect("its statistics")]
}

/// Returns the example messages of the container.
fn examples() -> Vec<Value> {
    let text = bundled_named("container").expect("a bundled schema");
    let schema: serde_json::Value = serde_json::from_str(text).expect("JSON");
    serde_json::from_value(schema["examples"].clone()).expect("examples")
}

fn generated(layout: &Layout) -> c::Files {
    c::c(layout, &c::Options { modes: true, ..Default::default() }).expect("C can represent the schema")
}

fn write_all(folder: &Path, files: &c::Files) {
    write(folder, files);
    fs::write(folder.join(c::MODES.0), c::MODES.1).expect("the file can be written");
}

#[test]
fn the_c_with_modes_matches_its_golden_file() {
    let [_, parts] = layouts();
    let files = generated(&parts);
    assert_golden("modes.h", &files.header);
    assert_golden("modes.c", &files.source);
}

#[test]
fn every_compiler_accepts_modes_1_and_2_without_a_warning() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("modes");
    for (compiler, flags) in COMPILERS.into_iter().filter(|(compiler, _)| is_installed(compiler)) {
        for files in layouts().iter().map(generated) {
            write_all(&folder, &files);
            fs::write(folder.join("program.c"), program(&files)).expect("the file can be written");
            for source in ["program.c", &format!("{}.c", files.name)] {
                if let Err(messages) = compile(compiler, flags, &folder, source) {
                    panic!("{compiler}: {messages}");
                }
            }
            if compiler == "avr-gcc" {
                let size = Command::new("avr-size").arg("out.o").current_dir(&folder).output();
                let size = String::from_utf8_lossy(&size.expect("avr-size").stdout).into_owned();
                let columns: Vec<_> = size.lines().nth(1).unwrap_or_default().split_whitespace().collect();
                assert_eq!(columns[1..3], ["0", "0"], "{} has data in RAM: {size}", files.name);
            }
        }
    }
}

#[test]
fn modes_1_and_2_need_statistics() {
    let model = Model::compile(bundled_named("container").expect("a bundled schema")).expect("a schema");
    let layout = Layout::new(&model).expect("a layout");
    let faults = c::c(&layout, &c::Options { modes: true, ..Default::default() }).expect_err("no statistics");
    assert_eq!(
        faults[0].to_string(),
        "$ has no statistics, which modes 1 and 2 need: run `dunnage schema train`, and use the schema that it writes"
    );
}

/// A program that checks the states of a sender.
const PROGRAM: &str = r#"#include "container.h"
#include <stdio.h>
#include <string.h>
#define CHECK(what) do { if (!(what)) { fprintf(stderr, "%d: %s\n", __LINE__, #what); return 1; } } while (0)
#define MODE (out[0] >> 6)

static const uint8_t plain[] = {PLAIN};

static size_t send(Container_state *state, const Container *m, uint8_t *out)
{
    uint8_t prior[CONTAINER_MAX_SIZE];
    size_t size = Container_send(state, m, out);
    return size <= Container_encode_prior(m, prior) ? size : 0;
}

int main(void)
{
    Container m = CONTAINER_INIT;
    Container_state state;
    uint8_t out[CONTAINER_MAX_SIZE];
    int i, bit;
    CHECK(Container_decode(&m, plain, sizeof plain, NULL));
    for (i = 0; i < 256; i++) {
        /* Memory that was never used. */
        memset(&state, i, sizeof state);
        CHECK(send(&state, &m, out) && MODE < 2);
        memset(&state, i, sizeof state);
        CHECK(!Container_acked_last(&state) && !Container_acked(&state, (uint16_t)i));
        memset(&state, i, sizeof state);
        Container_forget(&state);
        CHECK(send(&state, &m, out) && MODE < 2);
    }
    CHECK(Container_acked_last(&state) && !Container_acked_last(&state));
    CHECK(send(&state, &m, out) && MODE == 2);
    CHECK(Container_acked(&state, (uint16_t)(out[1] << 8 | out[2])));
    for (i = 0; i < 16; i++) CHECK(send(&state, &m, out) && MODE == 2);
    CHECK(send(&state, &m, out) && MODE < 2);
    CHECK(Container_acked_last(&state) && send(&state, &m, out) && MODE == 2);
    for (bit = 0; bit < 8 * (int)sizeof state; bit++) {
        Container_state damaged = state;
        damaged.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(send(&damaged, &m, out) && MODE < 2);
    }
    /* A message with a fault changes nothing. */
    {
        Container_state before = state;
        m.temperature = CONTAINER_TEMPERATURE_MAX + 1;
        CHECK(!Container_send(&state, &m, out) && !Container_encode_prior(&m, out));
        CHECK(!memcmp(&before, &state, sizeof state));
    }
    Container_forget(&state);
    CHECK(Container_decode(&m, plain, sizeof plain, NULL));
    CHECK(send(&state, &m, out) && MODE < 2);
    return 0;
}
"#;

#[test]
fn a_state_that_was_never_used_or_is_damaged_has_no_reference() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("modes-state");
    let [container, _] = layouts();
    write_all(&folder, &generated(&container));
    let mut plain = Vec::new();
    container.encode_without_statistics(&examples()[0], &mut plain).expect("a message of the schema");
    let plain: Vec<_> = plain.iter().map(u8::to_string).collect();
    let main = PROGRAM.replace("PLAIN", &plain.join(", "));
    fs::write(folder.join("main.c"), main).expect("the file can be written");
    for compiler in [&["gcc", "-std=c99"][..], &["g++", "-x", "c++", "-std=c++98", "-Wno-long-long"]] {
        let output = Command::new(compiler[0])
            .args(&compiler[1..])
            .args(["-g", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"])
            .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", "program"])
            .args(["main.c", "container.c", "dunnage_message.c"])
            .current_dir(&folder)
            .output()
            .expect("the compiler runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let output = Command::new(folder.join("program")).output().expect("the program runs");
        assert!(output.status.success(), "{}: {}", compiler[0], String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_series_is_an_array_in_c_and_refused_with_statistics() {
    let array = r#"{"title":"Log","type":"object","properties":{"values":{"type":"array","maxItems":12,
        "items":{"type":"integer","minimum":0,"maximum":999}}},"required":["values"],"additionalProperties":false}"#;
    let series = array.replacen(r#""maxItems""#, r#""x-dunnage-series":true,"maxItems""#, 1);
    let model = Model::compile(&series).expect("the schema compiles");
    let untrained = Layout::untrained(&model);
    let statistics = Training::new(&untrained).expect("a plain layout").finish().statistics;
    let layout = Layout::new(&model.with_statistics(Some(&statistics))).expect("its statistics");
    let faults = c::c(&layout, &c::Options { modes: true, ..Default::default() }).expect_err("a series");
    assert_eq!(
        faults[0].to_string(),
        "$ has x-dunnage-series, which C writes in mode 0 alone: leave out --modes"
    );
    let refused = ts013(&layout, "log.json").expect_err("a series with statistics");
    assert_eq!(
        refused[0].to_string(),
        "$ has x-dunnage-series and statistics, which this codec does not read together: leave out x-dunnage-statistics"
    );
    assert!(ts013(&untrained, "log.json").is_ok());
    let plain = |layout: &Layout| c::c(layout, &c::Options::default()).expect("C can represent the schema");
    let of_array = plain(&Layout::untrained(&Model::compile(array).expect("the schema compiles")));
    let of_series = plain(&layout).source;
    let (same, fit) =
        of_series.split_once("\nsize_t Log_encode_fit").expect("a function that writes fewer readings");
    assert_eq!(same, of_array.source);
    assert!(fit.contains("m->values_count = (uint8_t)(keep > 1 ? keep : 1);"), "{fit}");
}
