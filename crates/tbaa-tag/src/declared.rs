//! Gives accesses the tags of declared types, by following the accesses' `getelementptr`s.

use tbaa::declare::{DeclId, DeclKind, Declarations, MemberLayout, TaggedTypes};
use tbaa::parts::table::HashMap;
use tbaa::{Graph, TagId};
use tbaa_ir::types::Definitions;
use tbaa_types::{Context, Layouts, Type, TypeKind};

use crate::error::{TagError, Untagged};
use crate::places::PlacedAccess;

/// The largest number of [`Part`]s of a record that are examined for one offset.
const PARTS: usize = 1 << 10;

/// A record with more members than this is not examined.
const MEMBERS: usize = 1 << 12;

/// A condition that an access's `getelementptr`s put on the declared member. Offsets are in bytes
/// from the start of the outermost declared record.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Demand {
    /// A record of this type begins at this offset.
    Record(u64, DeclId),
    /// The access is to any element of an array: every `stride` bytes from `at` up to `end`.
    Elements { at: u64, stride: u64, end: Option<u64> },
}

/// The path of an access's `getelementptr`s, with each array index taken as 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Way {
    record: DeclId,
    offset: u64,
    demands: Vec<Demand>,
}

/// A declared record, or a member of it at any depth.
#[derive(Clone, Debug)]
struct Part {
    ty: DeclId,
    /// The number of bytes from the start of the outermost record.
    at: u64,
    path: String,
    is_bits: bool,
    /// The arrays on the path: the start, the size of an element, and the end of each.
    arrays: Vec<(u64, u64, Option<u64>)>,
    /// The records on the path, each with the offset where it begins.
    records: Vec<(u64, DeclId)>,
}

/// Declared types, and a module's struct types that have the names of declared records.
pub(crate) struct Declared<'c> {
    pub(crate) graph: Graph,
    types: TaggedTypes,
    context: &'c Context,
    layouts: Layouts<'c>,
    records: HashMap<Type, DeclId>,
    known: HashMap<(Way, Type), Result<TagId, Untagged>>,
}

impl<'c> Declared<'c> {
    pub(crate) fn new(
        types: TaggedTypes,
        context: &'c Context,
        definitions: &Definitions,
        mut layouts: Layouts<'c>,
    ) -> Result<Self, TagError> {
        let mut records = HashMap::default();
        for (name, ty) in definitions.names() {
            let Some(record) = named(types.types(), name) else { continue };
            let Ok(layout) = layouts.struct_layout(ty) else { continue };
            let offsets = layout.offsets.iter().map(|offset| offset.min).zip(context.parts(ty));
            let (size, declared) = (layout.size.min, types.types().size_of(record));
            let stray = offsets.enumerate().find(|&(_, (offset, &part))| {
                !is_bytes(context, part) && !begins(types.types(), record, offset)
            });
            let contradiction = match stray {
                _ if declared != Some(size) => {
                    format!("it has {size} bytes, and not {}", declared.unwrap_or(0))
                }
                Some((number, (offset, _))) => {
                    format!("its element {number} is at byte {offset}, where no member begins")
                }
                None => {
                    records.insert(ty, record);
                    continue;
                }
            };
            return Err(TagError::Layout {
                ty: String::from_utf8_lossy(name).into_owned(),
                record: types.types().display(record),
                contradiction,
            });
        }
        let (graph, known) = (Graph::new(), HashMap::default());
        Ok(Declared { graph, types, context, layouts, records, known })
    }

    pub(crate) fn tag(&mut self, access: &PlacedAccess) -> Result<TagId, Untagged> {
        let key = (self.way(access)?, access.ty);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let found = self.find(&key.0, key.1);
        self.known.insert(key, found);
        found
    }

    /// Follows an access's `getelementptr`s through the module's types.
    fn way(&mut self, access: &PlacedAccess) -> Result<Way, Untagged> {
        let first = access.declared.or(access.steps.first().map(|step| step.ty));
        let mut at = first.ok_or(Untagged::Undeclared)?;
        let mut way = None;
        self.enter(&mut way, at);
        for (number, step) in access.steps.iter().enumerate() {
            if matches!(self.context.kind(step.ty), TypeKind::Int(8)) {
                return Err(Untagged::Bytes);
            }
            if step.ty != at {
                at = step.ty;
                self.enter(&mut way, at);
            }
            let (first, rest) = step.list.split_first().ok_or(Untagged::Unread)?;
            let is_inside = number > 0 || access.declared.is_some();
            if let Some(way) = way.as_mut().filter(|_| is_inside && *first != Some(0)) {
                let is_whole = way.offset == 0 && self.records.get(&at) == Some(&way.record);
                let (at, stride) = (way.offset, self.size_of(at)?);
                let elements = Demand::Elements { at, stride, end: None };
                way.demands.extend((!is_whole).then_some(elements));
            }
            for &index in rest {
                at = self.step(&mut way, at, index)?;
            }
        }
        way.ok_or(Untagged::Undeclared)
    }

