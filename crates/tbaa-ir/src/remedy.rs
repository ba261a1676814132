//! Help for two accesses that share bytes although their tags say that they do not.

/// The roots of clang's tags, for C and for C++.
///
/// clang: `CodeGenTBAA::getRoot`.
const CLANG: [&[u8]; 2] = [b"Simple C/C++ TBAA", b"Simple C++ TBAA"];

/// Returns what to do about two such accesses, by the name of their tags' root: how to write the program, or for
/// other front ends than clang, how to tag it.
#[must_use]
pub fn remedy(root: Option<&[u8]>) -> &'static str {
    match is_clangs(root) {
        true => {
            "copy the bytes with memcpy or by `char *`, access both through one type, or through a union that has \
             both as members; -fno-strict-aliasing for this file makes clang leave the tags off"
        }
        false => {
            "give both accesses the same tag, or give one of them a tag that covers the other, such as that of \
             `char`; all members of a union share one tag"
        }
    }
}

/// Returns whether a root of this name is clang's: then the compiler has written the tags, and not the program.
#[must_use]
pub fn is_clangs(root: Option<&[u8]>) -> bool {
    root.is_some_and(|root| CLANG.contains(&root))
}
