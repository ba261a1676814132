//! Finds names that look misspelled.
//!
//! Two front ends share a type only if all names up to the root are equal. A misspelled root loses
//! NoAlias answers. A misspelled type causes wrong NoAlias answers.

use super::{Lint, Report, Subject};
use tbaa::parts::CLANG_ROOTS;
use tbaa::parts::table::{HashMap, IndexMap};
use tbaa::{TypeId, TypeKind};

/// Names that front ends share. Source: clang's `CodeGenTBAA`, Julia's and Flang's code generators.
const SHARED: &[&str] = &[
    CLANG_ROOTS[0], CLANG_ROOTS[1], "omnipotent char", "any pointer", "vtable pointer",
    "long long", "long double", "any access", "any data access", "descriptor member",
];

pub(super) fn lint(subject: &Subject, report: &mut Report) {
    if !report.wants(Lint::NameTypo) {
        return;
    }
    let graph = subject.graph;
    // The first scalar with each parent and folded name (see `fold`).
    let mut folded: HashMap<(Option<TypeId>, Vec<u8>), TypeId> = HashMap::default();
    let mut names: IndexMap<&[u8], TypeId> = IndexMap::default();
    for ty in graph.types() {
        let node = graph.ty(ty);
        let Some(name) = node.name().filter(|name| !name.is_empty()) else { continue };
        names.entry(name).or_insert(ty);
        // A name without a space may be an identifier, and identifiers may differ only in case.
        if node.kind() == TypeKind::Scalar && name.contains(&b' ') {
            let parent = node.parent();
            let first = *folded.entry((parent, fold(name))).or_insert(ty);
            if graph.ty(first).name() != Some(name) {
                add(subject, report, ty, &subject.type_name(first.node()), Some(first));
            }
        }
    }
    for (&name, &ty) in &names {
        let Ok(name) = std::str::from_utf8(name) else { continue };
        // A shared name is correct, even if it is similar to another shared name.
        if !SHARED.contains(&name)
            && let Some(meant) = SHARED.iter().find(|meant| is_slip(name, meant))
        {
            add(subject, report, ty, &format!("\"{meant}\""), None);
        }
    }
}

fn add(subject: &Subject, report: &mut Report, ty: TypeId, meant: &str, other: Option<TypeId>) {
    let name = subject.quoted_name(ty.node()).unwrap_or_default();
    let message = || format!("the name {name} looks like a misspelled {meant}");
    let Some(found) = report.add(Lint::NameTypo, message) else { return };
    found.primary = subject.node_label(ty.node(), "");
    found.secondary.extend(other.and_then(|other| subject.node_label(other.node(), "the other")));
    found.explain(
        if subject.graph.ty(ty).kind() == TypeKind::Root {
            "LLVM answers MayAlias between all types under this root and all types under the other"
        } else {
            "types with different names are different types, and LLVM answers NoAlias between them"
        },
        "use one spelling",
    );
}

/// Returns whether a root's name is one of clang's, or a misspelling of one.
pub(super) fn is_like_clangs(root: &[u8]) -> bool {
    let Ok(root) = str::from_utf8(root) else { return false };
    CLANG_ROOTS.iter().any(|clangs| root == *clangs || is_slip(root, clangs))
}

/// Returns the ASCII letters and digits of a name, in lower case.
fn fold(name: &[u8]) -> Vec<u8> {
    name.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect()
}

/// Returns whether `name` and `meant` differ at most in case, space and punctuation, or in a byte
/// that is wrong, swapped with the next, or missing or added before the end. A difference in a byte
/// counts only if `meant` has at least 8 bytes and `name` has no digit.
fn is_slip(name: &str, meant: &str) -> bool {
    if fold(name.as_bytes()) == fold(meant.as_bytes()) {
        return true;
    }
    let (a, b) = (name.as_bytes(), meant.as_bytes());
    if a.len().abs_diff(b.len()) > 1 || b.len() < 8 || a.iter().any(u8::is_ascii_digit) {
        return false;
    }
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[start..], &b[start..]);
    match (a, b) {
        // With a letter added or missing at the end, the name is another word: "any pointers".
        ([], _) | (_, []) => false,
        ([p, q, rest @ ..], [r, s, rest_b @ ..]) if p == s && q == r && rest == rest_b => true,
        _ => a[1..] == b[1..] || a[1..] == *b || *a == b[1..],
    }
}

#[cfg(test)]
mod tests {
    use super::is_slip;

    #[test]
    fn slips() {
        let slips = "Simple C / C++ TBAA|omnipotent Char|omnipotnet char|omipotent char|\
             any ponter|any pointr|any ppointer|any painter|anz pointer|long lonG";
        let others = "int|any pointers|any pointerr|any point|p1 omnipotent char|long|long2long|\
             any pointer 2|any pointe2|char|any poitnre|any pointre d|amy painter|\
             ony pointel";
        for (names, expected) in [(slips, true), (others, false)] {
            for name in names.split('|') {
                let found = super::SHARED.iter().any(|meant| is_slip(name, meant));
                assert_eq!(found, expected, "{name}");
            }
        }
        // Short names are often similar to others on purpose.
        assert!(!is_slip("intt", "into") && !is_slip("pointed", "pointer"));
        assert!(is_slip("pointres", "pointers"));
    }
}
