//! `dunnage plan`.

use crate::run::{Run, dunnage, golden, root};
use serde_json::Value as Json;
use std::fs;

const FLEET: [&str; 5] = ["plan", "--devices", "10000", "--per-day", "4"];

fn plan(more: &[&str]) -> Run {
    dunnage(&[&FLEET, more].concat(), "")
}

fn link<'a>(report: &'a Json, id: &str) -> &'a Json {
    report["links"].as_array().unwrap().iter().find(|link| link["id"] == id).unwrap()
}

fn row<'a>(report: &'a Json, id: &str, format: &str) -> &'a Json {
    link(report, id)["formats"].as_array().unwrap().iter().find(|row| row["format"] == format).unwrap()
}

#[test]
fn tables_and_json_match_the_golden_files() {
    let container = [
        "--schema",
        "container",
        "--link",
        "astrocast",
        "--link",
        "lte-m",
        "--link",
        "kineis",
        "--battery",
        "19Wh",
    ];
    golden("plan-container.txt", plan(&container).text());
    golden("plan-weather.txt", plan(&["--schema", "weather"]).text());
    let meter = ["--schema", "meter", "--link", "lorawan-eu868-dr0", "--link", "sigfox", "--battery", "19Wh"];
    golden("plan-meter.txt", plan(&meter).text());
    let mesh =
        ["--schema", "container", "--link", "thread", "--link", "meshtastic-longfast-eu868", "--hops", "4"];
    golden("plan-mesh.txt", plan(&mesh).text());
    let json = plan(&["--schema", "weather", "--link", "kineis", "--battery", "19Wh", "--json"]).json();
    golden("plan-weather.json", &(serde_json::to_string_pretty(&json).unwrap() + "\n"));
}

#[test]
fn the_help_names_every_link() {
    let help = dunnage(&["plan", "--help"], "");
    for link in dunnage_links::catalogue() {
        assert!(help.text().contains(&link.id), "{}", link.id);
    }
    golden("plan-help.txt", help.text());
}

/// The sizes of Table 2 of "Evaluating Binary Serialization Protocols for IoT/M2M Applications over Hybrid Terrestrial and
/// Non-Terrestrial Networks", without the rounding of its Table 7: 138 bytes, 10,000 devices, 120 messages a month.
#[test]
fn the_papers_fleet_costs_what_its_bytes_cost() {
    let report = plan(&["--schema", "container", "--json"]).json();
    let protobuf = row(&report, "astrocast", "protobuf (float32)");
    assert_eq!(protobuf["mean_bytes"], 138.0);
    assert_eq!(protobuf["payload_bytes_per_month"], 138.0 * 1_200_000.0);
    let cost = protobuf["cost_per_month"]["amount"].as_f64().unwrap();
    assert!((cost - 138.0 * 1_200_000.0 / 1024.0 * 0.183).abs() < 1e-6, "{cost}");
    // 57 bytes of IPv4, UDP and DTLS.
    assert_eq!(row(&report, "lte-m", "json")["billed_bytes_per_month"], (379.0 + 57.0) * 1_200_000.0);
    assert_eq!(row(&report, "kineis", "packed")["cost_per_month"], Json::Null);
}

#[test]
fn nothing_is_recommended_that_does_not_fit_or_is_lossy() {
    for schema in ["container", "container-voyage", "container-numeric", "meter", "weather"] {
        for per_day in ["0.1", "4", "300", "5000"] {
            let every = dunnage_links::catalogue().iter().flat_map(|link| ["--link", &link.id]);
            let arguments = ["plan", "--schema", schema, "--devices", "100", "--per-day", per_day, "--json"];
            let arguments: Vec<&str> = arguments.into_iter().chain(every).collect();
            let report = dunnage(&arguments, "").json();
            let choices = report["advice"]["choices"].as_array().unwrap();
            assert!(!choices.is_empty(), "{schema} {per_day}");
            for choice in choices {
                let (id, format) = (choice["link"].as_str().unwrap(), choice["format"].as_str().unwrap());
                let row = row(&report, id, format);
                assert_eq!(
                    (&row["lossless"], &row["allowed"]),
                    (&Json::Bool(true), &Json::Bool(true)),
                    "{choice}"
                );
                assert!(["always", "messages"].contains(&row["fits"].as_str().unwrap()), "{choice}: {row}");
                assert!(link(&report, id)["ended"].is_null(), "{choice}");
            }
        }
    }
}

#[test]
fn three_to_six_sentences_say_what_to_choose() {
    for links in [&["--link", "astrocast"][..], &["--link", "lte-m", "--link", "kineis"], &[]] {
        for schema in ["container", "meter", "weather"] {
            let report = plan(&[&["--schema", schema, "--battery", "19Wh", "--json"], links].concat()).json();
            let sentences = report["advice"]["sentences"].as_array().unwrap();
            assert!((3..=6).contains(&sentences.len()), "{schema} {links:?}: {sentences:?}");
            assert!(sentences[0].as_str().unwrap().starts_with("Choose "), "{sentences:?}");
        }
    }
    let report = plan(&["--schema", "container", "--link", "kineis", "--link", "swarm", "--json"]).json();
    assert_eq!(report["advice"]["choices"], Json::Array(Vec::new()));
    let text = report["advice"]["sentences"].to_string();
    assert!(text.contains("there is nothing to choose") && text.contains("ended in 2025-03"), "{text}");
}

