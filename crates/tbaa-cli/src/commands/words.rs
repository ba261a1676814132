//! Explains in words why two accesses may or may not alias.

use std::iter;

use tbaa::explain::{AccessPath, Clause, Explanation};
use tbaa::{Format, Graph, Size, Tag, TypeId};
use tbaa_check::char_origin::{CharOrigin, CharOrigins};
use tbaa_ir::{Names, Opcode, Sizes};

use crate::drawing::common;
use crate::find::Found;
use crate::input::{Content, Input};
use crate::output::{counted, listed};
use crate::printable::printable;
use crate::walk::walk;

/// The largest number of types visited: a chain of parents may be as long as the file.
const STEPS: usize = 4096;

/// The largest number of types in one list; a sentence may have two lists.
const LISTED: usize = 8;

/// Returns an explanation of up to four lines.
pub(super) fn in_words(
    input: &Input,
    names: &Names<'_>,
    why: &Explanation,
    [a, b]: [Found; 2],
) -> Vec<String> {
    let graph = input.graph();
    let tags = [a, b].map(|found| found.tag.and_then(|tag| graph.tag(tag).ok()));
    let [Some(tag_a), Some(tag_b)] = tags else {
        return no_tag(input, [a, b]).into_iter().chain(why_char(input, [a, b])).collect();
    };
    let pair = Pair { graph, names, tags: [tag_a, tag_b] };
    let [who_a, who_b] =
        [(a, &tag_a), (b, &tag_b)].map(|(found, tag)| who(input, names, found, tag));
    let mut lines = vec![format!("a is {who_a}; b is {who_b}")];
    lines.extend(why_char(input, [a, b]));
    lines.push(match why.clause {
        Clause::SameTag => "both have the same tag: one may be the other".to_owned(),
        Clause::Roots => {
            let root = |tag: &Tag| graph.root_of(tag.access).map(|root| names.ty(root));
            let [a, b] = [root(&tag_a), root(&tag_b)].map(|root| root.unwrap_or_default());
            format!("a's types have the root {a} and b's have {b}: LLVM knows nothing about types of different roots")
        }
        Clause::Generality => pair.generality(),
        Clause::Meets | Clause::OtherOffset => pair.met(),
        Clause::Unrelated => pair.unrelated(why),
        Clause::Overlap | Clause::Apart | Clause::Parted => match &why.comparison {
            Some(comparison) => {
                let base = names.ty(common(comparison, &pair.tags));
                bytes(why.clause, &base, &comparison.a, &comparison.b)
            }
            None => return lines,
        },
        Clause::Contains => {
            let [a, b] = [&tag_a, &tag_b].map(|tag| names.ty(tag.access));
            format!("one access is to a whole object, {a} or {b}, and the other is inside it")
        }
        _ => return lines,
    });
    lines
}

/// Returns for each access why clang tagged it as `char` or not at all, if the module shows why.
fn why_char(input: &Input, found: [Found; 2]) -> impl Iterator<Item = String> {
    let says = move |(side, found): (&str, Found)| {
        let Content::Module(module) = &input.content else { return None };
        let instruction = &module.instructions()[found.instruction?];
        let origin = CharOrigins::new(module, &Sizes::new(module)).of(instruction)?;
        Some(match instruction.tag {
            Some(_) => format!("{side} is tagged as char: {}", of_char(&origin)),
            None => format!("{side} has no tag: {}", of_char(&origin)),
        })
    };
    ["a", "b"].into_iter().zip(found).filter_map(says)
}

fn no_tag(input: &Input, found: [Found; 2]) -> Vec<String> {
    let says = |(side, found): (&str, Found)| match found.tag {
        None => Some(format!("{side} has no tag: it may be an access to anything")),
        Some(tag) if input.graph().tag(tag).is_err() => {
            Some(format!("{side}'s tag cannot be read: it may be an access to anything"))
        }
        Some(_) => None,
    };
    ["a", "b"].into_iter().zip(found).filter_map(says).collect()
}

/// Returns a description such as `a store to vec.len, 8 bytes at 8 of vec`.
fn who(input: &Input, names: &Names<'_>, found: Found, tag: &Tag) -> String {
    let mut verb = "an access to";
    let mut size = tag.size.and_then(Size::bytes);
    if let (Content::Module(module), Some(index)) = (&input.content, found.instruction) {
        let instruction = &module.instructions()[index];
        verb = match instruction.opcode {
            Opcode::Load => "a load of",
            Opcode::Store => "a store to",
            Opcode::Call => "a call that accesses",
            Opcode::AtomicRmw | Opcode::CmpXchg => "an atomic update of",
            _ => verb,
        };
        let width = Sizes::new(module).of(module.access_type(instruction));
        size = width.map(|width| width.store).or(size);
    }
    let place = match (&input.content, found.tag) {
        (Content::Spec(..), Some(tag)) => input.label(tag),
        _ => names.place_of(tag),
    };
    let mut parts: Vec<String> = size.map(|size| counted(size, "byte")).into_iter().collect();
    let (base, offset) = (names.ty(tag.base), tag.offset as i64);
    if !tag.is_whole() && place != format!("{base}{offset:+}") {
        parts.push(format!("at {offset} of {base}"));
    }
    let comma = if parts.is_empty() { "" } else { ", " };
    format!("{verb} {place}{comma}{}", parts.join(" "))
}

