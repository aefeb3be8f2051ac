//! Expressions: what they select and make of messages, mistakes in them, and their limits.

#![allow(clippy::unwrap_used)]

use dunnage_expression::{Expressions, PROGRAM, Verdict, Worker, limits};

fn expressions(when: &str, until: &str, map: &str) -> Expressions {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Expressions { when: some(when), until: some(until), map: some(map) }
}

fn worker(when: &str, until: &str, map: &str) -> Worker {
    PROGRAM.get_or_init(|| env!("CARGO_BIN_EXE_expressions_of_tests").into());
    let expressions = expressions(when, until, map);
    assert_eq!(expressions.check(), Ok(()));
    Worker::new(expressions)
}

async fn ask(worker: &Worker, messages: &[&str]) -> Vec<Verdict> {
    let messages: Vec<_> = messages.iter().map(|message| message.as_bytes().to_vec()).collect();
    worker.evaluate(&messages).await.unwrap()
}

async fn mapped(map: &str, message: &str) -> Verdict {
    ask(&worker("", "", map), &[message]).await.remove(0)
}

fn json(json: &str) -> Verdict {
    Verdict::Holds(Some(json.into()))
}

fn failed(reason: &str) -> Verdict {
    Verdict::Failed(reason.into())
}

#[tokio::test]
async fn a_filter_selects_and_a_map_reshapes() {
    let both =
        worker(r#".value.t > 30 and .tags.site == "a""#, ".value.t < 28", "{id: .device, t: .value.t}");
    let verdicts = ask(
        &both,
        &[
            r#"{"device":"x","tags":{"site":"a"},"value":{"t":31.50}}"#,
            r#"{"device":"x","tags":{"site":"b"},"value":{"t":31}}"#,
            r#"{"device":"x","tags":{"site":"a"},"value":{"t":27.9}}"#,
            r#"{"device":"x","value":{}}"#,
        ],
    )
    .await;
    let expected = [
        json(r#"{"id":"x","t":31.50}"#),
        Verdict::Skipped { ends: false },
        Verdict::Skipped { ends: true },
        // Nothing is less than any number.
        Verdict::Skipped { ends: true },
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(ask(&worker("empty", "", ""), &["{}"]).await, [Verdict::Skipped { ends: false }]);
    assert_eq!(ask(&worker(".a", "", ""), &[r#"{"a":0}"#, r#"{"a":false}"#]).await[0], Verdict::Holds(None));
    assert_eq!(mapped("empty", "{}").await, Verdict::Skipped { ends: false });
}

#[tokio::test]
async fn the_types_of_a_message_are_kept() {
    let message = r#"{"i":9007199254740993,"u":18446744073709551615,"d":21.50,"e":1e400,"n":-0.0,"t":"\u0000ä\n\"","k":{"b":1,"a":[]}}"#;
    let same = r#"{"i":9007199254740993,"u":18446744073709551615,"d":21.50,"e":1e400,"n":-0.0,"t":"\u0000ä\n\"","k":{"b":1,"a":[]}}"#;
    assert_eq!(mapped(".", message).await, json(same));
    assert_eq!(mapped("[.i + 1, .d * 2, (.d | floor)]", message).await, json("[9007199254740994,43.0,21]"));
    assert_eq!(mapped("meters(52.52; 13.405; 48.137; 11.575) | round", "{}").await, json("504339"));
}

#[tokio::test]
async fn a_failure_belongs_to_its_message() {
    let verdicts =
        ask(&worker("", "", "1 / .n"), &[r#"{"n":4}"#, r#"{"n":0}"#, r#"{"n":"x"}"#, r#"{"n":2}"#]).await;
    let Verdict::Failed(zero) = &verdicts[1] else { panic!("{verdicts:?}") };
    assert!(zero.starts_with("map: "), "{zero}");
    assert_eq!((&verdicts[0], &verdicts[3]), (&json("0.25"), &json("0.5")));
    assert_eq!(verdicts[2], failed(r#"map: cannot calculate 1 / "x""#));
    assert_eq!(mapped(".a.b.c", "{}").await, json("null"));
    assert_eq!(mapped(".a.b", r#"{"a":1}"#).await, failed(r#"map: cannot index 1 with "b""#));
    assert_eq!(mapped("error(\"no\\u0007\")", "{}").await, failed(r#"map: "no\u0007""#));
    let several = "map: has several results for a message; [ ] around it makes an array of them";
    assert_eq!(mapped("1, 2", "{}").await, failed(several));
    for (map, reason) in [
        ("infinite", "map: the result has the number inf, which JSON cannot express"),
        ("nan", "map: the result has the number NaN, which JSON cannot express"),
        (
            "{(1|tostring): {}} | .a = ([limit(200; repeat(1))] | reduce .[] as $x (null; [.]))",
            "map: the result nests more than 128 deep",
        ),
        ("\"x\" * 1100000", "map: the result exceeds 1048576 bytes"),
        ("{(1): 2}", "map: the result has a key that is not a text"),
    ] {
        assert_eq!(mapped(map, "{}").await, failed(reason), "{map}");
    }
}

/// Each of these would take a gateway with it. The message at fault fails, and the others pass.
#[tokio::test]
async fn a_message_that_exceeds_a_limit_fails_alone() {
    let time = format!("an expression: took more than {} ms", limits::TIME.as_millis());
    let memory = format!("an expression: took more than {} MB, or nests too deep", limits::MEMORY >> 20);
    for bad in [
        "def f: f; f",
        "[range(1000000000)] | length",
        "last(range(1; 1000000000))",
        "\"x\" * 1000000000 | length",
        "def f: 1 + f; f",
        "[limit(30; repeat(.))] | reduce .[] as $x (\"ab\"; . + .) | length",
    ] {
        let worker = worker("", "", &format!("if .bad then {bad} else .n end"));
        let verdicts = ask(&worker, &[r#"{"n":1}"#, r#"{"bad":true}"#, r#"{"n":2}"#]).await;
        assert_eq!((&verdicts[0], &verdicts[2]), (&json("1"), &json("2")), "{bad}");
        // What builds much takes long, too: which limit it meets first depends on the machine.
        assert!(
            [&time, &memory].map(|reason| Verdict::Failed(reason.clone())).contains(&verdicts[1]),
            "{bad}: {:?}",
            verdicts[1]
        );
        assert_eq!(ask(&worker, &[r#"{"n":3}"#]).await, [json("3")], "{bad}");
    }
}

#[tokio::test]
async fn many_and_large_messages_pass() {
    let worker = worker("", "", ".n");
    let text = "x".repeat(100_000);
    let messages: Vec<_> = (0..300).map(|n| format!(r#"{{"n":{n},"text":"{text}"}}"#)).collect();
    let messages: Vec<_> = messages.iter().map(String::as_str).collect();
    let verdicts = ask(&worker, &messages).await;
    assert!(verdicts.into_iter().enumerate().all(|(n, verdict)| verdict == json(&n.to_string())));
}

/// A caller that gives up in the middle must not leave answers for the next one.
#[tokio::test]
async fn a_caller_that_gives_up_leaves_no_answers() {
    let worker = worker("", "", ".n");
    let many: Vec<_> = (0..2000).map(|n| format!(r#"{{"n":{n}}}"#).into_bytes()).collect();
    for _ in 0..20 {
        let _ = tokio::time::timeout(std::time::Duration::from_micros(200), worker.evaluate(&many)).await;
        assert_eq!(ask(&worker, &[r#"{"n":"mine"}"#]).await, [json("\"mine\"")]);
    }
}

#[test]
fn a_mistake_has_its_place() {
    let mistake = |when: &str| expressions(when, "", "").check().expect_err(when).1;
    for (text, expected) in [
        (".value.t >", "line 1, column 11: expected term, but the expression ends"),
        (".value.t\n  > (30", "line 2, column 8: the closing parenthesis is missing"),
        (".[\"ü\"] and\n nope(1)", "line 2, column 2: there is no filter nope/1"),
        (".a == $x", "line 1, column 7: there is no variable $x"),
        ("now", "line 1, column 1: there is no filter now/0"),
        ("limit(1)", "line 1, column 1: there is no filter limit/1"),
        ("env.PATH", "line 1, column 1: there is no filter env/0"),
        ("$ENV", "line 1, column 1: there is no variable $ENV"),
        ("input", "line 1, column 1: there is no filter input/0"),
        ("include \"a\"; .", "line 1, column 10: modules cannot be loaded"),
        (".a ~ 1", "line 1, column 4: expected a token"),
    ] {
        assert_eq!(mistake(text), expected, "{text}");
    }
    // Whatever nests as deep as an expression may be long is read, and ends no process.
    for part in
        ["(", "[", "{a:", "-", "try ", "if . then ", ".a|", "def f: ", "\"\\(", ".[", ". as [", "reduce "]
    {
        let deep = part.repeat(limits::EXPRESSION / part.len());
        let _ = expressions(&deep, "", "").check();
        let closed = format!("{deep}1").chars().take(limits::EXPRESSION).collect::<String>();
        let _ = expressions(&closed, "", "").check();
    }
    let half = limits::EXPRESSION / 2 - 1;
    assert_eq!(expressions(&format!("{}1{}", "(".repeat(half), ")".repeat(half)), "", "").check(), Ok(()));
    assert!(mistake(&".".repeat(limits::EXPRESSION + 1)).contains("at most 4096 bytes"));
    let alone = Expressions { until: Some(".".into()), ..Expressions::default() };
    assert_eq!(alone.check(), Err(("until", "needs when".into())));
}