#[test]
fn messages_are_files_and_standard_input() {
    let message = root().join("bench/corpus/container.json");
    let text = fs::read_to_string(&message).unwrap();
    let arguments = [
        "--schema",
        "container",
        "--link",
        "astrocast",
        "--json",
        "--message",
        message.to_str().unwrap(),
        "-",
    ];
    let report = dunnage(&[&FLEET[..], &arguments[..]].concat(), &text).json();
    assert_eq!(report["messages"].as_array().unwrap().len(), 2);
    assert_eq!(report["messages"][1]["name"], "standard input");
    assert_eq!(row(&report, "astrocast", "packed")["mean_bytes"], 56.0);
}

#[test]
fn messages_are_the_lines_of_a_file_or_the_rows_of_csv() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let of = |file: &str| plan(&["--schema", "weather", "--messages", file, "--json"]);
    let lines = write(
        "log.jsonl",
        "{\"station\":\"A\",\"time\":\"2026-03-29T12:00:00Z\",\"temperature\":14.3,\"humidity\":62,\"pressure\":1016.8}\n\n{\"station\":\"B\",\"time\":\"2026-03-29T12:15:00Z\",\"temperature\":null,\"humidity\":62,\"pressure\":1016.8}\n",
    );
    let rows = write(
        "log.csv",
        "station,time,temperature,humidity,pressure\nA,2026-03-29T12:00:00Z,14.3,62,1016.8\nB,2026-03-29T12:15:00Z,null,62,1016.8\n",
    );
    let (from_lines, from_rows) = (of(&lines).json(), of(&rows).json());
    assert_eq!(from_lines["messages"].as_array().unwrap().len(), 2);
    assert_eq!(from_lines["links"], from_rows["links"]);
    assert_eq!(from_rows["messages"][1]["name"], format!("{rows}: line 3"));
    let wrong = write(
        "wrong.csv",
        "station,time,temperature,humidity,pressure\nA,2026-03-29T12:00:00Z,14.3,62,1016.8\nB,noon,14.3,62,1016.8\n",
    );
    let failed = of(&wrong);
    assert_eq!(failed.code, 1);
    assert!(failed.stderr.contains("wrong.csv: line 3: the schema does not allow it"), "{}", failed.stderr);
}

#[test]
fn invalid_usage_exits_with_2_and_names_the_option() {
    for (arguments, option) in [
        (["--link", "astrocst"], "--link"),
        (["--battery", "19"], "--battery"),
        (["--battery", "2400mAh"], "--battery"),
        (["--battery", "-3Wh"], "--battery"),
    ] {
        let run = plan(&[&["--schema", "container"], &arguments[..]].concat());
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains(option), "{}", run.stderr);
    }
    for (devices, per_day, option) in [
        ("0", "1", "--devices"),
        ("-1", "1", "--devices"),
        ("1", "0", "--per-day"),
        ("1", "NaN", "--per-day"),
        ("1", "1e-300", "--per-day"),
        ("1", "-4", "--per-day"),
    ] {
        let run = dunnage(&["plan", "--schema", "container", "--devices", devices, "--per-day", per_day], "");
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains(option), "{}", run.stderr);
    }
    let run = plan(&["--schema", "container", "--link", "iridium"]);
    assert!(
        run.stderr.contains("'iridium-sbd-mo'") && run.stderr.contains("'iridium-imt'"),
        "{}",
        run.stderr
    );
    let run = plan(&["--schema", "container", "--link", "astrocst"]);
    assert!(run.stderr.contains("'astrocast'"), "{}", run.stderr);
}

#[test]
fn hops_change_the_links_that_have_them_and_no_others() {
    let json = |hops| {
        let links = ["--link", "thread", "--link", "astrocast", "--battery", "19Wh", "--json"];
        plan(&[&["--schema", "container", "--hops", hops], &links[..]].concat()).json()
    };
    let (one, four) = (json("1"), json("4"));
    assert_eq!(link(&one, "astrocast"), link(&four, "astrocast"));
    assert_eq!(
        (&link(&four, "astrocast")["hops"], &link(&four, "astrocast")["max_hops"]),
        (&Json::from(1), &Json::Null)
    );
    assert_eq!(
        (&link(&four, "thread")["hops"], &link(&four, "thread")["max_hops"]),
        (&Json::from(4), &Json::from(14))
    );
    let figure = |report: &Json, key: &str| row(report, "thread", "json")[key].as_f64().unwrap();
    for key in ["airtime_s", "share_on_air", "joules_per_message"] {
        assert!((figure(&four, key) / figure(&one, key) - 4.0).abs() < 1e-9, "{key}");
    }
    for key in ["fragments", "billed_bytes_per_month"] {
        assert_eq!(figure(&four, key), figure(&one, key), "{key}");
    }
}