/// Two well-formed tags.
struct Pair<'a> {
    graph: &'a Graph,
    names: &'a Names<'a>,
    tags: [Tag; 2],
}

impl Pair<'_> {
    /// Returns a sentence on how one tag's base type leads to the other's.
    fn met(&self) -> String {
        let [a, b] = &self.tags;
        if a.base == b.base {
            let (base, [a, b]) = (self.names.ty(a.base), [a, b].map(|tag| tag.offset as i64));
            return format!("both start at {base}, a at {a} and b at {b}");
        }
        for (one, other, from, to) in [("a", "b", 0, 1), ("b", "a", 1, 0)] {
            let (from, to) = (&self.tags[from], &self.tags[to]);
            let walk = walk(self.graph, from.base, from.offset);
            let Some(met) = walk.iter().find(|at| at.ty == to.base) else { continue };
            let (offset, ty) = (met.offset, self.names.ty(met.ty));
            let (base, at) = (self.names.ty(from.base), from.offset as i64);
            let reaches = match to.is_whole() {
                true => format!("the {ty} there, and {other} may be any {ty}"),
                false => {
                    format!("{ty} at {offset}, and {other} accesses a {ty} at {}", to.offset as i64)
                }
            };
            return format!("walking from {one}'s base type, {base} at {at}, reaches {reaches}");
        }
        "walking from one tag's base type reaches the type that the other accesses".to_owned()
    }

    /// Returns a sentence saying that one access type equals the other, or is its ancestor.
    fn generality(&self) -> String {
        for (one, other, wide, narrow) in [("a", "b", 0, 1), ("b", "a", 1, 0)] {
            let (wide, narrow) = (&self.tags[wide], &self.tags[narrow]);
            let parent = |&ty: &TypeId| self.graph.ty(ty).parent().filter(|&parent| parent != ty);
            let up = iter::successors(Some(narrow.access), parent).take(STEPS);
            let mut chain: Vec<TypeId> = up.collect();
            let end = chain.iter().position(|&ty| ty == wide.access);
            chain.truncate(end.map_or(chain.len(), |end| end + 1));
            if wide.is_whole() && chain.last() == Some(&wide.access) {
                let name = self.names.ty(wide.access);
                return match chain.len() {
                    1 => format!("{one} may be an access to any {name}, and {other} accesses one"),
                    _ => format!(
                        "{one} may be an access to any {name}, which covers what {other} accesses: {}",
                        self.list(chain.into_iter())
                    ),
                };
            }
        }
        "one is an access to any object of a type that covers the other's".to_owned()
    }

    /// Returns a sentence saying that neither base type leads to the other.
    fn unrelated(&self, why: &Explanation) -> String {
        let [a, b] = [&self.tags[0], &self.tags[1]].map(|tag| self.names.ty(tag.base));
        let old = self.tags.iter().all(|tag| tag.format == Format::Old);
        if why.comparison.is_some() || !old {
            return format!(
                "{a} has no {b} that b may access, and {b} has no {a} that a may access"
            );
        }
        let [from_a, from_b] = [&self.tags[0], &self.tags[1]]
            .map(|tag| self.list(walk(self.graph, tag.base, tag.offset).iter().map(|at| at.ty)));
        format!(
            "a's base type leads to {from_a}, which has no {b}; b's leads to {from_b}, which has no {a}"
        )
    }

    /// Returns a list such as `long > omnipotent char > Simple C/C++ TBAA`.
    fn list(&self, types: impl ExactSizeIterator<Item = TypeId>) -> String {
        listed(types.map(|ty| self.names.ty(ty)), LISTED, " > ", " > ")
    }
}

/// Returns a sentence on the bytes of the type `base` that the two accesses touch.
fn bytes(clause: Clause, base: &str, a: &AccessPath, b: &AccessPath) -> String {
    let touches = |path: &AccessPath| match &path.bytes {
        Some(bytes) => bytes.to_string(),
        None => {
            let at = path.steps.iter().fold(0_u64, |at, step| at.saturating_add(step.offset));
            format!("what starts at {at}")
        }
    };
    let (a, b) = (touches(a), touches(b));
    let then = match clause {
        Clause::Overlap => "they may overlap",
        Clause::Apart => "they never overlap",
        _ => {
            "they overlap, but through different members of a union, and the union's type does not name one of them"
        }
    };
    format!("in {base}, a touches {a} and b touches {b}: {then}")
}

/// Returns the end of the sentence "a is tagged as char: ..." or "a has no tag: ...".
pub(super) fn of_char(origin: &CharOrigin) -> String {
    let of = match origin {
        CharOrigin::Char => "it is a char in the source",
        CharOrigin::Union(ty) => {
            let ty = printable(ty);
            return format!("it is a member of {ty}, and clang tags members of unions as char");
        }
        CharOrigin::Copy => {
            "the value is only copied: a copy of a union or of several fields has the tag of char"
        }
        CharOrigin::Vector => {
            "it is a vector type that may alias, such as __m128i: clang tags these as char"
        }
        CharOrigin::Wider => {
            "it is wider than a char: clang tags a member of a union so, and a type with \
             __attribute__((may_alias))"
        }
        CharOrigin::BitField => "it is a bit-field, which clang does not tag",
    };
    of.to_owned()
}
