//! Declares records (structs and unions): computes or checks their offsets, sizes and alignments.

use super::declarations::{Decl, DeclKind, FieldDecl, LIMIT, RecordDecl, check_align};
use super::error::{Result, invalid};
use super::layout::{Layout, Slot};
use super::record::{Attributes, Member, MemberType, Record};
use super::{DeclId, Declarations, DeclareError};
use crate::extent::Size;
use crate::table::IndexMap;

/// The largest depth of nested records, and of nested anonymous members.
const DEPTH: usize = 64;

/// The last field index for a name that is ambiguous: several base classes have such a member.
pub(super) const AMBIGUOUS: u32 = u32::MAX;

/// A record that is being declared, and its [title](RecordDecl::title).
#[derive(Clone, Copy)]
struct Draft<'r> {
    record: &'r Record,
    title: &'r str,
}

impl Draft<'_> {
    /// Returns the name of a member for error messages.
    fn place(self, index: usize) -> String {
        match self.record.members[index].name.as_str() {
            "" => format!("{}, member {index}", self.title),
            name => format!("{}.{name}", self.title),
        }
    }
}

impl Declarations {
    /// Declares a struct or union and computes its layout. If its name is forward-declared,
    /// completes that type. If the name is defined already, the two declarations must be equal.
    ///
    /// # Errors
    ///
    /// [`DeclareError`] if C would reject the record, or if offsets and sizes are impossible.
    /// [`DeclareError::Changed`] if the name is defined already and the declarations differ. After
    /// an error, types inside the record may be declared already.
    ///
    /// # Examples
    ///
    /// Offsets that you give are checked:
    ///
    /// ```
    /// use tbaa::declare::{Declarations, Member, Record, Target};
    ///
    /// let mut types = Declarations::new(Target::x86_64());
    /// let node = Record::structure("Node").size(16);
    /// let error = types
    ///     .define(node.member(Member::new("next", "Node *").at(4)))
    ///     .unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "Node.next: offset 4 is no multiple of the alignment of its type, 8: \
    ///      declare the record packed if it is so"
    /// );
    /// # Ok::<(), tbaa::declare::DeclareError>(())
    /// ```
    pub fn define(&mut self, record: Record) -> Result<DeclId, DeclareError> {
        if record.name.is_empty() {
            return invalid("record", "only a record inside another may go without a name");
        }
        self.define_at(Draft { record: &record, title: &record.name }, 0, None)
    }

    fn define_at(
        &mut self,
        draft: Draft<'_>,
        depth: usize,
        before: Option<DeclId>,
    ) -> Result<DeclId> {
        let Draft { record, title } = draft;
        if depth > DEPTH {
            return invalid(
                title,
                "records are written inside each other more than 64 deep: name the inner ones",
            );
        }
        let id = match before {
            Some(id) => id,
            None => self.announce(draft)?,
        };
        let before = self.record(id).filter(|before| before.defined).cloned();
        let mut fields = Vec::with_capacity(record.members.len());
        for (index, member) in record.members.iter().enumerate() {
            let known = before.as_ref().and_then(|before| before.fields.get(index));
            let ty = self.member_type(draft, index, depth, known.map(|field| field.ty))?;
            self.check_member(draft, index, ty)?;
            fields.push(FieldDecl {
                name: member.name.clone(),
                ty,
                offset: 0,
                bits: member.bits,
                immutable: member.immutable,
                base: member.base,
            });
        }
        let names = self.field_names(title, &fields)?;
        let layout = self.layout_of(draft, &fields)?;
        for (field, &offset) in fields.iter_mut().zip(&layout.offsets) {
            field.offset = offset;
        }
        let flexible = fields.iter().any(|field| self.is_flexible(field.ty));
        let endless = fields.iter().any(|field| self.is_endless(field.ty));
        let is_plain = |ty| self.record(self.innermost(ty)).is_none_or(|record| record.plain);
        let decl = RecordDecl {
            plain: fields.iter().all(|field| !field.base && is_plain(field.ty)),
            packed: record.attributes.packed,
            used: fields.iter().map(|f| f.offset + self.slot(f, None).used).max().unwrap_or(0),
            name: record.name.clone(),
            title: title.to_owned(),
            union: record.union,
            defined: true,
            may_alias: record.attributes.may_alias,
            flexible,
            endless,
            fields,
            names,
        };
        let Layout { size, align, required, .. } = layout;
        if let Some(before) = before {
            let sizes = [(self.size_of(id), self.align_of(id)), (Some(size), align)];
            let Some(change) = decl.change_from(&before, sizes) else { return Ok(id) };
            return Err(DeclareError::Changed { name: decl.title, change, first: id });
        }
        let kind = DeclKind::Record(Box::new(decl));
        self.decls[id.index()] = Decl { kind, size: Some(size), align, required };
        Ok(id)
    }

