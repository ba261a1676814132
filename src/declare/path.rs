//! Paths such as `CallInfo.l.base` and `Table->array[*].value.n`.

use super::declarations::{DeclKind, LIMIT};
use super::{BitRange, DeclId, Declarations, DeclareError};
use crate::extent::Size;
use crate::nearest::nearest;
use crate::table::HashSet;

/// Longer paths are refused, in bytes.
const LONGEST: usize = 1 << 16;

/// One step from a type to one of its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// To a member.
    Field { record: DeclId, index: u32 },
    /// To an element of an array; `None` for any of them.
    Element { index: Option<u64> },
    /// To a lane of a vector or a part of a complex number.
    Lane { index: Option<u64> },
    /// To the target of a pointer, plus a number of elements.
    Follow { index: Option<u64> },
}

/// A path, checked against the types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ResolvedPath {
    pub(super) volatile: bool,
    pub(super) immutable: bool,
    pub(super) start: DeclId,
    /// Each step with the type that it ends at.
    pub(super) steps: Vec<(Step, DeclId)>,
}

impl ResolvedPath {
    pub(super) fn end(&self) -> DeclId {
        self.steps.last().map_or(self.start, |&(_, ty)| ty)
    }
}

/// The place of a path, in bytes, without a tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spot {
    /// Bytes from the target of the path's last pointer, or from the path's start.
    pub(super) offset: u64,
    /// Bit-fields: first bit from there, and width.
    pub(super) bits: Option<BitRange>,
    pub(super) align: u64,
}

impl Declarations {
    /// Returns the bytes from the start of a path's first type, or from the target of its last
    /// pointer, to the path's end. Variable indices count as 0. For a bit-field it is the first
    /// byte that contains one of its bits.
    ///
    /// # Errors
    ///
    /// As [`TaggedTypes::tag`](super::TaggedTypes::tag), except those about tags.
    pub fn offset_of(&mut self, path: &str) -> Result<u64, DeclareError> {
        let resolved = self.resolve(path)?;
        Ok(self.spot(&resolved, path)?.offset)
    }

    /// Returns whether the path's memory is never modified, according to the path or to a member
    /// after its last pointer.
    pub(super) fn is_immutable(&self, resolved: &ResolvedPath) -> bool {
        let object = resolved.steps.iter().rev();
        let mut object = object.take_while(|(step, _)| !matches!(step, Step::Follow { .. }));
        resolved.immutable
            || object.any(|&(step, _)| match step {
                Step::Field { record, index } => {
                    self.record(record).is_some_and(|r| r.fields[index as usize].immutable)
                }
                _ => false,
            })
    }

    pub(super) fn spot(&self, resolved: &ResolvedPath, path: &str) -> Result<Spot, DeclareError> {
        let mut spot = Spot { offset: 0, bits: None, align: self.align_of(resolved.start) };
        for &(step, ty) in &resolved.steps {
            let size = self.size_of(ty).unwrap_or(0);
            let moved = |index: Option<u64>| index.unwrap_or(0).saturating_mul(size);
            let shift = match step {
                Step::Field { record, index } => {
                    let field = self.record(record).map(|r| &r.fields[index as usize]);
                    let (at, bits) = field.map_or((0, None), |field| (field.offset, field.bits));
                    spot.bits = bits.map(|width| BitRange { first: 8 * spot.offset + at, width });
                    at / 8
                }
                Step::Element { index } | Step::Lane { index } => {
                    if index.is_none() {
                        spot.align = at_most(spot.align, size);
                    }
                    moved(index)
                }
                Step::Follow { index } => {
                    spot = Spot { offset: 0, bits: None, align: self.align_of(ty) };
                    moved(index)
                }
            };
            spot.align = at_most(spot.align, shift);
            spot.offset = spot.offset.saturating_add(shift);
            if spot.offset >= LIMIT {
                return Err(DeclareError::TooLarge { place: path.to_owned() });
            }
        }
        Ok(spot)
    }

