//! Amounts as people read them.

/// `12,408`.
pub(crate) fn number(amount: u64) -> String {
    let digits = amount.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 event`, `12,408 events`.
pub(crate) fn counted(amount: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(amount), if amount == 1 { one } else { many })
}

/// A share of 1 in percent: `4.1 %`, `0 %`, `100 %`. What isn't nothing never reads as nothing.
pub(crate) fn percent(share: f64) -> String {
    let percent = share.clamp(0.0, 1.0) * 100.0;
    if percent == 0.0 {
        "0 %".to_owned()
    } else if percent < 0.1 {
        "< 0.1 %".to_owned()
    } else if percent >= 99.95 {
        "100 %".to_owned()
    } else {
        format!("{percent:.1} %")
    }
}

/// `512 B`, `1.2 KiB`, `10 MiB`.
pub(crate) fn bytes(amount: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (name, size) in UNITS {
        if amount >= size {
            let tenths = u128::from(amount) * 10 / u128::from(size);
            return match tenths % 10 {
                0 => format!("{} {name}", tenths / 10),
                tenth => format!("{}.{tenth} {name}", tenths / 10),
            };
        }
    }
    format!("{amount} B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas_every_three_digits() {
        for (amount, told) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (12_408, "12,408"), (1_234_567, "1,234,567")]
        {
            assert_eq!(number(amount), told);
        }
        assert_eq!(counted(1, "event", "events"), "1 event");
        assert_eq!(counted(2_000, "event", "events"), "2,000 events");
    }

    #[test]
    fn shares_are_percent_and_a_little_is_not_nothing() {
        for (share, told) in [
            (0.0, "0 %"),
            (0.0001, "< 0.1 %"),
            (0.0412, "4.1 %"),
            (0.9999, "100 %"),
            (1.0, "100 %"),
            (7.0, "100 %"),
            (f64::NAN, "NaN %"),
        ] {
            assert_eq!(percent(share), told);
        }
    }

    #[test]
    fn sizes_are_in_the_largest_unit_that_fits() {
        for (amount, told) in [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1 KiB"),
            (1_280, "1.2 KiB"),
            (10 << 20, "10 MiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(bytes(amount), told);
        }
    }
}
