//! Declares types. C code gives the layout of structs and unions by `offsetof` and `sizeof`.

use std::mem::MaybeUninit;

use tbaa::declare::{Declarations, DeclareError, Member, Record, ScalarLayout, TaggedTypes};

use crate::context::{Context, change, made_in};
use crate::status::{Error, OrStatus, Status, given};
use crate::text::{Str, slice};

/// Properties of a member besides its type: bits of a mask.
#[repr(u32)]
pub enum MemberFlag {
    /// The member is never modified while it can be read. LLVM relies on this promise.
    Immutable = 1,
    /// The member is not aligned.
    Packed = 2,
    /// The member is a base class, without a name.
    Base = 4,
    /// The member is a bit-field; `offset` counts bits.
    BitField = 8,
    /// The member shares bytes with the member before it. A member and all members directly after
    /// it that have this flag form one unnamed union.
    Overlaps = 16,
}

/// Properties of a record besides its members: bits of a mask.
#[repr(u32)]
pub enum RecordFlag {
    /// The record is a union.
    Union = 1,
    /// The record's members are not aligned.
    Packed = 2,
    /// Accesses to the record's members may alias everything.
    MayAlias = 4,
    /// The library computes the members' offsets and the record's size as the target's compiler
    /// would, and ignores the given ones. Use it for a target other than this machine.
    Computed = 8,
}

/// A member. `TBAA_MEMBER` and the macros after it fill one in.
#[repr(C)]
pub struct RecordMember {
    /// The name; empty for an anonymous struct or union, whose members count as the record's own.
    pub name: Str,
    /// The type as C writes it without a name: `unsigned char`, `TValue *`, `int [3][4]`,
    /// `double []`, `struct Node *` before `Node` is declared. If it is empty, the member has a
    /// scalar type of its own, with the given `size` and `align`.
    pub type_text: Str,
    /// The offset from the start of the record: bytes (`offsetof`), or bits for a bit-field.
    pub offset: u64,
    /// The member's `sizeof`, which is checked against its type; 0 skips the check. The members of
    /// an unnamed union (see `TBAA_MEMBER_FLAG_OVERLAPS`) must give it.
    pub size: u64,
    /// The alignment that the declaration requests, in bytes; 0 if it requests none.
    pub align: u64,
    /// The width of a bit-field in bits.
    pub bits: u32,
    /// A mask of `tbaa_member_flag`.
    pub flags: u32,
}

/// A struct or union.
#[repr(C)]
pub struct RecordDeclaration {
    /// The name. A record without a name in C needs one here.
    pub name: Str,
    /// The members, in their order.
    pub members: *const RecordMember,
    /// The number of members.
    pub count: usize,
    /// The record's `sizeof`.
    pub size: u64,
    /// The record's `alignof`; 0 for the alignment of its members' types.
    pub align: u64,
    /// A mask of `tbaa_record_flag`.
    pub flags: u32,
}

const MEMBER_FLAGS: u32 = 31;
const RECORD_FLAGS: u32 = 15;

fn known_flags(flags: u32, known: u32, name: &str) -> Result<(), Error> {
    match flags & !known {
        0 => Ok(()),
        other => Err(Error::argument(format!("{other:#x} is no {name}"))),
    }
}

fn member(of: &RecordMember, computed: bool) -> Result<Member, Error> {
    known_flags(of.flags, MEMBER_FLAGS, "tbaa_member_flag")?;
    let has = |flag: MemberFlag| of.flags & flag as u32 != 0;
    let (name, ty) = (of.name.text()?, of.type_text.text()?);
    let mut member = match has(MemberFlag::Base) {
        true => Member::base(ty),
        false if ty.is_empty() => {
            Member::new(name, ScalarLayout { size: of.size, align: of.align.max(1) })
        }
        false => Member::new(name, ty),
    };
    if has(MemberFlag::BitField) {
        member = member.bits(of.bits);
    } else if of.bits != 0 {
        let message = format!("{name}: bits are of a member with TBAA_MEMBER_FLAG_BIT_FIELD");
        return Err(Error::argument(message));
    }
    if of.align != 0 {
        member = member.align(of.align);
    }
    if has(MemberFlag::Packed) {
        member = member.packed();
    }
    if has(MemberFlag::Immutable) {
        member = member.immutable();
    }
    Ok(match (computed, has(MemberFlag::BitField)) {
        (true, _) => member,
        (false, true) => member.at_bit(of.offset),
        (false, false) => member.at(of.offset),
    })
}

