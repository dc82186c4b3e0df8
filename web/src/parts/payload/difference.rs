//! Which lines of two texts differ: the lines that a longest common course leaves out.

/// Lines that are compared with each other; beyond that what lies between the common beginning and the
/// common end counts as changed.
const LINES_MAX: usize = 600;

/// For each line of both texts whether it differs.
pub(super) fn marks(first: &[String], other: &[String]) -> (Vec<bool>, Vec<bool>) {
    let head = first.iter().zip(other).take_while(|(a, b)| a == b).count();
    let rest = first.len().min(other.len()) - head;
    let tail = first.iter().rev().zip(other.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let (middle, other_middle) = (&first[head..first.len() - tail], &other[head..other.len() - tail]);
    let (mut in_first, mut in_other) = (vec![true; middle.len()], vec![true; other_middle.len()]);
    if middle.len() <= LINES_MAX && other_middle.len() <= LINES_MAX {
        for (a, b) in common(middle, other_middle) {
            in_first[a] = false;
            in_other[b] = false;
        }
    }
    let whole = |middle: Vec<bool>| {
        let mut marks = vec![false; head];
        marks.extend(middle);
        marks.extend(vec![false; tail]);
        marks
    };
    (whole(in_first), whole(in_other))
}

/// The places of a longest common course.
fn common(a: &[String], b: &[String]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    let mut longest = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i] == b[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            pairs.push((i, j));
            i += 1;
            j += 1;
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(first: &str, other: &str) -> (String, String) {
        let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (a, b) = marks(&lines(first), &lines(other));
        let told = |marks: Vec<bool>| marks.iter().map(|mark| if *mark { 'x' } else { '.' }).collect();
        (told(a), told(b))
    }

    #[test]
    fn only_what_differs_is_marked() {
        assert_eq!(marked("a b c", "a b c"), ("...".into(), "...".into()));
        assert_eq!(marked("a b c", "a x c"), (".x.".into(), ".x.".into()));
        assert_eq!(marked("a b c d", "a c d e"), (".x..".into(), "...x".into()));
        assert_eq!(marked("a a", "a"), (".x".into(), ".".into()));
        assert_eq!(marks(&[], &["a".to_owned()]), (vec![], vec![true]));
    }

    #[test]
    fn long_texts_are_marked_between_their_common_ends() {
        let text = |odd: &str| {
            let mut lines: Vec<String> = (0..2 * LINES_MAX).map(|n| format!("{odd}{n}")).collect();
            lines.insert(0, "head".to_owned());
            lines.push("tail".to_owned());
            lines
        };
        let (a, _) = marks(&text("a"), &text("b"));
        assert_eq!((a[0], a[1], a[a.len() - 1]), (false, true, false));
    }
}
