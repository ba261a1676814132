//! Demangles the names of C++ types and functions.

use std::fmt;

use cpp_demangle::{BorrowedSymbol, DemangleOptions, DemangleWrite, ParseOptions};

/// The largest length in bytes of a mangled name, and of its demangled name. A mangled name can
/// refer to its own parts, so the demangled name can be exponentially long.
const LENGTH: usize = 4 << 10;

/// The greatest depth to which the parts of a name may be nested.
const DEPTH: u32 = 64;

/// Returns the source name of a type with this name in clang's metadata: `foo::vec` for
/// `_ZTSN3foo3vecE`, `std::vector<int, std::allocator<int> >` for `_ZTSSt6vectorIiSaIiEE`. Returns
/// `None` if the name cannot be demangled.
pub fn demangled(name: &[u8]) -> Option<String> {
    let source = name.starts_with(b"_ZTS").then(|| in_source(name))??;
    source.strip_prefix("typeinfo name for ").map(str::to_owned)
}

/// Returns the source name of the function with this symbol: `geo::sum(vec*)` for
/// `_ZN3geo3sumEP3vec`. Returns `None` if the name cannot be demangled.
pub fn demangled_function(name: &[u8]) -> Option<String> {
    name.starts_with(b"_Z").then(|| in_source(name))?
}

/// The largest length in bytes of a name that is shown with all its template arguments.
const SHORT: usize = 80;

/// Shortens a name of more than `SHORT` bytes. Replaces template arguments, the innermost first,
/// as in `json::value<...>(int)`. If more than twice `SHORT` is left, replaces the parameters.
pub fn folded(name: String) -> String {
    if name.len() <= SHORT {
        return name;
    }
    let mut shorter = name.clone();
    // No argument is nested deeper than there are brackets.
    let brackets = name.matches('<').count();
    for deepest in (0..=brackets.min(DEPTH as usize)).rev() {
        let Some(cut) = cut(&name, deepest) else { return name };
        shorter = cut;
        if shorter.len() <= SHORT {
            return shorter;
        }
    }
    let end = shorter.find('(').filter(|&at| at > 0 && shorter.ends_with([')', 't']));
    if let Some(at) = end.filter(|_| shorter.len() > 2 * SHORT) {
        shorter.replace_range(at.., "(...)");
    }
    shorter
}

/// Puts `<...>` in place of each list of template arguments that `deepest` other lists enclose.
/// Returns `None` if the brackets do not match.
fn cut(name: &str, deepest: usize) -> Option<String> {
    let mut out = String::new();
    let mut depth = 0;
    for (at, c) in name.char_indices() {
        let before = name[..at].trim_end_matches(['<', '>', '=', '-']);
        // `operator<<` has no template arguments, and `->` does not end any.
        let is_sign = before.ends_with("operator") || c == '>' && name[..at].ends_with('-');
        match c {
            '<' if !is_sign => {
                depth += 1;
                if depth == deepest + 1 {
                    out += "<...>";
                }
                if depth > deepest {
                    continue;
                }
            }
            '>' if !is_sign => {
                depth = usize::checked_sub(depth, 1)?;
                if depth >= deepest {
                    continue;
                }
            }
            _ if depth > deepest => continue,
            _ => {}
        }
        out.push(c);
    }
    (depth == 0).then_some(out)
}

fn in_source(name: &[u8]) -> Option<String> {
    if name.len() > LENGTH {
        return None;
    }
    let parse = ParseOptions::default().recursion_limit(DEPTH);
    let (symbol, rest) = BorrowedSymbol::with_tail_and_options(name, &parse).ok()?;
    if !rest.is_empty() {
        return None;
    }
    let mut source = Bounded(String::new());
    let options = DemangleOptions::new().no_return_type().recursion_limit(DEPTH);
    symbol.structured_demangle(&mut source, &options).ok()?;
    Some(source.0)
}

/// A demangled name. Writing more than [`LENGTH`] bytes to it is an error.
struct Bounded(String);

impl DemangleWrite for Bounded {
    fn write_string(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > LENGTH {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{demangled, demangled_function};

    /// Compares with `demangle.txt`. Type names begin with `_ZTS`; the other names are functions.
    #[test]
    fn names_in_the_source() {
        for line in include_str!("demangle.txt").lines() {
            let (name, expected) = line.split_once(' ').unwrap();
            let of = if name.starts_with("_ZTS") { demangled } else { demangled_function };
            let found = of(name.as_bytes());
            assert_eq!(found.as_deref().unwrap_or("-"), expected, "{name}");
        }
        assert_eq!(demangled(b"vec"), None);
    }

    #[test]
    fn long_names_are_folded() {
        let map = "std::map<std::string, std::vector<int, std::allocator<int> >, std::less<std::string> >";
        for (deepest, expected) in [
            (
                2,
                "std::map<std::string, std::vector<int, std::allocator<...> >, std::less<std::string> >",
            ),
            (1, "std::map<std::string, std::vector<...>, std::less<...> >"),
            (0, "std::map<...>"),
        ] {
            assert_eq!(super::cut(map, deepest).as_deref(), Some(expected));
        }
        assert_eq!(
            super::cut("S<int>::operator<<(S<int>)", 0).unwrap(),
            "S<...>::operator<<(S<...>)"
        );
        assert_eq!(super::cut("S<int", 0), None);
        let long = format!("f(int{})", ", int".repeat(50));
        assert_eq!(super::folded(long), "f(...)");
        assert_eq!(
            super::folded(map.to_owned()),
            "std::map<std::string, std::vector<...>, std::less<...> >"
        );
    }

    #[test]
    fn hostile_names_end() {
        let deep = format!("_ZTS{}S", "1AI".repeat(1000));
        assert_eq!(demangled(deep.as_bytes()), None);
        // Each template argument is twice as long as the one before.
        let twice: String = (0..30).map(|at| format!("1AIS{at}_S{at}_E")).collect();
        assert_eq!(demangled(format!("_ZTSN1B{twice}E").as_bytes()), None);
        assert_eq!(demangled(&[b"_ZTS1".as_slice(), &[b'S'; 5000]].concat()), None);
    }
}
