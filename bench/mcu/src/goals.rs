//! The library's goals, and whether it reaches them.

use crate::figures::{Contender, Figures, Payload};

/// An upper limit for a figure.
#[derive(Debug, Clone, Copy)]
pub struct Goal {
    /// The display name.
    pub name: &'static str,
    target: &'static str,
    operation: &'static str,
    metric: &'static str,
    payload: Payload<'static>,
    /// The maximum of the figure.
    pub limit: f64,
    /// The unit of the figure.
    pub unit: &'static str,
}

const TEST10: Payload = Payload::One("Test10");

/// The goals. Averages and maxima are over eight tests of the paper.
pub const GOALS: [Goal; 15] = [
    goal("ATmega328P, encode, average", "atmega328p", "encode", "cycles", Payload::Average, 750.0),
    goal("ATmega328P, decode, average", "atmega328p", "decode", "cycles", Payload::Average, 1600.0),
    goal("ATmega328P, bind, average", "atmega328p", "bind", "cycles", Payload::Average, 2400.0),
    // The limits are ArduinoJson 6.18's quoted figures.
    goal("ATmega328P, print JSON, Test10", "atmega328p", "print", "cycles", TEST10, 37476.0),
    goal("ATmega328P, parse JSON, Test10", "atmega328p", "parse", "cycles", TEST10, 20962.0),
    goal("ATmega328P, flash of encode + decode", "atmega328p", "encode+decode", "flash", TEST10, 2300.0),
    goal("ATmega328P, static RAM", "atmega328p", "encode+decode", "ram", TEST10, 0.0),
    goal("ATmega328P, stack of encode, most", "atmega328p", "encode", "stack", Payload::Maximum, 30.0),
    goal("ATmega328P, stack of decode, most", "atmega328p", "decode", "stack", Payload::Maximum, 90.0),
    goal("Cortex-M3, encode, Test10", "cortex-m3", "encode", "instructions", TEST10, 730.0),
    goal("Cortex-M3, decode, Test10", "cortex-m3", "decode", "instructions", TEST10, 900.0),
    goal("RV32IMC, encode, Test10", "rv32imc", "encode", "instructions", TEST10, 915.0),
    goal("RV32IMC, decode, Test10", "rv32imc", "decode", "instructions", TEST10, 1090.0),
    goal("Cortex-M0+, encode, Test10", "cortex-m0plus", "encode", "instructions", TEST10, 890.0),
    goal("Cortex-M0+, decode, Test10", "cortex-m0plus", "decode", "instructions", TEST10, 1260.0),
];

const fn goal(
    name: &'static str,
    target: &'static str,
    operation: &'static str,
    metric: &'static str,
    payload: Payload<'static>,
    limit: f64,
) -> Goal {
    let unit = match metric.as_bytes()[0] {
        b'c' => "cycles",
        b'i' => "instructions",
        _ => "bytes",
    };
    Goal { name, target, operation, metric, payload, limit, unit }
}

/// The result of a goal.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The goal.
    pub goal: Goal,
    /// Our figure; `None` if it was not measured.
    pub figure: Option<f64>,
    /// The best peer, and its figure.
    pub best: Option<(Contender, f64)>,
}

impl Outcome {
    /// Whether it was reached.
    pub fn hit(&self) -> bool {
        self.figure.is_some_and(|figure| figure <= self.goal.limit)
    }

    /// By how many percent the figure exceeds the limit; negative below it. `None` without a figure, and if the limit is 0.
    pub fn over(&self) -> Option<f64> {
        self.figure.filter(|_| self.goal.limit > 0.0).map(|figure| (figure / self.goal.limit - 1.0) * 100.0)
    }

    /// Ours divided by the best peer's.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.figure? / self.best.as_ref()?.1)
    }
}

/// The results of all goals.
pub fn outcomes(figures: &Figures) -> Vec<Outcome> {
    GOALS
        .iter()
        .map(|goal| {
            let (figure, best) =
                figures.ours_and_best(goal.target, goal.operation, goal.metric, goal.payload);
            Outcome { goal: *goal, figure, best }
        })
        .collect()
}

/// Prints a line for each goal.
pub fn print(figures: &Figures) {
    let outcomes = outcomes(figures);
    println!("\nGoals");
    println!("{:<38}{:>7}{:>9}{:>9}        {:<12}best peer", "", "goal", "ours", "", "ours/theirs");
    for outcome in &outcomes {
        let figure = outcome.figure.map_or("-".into(), |figure| format!("{figure:.0}"));
        let over = outcome.over().map_or(String::new(), |over| format!("{over:+.1} %"));
        let verdict = if outcome.hit() { "hit" } else { "MISS" };
        let ratio = outcome.ratio().map_or("-".into(), |ratio| format!("{ratio:.2}"));
        let peer = outcome
            .best
            .as_ref()
            .map_or("-".into(), |(best, value)| format!("{} {value:.0} {}", best.label(), best.mark()));
        let Goal { name, limit, unit, .. } = outcome.goal;
        println!("{name:<38}{limit:>7}{figure:>9}{over:>9}  {verdict:<6}{ratio:<12}{peer:<46}{unit}");
    }
    let hits = outcomes.iter().filter(|outcome| outcome.hit()).count();
    println!(
        "{hits} of {} hit; figures with {}, floats as binary32; ref: quoted, see bench/mcu/reference",
        outcomes.len(),
        crate::figures::OPTIONS
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{figures::tests::row, reference, summary::AVERAGED};

    #[test]
    fn a_goal_is_hit_at_its_limit_and_compared_with_the_best_peer() {
        let mut rows = reference::records().expect("the files can be read");
        rows.extend(AVERAGED.iter().map(|name| row("dunnage", name, "encode", 750.0)));
        rows.extend(AVERAGED.iter().map(|name| row("dunnage", name, "decode", 1601.0)));
        let outcomes = outcomes(&Figures::new(&rows));
        assert!(outcomes[0].hit() && outcomes[0].over() == Some(0.0));
        let (best, value) = outcomes[0].best.as_ref().expect("there are peers");
        assert_eq!((best.library.as_str(), value.round()), ("mpack (speed)", 917.0));
        assert!((outcomes[0].ratio().expect("both are there") - 750.0 / 917.0).abs() < 1e-12);
        assert!(!outcomes[1].hit());
        assert!(!outcomes[2].hit() && outcomes[2].ratio().is_none());
    }

    /// The peers that the goals name.
    #[test]
    fn the_best_peers_match_the_quoted_figures() {
        let rows = reference::records().expect("the files can be read");
        let best: Vec<_> = outcomes(&Figures::new(&rows))
            .into_iter()
            .map(|outcome| outcome.best.map(|(best, value)| (best.library, value.round())))
            .collect();
        let expected = [
            Some(("mpack (speed)", 917.0)),
            Some(("thinger-pson", 2488.0)),
            Some(("arduinojson (zero-copy)", 2801.0)),
            None,
            None,
            Some(("thinger-pson", 3206.0)),
            Some(("mpack (size)", 38.0)),
            Some(("mpack (speed)", 40.0)),
            Some(("thinger-pson", 109.0)),
            Some(("mpack", 1209.0)),
            Some(("thinger-pson", 1006.0)),
            Some(("mpack", 1408.0)),
            Some(("thinger-pson", 1817.0)),
            Some(("mpack", 1364.0)),
            Some(("thinger-pson", 1680.0)),
        ];
        let expected = expected.map(|one| one.map(|(library, value)| (library.to_owned(), value)));
        assert_eq!(best, expected);
    }
}