#[test]
fn the_document_has_the_limits_of_every_link_with_hops() {
    let document = fs::read_to_string(root().join("docs/plan.md")).unwrap();
    for link in dunnage_links::catalogue() {
        let Some(mesh) = &link.mesh else { continue };
        let row = document.lines().find(|line| line.starts_with(&format!("| `{}` |", link.id))).unwrap();
        let row = row.replace(',', "");
        let most = link.max_payload_bytes.unwrap();
        let piece = link.standard_payload_bytes.unwrap_or(most);
        assert!(row.contains(&format!("` | {piece} | {most} | ")), "{row}");
        assert!(row.contains(&format!(" | {} | ", mesh.max_hops)), "{row}");
    }
}

#[test]
fn hops_that_no_link_or_this_link_cannot_carry_are_named() {
    for hops in ["0", "-1", "256", "two"] {
        let run = plan(&["--schema", "container", "--link", "thread", "--hops", hops]);
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains("--hops"), "{}", run.stderr);
    }
    let run = plan(&["--schema", "container", "--link", "meshtastic-longfast-eu868", "--hops", "9"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("hops on meshtastic-longfast-eu868 must be from 1 to 8"), "{}", run.stderr);
}

#[test]
fn messages_that_the_schema_does_not_allow_exit_with_1_and_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("reading.json");
    let run_with = |message: &str| {
        fs::write(&file, message).unwrap();
        plan(&["--schema", "weather", "--message", file.to_str().unwrap()])
    };
    for (message, reason) in [
        (r#"{"temprature":1}"#, "/temprature"),
        (r#"{"a":1} {"b":2}"#, "more than one JSON message"),
        ("time,temp\n1,20.5\n2,20.6\n", "`dunnage convert --from csv --to json`"),
        ("{", "truncated"),
    ] {
        let run = run_with(message);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(run.stderr.contains("reading.json") && run.stderr.contains(reason), "{}", run.stderr);
    }
    let missing = plan(&["--schema", "weather", "--message", "no-such-file.json"]);
    assert_eq!((missing.code, missing.stderr.contains("no-such-file.json")), (1, true));
}

#[test]
fn a_schema_without_examples_needs_messages() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#;
    let run = dunnage(&[&FLEET[..], &["--schema", "-"]].concat(), schema);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("--message"), "{}", run.stderr);
}

#[test]
fn a_million_devices_are_planned() {
    let run =
        dunnage(&["plan", "--schema", "weather", "--devices", "1000000", "--per-day", "86400", "--json"], "");
    let billed = row(&run.json(), "astrocast", "xml")["billed_bytes_per_month"].as_f64().unwrap();
    assert!(billed.is_finite() && billed > 1e14);
}

#[test]
fn charts_and_page_are_self_contained_escaped_and_follow_the_theme() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    // The name of the schema's file is shown on the page.
    let schema = path("<b>&.json");
    fs::write(&schema, dunnage_schema::bundled_named("weather").unwrap()).unwrap();
    let (svg, html) = (path("plan.svg"), path("plan.html"));
    plan(&["--schema", &schema, "--link", "kineis", "--link", "lte-m", "--svg", &svg, "--html", &html])
        .text();
    let (svg, html) = (fs::read_to_string(svg).unwrap(), fs::read_to_string(html).unwrap());
    for text in [&svg, &html] {
        assert!(text.contains("prefers-color-scheme:dark"));
        assert!(!text.contains("src=") && !text.contains("url(") && !text.contains("<script"));
    }
    assert!(svg.starts_with("<svg") && html.contains(&svg));
    assert!(html.contains("&lt;b&gt;&amp;.json") && !html.contains("<b>"));
    assert!(html.contains("https://doi.org/10.3390/telecom7020043"));
    // Two charts with a bar for each of the 17 formats, and two boxes of the legend.
    let (_, drawing) = svg.split_once("</style>").unwrap();
    let bars = |colour| drawing.matches(&format!("fill=\"{colour}\"")).count();
    assert_eq!(bars("#5AA5BF") + bars("#D08C2F"), 2 * 17 + 2);
}

/// All keys of the objects in `json`.
fn keys(json: &Json) -> Vec<&str> {
    match json {
        Json::Object(object) => {
            object.iter().flat_map(|(key, value)| [vec![key.as_str()], keys(value)].concat()).collect()
        }
        Json::Array(items) => items.iter().flat_map(keys).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn the_document_names_every_key_of_the_json() {
    let document = fs::read_to_string(root().join("docs/plan.md")).unwrap();
    let report = plan(&["--schema", "container", "--battery", "19Wh", "--json"]).json();
    for key in keys(&report) {
        assert!(
            document.contains(&format!("`{key}`"))
                || document.contains(&format!("`{key}[]`"))
                || document.contains(&format!(".{key}[]`")),
            "{key}"
        );
    }
}
