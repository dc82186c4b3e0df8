//! What may be a password: long enough, and nothing that a guesser tries first. How it is kept is the
//! business of `app`.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::limits::{PASSWORD_CHARS_MAX, PASSWORD_CHARS_MIN};

/// Characters that people put around a common word, at most; with more of them it counts as its own.
const PADDING_CHARS_MAX: usize = 8;
/// Different characters that a password has at least.
const DIFFERENT_CHARS_MIN: usize = 5;
/// What fingers and minds run along, forwards and backwards.
const ROWS: [&str; 6] =
    ["abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop"];

static COMMON: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| include_str!("common.txt").lines().filter(|line| !line.starts_with('#')).collect());

/// Why a text can't be a password; `None` when it can. `email` is whose it is to be.
pub fn fault(password: &str, email: &str) -> Option<String> {
    let chars = password.chars().count();
    if !(PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX).contains(&chars) {
        return Some(format!(
            "A password has {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS_MAX} characters; this one has {chars}."
        ));
    }
    let lower = password.to_lowercase();
    let sentence = if is_common(&lower) {
        "This is one of the passwords that are guessed first, or is built on one. Several words that have nothing to do \
         with each other make a good one."
    } else if is_of_address(&lower, &email.to_lowercase()) {
        "This is the e-mail address, or little more. Take something that nobody knows of you."
    } else if is_pattern(&lower) {
        "This repeats a few characters, or runs along the keyboard or the alphabet. Several words that have nothing to \
         do with each other make a good password."
    } else {
        return None;
    };
    Some(sentence.to_owned())
}

/// A common password, also with letters in disguise, and with a few digits and signs around it.
fn is_common(lower: &str) -> bool {
    let open = |text: &str| text.chars().map(undisguised).collect::<String>();
    let word = lower.trim_matches(|c: char| !c.is_alphabetic());
    let padding = lower.chars().count() - word.chars().count();
    let is_known = |text: &str| COMMON.contains(text) || COMMON.contains(open(text).as_str());
    is_known(lower) || (padding <= PADDING_CHARS_MAX && is_known(word))
}

const fn undisguised(c: char) -> char {
    match c {
        '0' => 'o',
        '1' | '!' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    }
}

fn is_of_address(lower: &str, email: &str) -> bool {
    let local = email.split('@').next().unwrap_or_default();
    let rest =
        |part: &str| lower.strip_prefix(part).or(lower.strip_suffix(part)).map(|rest| rest.chars().count());
    [email, local]
        .into_iter()
        .filter(|part| part.chars().count() >= 4)
        .any(|part| rest(part).is_some_and(|rest| rest <= 4))
}

/// Few different characters, a piece again and again, or steps along a row for the most part.
fn is_pattern(lower: &str) -> bool {
    let chars: Vec<char> = lower.chars().collect();
    let different: HashSet<&char> = chars.iter().collect();
    let repeats =
        (1..=chars.len() / 2).any(|length| chars.iter().zip(chars.iter().skip(length)).all(|(a, b)| a == b));
    let steps = chars.windows(2).filter(|pair| is_step(pair[0], pair[1])).count();
    different.len() < DIFFERENT_CHARS_MIN || repeats || steps * 4 >= (chars.len() - 1) * 3
}

fn is_step(a: char, b: char) -> bool {
    let beside = |row: &str, a: char, b: char| {
        let mut chars = row.chars().zip(row.chars().skip(1));
        chars.any(|pair| pair == (a, b))
    };
    a == b || ROWS.iter().any(|row| beside(row, a, b) || beside(row, b, a))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_good(password: &str) -> bool {
        fault(password, "ada.lovelace@example.com").is_none()
    }

    #[test]
    fn words_that_have_nothing_to_do_with_each_other_are_good() {
        for good in [
            "correct horse battery staple",
            "äöü und drei Spatzen",
            "kT9#vQ2$mX7!",
            "mastering the tides of 1867",
            "今日は良い天気ですねそうですよね",
        ] {
            assert!(is_good(good), "{good}");
        }
    }

    #[test]
    fn twelve_to_256_characters_are_asked_for_and_bytes_are_not_counted() {
        assert!(!is_good("") && !is_good("kT9#vQ2$mX7"));
        assert!(is_good("äkTö9#üvQ2$m"));
        let long: String = "kT9#vQ2$mX7! and more of it ".chars().cycle().take(257).collect();
        assert!(!is_good(&long));
        assert!(fault(&long, "").unwrap().contains("257"));
    }

    #[test]
    fn what_is_guessed_first_is_refused_however_it_is_dressed_up() {
        for bad in [
            "1qaz2wsx3edc4rfv",
            "Sonyericsson",
            "password2024!",
            "P@ssw0rd2024!",
            "!!Football1987",
            "Liverpool#2025",
            "letmein12345",
            "aaaaaaaaaaaa",
            "abababababab",
            "abc123abc123abc123",
            "abcdefghijklmnop",
            "zyxwvutsrqpon",
            "12345678901234567890",
            "qwertyuiopasdfghjkl",
            "ada.lovelace@example.com",
            "Ada.Lovelace1",
        ] {
            assert!(!is_good(bad), "{bad}");
        }
    }

    #[test]
    fn the_list_is_that_of_the_file() {
        assert!(COMMON.len() > 3_000 && COMMON.contains("password") && !COMMON.contains(""));
        assert!(COMMON.iter().all(|word| !word.starts_with('#') && word.chars().all(|c| !c.is_uppercase())));
    }
}