/// Returns a member for the unnamed union of `members`, which share bytes.
fn union_of(
    types: &mut TaggedTypes,
    members: &[RecordMember],
    computed: bool,
) -> Result<Member, Error> {
    let (mut start, mut end, mut align) = (u64::MAX, 0, 1);
    for of in members {
        let ty = types.types_mut().ty(of.type_text.text()?).ok();
        if of.flags & MemberFlag::Packed as u32 == 0 {
            align = align.max(ty.map_or(of.align, |ty| types.types().align_of(ty)));
        }
        start = start.min(of.offset);
        end = end.max(of.offset.saturating_add(of.size));
        if of.size == 0 || of.flags & (MemberFlag::BitField as u32 | MemberFlag::Base as u32) != 0 {
            let message = format!(
                "{}: a member that overlaps has a size, and is neither a bit-field nor a base",
                of.name.text()?
            );
            return Err(Error::argument(message));
        }
    }
    if !start.is_multiple_of(align) {
        align = 1;
    }
    // A size that overflows becomes `u64::MAX`, which the definition of the record rejects.
    let size = (end - start).checked_next_multiple_of(align).unwrap_or(u64::MAX);
    let mut union = Record::union("");
    for of in members {
        // A union's members have offset 0, so a member at another offset is put into a struct.
        union = match of.offset - start {
            _ if computed => union.member(member(of, true)?),
            0 => union.member(member(of, true)?.at(0)),
            at => {
                let inner = member(of, true)?.at(at);
                let inner = Record::structure("").member(inner).size(size).align(align);
                union.member(Member::new("", inner).at(0))
            }
        };
    }
    Ok(match computed {
        true => Member::new("", union),
        false => Member::new("", union.size(size).align(align)).at(start),
    })
}

/// Returns an error if the `size` of a member is not 0 and differs from the size of its type.
fn check_sizes(
    types: &mut TaggedTypes,
    record: &str,
    union: bool,
    members: &[RecordMember],
) -> Result<(), Error> {
    // A member may point to the record itself, so the record's name is made known first. Errors in
    // the name or in a type are ignored here, because the declaration reports them.
    let keyword = if union { "union" } else { "struct" };
    if record.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | ':')) {
        let _ = types.types_mut().ty(&format!("{keyword} {record} *"));
    }
    for member in members.iter().filter(|member| member.size != 0) {
        let (name, text) = (member.name.text()?, member.type_text.text()?);
        let found = types.types_mut().ty(text).ok().and_then(|ty| types.types().size_of(ty));
        if let Some(size) = found.filter(|&size| size != member.size) {
            let message = format!(
                "{record}.{name}: sizeof is {}, but {text:?} takes {size} bytes on this target: \
                 give the type that the member has",
                member.size
            );
            return Err(Error::new(Status::Declaration, message));
        }
    }
    Ok(())
}

