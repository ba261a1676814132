//! Finds scalar types that are accessed as the kind that their name suggests and as another kind.

use super::{Lint, Report, Subject};
use tbaa::parts::table::{HashMap, HashSet, IndexMap};
use tbaa::{TypeId, TypeKind};
use tbaa_ir::{Instruction, Opcode};
use tbaa_lex::source::shortened;
use tbaa_types::{Primitive, Type};

/// The kind of a scalar. The numbers are widths in bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer(u64),
    Float(u64),
    Pointer,
}

impl Kind {
    /// Returns the kind that a type node's name suggests; `None` for most names. Many front ends
    /// name scalars after variables or buffers, which hold any kind. An 8-bit type suggests no kind
    /// either, because front ends often use such a type for any memory.
    fn of_name(name: &[u8]) -> Option<Kind> {
        let name = std::str::from_utf8(name).ok()?.to_ascii_lowercase();
        Some(match &name[..] {
            "any pointer" | "vtable pointer" | "pointer" | "ptr" => Kind::Pointer,
            "half" | "f16" | "float16" => Kind::Float(16),
            "float" | "f32" | "float32" => Kind::Float(32),
            "double" | "f64" | "float64" => Kind::Float(64),
            "short" | "i16" | "u16" | "int16" | "uint16" => Kind::Integer(16),
            "int" | "i32" | "u32" | "int32" | "uint32" => Kind::Integer(32),
            "long" | "long long" | "i64" | "u64" | "int64" | "uint64" => Kind::Integer(64),
            "isize" | "usize" => Kind::Integer(64),
            // clang: `CodeGenTBAA::getTypeInfoHelper`.
            name => {
                let (digits, _) = name.strip_prefix('p')?.split_once(' ')?;
                digits.parse::<u32>().ok()?;
                Kind::Pointer
            }
        })
    }

    fn of_llvm(kind: tbaa_types::TypeKind<'_>) -> Option<Kind> {
        Some(match kind {
            tbaa_types::TypeKind::Pointer { .. } => Kind::Pointer,
            tbaa_types::TypeKind::Primitive(Primitive::Half) => Kind::Float(16),
            tbaa_types::TypeKind::Primitive(Primitive::Float) => Kind::Float(32),
            tbaa_types::TypeKind::Primitive(Primitive::Double) => Kind::Float(64),
            tbaa_types::TypeKind::Int(bits) => Kind::Integer(bits.into()),
            _ => return None,
        })
    }

    /// Returns whether a scalar of this kind allows an access of kind `accessed`. Passes turn other
    /// accesses into integer accesses, so these are allowed. An integer also allows float accesses.
    /// LLVM: `combineLoadToOperationType`.
    fn takes(self, accessed: Kind) -> bool {
        match (self, accessed) {
            (_, Kind::Integer(_)) | (Kind::Integer(_), Kind::Float(_)) => true,
            _ => self == accessed,
        }
    }
}

/// For one scalar type: its first access of the name's kind, and the first that `takes` rejects.
#[derive(Default)]
struct Accesses<'a> {
    seen: HashSet<Type>,
    fitting: Option<&'a Instruction>,
    other: Option<&'a Instruction>,
}

pub(super) fn lint(subject: &Subject, report: &mut Report) {
    let Some(module) = subject.module.filter(|_| report.wants(Lint::OtherKind)) else { return };
    let graph = subject.graph;
    let mut kinds: HashMap<TypeId, Option<Kind>> = HashMap::default();
    let mut by_type: IndexMap<TypeId, Accesses<'_>> = IndexMap::default();
    for instruction in module.instructions() {
        let plain = matches!(instruction.opcode, Opcode::Load | Opcode::Store);
        let tag = instruction.tag.filter(|_| plain).and_then(|tag| graph.tag(tag).ok());
        let Some(ty) = tag.map(|tag| tag.access) else { continue };
        let of_name = || {
            let node = graph.ty(ty);
            Kind::of_name(node.name().filter(|_| node.kind() == TypeKind::Scalar)?)
        };
        let Some(named) = *kinds.entry(ty).or_insert_with(of_name) else { continue };
        let accesses = by_type.entry(ty).or_default();
        let Some(accessed) = subject.access_type(instruction) else { continue };
        if !accesses.seen.insert(accessed) {
            continue;
        }
        let kind = subject.sizes().and_then(|size| size.with_kind(accessed, Kind::of_llvm));
        let Some(kind) = kind else { continue };
        if kind == named {
            accesses.fitting.get_or_insert(instruction);
        } else if !named.takes(kind) {
            accesses.other.get_or_insert(instruction);
        }
    }
    let mut parents = None;
    for (ty, accesses) in by_type {
        let (Some(fitting), Some(other)) = (accesses.fitting, accesses.other) else { continue };
        let parents: &HashSet<TypeId> = parents.get_or_insert_with(|| {
            let scalars = graph.types().map(|ty| graph.ty(ty));
            let scalars = scalars.filter(|node| node.kind() == TypeKind::Scalar);
            scalars.filter_map(|node| node.parent()).collect()
        });
        // A type with children is also meant for accesses of the children's kinds.
        if parents.contains(&ty) {
            continue;
        }
        let name = subject.type_name(ty.node());
        let [first, second] = [fitting, other].map(|it| shortened(module.access_type(it)));
        let message =
            || format!("scalar type {name} is the tag of accesses to {first} and to {second}");
        let Some(found) = report.add(Lint::OtherKind, message) else { continue };
        found.primary = Some(subject.instruction_label(other, format!("accesses {second}")));
        found.secondary.push(subject.instruction_label(fitting, format!("accesses {first}")));
        found.note(format!(
            "LLVM answers MayAlias between the two; and it answers NoAlias between this {second} \
             and every {second} with another tag, even if they are the same memory"
        ));
        found.advise(format!(
            "give {second} a scalar type of its own; memory that holds both in turn, as a union \
             does, needs one tag for all its accesses, such as that of `char`"
        ));
    }
}
