//! Declares the struct types of an LLVM module.

use crate::declare::error::{Result, invalid};
use crate::declare::{DeclId, Declarations, DeclareError, Member, Record};
use crate::table::HashMap;
use tbaa_types::{Context, ElementCount, Layouts, Packing, Primitive, Type, TypeKind};

impl Declarations {
    /// Declares the struct types of an LLVM context. LLVM's members have no names, so they become
    /// `f0`, `f1`, ... A pointer becomes a `void *`. A union becomes a struct, as clang writes it.
    /// The data layout gives the offsets. A member of another size than its C type becomes bytes.
    ///
    /// Returns the identified structs, except opaque structs.
    ///
    /// # Errors
    ///
    /// [`DeclareError::Invalid`] for a type without a C equivalent, such as a scalable vector; the
    /// errors of [`Declarations::define`].
    ///
    /// ```
    /// use tbaa::declare::{Declarations, Target};
    /// use tbaa::types::{Context, Packing};
    ///
    /// // %struct.S = type { i8, [3 x ptr] }
    /// let mut context = Context::new();
    /// let (byte, pointer) = (context.int(8)?, context.pointer(0)?);
    /// let elements = [byte, context.array(pointer, 3)?];
    /// let s = context.named_struct(b"struct.S")?;
    /// context.set_body(s, &elements, Packing::Padded)?;
    /// let mut types = Declarations::new(Target::x86_64());
    /// types.import_llvm(&context).unwrap();
    /// assert_eq!(types.offset_of("S.f1[2]").unwrap(), 24);
    /// # Ok::<(), tbaa::types::TypeError>(())
    /// ```
    pub fn import_llvm(&mut self, context: &Context) -> Result<Vec<DeclId>, DeclareError> {
        let data_layout = self.target.data_layout.clone();
        let mut layouts = data_layout.layouts(context);
        let mut done: HashMap<Type, DeclId> = HashMap::default();
        let mut declared = Vec::new();
        for start in context.structs() {
            // A struct is declared after the structs that it contains.
            let mut stack = vec![(start, 0)];
            while let Some((ty, next)) = stack.pop() {
                let parts = match context.kind(ty) {
                    _ if done.contains_key(&ty) => continue,
                    TypeKind::Array { .. } => context.parts(ty),
                    TypeKind::Literal { elements, .. } => elements,
                    TypeKind::Identified { body: Some(body), .. } => body,
                    _ => continue,
                };
                if let Some(&part) = parts.get(next) {
                    stack.extend([(ty, next + 1), (part, 0)]);
                    continue;
                }
                let id = self.llvm_record(context, &mut layouts, &done, ty)?;
                done.insert(ty, id);
                if let TypeKind::Identified { .. } = context.kind(ty) {
                    declared.push(id);
                }
            }
        }
        Ok(declared)
    }

    /// Declares a struct or an array. The structs and arrays in it must be in `done`.
    fn llvm_record(
        &mut self,
        context: &Context,
        layouts: &mut Layouts<'_>,
        done: &HashMap<Type, DeclId>,
        ty: Type,
    ) -> Result<DeclId> {
        let (body, packing, name) = match context.kind(ty) {
            TypeKind::Array { element, len } => {
                let element = self.llvm_type(context, done, element)?;
                return self.array_of(element, Some(len));
            }
            TypeKind::Identified { body: Some(body), packing, name } => (body, packing, name),
            TypeKind::Literal { elements, packing } => (elements, packing, None),
            _ => return unlike_c(context, ty),
        };
        let name = name.map(|name| String::from_utf8_lossy(name).into_owned());
        let name = name.unwrap_or_else(|| format!("anon.{}", ty.index()));
        let short = name.strip_prefix("struct.").or(name.strip_prefix("union."));
        let short = short.filter(|short| self.named(short).is_none()).unwrap_or(&name);
        let Ok(layout) = layouts.struct_layout(ty) else { return unlike_c(context, ty) };
        let mut record = Record::structure(short).size(layout.size.min).align(layout.align);
        let mut packed = packing == Packing::Packed;
        for (index, (&ty, at)) in body.iter().zip(&layout.offsets).enumerate() {
            let mut member = self.llvm_type(context, done, ty)?;
            let size = layouts.alloc_size(ty).ok().map(|size| size.min);
            if self.size_of(member) != size {
                member = self.array_of(self.char(), size)?;
            }
            packed |= !at.min.is_multiple_of(self.align_of(member));
            record = record.member(Member::new(format!("f{index}"), member).at(at.min));
        }
        self.define(if packed { record.packed() } else { record })
    }

    fn llvm_type(
        &mut self,
        context: &Context,
        done: &HashMap<Type, DeclId>,
        ty: Type,
    ) -> Result<DeclId> {
        if let Some(&known) = done.get(&ty) {
            return Ok(known);
        }
        let text = match context.kind(ty) {
            TypeKind::Int(bits) => match bits.div_ceil(8).next_power_of_two() {
                1 => "char",
                2 => "short",
                4 => "int",
                8 => "int64_t",
                16 => "__int128",
                _ => return unlike_c(context, ty),
            },
            TypeKind::Pointer { .. } => "void *",
            TypeKind::Primitive(primitive) => match primitive {
                Primitive::Half => "_Float16",
                Primitive::BFloat => "__bf16",
                Primitive::Float => "float",
                Primitive::Double => "double",
                _ if primitive == self.target.long_double.0 => "long double",
                _ => return unlike_c(context, ty),
            },
            TypeKind::Vector { element, count: ElementCount::Fixed(len) } => {
                // This recurses only once: elements are scalars or pointers.
                let element = self.llvm_type(context, done, element)?;
                return self.vector_of(element, len.into());
            }
            _ => return unlike_c(context, ty),
        };
        self.ty(text)
    }
}

fn unlike_c<T>(context: &Context, ty: Type) -> Result<T> {
    invalid(context.display(ty).to_string(), "no C type is like this LLVM type: leave it out")
}
