//! Types that are made from another type: pointers, arrays, vectors, complex and atomic types.

use super::declarations::{Decl, DeclKind, Derived, LIMIT};
use super::error::invalid;
use super::{DeclId, Declarations, DeclareError};

impl Declarations {
    fn derive(
        &mut self,
        how: Derived,
        of: DeclId,
        make: impl FnOnce(&Self) -> Result<Decl, DeclareError>,
    ) -> Result<DeclId, DeclareError> {
        self.check(of)?;
        if let Some(&known) = self.derived.get(&(how, of)) {
            return Ok(known);
        }
        let decl = make(self)?;
        let id = self.push(decl)?;
        self.derived.insert((how, of), id);
        Ok(id)
    }

    /// Returns the type "pointer to `to`".
    ///
    /// # Errors
    ///
    /// [`DeclareError::ForeignId`], [`DeclareError::TooLarge`].
    pub fn pointer_to(&mut self, to: DeclId) -> Result<DeclId, DeclareError> {
        self.derive(Derived::Pointer, to, |types| {
            let (size, align) = types.target.pointer;
            Ok(Decl::new(DeclKind::Pointer { to }, size, align))
        })
    }

    /// Returns the type of an array with `len` elements, or of a flexible array if `len` is `None`.
    ///
    /// # Errors
    ///
    /// [`DeclareError::Incomplete`] if `element` has no size; [`DeclareError::Invalid`] if it is a
    /// flexible array; [`DeclareError::ForeignId`]; [`DeclareError::TooLarge`].
    pub fn array_of(&mut self, element: DeclId, len: Option<u64>) -> Result<DeclId, DeclareError> {
        self.derive(Derived::Array(len), element, |types| {
            let Decl { size, align, required, .. } = *types.decl(element);
            let place = || format!("array of {}", types.display(element));
            if types.array_parts(element).1.len() >= 256 {
                return invalid("array", "more than 256 dimensions: put a struct between them");
            }
            if matches!(types.kind(element), DeclKind::Array { len: None, .. }) {
                return invalid(place(), "only the first of several lengths may be left out");
            }
            let size = size.ok_or_else(|| types.incomplete(element, "element"))?;
            let whole = size.checked_mul(len.unwrap_or(0)).filter(|&size| size < LIMIT);
            let whole = whole.ok_or_else(|| DeclareError::TooLarge { place: place() })?;
            Ok(Decl { kind: DeclKind::Array { element, len }, size: Some(whole), align, required })
        })
    }

    /// Returns the type of a vector with `len` lanes.
    ///
    /// # Errors
    ///
    /// [`DeclareError::Invalid`] if `len` is 0, or `element` is empty or is neither a scalar nor a
    /// pointer; [`DeclareError::ForeignId`]; [`DeclareError::TooLarge`].
    pub fn vector_of(&mut self, element: DeclId, len: u64) -> Result<DeclId, DeclareError> {
        self.derive(Derived::Vector(len), element, |types| {
            let place = format!("vector of {}", types.display(element));
            let lane =
                matches!(types.kind(element), DeclKind::Scalar { .. } | DeclKind::Pointer { .. });
            let (true, Some(size @ 1..), 1..) = (lane, types.decl(element).size, len) else {
                return invalid(place, "a vector has one lane or more, of scalars or pointers");
            };
            let size = size.checked_mul(len).filter(|&size| size < LIMIT / 2);
            let size = size.ok_or(DeclareError::TooLarge { place })?.next_power_of_two();
            let align = size.min(types.target.vector_align);
            Ok(Decl::new(DeclKind::Vector { element, len }, size, align))
        })
    }

    pub(super) fn complex(&mut self, element: DeclId) -> Result<DeclId, DeclareError> {
        self.derive(Derived::Complex, element, |types| {
            let &Decl { size, align, .. } = types.decl(element);
            let (DeclKind::Scalar { .. }, Some(size)) = (types.kind(element), size) else {
                return invalid(types.display(element), "only numbers have complex types");
            };
            Ok(Decl::new(DeclKind::Complex { element }, 2 * size, align))
        })
    }

    /// Returns the atomic type for `of`. Up to the size of two pointers, its size is rounded up to
    /// a power of two, and its alignment is at least this size. clang: `MaxAtomicPromoteWidth`.
    pub(super) fn atomic(&mut self, of: DeclId) -> Result<DeclId, DeclareError> {
        self.derive(Derived::Atomic, of, |types| {
            let &Decl { size, align, .. } = types.decl(of);
            let size = size.ok_or_else(|| types.incomplete(of, "atomic"))?;
            let wide = size.next_power_of_two();
            let (size, align) = match wide <= 2 * types.target.pointer.0 {
                true => (wide, align.max(wide)),
                false => (size, align),
            };
            Ok(Decl::new(DeclKind::Atomic { of }, size, align))
        })
    }
}
