//! Resolves paths such as `CallInfo.l.base` and `Table->array[*].value.n`. The *last pointer* of a
//! path is the last one that the path follows.

use super::declarations::{DeclKind, FieldDecl, LIMIT};
use super::define::AMBIGUOUS;
use super::error::{Result, invalid};
use super::{BitRange, DeclId, Declarations, DeclareError};
use crate::extent::Size;
use crate::nearest::nearest;
use crate::table::IndexMap;

/// The largest length of a path, in bytes.
const LONGEST: usize = 1 << 16;

/// A step of a path, from a type to a part of it or to a pointer's target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// To a member.
    Field { record: DeclId, index: u32 },
    /// To an element of an array; `None` for an index that is not constant.
    Element { index: Option<u64> },
    /// To a lane of a vector or a part of a complex number.
    Lane { index: Option<u64> },
    /// To the target of a pointer, or to an element of the array that the pointer points to.
    Follow { index: Option<u64> },
}

/// A step, and the type that it leads to.
type Taken = (Step, DeclId);

/// A parsed path. All its types and members exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ResolvedPath {
    pub(super) volatile: bool,
    pub(super) immutable: bool,
    pub(super) start: DeclId,
    pub(super) steps: Vec<Taken>,
}

impl ResolvedPath {
    pub(super) fn end(&self) -> DeclId {
        self.steps.last().map_or(self.start, |&(_, ty)| ty)
    }

    /// Returns the members after the path's last pointer, last member first: the record, and the
    /// member's index in it.
    pub(super) fn members(&self) -> impl Iterator<Item = (DeclId, u32)> + '_ {
        let steps = self.steps.iter().rev();
        let object = steps.take_while(|(step, _)| !matches!(step, Step::Follow { .. }));
        object.filter_map(|&(step, _)| match step {
            Step::Field { record, index } => Some((record, index)),
            _ => None,
        })
    }
}

impl Declarations {
    /// Returns the offset of a path's end in bytes, from the target of the last pointer that the
    /// path follows, or else from the start of the path's first type. Variable indices count as 0.
    /// For a bit-field, returns the offset of the byte with the bit-field's first bit.
    ///
    /// # Errors
    ///
    /// The errors of [`TaggedTypes::tag`](super::TaggedTypes::tag), except those about tags.
    pub fn offset_of(&mut self, path: &str) -> Result<u64, DeclareError> {
        let resolved = self.resolve(path)?;
        Ok(self.spot(&resolved, path)?.0)
    }

    fn field(&self, record: DeclId, index: u32) -> Option<&FieldDecl> {
        self.record(record)?.fields.get(index as usize)
    }

    /// Returns whether the memory is never modified: the path or a member after its last pointer is
    /// marked immutable.
    pub(super) fn is_immutable(&self, resolved: &ResolvedPath) -> bool {
        let is_immutable = |(record, index)| self.field(record, index).is_some_and(|f| f.immutable);
        resolved.immutable || resolved.members().any(is_immutable)
    }

    /// Returns the values of `Place::offset`, `Place::bits` and `Place::align` for a path.
    pub(super) fn spot(
        &self,
        resolved: &ResolvedPath,
        path: &str,
    ) -> Result<(u64, Option<BitRange>, u64), DeclareError> {
        let (mut offset, mut bits, mut align) = (0_u64, None, self.align_of(resolved.start));
        for &(step, ty) in &resolved.steps {
            let size = self.size_of(ty).unwrap_or(0);
            let moved = |index: Option<u64>| index.unwrap_or(0).saturating_mul(size);
            let shift = match step {
                Step::Field { record, index } => {
                    let field = self.field(record, index);
                    let (at, width) = field.map_or((0, None), |field| (field.offset, field.bits));
                    bits = width.map(|width| BitRange { first: 8 * offset + at, width });
                    at / 8
                }
                Step::Element { index } | Step::Lane { index } => {
                    if index.is_none() {
                        align = at_most(align, size);
                    }
                    moved(index)
                }
                Step::Follow { index } => {
                    (offset, bits, align) = (0, None, self.align_of(ty));
                    if index.is_none() {
                        align = at_most(align, size);
                    }
                    moved(index)
                }
            };
            align = at_most(align, shift);
            offset = offset.saturating_add(shift);
            if offset >= LIMIT {
                return Err(DeclareError::TooLarge { place: path.to_owned() });
            }
        }
        Ok((offset, bits, align))
    }

