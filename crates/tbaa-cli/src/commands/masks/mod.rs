//! `tbaa masks`: prints the alias answers for a spec's tags as bit masks, in Rust or C.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use tbaa::parts::fnv;
use tbaa::{Masks, Oracle, TagId};

use crate::convert::Origin;
use crate::input::{Content, Input, RulesArg};
use crate::output::counted;
use crate::report::{Context, Result, bail, note};

/// Prints the answers on a spec's tags as a table of bits, in Rust or C.
///
/// Each name of a tag becomes a constant, its mask: two accesses may alias iff their masks share a
/// bit. A call has two masks: the OR of all that it reads, and the OR of all that it writes.
/// Compiling the table compares it with the rule's answer on each pair. It needs no library.
///
/// If the tags need more bits than a mask has, the table says which pairs it cannot tell apart.
#[derive(clap::Args)]
#[command(after_help = include_str!("../help/masks.txt"))]
pub(crate) struct MasksOf {
    /// A .ron spec, or `-`.
    #[arg(value_name = "SPEC")]
    input: PathBuf,
    #[command(flatten)]
    rules: RulesArg,
    /// The language of the table.
    #[arg(long, value_enum, default_value_t)]
    lang: Lang,
    /// The most bits of a mask, 1 to 64.
    #[arg(long, value_name = "COUNT", default_value_t = 64)]
    bits: usize,
    /// The prefix of names in C; by default the name of the file.
    #[arg(long, value_name = "NAME")]
    prefix: Option<String>,
}

#[derive(Clone, Copy, ValueEnum, Default, PartialEq)]
enum Lang {
    #[default]
    Rust,
    C,
}

/// The largest number of names in a table. The table states the answer for each pair of names.
const MOST_NAMES: usize = 512;

pub(super) fn run(args: &MasksOf, out: &mut dyn Write) -> Result {
    let input = Input::open(Origin::new(&args.input, &[]))?;
    let file = input.file();
    if let Content::Module(_) = input.content {
        bail!(
            "{file} is no spec, so its tags have no names: make a spec by `tbaa dump {file} --format ron`, \
             and name its tags"
        );
    }
    let (names, tags): (Vec<String>, Vec<TagId>) = input.rows().into_iter().unzip();
    if tags.is_empty() || tags.len() > MOST_NAMES {
        let count = counted(tags.len(), "tag");
        bail!("{file} has {count}: list 1 to {MOST_NAMES} accesses under `tags`");
    }
    let rules = input.rules(args.rules.rules);
    input.warn_rejected(rules, tags.iter().copied());
    let oracle = Oracle::new(input.graph(), rules);
    let masks = oracle.masks(tags.iter().map(|&tag| (tag, 1)), args.bits).context(file)?;
    let lost: HashSet<(usize, usize)> = masks.lost().collect();
    let about = about(&masks, lost.len());
    if !lost.is_empty() {
        note(format!("{file}: {about}"));
    }
    let stem = args.input.file_stem().unwrap_or_default().to_string_lossy();
    let upper = identifier(args.prefix.as_deref().unwrap_or(&stem));
    let lower = upper.to_lowercase();
    let ids = identifiers(&names);
    let is_c = args.lang == Lang::C;
    let mut body = String::new();
    for (at, (id, name)) in ids.iter().zip(&names).enumerate() {
        let mask = masks.mask(at);
        let is_immutable = input.graph().tag(tags[at]).is_ok_and(|tag| tag.immutable);
        let immutable = if is_immutable { " is immutable: what it loads stays." } else { "" };
        // Quote the name: a backslash at the end would continue a C comment on the next line.
        body += &format!("/// {name:?}{immutable}\n")[usize::from(is_c)..];
        body += &match args.lang {
            Lang::Rust => format!("pub const {id}: Mask = Mask({mask:#x});\n"),
            Lang::C => format!(
                "#define {lower}_bits_{id} UINT64_C({mask:#x})\n\
                 static const {lower}_mask {upper}_{id} = {{ {lower}_bits_{id} }};\n"
            ),
        };
    }
    for (at, id) in ids.iter().enumerate() {
        let (mut may, mut apart, mut shared) = (Vec::new(), Vec::new(), Vec::new());
        for other in at..ids.len() {
            match oracle.may_alias(tags[at], tags[other]) {
                true => may.push(&*ids[other]),
                false if lost.contains(&(at, other)) => shared.push(&names[other]),
                false => apart.push(&*ids[other]),
            }
        }
        body += &match args.lang {
            Lang::Rust => format!(
                "const _: () = assert!(holds({id}, &[{}], &[{}]), {id:?});\n",
                may.join(", "),
                apart.join(", ")
            ),
            Lang::C => {
                let list = |answer: &str, ids: &[&str]| -> String {
                    ids.iter().map(|other| format!("{lower}_{answer}({id}, {other});\n")).collect()
                };
                list("may", &may) + &list("apart", &apart)
            }
        };
        if !shared.is_empty() {
            let name = &names[at];
            body += &format!("// These share a bit, but do not alias: {name:?} and {shared:?}.\n");
        }
    }
    let head = if is_c { include_str!("c.txt") } else { include_str!("rust.txt") };
    let version = format!("{:#x}", fnv(body.as_bytes()));
    let head = head.replace("tbaa_", &format!("{lower}_")).replace("VERSION_OF_TABLE", &version);
    writeln!(out, "// Made by `tbaa masks`: do not edit it, but make it anew.")?;
    writeln!(out, "// The tags of {file:?} by rule {rules}, {about}.")?;
    Ok(out.write_all(head.replace("BODY\n", &body).as_bytes())?)
}

