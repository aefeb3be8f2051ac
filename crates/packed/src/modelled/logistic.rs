//! Converts between probabilities and logarithmic odds, in integers.
//!
//! Odds are ln(p / (1 - p)) in units of 1/256, from -3,071 to 3,071. Probabilities are in units of 1/65,536.

/// The maximum odds.
pub(super) const MAX_ODDS: i32 = 3071;

/// 65,536 / (1 + e^-(k/2)) for k from 0 to 24, at most 65,535.
const KNOTS: [i32; 25] = [
    32768, 40793, 47911, 53581, 57724, 60565, 62428, 63615, 64357, 64816, 65097, 65269, 65374, 65438, 65476,
    65500, 65514, 65523, 65528, 65531, 65533, 65534, 65535, 65535, 65535,
];

/// Returns the probability of the odds, by linear interpolation between the knots.
pub(super) const fn squash(odds: i32) -> i32 {
    let size = if odds.abs() < MAX_ODDS { odds.abs() } else { MAX_ODDS };
    let knot = (size / 128) as usize;
    let p = KNOTS[knot] + (KNOTS[knot + 1] - KNOTS[knot]) * (size % 128) / 128;
    if odds < 0 { 65536 - p } else { p }
}

/// Returns the odds of a probability. Only its highest twelve bits count.
pub(super) fn stretch(p: u32) -> i32 {
    static ODDS: [i16; 4096] = odds();
    ODDS[(p >> 4) as usize & 4095].into()
}

/// For each value of twelve bits, the smallest odds whose probability is not below the middle of its range.
const fn odds() -> [i16; 4096] {
    let mut table = [0; 4096];
    let (mut p, mut odds) = (0, -MAX_ODDS);
    while p < 4096 {
        while odds < MAX_ODDS && squash(odds) < 16 * p + 8 {
            odds += 1;
        }
        table[p as usize] = odds as i16;
        p += 1;
    }
    table
}
