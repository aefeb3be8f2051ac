//! Parses the numbers on the command line.

use dunnage_links::Load;

/// Joules in a watt-hour.
const WATT_HOUR: f64 = 3600.0;

/// The fewest messages per day: one in three years.
const MIN_PER_DAY: f64 = 0.001;

/// A number of devices, at least 1.
pub fn devices(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(devices @ 1..=Load::MAX_DEVICES) => Ok(devices),
        _ => Err(format!("give a whole number from 1 to {}", Load::MAX_DEVICES)),
    }
}

/// A number of hops that some link allows.
pub fn hops(text: &str) -> Result<u32, String> {
    let most = dunnage_links::catalogue().iter().filter_map(|link| Some(link.mesh.as_ref()?.max_hops)).max();
    match text.parse() {
        Ok(hops) if (1..=most.unwrap_or(1)).contains(&hops) => Ok(hops),
        _ => Err(format!("give a whole number from 1 to {}, the most of any link", most.unwrap_or(1))),
    }
}

/// A number of messages per day.
pub fn per_day(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (MIN_PER_DAY..=Load::MAX_PER_DAY).contains(&rate) => Ok(rate),
        _ => {
            Err(format!("give a number from {MIN_PER_DAY} to {}, one message per second", Load::MAX_PER_DAY))
        }
    }
}

/// An energy with its unit, in joules.
pub fn battery(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_alphabetic() && c != 'e' && c != 'E').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let joules = match unit {
        "Wh" => WATT_HOUR,
        "J" => 1.0,
        "mAh" | "Ah" => return Err("give watt-hours: ampere-hours times volts".to_owned()),
        "" => return Err(format!("the unit is missing: {number}Wh or {number}J")),
        _ => return Err(format!("unknown unit {unit}: give Wh or J")),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && (number * joules).is_finite() => Ok(number * joules),
        _ => Err("give a number above 0 with its unit, such as 19Wh".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batteries_have_a_unit() {
        assert_eq!(
            (battery("19Wh "), battery(" 68400 J"), battery("1e3J")),
            (Ok(68_400.0), Ok(68_400.0), Ok(1000.0))
        );
        for (text, reason) in [
            ("19", "unit is missing"),
            ("2400mAh", "times volts"),
            ("19kg", "unknown unit kg"),
            ("-3Wh", "above 0"),
            ("0J", "above 0"),
            ("Wh", "above 0"),
            ("NaN", "unknown unit"),
            ("1e400Wh", "above 0"),
        ] {
            let error = battery(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn rates_fleets_and_hops_are_positive() {
        assert_eq!((per_day("0.5"), per_day("86400")), (Ok(0.5), Ok(86_400.0)));
        for text in ["0", "-4", "NaN", "inf", "86401", "four"] {
            assert!(per_day(text).is_err(), "{text}");
        }
        assert_eq!((devices("1"), devices("1000000")), (Ok(1), Ok(1_000_000)));
        for text in ["0", "-1", "1.5", "2000000000", ""] {
            assert!(devices(text).is_err(), "{text}");
        }
        assert_eq!((hops("1"), hops("255")), (Ok(1), Ok(255)));
        for text in ["0", "-1", "1.5", "256", "5000000000", ""] {
            assert!(hops(text).is_err(), "{text}");
        }
    }
}
