//! Makes LLVM types for declared types: `%struct.Node = type { ptr, i32 }`.

use super::declarations::DeclKind;
use super::{DeclId, Declarations, DeclareError};
use crate::table::HashMap;
use tbaa_types::{Context, ElementCount, Packing, Type, TypeError};

/// Makes LLVM types for declared types, in one LLVM context.
///
/// An LLVM type has the size of the declared type, and the same offsets of members. Explicit
/// padding is an array of bytes, as in clang. Bit-fields that share a memory location are one
/// element. A union becomes its most aligned member and padding.
///
/// ```
/// use tbaa::declare::{Declarations, LlvmTypes, Record, Target};
/// use tbaa::types::Context;
///
/// let mut types = Declarations::new(Target::x86_64());
/// let node = types.define(
///     Record::structure("Node").field("next", "Node *").field("keys", "short [3]"),
/// )?;
/// let mut context = Context::new();
/// let ty = LlvmTypes::new(&types, &mut context).ty(node)?;
/// assert_eq!(context.definition(ty).to_string(), "%struct.Node = type { ptr, [3 x i16] }");
/// # Ok::<(), tbaa::declare::DeclareError>(())
/// ```
///
/// clang: `CodeGenTypes::ConvertType`.
pub struct LlvmTypes<'a> {
    types: &'a Declarations,
    context: &'a mut Context,
    made: HashMap<DeclId, Type>,
    /// A cache of the size and alignment of structs and arrays, in bytes.
    measured: HashMap<Type, (u64, u64)>,
}

/// The elements of a struct, while they are added.
#[derive(Default)]
struct Body {
    elements: Vec<Type>,
    /// The end of the last element, in bytes.
    end: u64,
    align: u64,
}

impl<'a> LlvmTypes<'a> {
    /// Returns an object that makes LLVM types in `context` for `types`.
    #[must_use]
    pub fn new(types: &'a Declarations, context: &'a mut Context) -> Self {
        LlvmTypes { types, context, made: HashMap::default(), measured: HashMap::default() }
    }

    /// Returns the LLVM type that a declared type has in memory. An undefined struct is opaque.
    ///
    /// # Errors
    ///
    /// [`DeclareError::ForeignId`]; [`DeclareError::Invalid`] for `void` and functions, or if the
    /// context is full.
    pub fn ty(&mut self, id: DeclId) -> Result<Type, DeclareError> {
        self.types.check(id)?;
        // Types whose parts are being made, innermost last, each with the index of its next part.
        let mut stack = vec![(id, 0)];
        while let Some((id, next)) = stack.pop() {
            if self.made.contains_key(&id) {
                continue;
            }
            let part = match self.types.kind(id) {
                DeclKind::Record(record) => record.fields.get(next).map(|field| field.ty),
                DeclKind::Array { element: part, .. }
                | DeclKind::Vector { element: part, .. }
                | DeclKind::Complex { element: part }
                | DeclKind::Atomic { of: part }
                | DeclKind::Enum { integer: part, .. } => Some(*part).filter(|_| next == 0),
                _ => None,
            };
            if let Some(part) = part {
                stack.extend([(id, next + 1), (part, 0)]);
            } else {
                let ty = self.make(id).map_err(|error| {
                    let place = format!("{}: {error}", self.types.display(id));
                    DeclareError::Invalid { place, reason: "it has no LLVM type" }
                })?;
                self.made.insert(id, ty);
            }
        }
        Ok(self.made[&id])
    }

    fn make(&mut self, id: DeclId) -> Result<Type, TypeError> {
        let types = self.types;
        let size = types.size_of(id).unwrap_or(0);
        let ty = match *types.kind(id) {
            DeclKind::Void | DeclKind::Function => return Err(TypeError::NotIdentified),
            DeclKind::Scalar { float: Some(float), .. } => self.context.primitive(float),
            DeclKind::Scalar { .. } => match u32::try_from(size * 8) {
                Ok(bits @ 1..=128) => self.context.int(bits)?,
                _ => self.bytes(size)?,
            },
            DeclKind::Pointer { .. } => self.context.pointer(0)?,
            DeclKind::Array { element, len } => {
                let element = self.made[&element];
                let (size, align) = self.measure(element);
                let len = len.unwrap_or(0);
                let ty = self.context.array(element, len)?;
                self.measured.insert(ty, (size.saturating_mul(len), align));
                ty
            }
            DeclKind::Vector { element, len } => match u32::try_from(len) {
                Ok(len) => self.context.vector(self.made[&element], ElementCount::Fixed(len))?,
                Err(_) => self.bytes(size)?,
            },
            DeclKind::Complex { element } => {
                let part = self.made[&element];
                self.context.literal_struct(&[part, part], Packing::Padded)?
            }
            DeclKind::Atomic { of: part } | DeclKind::Enum { integer: part, .. } => {
                self.made[&part]
            }
            DeclKind::Record(_) => return self.record(id),
        };
        // LLVM's type can be larger than the declared type: an `i24` takes 4 bytes.
        if self.measure(ty).0 == size { Ok(ty) } else { self.bytes(size) }
    }