    /// Returns the value of `Place::run` for a path that does not end at a bit-field.
    pub(super) fn run(&self, resolved: &ResolvedPath) -> Size {
        let mut run = self.extent_of(resolved.end());
        for (at, &(step, ty)) in resolved.steps.iter().enumerate().rev() {
            run = match step {
                Step::Field { .. } => return run,
                Step::Follow { .. } => break,
                Step::Element { index } | Step::Lane { index } => {
                    let of = at.checked_sub(1).map_or(resolved.start, |at| resolved.steps[at].1);
                    let len = match *self.kind(of) {
                        DeclKind::Array { len: None | Some(0), .. } => {
                            run = Size::Unknown;
                            continue;
                        }
                        DeclKind::Array { len: Some(len), .. } | DeclKind::Vector { len, .. } => {
                            len
                        }
                        _ => 2,
                    };
                    // A variable index may be 0.
                    let behind = len.saturating_sub(1).saturating_sub(index.unwrap_or(0));
                    match (run, self.extent_of(ty)) {
                        (run, _) if behind == 0 => run,
                        (Size::Bytes(run), Size::Bytes(element)) => {
                            Size::Bytes(run.saturating_add(element.saturating_mul(behind)))
                        }
                        _ => Size::Unknown,
                    }
                }
            };
        }
        Size::Unknown
    }

    pub(super) fn resolve(&mut self, path: &str) -> Result<ResolvedPath, DeclareError> {
        let syntax =
            |offset, expected| DeclareError::Syntax { text: path.to_owned(), offset, expected };
        if path.len() > LONGEST {
            return invalid(
                "path",
                "longer than 65,536 bytes: name the inner record and start there",
            );
        }
        let (mut volatile, mut immutable) = (false, false);
        let mut rest = path.trim();
        let mut marks = [("volatile ", &mut volatile), ("immutable ", &mut immutable)];
        while let Some((word, mark)) = marks.iter_mut().find(|(word, _)| rest.starts_with(*word)) {
            **mark = true;
            rest = rest[word.len()..].trim_start();
        }
        let offset_of = |rest: &str| path.trim_end().len() - rest.len();
        let starless = rest.trim_start_matches(['*', ' ']);
        let stars = rest[..rest.len() - starless.len()].matches('*').count();
        let (head, steps) = starless.split_at(first_step(starless));
        let head = head.trim();
        // `*int *` is an access to an `int *`; `*T.p` is an access to the target of `p`.
        let named = self.names.get(head).copied();
        let of_type = stars == 0 || !named.is_some_and(|ty| self.is_pointer(ty));
        let (start, stars) = match head {
            "" => return Err(syntax(offset_of(starless), "a type")),
            _ if steps.is_empty() && of_type => (self.ty(head)?, stars.saturating_sub(1)),
            _ => (named.ok_or_else(|| self.unknown(head))?, stars),
        };
        let mut resolved = ResolvedPath { volatile, immutable, start, steps: Vec::new() };
        rest = steps;
        while !rest.is_empty() {
            let done = path[..offset_of(rest)].trim_end();
            let ty = resolved.end();
            let after = if let Some(after) = rest.strip_prefix('[') {
                let end = after.find(']').ok_or_else(|| syntax(path.len(), "`]`"))?;
                let index = index_of(after[..end].trim())
                    .map_err(|expected| syntax(offset_of(after), expected))?;
                resolved.steps.push(self.index(ty, done, index)?);
                rest = after[end + 1..].trim_start();
                continue;
            } else if let Some(after) = rest.strip_prefix("->") {
                resolved.steps.push(self.follow(ty, done, None)?);
                after.trim_start()
            } else if let Some(after) = rest.strip_prefix('.') {
                if self.is_pointer(ty) {
                    return self.step_error(done, ty, "write `->` after a pointer, or `[*]`");
                }
                after.trim_start()
            } else {
                return Err(syntax(offset_of(rest), "`.`, `->` or `[`"));
            };
            let name = self.member_name(resolved.end(), after);
            if name.is_empty() {
                return Err(syntax(offset_of(after), "a member's name"));
            }
            self.to_member(&mut resolved, done, name)?;
            rest = after[name.len()..].trim_start();
        }
        for _ in 0..stars {
            resolved.steps.push(self.follow(resolved.end(), path, None)?);
        }
        Ok(resolved)
    }

    fn is_pointer(&self, ty: DeclId) -> bool {
        matches!(self.kind(ty), DeclKind::Pointer { .. })
    }

    fn step_error<T>(&self, path: &str, ty: DeclId, reason: &'static str) -> Result<T> {
        Err(DeclareError::Step { path: path.to_owned(), ty: self.display(ty), reason, id: ty })
    }

    fn follow(&self, ty: DeclId, path: &str, index: Option<u64>) -> Result<Taken, DeclareError> {
        match *self.kind(ty) {
            DeclKind::Pointer { to } => Ok((Step::Follow { index }, to)),
            _ => self.step_error(path, ty, "only a pointer can be followed"),
        }
    }