    /// Follows one index of a `getelementptr`, and returns the type that it leads to.
    fn step(
        &mut self,
        way: &mut Option<Way>,
        at: Type,
        index: Option<u64>,
    ) -> Result<Type, Untagged> {
        let inner = match self.context.kind(at) {
            TypeKind::Array { element, len } => {
                if let Some(way) = way.as_mut().filter(|_| index != Some(0)) {
                    let (at, stride) = (way.offset, self.size_of(element)?);
                    let end = stride.checked_mul(len).and_then(|bytes| at.checked_add(bytes));
                    let end = end.filter(|_| len > 0);
                    way.demands.push(Demand::Elements { at, stride, end });
                }
                element
            }
            TypeKind::Literal { .. } | TypeKind::Identified { .. } => {
                let member = index.and_then(|index| usize::try_from(index).ok());
                let member = member.ok_or(Untagged::Unread)?;
                let layout = self.layouts.struct_layout(at).map_err(|_| Untagged::Unread)?;
                let offset = layout.offsets.get(member).ok_or(Untagged::Unread)?.min;
                if let Some(way) = way {
                    way.offset = way.offset.checked_add(offset).ok_or(Untagged::Unread)?;
                }
                self.context.parts(at)[member]
            }
            _ => return Err(Untagged::NotScalar),
        };
        self.enter(way, inner);
        Ok(inner)
    }

    /// If `ty` is declared, starts the path at it. If the path has started already, demands that
    /// the declared record begins at the current offset.
    fn enter(&self, way: &mut Option<Way>, ty: Type) {
        let Some(&record) = self.records.get(&ty) else { return };
        match way {
            Some(way) => way.demands.push(Demand::Record(way.offset, record)),
            None => *way = Some(Way { record, offset: 0, demands: Vec::new() }),
        }
    }

    fn size_of(&mut self, ty: Type) -> Result<u64, Untagged> {
        self.layouts.alloc_size(ty).map(|size| size.min).map_err(|_| Untagged::Unread)
    }

    /// Returns the tag of the declared member at the end of a path.
    fn find(&mut self, way: &Way, ty: Type) -> Result<TagId, Untagged> {
        let is_float = matches!(self.context.kind(ty), TypeKind::Primitive(_));
        let size = match is_float {
            true => self.size_of(ty)?,
            false => self.layouts.store_size(ty).map_err(|_| Untagged::Unread)?.min,
        };
        let parts = parts_at(self.types.types(), way.record, way.offset).ok_or(Untagged::Unread)?;
        // The tags of members of the access's kind (pointer, integer, float), and of other members.
        let mut tags: [Vec<TagId>; 2] = Default::default();
        for part in parts {
            let types = self.types.types();
            let is_scalar = !types.is_record(part.ty) && types.array_parts(part.ty).1.is_empty();
            let is_there = part.at == way.offset
                && !part.is_bits
                && is_scalar
                && types.size_of(part.ty) == Some(size)
                && way.demands.iter().all(|demand| part.meets(demand));
            if !is_there {
                continue;
            }
            let is_alike = match (self.context.kind(ty), types.kind(part.ty)) {
                (TypeKind::Pointer { .. }, kind) => matches!(kind, DeclKind::Pointer { .. }),
                (_, DeclKind::Scalar { float, .. }) => float.is_some() == is_float,
                (_, DeclKind::Enum { .. } | DeclKind::Atomic { .. }) => !is_float,
                _ => false,
            };
            let place = self.types.place(&mut self.graph, &part.path).ok();
            let place = place.filter(|place| place.offset == part.at);
            tags[usize::from(!is_alike)].extend(place.and_then(|place| place.tag));
        }
        let best = tags.iter().find(|tags| !tags.is_empty()).ok_or(Untagged::NoDeclared)?;
        let is_one = best.iter().all(|tag| *tag == best[0]);
        is_one.then_some(best[0]).ok_or(Untagged::Several)
    }
}

impl Part {
    fn meets(&self, demand: &Demand) -> bool {
        match *demand {
            Demand::Record(at, record) => self.records.contains(&(at, record)),
            Demand::Elements { at, stride, end } => {
                self.arrays.iter().any(|&(first, size, last)| {
                    let is_inside =
                        last.is_none_or(|last| at < last && end.is_none_or(|end| end <= last));
                    first <= at && stride.is_multiple_of(size) && is_inside
                })
            }
        }
    }