    /// Returns the type of a member. Declares the record or scalar that the member defines, if any.
    fn member_type(
        &mut self,
        draft: Draft<'_>,
        index: usize,
        depth: usize,
        mut before: Option<DeclId>,
    ) -> Result<DeclId> {
        let (title, member) = (draft.title, &draft.record.members[index]);
        let mut lens = Vec::new();
        let mut element = &member.ty;
        while let MemberType::Array(of, len) = element {
            lens.push(*len);
            element = of;
            before = before.and_then(|ty| match *self.kind(ty) {
                DeclKind::Array { element, .. } => Some(element),
                _ => None,
            });
        }
        let ty = match element {
            MemberType::Text(text) => self.ty(text)?,
            MemberType::Declared(ty) => self.check(*ty)?,
            MemberType::Scalar(layout) => {
                self.own_scalar(format!("{title}.{}", member.name), *layout)?
            }
            // This is unreachable: the loop above removes all arrays.
            MemberType::Array(..) => self.void(),
            MemberType::Record(inner) => {
                let title = match (inner.name.as_str(), member.name.as_str()) {
                    ("", "") => format!("{title}.({index})"),
                    ("", name) => format!("{title}.{name}"),
                    (name, _) => name.to_owned(),
                };
                // An unnamed record is identified by the member that contains it.
                let before = before.filter(|&ty| inner.name.is_empty() && self.is_unnamed(ty));
                self.define_at(Draft { record: inner, title: &title }, depth + 1, before)?
            }
        };
        lens.into_iter().rev().try_fold(ty, |ty, len| self.array_of(ty, len))
    }

    /// Declares a record before its members, which may point to it.
    fn announce(&mut self, Draft { record, title }: Draft<'_>) -> Result<DeclId, DeclareError> {
        if record.name.is_empty() {
            let decl = RecordDecl { title: title.to_owned(), ..RecordDecl::default() };
            let kind = DeclKind::Record(Box::new(decl));
            return self.push(Decl::new(kind, None, 1));
        }
        let Some(id) = self.named(&record.name) else {
            return self.forward(&record.name, record.union);
        };
        match self.record(id) {
            Some(known) if known.defined || known.union == record.union => Ok(id),
            _ => Err(DeclareError::Redefined { name: record.name.clone(), first: id }),
        }
    }

    fn is_flexible(&self, ty: DeclId) -> bool {
        match self.kind(ty) {
            DeclKind::Array { len, .. } => len.is_none(),
            DeclKind::Record(record) => record.flexible,
            _ => false,
        }
    }

    /// Returns whether objects of the type have no fixed size. An array of length 0 counts as
    /// flexible, as in old C, unless its elements have size 0.
    fn is_endless(&self, mut ty: DeclId) -> bool {
        while let DeclKind::Array { element: of, .. } | DeclKind::Atomic { of } = *self.kind(ty) {
            let flexible = matches!(self.kind(ty), DeclKind::Array { len: None | Some(0), .. });
            if flexible && self.size_of(of) != Some(0) {
                return true;
            }
            ty = of;
        }
        self.record(ty).is_some_and(|record| record.endless)
    }