    fn index(&self, ty: DeclId, path: &str, index: Option<u64>) -> Result<Taken, DeclareError> {
        let (step, element, len) = match *self.kind(ty) {
            DeclKind::Array { element, len } => (Step::Element { index }, element, len),
            DeclKind::Vector { element, len } => (Step::Lane { index }, element, Some(len)),
            DeclKind::Complex { element } => (Step::Lane { index }, element, Some(2)),
            DeclKind::Pointer { .. } => return self.follow(ty, path, index),
            _ => return self.step_error(path, ty, "only arrays and pointers have elements"),
        };
        // In old C, a flexible array has length 0.
        if let (Some(index), Some(len @ 1..)) = (index, len)
            && index >= len
        {
            return Err(DeclareError::OutOfBounds { path: path.to_owned(), index, len });
        }
        Ok((step, element))
    }

    /// Returns the member's name at the start of a text, including `Base::`. A name may contain
    /// spaces, for instance if a program generated it.
    fn member_name<'t>(&self, ty: DeclId, text: &'t str) -> &'t str {
        let whole = text[..first_step(text)].trim_end();
        if self.record(ty).is_some_and(|record| record.names.contains_key(whole)) {
            return whole;
        }
        let ends = |c: char| matches!(c, '.' | '[' | '-') || c.is_whitespace();
        &text[..text.find(ends).unwrap_or(text.len())]
    }

    /// Extends a path by the steps to the member called `name`, which may contain `Base::`.
    fn to_member(&self, resolved: &mut ResolvedPath, done: &str, mut name: &str) -> Result<()> {
        if let Some((base, member)) = name.rsplit_once("::") {
            self.to_base(resolved, base)?;
            name = member;
        }
        let ty = resolved.end();
        let Some(record) = self.record(ty) else {
            return self.step_error(done, ty, "only a struct or union has members");
        };
        if !record.defined {
            return self.step_error(done, ty, "the struct is only named: define it");
        }
        let Some(way) = record.names.get(name) else {
            let names = record.names.keys().map(String::as_str);
            return Err(DeclareError::UnknownField {
                record: record.title.clone(),
                name: name.to_owned(),
                nearest: nearest(name, names).map(str::to_owned),
                id: ty,
            });
        };
        if way.last() == Some(&AMBIGUOUS) {
            return self.step_error(done, ty, "two base classes have the name: write `Base::x`");
        }
        for &index in way {
            let record = resolved.end();
            self.push_field(resolved, record, index);
        }
        Ok(())
    }

    fn push_field(&self, resolved: &mut ResolvedPath, record: DeclId, index: u32) {
        let field = self.field(record, index);
        resolved.steps.extend(field.map(|field| (Step::Field { record, index }, field.ty)));
    }

    /// Extends a path by the steps to the nearest direct or indirect base class called `name`.
    fn to_base(&self, resolved: &mut ResolvedPath, name: &str) -> Result<(), DeclareError> {
        let from = resolved.end();
        // Maps each class to the class derived from it and the index of the base in that class.
        let mut found = IndexMap::<DeclId, Option<(DeclId, u32)>>::from_iter([(from, None)]);
        let mut at = 0;
        while let Some((&ty, _)) = found.get_index(at) {
            let Some(record) = self.record(ty) else { break };
            if at > 0 && record.name == name {
                let way = std::iter::successors(found[&ty], |(derived, _)| found[derived]);
                let way: Vec<_> = way.collect();
                way.into_iter().rev().for_each(|(ty, index)| self.push_field(resolved, ty, index));
                return Ok(());
            }
            for (index, field) in (0..).zip(&record.fields).filter(|(_, field)| field.base) {
                found.entry(field.ty).or_insert(Some((ty, index)));
            }
            at += 1;
        }
        let names = found.keys().skip(1).filter_map(|&ty| Some(&*self.record(ty)?.name));
        Err(DeclareError::UnknownField {
            record: self.display(from),
            name: format!("{name}::"),
            nearest: nearest(name, names).map(|name| format!("{name}::")),
            id: from,
        })
    }
}

/// Returns the byte offset of the first step in a text, or the text's length if it has no step.
fn first_step(text: &str) -> usize {
    text.find(['.', '[']).into_iter().chain(text.find("->")).min().unwrap_or(text.len())
}

/// Reads an index: a number, or a name or `*` for any element. An error says what was expected.
fn index_of(text: &str) -> Result<Option<u64>, &'static str> {
    let name = |c: char| c.is_alphanumeric() || c == '_';
    match text {
        "*" => Ok(None),
        _ if text.starts_with(|c: char| c.is_ascii_digit()) => {
            text.parse().map(Some).map_err(|_| "a 64-bit index")
        }
        _ if !text.is_empty() && text.chars().all(name) => Ok(None),
        _ => Err("an index: a number, a name or `*`"),
    }
}

/// Returns the largest power of two that divides both `align` and `offset`.
fn at_most(align: u64, offset: u64) -> u64 {
    if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) }
}
