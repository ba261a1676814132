//! `tbaa masks`: the answers on a spec's tags as bits, in Rust or C.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use tbaa::parts::fnv;
use tbaa::{Masks, Oracle, TagId};

use crate::convert::Origin;
use crate::input::{Content, Input, RulesArg};
use crate::output::counted;
use crate::report::{Failure, note};

/// Prints the answers on a spec's tags as a table of bits, in Rust or C.
///
/// Each name of a tag becomes a constant, its mask: two accesses may alias iff their masks share a
/// bit. The effect of a call is the OR of what it reads and of what it writes. Compiling the table
/// compares it with the rule's answer on each pair. It needs no library.
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
    /// What names in C begin with; by default the name of the file.
    #[arg(long, value_name = "NAME")]
    prefix: Option<String>,
}

#[derive(Clone, Copy, ValueEnum, Default, PartialEq)]
enum Lang {
    #[default]
    Rust,
    C,
}

/// The most names in a table, which says the answer on each pair of them.
const MOST_NAMES: usize = 512;

/// Columns of a line.
const WIDTH: usize = 100;

pub(super) fn run(args: &MasksOf, out: &mut dyn Write) -> Result<(), Failure> {
    let input = Input::open(Origin::new(&args.input, &[]))?;
    let file = input.file();
    if let Content::Module(_) = input.content {
        let help =
            format!("make a spec of it by `tbaa dump {file} --format ron`, and name its tags");
        return Err(Failure::unusable(format!(
            "{file} is no spec, so its tags have no names; {help}"
        )));
    }
    let (names, tags): (Vec<String>, Vec<TagId>) = input.rows().into_iter().unzip();
    if tags.is_empty() || tags.len() > MOST_NAMES {
        let count = counted(tags.len() as u64, "tag", "tags");
        let text =
            format!("{file} has {count}: list 1 to {MOST_NAMES} of the accesses under `tags`");
        return Err(Failure::unusable(text));
    }
    let rules = input.rules(args.rules.rules);
    input.warn_rejected(rules, tags.iter().copied());
    let oracle = Oracle::new(input.graph(), rules);
    let masks = oracle.masks(tags.iter().map(|&tag| (tag, 1)), args.bits);
    let masks = masks.map_err(|error| Failure::unusable(format!("{file}: {error}")))?;
    let about = about(&masks);
    if !masks.is_exact() {
        note(format!("{file}: {about}"));
    }
    let stem = args.input.file_stem().unwrap_or_default().to_string_lossy();
    let prefix = identifier(args.prefix.as_deref().unwrap_or(&stem));
    let ids = identifiers(&names);
    let immutable = |&tag: &TagId| input.graph().tag(tag).is_ok_and(|tag| tag.immutable);
    let immutable = tags.iter().map(immutable).collect();
    let may = |a: usize, b: usize| oracle.may_alias(tags[a], tags[b]);
    let table = Table { lang: args.lang, prefix, names, ids, immutable, masks };
    let body = table.body(&may);
    writeln!(out, "// Made by `tbaa masks`: do not edit it, but make it anew.")?;
    writeln!(out, "// The tags of {file:?} by rule {rules}, {about}.")?;
    Ok(table.write(&body, out)?)
}

/// Says how many bits there are, and what they are worth.
fn about(masks: &Masks) -> String {
    let (bits, exact, least) = (masks.bits(), masks.exact_bits(), masks.least_bits());
    let accesses = counted(masks.len() as u64, "access", "accesses");
    let bits = counted(bits as u64, "bit", "bits");
    let worth = match masks.lost().count() {
        0 if least == exact => "exact, and fewer cannot be".to_owned(),
        0 => format!("exact, and fewer than {least} cannot be"),
        lost => format!(
            "{} that do not alias share a bit, {exact} bits would be exact",
            counted(lost as u64, "pair", "pairs")
        ),
    };
    format!("{accesses}, {bits}: {worth}")
}

struct Table {
    lang: Lang,
    prefix: String,
    names: Vec<String>,
    ids: Vec<String>,
    immutable: Vec<bool>,
    masks: Masks,
}

