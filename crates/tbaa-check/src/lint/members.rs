//! Finds struct members that a module accesses under tags between which LLVM answers NoAlias.

use super::function::Member;
use super::{Lint, Report, Subject};
use tbaa::parts::is_clang_root;
use tbaa::parts::table::{HashSet, IndexMap};
use tbaa::{Graph, Oracle, TagId};
use tbaa_ir::{Instruction, Opcode};
use tbaa_types::Type;

/// The largest number of accesses kept for a member or struct. A hostile text may have thousands.
const COMPARED: usize = 16;

/// An access to a struct member: its tag, the type that it loads or stores, and the instruction.
type Access<'a> = (TagId, Type, &'a Instruction);

#[derive(Default)]
pub(super) struct Members<'a> {
    places: IndexMap<Member, Vec<Access<'a>>>,
    /// Loads and stores of a whole struct, by its type.
    whole: IndexMap<Type, Vec<Access<'a>>>,
}

/// Returns whether one of this file's lints is on, and the graph has a tag that is not clang's.
/// Clang's tags are not checked: clang gives members of unions one tag, and C++ may store objects
/// of several types in the same bytes of a struct in turn.
pub(super) fn are_wanted(graph: &Graph, report: &Report) -> bool {
    (report.wants(Lint::UnionMembers) || report.wants(Lint::WholeStruct))
        && graph.tags().any(|tag| !is_of_clang(graph, tag))
}

/// Returns whether a tag is under one of clang's roots, or has no root.
fn is_of_clang(graph: &Graph, tag: TagId) -> bool {
    let root = graph.tag(tag).ok().and_then(|tag| graph.root_of(tag.access));
    let name = |root| graph.ty(root).name().unwrap_or_default();
    root.is_none_or(|root| is_clang_root(name(root)))
}

impl<'a> Members<'a> {
    /// Records an access, and the member that its pointer selects.
    pub(super) fn add(
        &mut self,
        subject: &Subject<'a>,
        instruction: &'a Instruction,
        member: Option<&Member>,
    ) {
        let plain = matches!(instruction.opcode, Opcode::Load | Opcode::Store);
        let tag = instruction.tag.filter(|&tag| plain && !is_of_clang(subject.graph, tag));
        let ty = tag.and_then(|_| subject.access_type(instruction));
        let Some((tag, ty)) = tag.zip(ty) else { return };
        let add = |found: &mut Vec<Access<'a>>| {
            let known = found.iter().any(|&(other, of, _)| (other, of) == (tag, ty));
            if !known && found.len() < COMPARED {
                found.push((tag, ty, instruction));
            }
        };
        if subject.sizes().is_some_and(|size| size.is_struct(ty)) {
            add(self.whole.entry(ty).or_default());
        } else if let Some(member) = member {
            add(self.places.entry(member.clone()).or_default());
        }
    }

    /// Reports each member at most once, and each struct at most once.
    /// Only accesses of different LLVM types indicate a union. Two source structs may be lowered to
    /// one LLVM struct, but then members with the same indices have the same LLVM type.
    pub(super) fn report(
        &self,
        subject: &Subject,
        oracle: &Oracle<&Graph>,
        reported: &HashSet<(TagId, TagId)>,
        report: &mut Report,
    ) {
        let exclude = |a: &Access<'_>, b: &Access<'_>| {
            let known = reported.contains(&(a.0, b.0)) || reported.contains(&(b.0, a.0));
            a.1 != b.1 && !known && !oracle.may_alias(a.0, b.0)
        };
        for (member, accesses) in &self.places {
            let pairs = accesses.iter().enumerate();
            let mut pairs = pairs.flat_map(|(at, b)| accesses[..at].iter().map(move |a| (a, b)));
            if let Some((a, b)) = pairs.find(|(a, b)| exclude(a, b)) {
                union(subject, report, member, a, b);
            }
        }
        for (&ty, whole) in &self.whole {
            let of_struct = self.places.iter().filter(|(member, _)| member.ty == ty);
            let mut members = of_struct.flat_map(|(_, accesses)| accesses);
            let found = members.find_map(|b| Some((whole.iter().find(|a| exclude(a, b))?, b)));
            if let Some((a, b)) = found {
                struct_as_a_whole(subject, report, ty, a, b);
            }
        }
    }
}

fn union(subject: &Subject, report: &mut Report, member: &Member, a: &Access<'_>, b: &Access<'_>) {
    let [tag_a, tag_b] = [a, b].map(|it| subject.tag_meaning(it.0));
    let [ty_a, ty_b] = [a, b].map(|it| subject.llvm_type(it.1));
    let member = name_of(subject, member);
    let message = || {
        format!("{member} is accessed as {ty_a} with tag {tag_a} and as {ty_b} with tag {tag_b}")
    };
    let Some(found) = report.add(Lint::UnionMembers, message) else { return };
    let label = |of: &Access<'_>, tag: &str| {
        subject.tag_label(of.2, format!("{tag}, in {}", subject.function_of(of.2)))
    };
    found.primary = Some(label(b, &tag_b));
    found.secondary.push(label(a, &tag_a));
    found.explain(
        "these are members of a union, and LLVM answers NoAlias between them: it may move a load \
         of one member before the store to the other",
        "give all members of a union one tag, such as that of `char`; or describe the union to \
         `tbaa lower`, which keeps them apart from everything else",
    );
}

fn struct_as_a_whole(
    subject: &Subject,
    report: &mut Report,
    ty: Type,
    whole: &Access<'_>,
    part: &Access<'_>,
) {
    let ty = subject.llvm_type(ty);
    let [of_whole, of_part] = [whole, part].map(|it| subject.tag_meaning(it.0));
    let message = || {
        format!("a whole {ty} is accessed with tag {of_whole}, and its member with tag {of_part}")
    };
    let Some(found) = report.add(Lint::WholeStruct, message) else { return };
    let label = |of: &Access<'_>, what: &str| {
        subject.instruction_label(of.2, format!("{what}, in {}", subject.function_of(of.2)))
    };
    found.primary = Some(label(whole, &format!("all of {ty}")));
    found.secondary.push(label(part, "a member"));
    found.explain(
        "the whole covers the member, and LLVM answers NoAlias between them: it may move the load \
         of one before the store to the other",
        "tag the access to the whole struct by a type above the types of all its members, such as \
         `char`, or leave its tag out",
    );
}

fn name_of(subject: &Subject, member: &Member) -> String {
    let ty = subject.llvm_type(member.ty);
    let indices: Vec<String> = member.indices.iter().map(i64::to_string).collect();
    match indices.is_empty() {
        true => format!("the start of {ty}"),
        false => format!("member {} of {ty}", indices.join(".")),
    }
}