/// Declares a struct or union with the C compiler's offsets and sizes. They are checked against the
/// members' types. A misplaced or overlapping member, a wrong size, or a second record of the same
/// name is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tbaa_declare(
    context: Option<&mut Context>,
    record: Option<&RecordDeclaration>,
) -> Status {
    change(context, |context| {
        let record = given(record, "the record")?;
        known_flags(record.flags, RECORD_FLAGS, "tbaa_record_flag")?;
        // SAFETY: the caller promises `count` members.
        let members = unsafe { slice(record.members, record.count, "members") }?;
        let has = |flag: RecordFlag| record.flags & flag as u32 != 0;
        let (name, union) = (record.name.text()?, has(RecordFlag::Union));
        let computed = has(RecordFlag::Computed);
        let mut made = if union { Record::union(name) } else { Record::structure(name) };
        let overlaps = |of: &RecordMember| of.flags & MemberFlag::Overlaps as u32 != 0;
        let mut parts = Vec::new();
        for group in members.chunk_by(|_, next| overlaps(next)) {
            parts.push(match group {
                [one] => member(one, computed)?,
                group => context.grow_declared(|types, _| {
                    check_sizes(types, name, union, members)?;
                    union_of(types, group, computed)
                })?,
            });
        }
        made = parts.into_iter().fold(made, Record::member);
        if !computed {
            made = made.size(record.size);
        }
        if record.align != 0 {
            made = made.align(record.align);
        }
        if has(RecordFlag::Packed) {
            made = made.packed();
        }
        if has(RecordFlag::MayAlias) {
            made = made.may_alias();
        }
        context.grow_declared(|types, _| {
            check_sizes(types, name, union, members)?;
            types.types_mut().define(made).map(drop).or_status(Status::Declaration)
        })
    })
}

/// Runs `make`, which declares a type, on the declared types and two strings.
fn declare<T>(
    context: Option<&mut Context>,
    texts: [Str; 2],
    make: impl FnOnce(&mut Declarations, [&str; 2]) -> Result<T, DeclareError>,
) -> Status {
    change(context, |context| {
        let texts = [texts[0].text()?, texts[1].text()?];
        context.grow_declared(|types, _| {
            make(types.types_mut(), texts).map(drop).or_status(Status::Declaration)
        })
    })
}

/// Declares a scalar type of `size` bytes. Its parent in the type tree is the scalar `parent`,
/// which may alias it, such as C's `char`, which aliases everything.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_declare_scalar(
    context: Option<&mut Context>,
    name: Str,
    size: u64,
    align: u64,
    parent: Str,
) -> Status {
    declare(context, [name, parent], |types, [name, parent]| {
        types.scalar(name, ScalarLayout { size, align }, parent)
    })
}

/// Declares a region: memory of a runtime, such as a linear memory, a stack, a table or the arrays
/// of numbers. Only accesses to the same region or to C's `char` may overlap it. The path `*name`
/// means an access to any number of the region's elements. `element` is a scalar or pointer type.
/// If it is empty, the region holds bytes of any type at any alignment. If two regions may be the
/// same object, as imported memories may be, declare one region and give it the second name with
/// `tbaa_declare_alias`. It is no error to declare a region again with the same elements.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_declare_region(
    context: Option<&mut Context>,
    name: Str,
    element: Str,
) -> Status {
    declare(context, [name, element], |types, [name, element]| {
        types.region(name, if element.is_empty() { "char" } else { element })
    })
}

/// Declares an enum whose values have the type `integer`. In C that is `unsigned int` if no value
/// is negative.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_declare_enum(
    context: Option<&mut Context>,
    name: Str,
    integer: Str,
) -> Status {
    declare(context, [name, integer], |types, [name, integer]| types.enumeration(name, integer))
}

/// Gives a type another name, as C's `typedef` does.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_declare_alias(
    context: Option<&mut Context>,
    name: Str,
    type_text: Str,
) -> Status {
    declare(context, [name, type_text], |types, [name, ty]| types.alias(name, ty))
}

/// Gives the size of a type on the target, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_size_of(
    context: Option<&mut Context>,
    type_text: Str,
    size: Option<&mut MaybeUninit<u64>>,
) -> Status {
    made_in(context, size, |context| {
        let text = type_text.text()?;
        context.grow_declared(|types, _| {
            let ty = types.types_mut().ty(text).or_status(Status::Declaration)?;
            let message = || format!("{text:?} has no size: define it first");
            let size = types.types().size_of(ty);
            size.ok_or_else(|| Error::new(Status::Declaration, message()))
        })
    })
}