    /// Returns the size of an object of the type; unknown if objects have no fixed size.
    pub(super) fn extent_of(&self, ty: DeclId) -> Size {
        if self.is_endless(ty) { Size::Unknown } else { Size::Bytes(self.size_of(ty).unwrap_or(0)) }
    }

    fn check_member(&self, of: Draft<'_>, index: usize, ty: DeclId) -> Result<(), DeclareError> {
        let (record, member) = (of.record, &of.record.members[index]);
        let invalid = |reason| invalid(of.place(index), reason);
        if let Some(align) = member.align {
            check_align(&of.place(index), align)?;
        }
        let size = self.size_of(ty).ok_or_else(|| self.incomplete(ty, &of.place(index)))?;
        if self.is_flexible(ty) && (record.union || index + 1 < record.members.len()) {
            return invalid("a flexible array can only end a struct");
        }
        let Some(width) = member.bits else {
            if member.name.is_empty() && self.record(ty).is_none() {
                return invalid("only a struct or union can go without a name");
            }
            return Ok(());
        };
        let integer = match self.kind(ty) {
            DeclKind::Enum { .. } => true,
            DeclKind::Scalar { float, .. } => float.is_none(),
            _ => false,
        };
        if !integer {
            return invalid("a bit-field is of an integer type");
        }
        if width == 0 && !member.name.is_empty() {
            return invalid("a bit-field of no bits has no name");
        }
        if u64::from(width) > size.saturating_mul(8) {
            return invalid("a bit-field has no more bits than its type");
        }
        Ok(())
    }

    /// Returns for each member's name the field indices that lead to the member, or that end in
    /// [`AMBIGUOUS`]. Members of the record hide those of base classes.
    fn field_names(
        &self,
        title: &str,
        fields: &[FieldDecl],
    ) -> Result<IndexMap<String, Vec<u32>>, DeclareError> {
        let mut names: IndexMap<String, Vec<u32>> = IndexMap::default();
        for bases in [false, true] {
            for (index, field) in fields.iter().enumerate().filter(|(_, f)| f.base == bases) {
                let index = index as u32;
                let below = self.record(field.ty).filter(|_| field.name.is_empty());
                let below = below.into_iter().flat_map(|record| &record.names);
                let own = (!field.name.is_empty()).then(|| (&field.name, Vec::new()));
                let found = below.map(|(name, way)| (name, way.clone())).chain(own);
                for (name, mut way) in found {
                    way.insert(0, index);
                    if way.len() > DEPTH {
                        return invalid(
                            title,
                            "anonymous members stand in each other more than 64 deep: name the inner ones",
                        );
                    }
                    if let Some(known) = names.get_mut(name).filter(|_| bases) {
                        known.extend(fields[known[0] as usize].base.then_some(AMBIGUOUS));
                    } else if !names.contains_key(name) {
                        names.insert(name.clone(), way);
                    } else {
                        let (record, name) = (title.to_owned(), name.clone());
                        return Err(DeclareError::DuplicateField { record, name });
                    }
                }
            }
        }
        Ok(names)
    }

    fn layout_of(&self, draft: Draft<'_>, fields: &[FieldDecl]) -> Result<Layout, DeclareError> {
        let Draft { record, title } = draft;
        let attributes = &record.attributes;
        for align in [attributes.align, attributes.pack].into_iter().flatten() {
            check_align(title, align)?;
        }
        let slots: Vec<Slot> = std::iter::zip(fields, &record.members)
            .map(|(field, member)| self.slot(field, Some(member)))
            .collect();
        let placed = record.members.iter().filter(|member| member.at.is_some()).count();
        if placed == record.members.len() && attributes.size.is_some() {
            return explicit(draft, &slots);
        }
        if let Some(index) = fields.iter().position(|field| self.may_be_overlapped(field)) {
            let reason = "a base class that is empty or ends in padding may share bytes with later \
                          members: give the size of the record and all offsets";
            return invalid(draft.place(index), reason);
        }
        if placed != 0 {
            return invalid(title, "give the size, and offsets of all members or of none");
        }
        let layout = self.lay_out(record.union, attributes, &slots);
        let layout = layout.ok_or_else(|| DeclareError::TooLarge { place: title.to_owned() })?;
        match attributes.size {
            Some(said) if said != layout.size => {
                let reason = format!("but the members take {}", layout.size);
                Err(DeclareError::Size { place: title.to_owned(), size: said, reason })
            }
            _ => Ok(layout),
        }
    }
}