    /// Returns the size of the longest run of whole elements at the end of a path, as
    /// [`Place::run`] defines it.
    ///
    /// [`Place::run`]: super::Place::run
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
                    // An index that is not known may be the first.
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

    /// Reads a path.
    pub(super) fn resolve(&mut self, path: &str) -> Result<ResolvedPath, DeclareError> {
        let syntax =
            |offset, expected| DeclareError::Syntax { text: path.to_owned(), offset, expected };
        if path.len() > LONGEST {
            let reason = "longer than 65,536 bytes: name the inner record and start there";
            return Err(DeclareError::Invalid { place: "path".to_owned(), reason });
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
        let first = starless.find(['.', '[']).into_iter().chain(starless.find("->")).min();
        let head = starless[..first.unwrap_or(starless.len())].trim();
        // `*int *` is an access to an `int *`, `*T.p` to what `p` points to.
        let (start, stars) = match first {
            _ if head.is_empty() => return Err(syntax(offset_of(starless), "a type")),
            None if stars == 0 || self.names.get(head).is_none_or(|&ty| !self.is_pointer(ty)) => {
                (self.ty(head)?, stars.saturating_sub(1))
            }
            _ => (self.names.get(head).copied().ok_or_else(|| self.unknown(head))?, stars),
        };
        let mut resolved = ResolvedPath { volatile, immutable, start, steps: Vec::new() };
        rest = &starless[first.unwrap_or(starless.len())..];
        while !rest.is_empty() {
            let done = path[..offset_of(rest)].trim_end();
            let ty = resolved.end();
            if let Some(after) = rest.strip_prefix("->") {
                self.follow(&mut resolved, done, None)?;
                rest = self.field_step(&mut resolved, done, after, |at, what| {
                    syntax(offset_of(at), what)
                })?;
            } else if let Some(after) = rest.strip_prefix('.') {
                if self.is_pointer(ty) {
                    let reason = "write `->` after a pointer, or `[*]`";
                    return Err(self.step_error(done, ty, reason));
                }
                rest = self.field_step(&mut resolved, done, after, |at, what| {
                    syntax(offset_of(at), what)
                })?;
            } else if let Some(after) = rest.strip_prefix('[') {
                let end = after.find(']').ok_or_else(|| syntax(path.len(), "`]`"))?;
                let index = index_of(after[..end].trim())
                    .map_err(|expected| syntax(offset_of(after), expected))?;
                self.index(&mut resolved, done, index)?;
                rest = after[end + 1..].trim_start();
            } else {
                return Err(syntax(offset_of(rest), "`.`, `->` or `[`"));
            }
        }
        for _ in 0..stars {
            self.follow(&mut resolved, path, None)?;
        }
        Ok(resolved)
    }

    fn is_pointer(&self, ty: DeclId) -> bool {
        matches!(self.kind(ty), DeclKind::Pointer { .. })
    }

    fn step_error(&self, path: &str, ty: DeclId, reason: &'static str) -> DeclareError {
        DeclareError::Step { path: path.to_owned(), ty: self.display(ty), reason, id: ty }
    }

    fn follow(
        &self,
        resolved: &mut ResolvedPath,
        path: &str,
        index: Option<u64>,
    ) -> Result<(), DeclareError> {
        let ty = resolved.end();
        let DeclKind::Pointer { to } = *self.kind(ty) else {
            return Err(self.step_error(path, ty, "only a pointer can be followed"));
        };
        resolved.steps.push((Step::Follow { index }, to));
        Ok(())
    }

    fn index(
        &self,
        resolved: &mut ResolvedPath,
        path: &str,
        index: Option<u64>,
    ) -> Result<(), DeclareError> {
        let ty = resolved.end();
        let (step, element, len) = match *self.kind(ty) {
            DeclKind::Array { element, len } => (Step::Element { index }, element, len),
            DeclKind::Vector { element, len } => (Step::Lane { index }, element, Some(len)),
            DeclKind::Complex { element } => (Step::Lane { index }, element, Some(2)),
            DeclKind::Pointer { .. } => return self.follow(resolved, path, index),
            _ => return Err(self.step_error(path, ty, "only arrays and pointers have elements")),
        };
        // A zero-length array is an old spelling of a flexible one.
        if let (Some(index), Some(len @ 1..)) = (index, len)
            && index >= len
        {
            return Err(DeclareError::OutOfBounds { path: path.to_owned(), index, len });
        }
        resolved.steps.push((step, element));
        Ok(())
    }

    /// Takes a member's name, `Base::name` included.
    fn field_step<'t>(
        &self,
        resolved: &mut ResolvedPath,
        done: &str,
        after: &'t str,
        syntax: impl Fn(&str, &'static str) -> DeclareError,
    ) -> Result<&'t str, DeclareError> {
        let after = after.trim_start();
        let ends = |c: char| matches!(c, '.' | '[' | '-') || c.is_whitespace();
        // A name may have blanks in it, such as one that the run time makes.
        let whole = after.find(['.', '[']).into_iter().chain(after.find("->")).min();
        let whole = whole.unwrap_or(after.len());
        let known = self.record(resolved.end());
        let end =
            match known.is_some_and(|known| known.names.contains_key(after[..whole].trim_end())) {
                true => after[..whole].trim_end().len(),
                false => after.find(ends).unwrap_or(after.len()),
            };
        let (mut name, rest) = (&after[..end], after[end..].trim_start());
        if name.is_empty() {
            return Err(syntax(after, "a member's name"));
        }
        let mut ty = resolved.end();
        if let Some((base, member)) = name.rsplit_once("::") {
            self.to_base(resolved, ty, base)?;
            (ty, name) = (resolved.end(), member);
        }
        let Some(record) = self.record(ty) else {
            return Err(self.step_error(done, ty, "only a struct or union has members"));
        };
        if !record.defined {
            return Err(self.step_error(done, ty, "the struct is only named: define it"));
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
        for &index in way {
            self.push_field(resolved, ty, index);
            ty = resolved.end();
        }
        Ok(rest)
    }

    fn push_field(&self, resolved: &mut ResolvedPath, record: DeclId, index: u32) {
        if let Some(field) = self.record(record).and_then(|r| r.fields.get(index as usize)) {
            resolved.steps.push((Step::Field { record, index }, field.ty));
        }
    }

    /// Walks to a base class, over those between: breadth first, each once.
    fn to_base(
        &self,
        resolved: &mut ResolvedPath,
        from: DeclId,
        name: &str,
    ) -> Result<(), DeclareError> {
        let mut found: Vec<(DeclId, Option<(usize, u32)>)> = vec![(from, None)];
        let mut seen: HashSet<DeclId> = HashSet::default();
        let mut at = 0;
        while at < found.len() {
            let (ty, _) = found[at];
            let Some(record) = self.record(ty) else { break };
            if at > 0 && record.name == name {
                let mut way = Vec::new();
                let mut next = found[at].1;
                while let Some((parent, index)) = next {
                    way.push((found[parent].0, index));
                    next = found[parent].1;
                }
                way.into_iter().rev().for_each(|(ty, index)| self.push_field(resolved, ty, index));
                return Ok(());
            }
            for (index, field) in record.fields.iter().enumerate().filter(|(_, f)| f.base) {
                if seen.insert(field.ty) {
                    found.push((field.ty, Some((at, index as u32))));
                }
            }
            at += 1;
        }
        let names = found[1..].iter().filter_map(|&(ty, _)| Some(&*self.record(ty)?.name));
        Err(DeclareError::UnknownField {
            record: self.display(from),
            name: format!("{name}::"),
            nearest: nearest(name, names).map(|name| format!("{name}::")),
            id: from,
        })
    }
}

/// Reads the index between brackets: a number, or any element. The error is the text that is
/// required there.
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

/// Returns the largest power of two that divides `align` and `offset`.
fn at_most(align: u64, offset: u64) -> u64 {
    if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) }
}
