//! Splits a field's name into words.

/// Returns the words of a name: `battery` and `soc` for `batterySoc`, `battery_soc` and `BATTERY-SOC`. Digits belong to no word.
pub(super) fn of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        if !c.is_alphabetic() || c.is_uppercase() && after_lower {
            words.push(String::new());
        }
        after_lower = c.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphabetic()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_at_signs_digits_and_capitals() {
        for name in ["batterySoc", "battery_soc", "BATTERY-SOC", "Battery SOC", "battery2soc"] {
            assert_eq!(of(name), ["battery", "soc"], "{name}");
        }
        assert!(of("1-2").is_empty());
    }
}
