//! Advice for two accesses that share bytes although their tags say `NoAlias`.

/// Returns advice: how to change the program if clang tagged it, else how to tag it.
pub fn remedy(by_clang: bool) -> &'static str {
    match by_clang {
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
