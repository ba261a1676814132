//! "Did you mean": the declared name nearest to a misspelt one.

/// Longer names are no slips of a finger, and the distance is quadratic.
const LONGEST: usize = 64;

/// Returns the candidate that `name` most probably was to be, if any is near.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted: Vec<char> = name.chars().take(LONGEST + 1).collect();
    // Of two letters one may be wrong, of six two, of nine three; of one none.
    let limit = (wanted.len() / 3).max(1).min(wanted.len().saturating_sub(1));
    candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(&wanted, candidate, limit)?, candidate)))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Returns how many letters must be changed, added, dropped or swapped with
/// their neighbour to make `b` of `a`, or `None` when more than `limit`.
fn distance(a: &[char], b: &str, limit: usize) -> Option<usize> {
    let b: Vec<char> = b.chars().take(LONGEST + 1).collect();
    if a.len().max(b.len()) > LONGEST || a.len().abs_diff(b.len()) > limit {
        return None;
    }
    // Rows of the usual table: two back, one back, and the one being filled.
    let mut before = vec![0; b.len() + 1];
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1; b.len() + 1];
        for j in 0..b.len() {
            let changed = previous[j] + usize::from(a[i] != b[j]);
            row[j + 1] = changed.min(previous[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut previous, row);
    }
    Some(previous[b.len()]).filter(|&distance| distance <= limit)
}

/// Returns `": did you mean ...?"`, or the hint when nothing is near.
#[cfg(feature = "spec")]
pub(crate) fn suggestion<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    otherwise: &str,
) -> String {
    match nearest(name, candidates) {
        Some(near) => format!(": did you mean {near:?}?"),
        None => format!(": {otherwise}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        let names = ["int", "float", "any pointer", "CallInfo"];
        assert_eq!(nearest("itn", names), Some("int"));
        assert_eq!(nearest("any_pointer", names), Some("any pointer"));
        assert_eq!(nearest("callinfo", names), Some("CallInfo"));
        assert_eq!(nearest("lua_State", names), None);
        assert_eq!(nearest("", ["i"]), None);
        assert_eq!(nearest("j", ["i"]), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), names), None);
    }
}