impl RecordDecl {
    /// Returns what differs from the record's first declaration, or `None`. `old` is the size and
    /// alignment of that declaration, and `new` of this one.
    fn change_from(
        &self,
        before: &RecordDecl,
        [old, new]: [(Option<u64>, u64); 2],
    ) -> Option<String> {
        if self.union != before.union {
            return Some(format!("is a {} there", before.keyword()));
        }
        for (field, was) in self.fields.iter().zip(&before.fields) {
            let name = &field.name;
            let what = match () {
                () if *name != was.name => format!("is called `{}` there", was.name),
                () if field.ty != was.ty => "has another type there".to_owned(),
                () if field.offset != was.offset => {
                    format!("is at {} and not at {}", was.offset / 8, field.offset / 8)
                }
                () if (field.bits, field.immutable, field.base)
                    != (was.bits, was.immutable, was.base) =>
                {
                    "has other attributes there".to_owned()
                }
                () => continue,
            };
            return Some(format!("its member `{name}` {what}"));
        }
        let (here, there) = (self.fields.len(), before.fields.len());
        match () {
            () if here != there => Some(format!("has {there} members and not {here}")),
            () if old.0 != new.0 => {
                let [old, new] = [old, new].map(|(size, _)| size.unwrap_or_default());
                Some(format!("has {old} bytes and not {new}"))
            }
            () if old.1 != new.1 => Some(format!("has alignment {} and not {}", old.1, new.1)),
            () if self.may_alias != before.may_alias => Some("differs in `may_alias`".to_owned()),
            () => None,
        }
    }
}

impl Declarations {
    /// Returns the attributes (packed, alignment) with which C computes the record's layout; `None`
    /// if explicit offsets are needed.
    #[cfg(feature = "spec")]
    pub(crate) fn natural(&self, id: DeclId) -> Option<(bool, Option<u64>)> {
        let record = self.record(id)?;
        let known = !record.fields.iter().any(|field| self.may_be_overlapped(field));
        let slots: Vec<Slot> = record.fields.iter().map(|field| self.slot(field, None)).collect();
        let wanted: Vec<u64> = record.fields.iter().map(|field| field.offset).collect();
        let align = self.align_of(id);
        let ways = [(false, None), (true, None), (false, Some(align)), (true, Some(align))];
        let hidden = self.has_hidden_alignments();
        let is_this = |layout: Layout| {
            layout.offsets == wanted
                && known
                && (!hidden || layout.required == self.decl(id).required)
                && (Some(layout.size), layout.align) == (self.size_of(id), align)
        };
        ways.into_iter().find(|&(packed, align)| {
            let attributes = Attributes { packed, align, ..Default::default() };
            self.lay_out(record.union, &attributes, &slots).is_some_and(is_this)
        })
    }

    /// Returns whether a field is a base class that later members of the record may overlap.
    fn may_be_overlapped(&self, field: &FieldDecl) -> bool {
        let reused = self.record(field.ty).is_some_and(|record| {
            let padded = Some(record.used.div_ceil(8)) < self.size_of(field.ty);
            padded && !record.plain && !self.target.is_microsoft()
        });
        field.base && (reused || self.is_empty(field.ty))
    }

