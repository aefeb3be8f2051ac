//! Container numbers (ISO 6346): owner, category, serial number, check digit.

/// Returns the number of a freight container: four letters (three of the owner's, then `U`), six digits and
/// the check digit.
pub fn number(owner: [u8; 3], serial: u32) -> String {
    let mut text: String = owner.iter().map(|&letter| char::from(letter)).collect();
    text.push('U');
    text += &format!("{:06}", serial % 1_000_000);
    let digit = check_digit(&text);
    text.push(char::from(b'0' + digit));
    text
}

/// Returns the check digit of the first ten characters: the sum of their values weighted with powers of two,
/// modulo 11, modulo 10. Letters count from 10 for A, leaving out 11, 22 and 33.
fn check_digit(text: &str) -> u8 {
    let sum: u32 = text.bytes().take(10).enumerate().map(|(i, byte)| value(byte) << i).sum();
    (sum % 11 % 10) as u8
}

fn value(byte: u8) -> u32 {
    match byte {
        b'A'..=b'Z' => {
            let letter = u32::from(byte - b'A');
            10 + letter + letter.div_ceil(10)
        }
        _ => u32::from(byte.wrapping_sub(b'0')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_leave_out_the_multiples_of_eleven() {
        let values: Vec<u32> = (b'A'..=b'Z').map(value).collect();
        let expected: Vec<u32> = (10..=38).filter(|n| n % 11 != 0).collect();
        assert_eq!(values, expected);
    }

    #[test]
    fn known_numbers_have_their_check_digit() {
        // CSQU3054383 is the example in the standard.
        assert_eq!(number(*b"CSQ", 305_438), "CSQU3054383");
        assert_eq!(number(*b"TOL", 473_478), "TOLU4734787");
    }
}
