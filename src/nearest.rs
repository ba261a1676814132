//! "Did you mean": finds the declared name that is most similar to a misspelt one.

use strsim::osa_distance;

/// The largest number of characters in a compared name: computing a distance takes quadratic time.
const LONGEST: usize = 64;

/// Returns the candidate that is most similar to `name`, if any is similar enough.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let len = |name: &str| name.chars().take(LONGEST + 1).count();
    let wanted = len(name);
    // The largest edit distance for a name of this length: 1 for 2 characters, 2 for 6, 3 for 9.
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

/// Returns `": did you mean ...?"`, or a colon and `otherwise` if no candidate is similar enough.
#[cfg(feature = "spec")]
pub(crate) fn suggestion<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    otherwise: &str,
) -> String {
    hint(nearest(name, candidates), otherwise)
}

/// Returns the end of a message about an unknown name: the suggestion, or else `otherwise`.
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