    /// Returns this array's element at an offset, or `None` if the elements have no usable size.
    fn element(&self, types: &Declarations, offset: u64) -> Option<Part> {
        let (element, lens) = types.array_parts(self.ty);
        let mut part = Part { ty: element, ..self.clone() };
        for level in 0..lens.len() {
            let mut inner = lens[level + 1..].iter().flatten();
            let stride = inner.try_fold(types.size_of(element)?, |it, &len| it.checked_mul(len))?;
            let index = (offset - part.at).checked_div(stride)?;
            let end = lens[level].filter(|&len| len > 0).map(|len| part.at + stride * len);
            part.arrays.push((part.at, stride, end));
            part.at += index * stride;
            part.path += &format!("[{index}]");
        }
        part.records.extend(types.is_record(element).then_some((part.at, element)));
        Some(part)
    }

    fn to(&self, types: &Declarations, member: &MemberLayout<'_>) -> String {
        // For nested base classes, the path to a member `x` names only the innermost: `.Base::x`.
        let (path, colons) = (&self.path, self.path.ends_with("::"));
        match (member.base, member.name) {
            (true, _) => {
                let before = path.rfind('.').filter(|_| colons).unwrap_or(path.len());
                format!("{}.{}::", &path[..before], types.display(member.ty))
            }
            (false, "") => path.clone(),
            (false, name) if colons => format!("{path}{name}"),
            (false, name) => format!("{path}.{name}"),
        }
    }
}

/// Returns the parts of a record that contain an offset, outer parts first, or `None` if the record
/// has too many parts or members.
fn parts_at(types: &Declarations, record: DeclId, offset: u64) -> Option<Vec<Part>> {
    let mut found = vec![Part {
        ty: record,
        at: 0,
        path: types.display(record),
        is_bits: false,
        arrays: Vec::new(),
        records: vec![(0, record)],
    }];
    let mut next = 0;
    while let Some(part) = found.get(next).cloned() {
        next += 1;
        if found.len() > PARTS || types.members(part.ty).len() > MEMBERS {
            return None;
        }
        if !types.array_parts(part.ty).1.is_empty() {
            found.extend(part.element(types, offset));
        }
        for member in types.members(part.ty) {
            let at = part.at.checked_add(member.offset / 8)?;
            let size = types.size_of(member.ty).unwrap_or(0);
            let is_endless = matches!(types.array_parts(member.ty).1[..], [None | Some(0), ..]);
            if at > offset || at < offset && offset - at >= size && !is_endless {
                continue;
            }
            let (path, is_bits) = (part.to(types, &member), member.bits.is_some());
            let mut inner = Part { ty: member.ty, at, path, is_bits, ..part.clone() };
            inner.records.extend(types.is_record(member.ty).then_some((at, member.ty)));
            found.push(inner);
        }
    }
    Some(found)
}

/// Returns whether a part of a record begins at an offset, or `true` if there are too many parts.
fn begins(types: &Declarations, record: DeclId, offset: u64) -> bool {
    let parts = parts_at(types, record, offset);
    parts.is_none_or(|parts| parts.iter().any(|part| part.at == offset))
}

/// Returns whether a type is `i8`, an empty named struct, or an array of length 0 or of such types.
fn is_bytes(context: &Context, mut ty: Type) -> bool {
    loop {
        ty = match context.kind(ty) {
            TypeKind::Array { element, len: 1.. } => element,
            TypeKind::Array { .. } | TypeKind::Int(8) => return true,
            _ => return context.parts(ty).is_empty() && context.name(ty).is_some(),
        }
    }
}

/// Returns the declared record for the name of a struct type: `struct.X`, `class.X`, `union.X` or
/// `X`, also with the number that LLVM appends to a name in use.
fn named(types: &Declarations, name: &[u8]) -> Option<DeclId> {
    let name = str::from_utf8(name).ok()?;
    let short = ["struct.", "class.", "union."].iter().find_map(|it| name.strip_prefix(it));
    let short = short.unwrap_or(name);
    let (front, number) = short.rsplit_once('.').unwrap_or((short, ""));
    let front = if number.bytes().all(|byte| byte.is_ascii_digit()) { front } else { short };
    let record = |name| {
        let known = types.named(name)?;
        (types.is_record(known) && types.size_of(known).is_some()).then_some(known)
    };
    [name, short, front].into_iter().find_map(record)
}
