use super::*;

#[test]
fn letters_and_then_digits_have_lengths_of_their_own() {
    assert_eq!(pattern(&["LMCU1231237"]).unwrap(), "^[A-Z]{1,8}[0-9]{1,14}$");
    assert_eq!(pattern(&["PISA01", "LIVER7"]).unwrap(), "^[A-Z]{1,10}[0-9]{1,5}$");
    assert_eq!(pattern(&["393600504805"]).unwrap(), "^[0-9]{1,24}$");
}

#[test]
fn many_letters_up_to_f_are_hexadecimal_and_few_are_not() {
    assert_eq!(pattern(&["14405E"]).unwrap(), "^[0-9A-Z]{1,12}$");
    assert_eq!(pattern(&["01DEC2026"]).unwrap(), "^[0-9A-Z]{1,18}$");
    assert_eq!(pattern(&["0f0fa3", "1234bc"]).unwrap(), "^[0-9a-z]{1,12}$");
    assert_eq!(pattern(&["F90001", "DEAD1E"]).unwrap(), "^[0-9A-F]{1,12}$");
    assert_eq!(pattern(&["3d"]), None);
}

#[test]
fn no_chunk_has_a_fixed_length() {
    assert_eq!(pattern(&["999-01-1-31D41"]).unwrap(), "^[0-9]{1,6}-[0-9]{1,5}-[0-9]{1,4}-[0-9A-Z]{1,10}$");
    let cells: Vec<String> =
        (0..20).map(|n| format!("222-01-{:X}-{:05X}", n % 12, 0x31000 + n * 41)).collect();
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    assert_eq!(pattern(&cells).unwrap(), "^[0-9]{1,6}-[0-9]{1,5}-[0-9A-Z]{1,4}-[0-9A-F]{1,10}$");
}

#[test]
fn a_number_with_a_unit_may_be_negative_and_bytes_may_have_any_character() {
    assert_eq!(pattern(&["-21.5C"]).unwrap(), "^[-.0-9A-Za-z]{1,12}$");
    assert_eq!(pattern(&["100.25%"]).unwrap(), "^[-.%0-9]{1,14}$");
    assert_eq!(pattern(&["+30.50"]).unwrap(), "^[-+.0-9]{1,12}$");
    assert_eq!(pattern(&["+39501234567"]).unwrap(), "^\\+[0-9]{1,22}$");
    assert_eq!(pattern(&["v1.9.0"]).unwrap(), "^[-.0-9A-Za-z]{1,18}$");
    assert_eq!(pattern(&["10:15:00", "9:45:00"]), None);
    assert_eq!(pattern(&["AQIDBA8="]).unwrap(), "^[0-9A-Za-z+/=]{1,16}$");
}

#[test]
fn digits_that_all_share_are_not_frozen_and_neither_are_the_letters_of_few() {
    let of = |count: usize, text: &dyn Fn(usize) -> String| {
        let texts: Vec<String> = (0..count).map(text).collect();
        pattern(&texts.iter().map(String::as_str).collect::<Vec<_>>()).unwrap()
    };
    assert_eq!(of(40, &|n| format!("dev-{n}")), "^[a-z]{1,6}-[0-9]{1,5}$");
    assert_eq!(of(400, &|n| format!("dev-{n:04}")), "^dev-[0-9]{1,8}$");
    assert_eq!(of(400, &|n| format!("LMCU{n:07}")), "^LMCU[0-9]{1,14}$");
    assert_eq!(of(400, &|n| format!("{}{n:07}", ["LMCU", "TGHU"][n % 2])), "^[A-Z]{1,8}[0-9]{1,14}$");
}

#[test]
fn words_are_no_identifiers_and_neither_is_another_structure() {
    for texts in
        [&["quay"][..], &["Quay lamp 7"], &["lamp-7.lan", "x-1"], &["A-1", "A1"], &["1", ""], &["é1"]]
    {
        assert_eq!(pattern(texts), None, "{texts:?}");
    }
}

#[test]
fn well_known_ones_have_the_length_they_always_have() {
    assert_eq!(known(&["192.0.2.57"]).unwrap().0, "an IPv4 address");
    assert_eq!(known(&["02:00:5E:10:2B:01"]).unwrap().0, "a MAC address");
    assert_eq!(known(&["8c0a1e04-7d4b-4b52-9d2e-000000000001"]).unwrap().0, "a UUID");
    let any_case =
        "^[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}$";
    assert_eq!(known(&["00:11:22:33:44:55"]).unwrap().1, any_case);
    assert_eq!(known(&["192.0.2.57", "localhost"]), None);
}
