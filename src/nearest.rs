//! "Did you mean": the declared name nearest to a misspelt one.

use strsim::osa_distance;

/// Longer names are no slips of a finger, and the distance is quadratic.
const LONGEST: usize = 64;

/// Returns the candidate that `name` most probably was to be, if any is near.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let len = |name: &str| name.chars().take(LONGEST + 1).count();
    let wanted = len(name);
    // One wrong letter of two, two of six, three of nine; none of one.
    let limit = (wanted / 3).max(1).min(wanted.saturating_sub(1));
    candidates
        .into_iter()
        .filter(|candidate| {
            wanted.max(len(candidate)) <= LONGEST && wanted.abs_diff(len(candidate)) <= limit
        })
        .map(|candidate| (osa_distance(name, candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// Returns `": did you mean ...?"`, or the hint when nothing is near.
#[cfg(feature = "spec")]
pub(crate) fn suggestion<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    otherwise: &str,
) -> String {
    hint(nearest(name, candidates), otherwise)
}

/// Returns the end of a message about a name that nothing has.
pub(crate) fn hint(nearest: Option<&str>, otherwise: &str) -> String {
    match nearest {
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