    fn slot(&self, field: &FieldDecl, member: Option<&Member>) -> Slot {
        let Decl { size, align, required, .. } = *self.decl(field.ty);
        let whole = field.bits.map_or(8 * size.unwrap_or(0), u64::from);
        let class = self.record(field.ty).filter(|_| self.cplusplus);
        // `packed` packs no bases. clang: `FieldPacked`, which differs on Apple's systems.
        let apple = self.target.int64_is_long_long;
        let loose = class.is_none_or(|class| apple || class.plain || class.packed);
        Slot {
            loose: loose && !field.base || self.target.is_microsoft(),
            used: class.filter(|_| field.base).map_or(whole, |class| class.used),
            size: size.unwrap_or(0),
            align,
            required,
            bits: field.bits,
            named: !field.name.is_empty(),
            asked: member.and_then(|member| member.align),
            packed: member.is_some_and(|member| member.packed),
        }
    }
}

/// Returns a member's end in bits, or what is wrong with its offset in a record of `size` bytes.
fn member_end(
    attributes: &Attributes,
    member: &Member,
    slot: &Slot,
    size: u64,
) -> Result<u64, String> {
    let at = member.at.unwrap_or(0);
    let packed = attributes.packed || member.packed || attributes.pack.is_some();
    if slot.bits.is_none() && !at.is_multiple_of(8) {
        return Err("is not where it starts: only a bit-field starts inside a byte".to_owned());
    }
    if slot.bits.is_none() && !packed && !at.is_multiple_of(8 * slot.align) {
        return Err(format!(
            "is no multiple of the alignment of its type, {}: declare the record packed if it is so",
            slot.align
        ));
    }
    let end = at.checked_add(slot.used).filter(|&end| end <= 8 * size);
    end.ok_or_else(|| format!("lets it end past the {size} bytes of the record"))
}

/// Checks and returns the layout of a record for which the size and all offsets are given.
fn explicit(draft: Draft<'_>, slots: &[Slot]) -> Result<Layout, DeclareError> {
    let Draft { record, title } = draft;
    let attributes = &record.attributes;
    let size = attributes.size.unwrap_or(0);
    if size >= LIMIT {
        return Err(DeclareError::TooLarge { place: title.to_owned() });
    }
    let own = |slot: &Slot| {
        let packed = attributes.packed && slot.loose || slot.packed;
        let natural = if packed { 1 } else { slot.align };
        natural.max(slot.asked.unwrap_or(1)).min(attributes.pack.unwrap_or(u64::MAX))
    };
    let natural = slots.iter().map(own).max().unwrap_or(1);
    let align = attributes.align.unwrap_or(natural);
    let mut offsets = Vec::with_capacity(slots.len());
    // The start and end in bits of each member that is not empty, and the member's index.
    let mut ranges = Vec::with_capacity(slots.len());
    for (index, (slot, member)) in slots.iter().zip(&record.members).enumerate() {
        let at = member.at.unwrap_or(0);
        let end = member_end(attributes, member, slot, size).map_err(|reason| {
            let place = draft.place(index);
            // A bit-field's offset is reported in bits.
            let offset = if slot.bits.is_some() { at } else { at / 8 };
            DeclareError::Offset { place, offset, reason }
        })?;
        offsets.push(at);
        if end > at {
            ranges.push((at, end, index));
        }
    }
    ranges.sort_unstable();
    let overlap = ranges.windows(2).find(|pair| pair[1].0 < pair[0].1);
    if let Some(&[(.., before), (at, _, index)]) = overlap.filter(|_| !record.union) {
        return Err(DeclareError::Offset {
            place: draft.place(index),
            offset: if slots[index].bits.is_some() { at } else { at / 8 },
            reason: format!("lies inside {}: declare a union if they overlap", draft.place(before)),
        });
    }
    if record.union && offsets.iter().any(|&at| at != 0) {
        return invalid(title, "members of a union have offset 0");
    }
    if !size.is_multiple_of(align) {
        let reason = format!("which is no multiple of the alignment, {align}");
        return Err(DeclareError::Size { place: title.to_owned(), size, reason });
    }
    // A larger alignment than that of the members must be a request such as `_Alignas`.
    let required = if align > natural { align } else { 1 };
    Ok(Layout { offsets, size, align, required })
}