    fn record(&mut self, id: DeclId) -> Result<Type, TypeError> {
        let types = self.types;
        let Some(record) = types.record(id) else { return Err(TypeError::NotIdentified) };
        let name = if record.name.is_empty() { "anon" } else { &record.name };
        let name = format!("{}.{name}", record.keyword());
        let ty = self.context.named_struct(name.as_bytes())?;
        if !record.defined {
            return Ok(ty);
        }
        // The offset in bytes and the type of each element.
        let mut elements: Vec<(u64, Type)> = Vec::new();
        for (index, field) in record.fields.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| record.fields[before].bits);
            match field.bits {
                None => elements.push((field.offset / 8, self.made[&field.ty])),
                Some(1..) if before.is_none_or(|bits| bits == 0) || record.union => {
                    // Bit-fields that share a memory location are one element.
                    let (at, size) = types.unit(record, index);
                    let ty = if size == 1 { self.context.int(8)? } else { self.bytes(size)? };
                    elements.push((at, ty));
                }
                Some(_) => {}
            }
        }
        elements.sort_by_key(|&(at, _)| at);
        if record.union {
            let best = elements.iter().enumerate().max_by_key(|&(number, &(_, ty))| {
                let (size, align) = self.measure(ty);
                (align, size, usize::MAX - number)
            });
            elements = best.map(|(_, &element)| element).into_iter().collect();
        }
        let size = types.size_of(id).unwrap_or(0);
        let mut packing = Packing::Padded;
        let mut body = self.body(&elements, size, packing)?;
        if body.is_none() {
            packing = Packing::Packed;
            body = self.body(&elements, size, packing)?;
        }
        if body.is_none() {
            // Members overlap.
            let bytes = self.bytes(size)?;
            body = self.body(&[(0, bytes)], size, packing)?;
        }
        let body = body.unwrap_or_default();
        self.context.set_body(ty, &body.elements, packing)?;
        self.measured.insert(ty, (size, body.align));
        Ok(ty)
    }

    /// Returns a struct of `size` bytes with these elements; `None` if `packing` rules it out.
    fn body(
        &mut self,
        elements: &[(u64, Type)],
        size: u64,
        packing: Packing,
    ) -> Result<Option<Body>, TypeError> {
        let mut body = Body { align: 1, ..Body::default() };
        for &(at, ty) in elements {
            let (len, align) = self.measure(ty);
            let align = if packing == Packing::Packed { 1 } else { align };
            body.align = body.align.max(align);
            if at % align != 0 || at < body.end {
                return Ok(None);
            }
            if body.end.next_multiple_of(align) < at {
                body.elements.push(self.bytes(at - body.end)?);
            }
            body.elements.push(ty);
            body.end = at.saturating_add(len);
        }
        if !size.is_multiple_of(body.align) || body.end > size {
            return Ok(None);
        }
        if body.end.next_multiple_of(body.align) < size {
            body.elements.push(self.bytes(size - body.end)?);
        }
        Ok(Some(body))
    }

    fn bytes(&mut self, len: u64) -> Result<Type, TypeError> {
        let byte = self.context.int(8)?;
        self.context.array(byte, len)
    }

    /// Returns the size and alignment of an LLVM type, in bytes.
    fn measure(&self, ty: Type) -> (u64, u64) {
        if let Some(&known) = self.measured.get(&ty) {
            return known;
        }
        let mut layouts = self.types.target.data_layout.layouts(self.context);
        let size = layouts.alloc_size(ty).map_or(0, |size| size.min);
        (size, layouts.abi_align(ty).unwrap_or(1))
    }
}