impl Table {
    /// Returns the constants, and the relation as assertions.
    fn body(&self, may: &dyn Fn(usize, usize) -> bool) -> String {
        let mut body = String::new();
        let (upper, lower) = (&self.prefix, self.prefix.to_lowercase());
        for (at, (id, name)) in self.ids.iter().zip(&self.names).enumerate() {
            let mask = self.masks.mask(at);
            // Quotes end each comment: a backslash would join the next line to it.
            body += &match (self.lang, self.immutable[at]) {
                (Lang::Rust, false) => format!("/// {name:?}\n"),
                (Lang::Rust, true) => format!("/// {name:?}, immutable: what it loads stays.\n"),
                (Lang::C, false) => format!("// {name:?}\n"),
                (Lang::C, true) => format!("// {name:?}, immutable: what it loads stays.\n"),
            };
            body += &match self.lang {
                Lang::Rust => format!("pub const {id}: Mask = Mask({mask:#x});\n"),
                Lang::C => format!(
                    "#define {lower}_bits_{id} UINT64_C({mask:#x})\n\
                     static const {lower}_mask {upper}_{id} = {{ {lower}_bits_{id} }};\n"
                ),
            };
        }
        let lost: HashSet<(usize, usize)> = self.masks.lost().collect();
        for (at, id) in self.ids.iter().enumerate() {
            let others = || at..self.ids.len();
            let said = |answer: &'static str, wanted: bool| {
                let is_wanted = move |&other: &usize| may(at, other) == wanted;
                let names = others().filter(is_wanted).filter(|&it| !lost.contains(&(at, it)));
                let item = |other: usize| match self.lang {
                    Lang::Rust => format!("{},", self.ids[other]),
                    Lang::C => format!("{lower}_{answer}({id}, {});", self.ids[other]),
                };
                wrapped(names.map(item))
            };
            let (may, apart) = (said("may", true), said("apart", false));
            body += &match self.lang {
                Lang::Rust => {
                    let [may, apart] = [&may, &apart].map(|list| list.trim_end_matches(','));
                    format!("const _: () = assert!(holds({id}, &[{may}], &[{apart}]), {id:?});\n")
                }
                Lang::C => format!("{}\n", [may, apart].join("\n").trim()),
            };
            let shared = others().filter(|&it| lost.contains(&(at, it)));
            let shared: Vec<_> = shared.map(|it| format!("{:?}", self.names[it])).collect();
            if !shared.is_empty() {
                let name = &self.names[at];
                body += &format!(
                    "// These do not alias, but share a bit: {name:?} with {}.\n",
                    shared.join(", ")
                );
            }
        }
        body
    }

    fn write(&self, body: &str, out: &mut dyn Write) -> io::Result<()> {
        let head = match self.lang {
            Lang::Rust => include_str!("rust.txt"),
            Lang::C => include_str!("c.txt"),
        };
        let version = format!("{:#x}", fnv(body.as_bytes()));
        let text = head.replace("tbaa_", &format!("{}_", self.prefix.to_lowercase()));
        out.write_all(text.replace("VERSION_OF_TABLE", &version).replace("BODY\n", body).as_bytes())
    }
}

/// Returns items, a space between two, on as many lines as they need.
fn wrapped(items: impl Iterator<Item = String>) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for item in items {
        if column + item.len() > WIDTH {
            (text, column) = (text + "\n", 0);
        }
        text += if column == 0 { "" } else { " " };
        column += 1 + item.len();
        text += &item;
    }
    text
}

/// Returns a name in capitals, digits and underscores: `*TValue *` is `STAR_TVALUE_STAR`.
fn identifier(name: &str) -> String {
    let spelled = name.replace('*', " STAR ").to_ascii_uppercase();
    let words = spelled.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let id = words.collect::<Vec<_>>().join("_");
    if id.starts_with(|c: char| c.is_ascii_alphabetic()) { id } else { format!("ACCESS_{id}") }
}

/// Returns an identifier for each name. Those that would be equal end in hashes of their names, so
/// that no identifier passes to another access when names are added.
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