fn about(masks: &Masks, lost: usize) -> String {
    let (accesses, bits) = (counted(masks.len(), "access"), counted(masks.bits(), "bit"));
    let pairs = counted(lost, "pair");
    let worth = match (lost, masks.exact_bits(), masks.least_bits()) {
        (0, exact, least) if exact == least => "exact, and fewer cannot be".to_owned(),
        (0, _, least) => format!("exact, and fewer than {least} cannot be"),
        (_, exact, _) => {
            format!("{pairs} that do not alias share a bit, and {exact} bits would be exact")
        }
    };
    format!("{accesses}, {bits}: {worth}")
}

/// Returns a name in capitals, digits and underscores, such as `STAR_TVALUE_STAR` for `*TValue *`.
fn identifier(name: &str) -> String {
    let spelled = name.replace('*', " STAR ").to_ascii_uppercase();
    let words = spelled.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let id = words.collect::<Vec<_>>().join("_");
    if id.starts_with(|c: char| c.is_ascii_alphabetic()) { id } else { format!("ACCESS_{id}") }
}

/// Returns an identifier for each name. If several would be equal, each has a hash of its name.
fn identifiers(names: &[String]) -> Vec<String> {
    let plain: Vec<String> = names.iter().map(|name| identifier(name)).collect();
    let mut uses = HashMap::new();
    plain.iter().for_each(|id| *uses.entry(id).or_insert(0) += 1);
    let mut taken = HashSet::new();
    let own = plain.iter().zip(names).map(|(plain, name)| {
        let hash = fnv(name.as_bytes()) >> 32;
        let mut id = if uses[plain] == 1 { plain.clone() } else { format!("{plain}_{hash:08X}") };
        while !taken.insert(id.clone()) {
            id.push('_');
        }
        id
    });
    own.collect()
}

#[cfg(test)]
mod tests {
    use super::identifiers;

    #[test]
    fn no_two_names_are_one_identifier_and_none_depends_on_the_order() {
        let mut names: Vec<String> =
            ["*TValue *", "p->x", "p.x", "P X", "9 b", "é", "", "int"].map(String::from).into();
        let ids = identifiers(&names);
        for (at, id) in [(0, "STAR_TVALUE_STAR"), (4, "ACCESS_9_B"), (7, "INT")] {
            assert_eq!(ids[at], id);
        }
        let is_one = |id: &String| ids.iter().filter(|other| *other == id).count() == 1;
        assert!(ids.iter().all(is_one) && ids[1].starts_with("P_X_"), "{ids:?}");
        names.reverse();
        assert!(identifiers(&names).iter().eq(ids.iter().rev()));
    }
}
