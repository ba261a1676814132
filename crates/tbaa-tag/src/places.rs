//! The places that a module's accesses go to.

use tbaa::parts::table::{HashMap, HashSet};
use tbaa_ir::types::{Definitions, ReadTypes};
use tbaa_ir::{Body, Element, Global, Module, Opcode, Sizes};
use tbaa_types::{Context, Layouts, Type, TypeKind};

use crate::options::Options;
use crate::pointers::{Head, Pointers};
use crate::shapes::{Index, Item, Shapes};
use crate::untagged::Untagged;

/// A load or store, and the types on its way.
pub(crate) struct PlacedAccess<'t> {
    /// Its index in the module's instructions.
    pub(crate) instruction: usize,
    pub(crate) function: u32,
    /// The block, by its index in the function.
    pub(crate) block: usize,
    /// The type that is loaded or stored.
    ty: Type,
    pub(crate) head: Head<'t>,
    /// The type that the head is known to have.
    declared: Option<Type>,
    /// The steps of its `getelementptr`s, the first one first.
    steps: Vec<Indices>,
}

/// A `getelementptr`: its type, and its indices; `None` for what is no constant.
struct Indices {
    ty: Type,
    list: Vec<Option<u64>>,
}

/// Where an access goes: what its tag says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Place {
    pub(crate) base: Item,
    pub(crate) offset: u64,
    /// The shape of what is accessed.
    pub(crate) scalar: u32,
    /// The type that the way begins with; `None` of a scalar behind a plain pointer.
    pub(crate) root: Option<Type>,
}

/// Reads the types of a module's text as it comes to them.
pub(crate) struct Reader<'t, 'm> {
    pub(crate) module: &'t Module<'t>,
    pub(crate) context: &'m mut Context,
    pub(crate) definitions: &'m Definitions,
    types: HashMap<&'t [u8], Option<Type>>,
    globals: HashMap<&'t [u8], Global<'t>>,
}

/// A module's accesses, and whether a `getelementptr` of it names a struct.
pub(crate) struct Accesses<'t> {
    pub(crate) accesses: Vec<(usize, Result<PlacedAccess<'t>, Untagged>)>,
    pub(crate) has_structs: bool,
}

impl<'t, 'm> Reader<'t, 'm> {
    pub(crate) fn new(
        module: &'t Module<'t>,
        context: &'m mut Context,
        definitions: &'m Definitions,
    ) -> Self {
        let globals = module.globals(&Sizes::new(module));
        Reader { module, context, definitions, types: HashMap::default(), globals }
    }

    pub(crate) fn accesses(mut self) -> Accesses<'t> {
        let mut found = Accesses { accesses: Vec::new(), has_structs: false };
        for function in 0..self.module.functions().len() as u32 {
            let body = self.module.body(function);
            let elements = body.statements.iter().filter(|it| it.word == b"getelementptr");
            let mut types = elements.filter_map(|it| it.element()).map(|it| it.ty);
            found.has_structs |= types.any(|ty| ty.contains(&b'%') || ty.contains(&b'{'));
            self.function(function, &body, &mut found);
        }
        found
    }

    fn function(&mut self, function: u32, body: &Body<'t>, found: &mut Accesses<'t>) {
        let pointers = Pointers::of(body);
        let blocks = body.blocks.iter().enumerate();
        for (block, at) in blocks.flat_map(|(n, it)| it.statements.clone().map(move |at| (n, at))) {
            let Some(instruction) = body.statements[at].access else { continue };
            if self.module.instructions()[instruction].opcode == Opcode::Call {
                continue;
            }
            let access = self.access(function, block, instruction, &pointers);
            found.accesses.push((instruction, access));
        }
    }

    fn access(
        &mut self,
        function: u32,
        block: usize,
        instruction: usize,
        pointers: &Pointers<'t>,
    ) -> Result<PlacedAccess<'t>, Untagged> {
        let of = &self.module.instructions()[instruction];
        if of.tag.is_some() {
            return Err(Untagged::Tagged);
        }
        if of.atomic {
            return Err(Untagged::Atomic);
        }
        let ty = self.module.access_type(of);
        let ty = self.context.parse_with(self.definitions, ty).map_err(|_| Untagged::Unread)?;
        let is_scalar = match self.context.kind(ty) {
            TypeKind::Int(_) | TypeKind::Pointer { .. } => true,
            TypeKind::Primitive(it) => it.is_floating_point(),
            _ => false,
        };
        if !is_scalar || !matches!(of.opcode, Opcode::Load | Opcode::Store) {
            return Err(Untagged::NotScalar);
        }
        let pointer = self.module.pointer_span(of).ok_or(Untagged::Unread)?;
        let way = pointers.way(&self.module.text()[pointer])?;
        let declared = match way.head {
            Head::Slot(..) if way.elements.is_empty() => return Err(Untagged::Slot),
            Head::Slot(_, ty) => Some(self.ty(ty)?),
            Head::Global(name) => {
                let ty = self.globals.get(name).map(|it| it.ty).ok_or(Untagged::Type)?;
                Some(self.ty(ty)?)
            }
            Head::Value(_) | Head::Loaded(_) => None,
        };
        let steps = way.elements.iter().map(|it| self.indices(it)).collect::<Result<_, _>>()?;
        Ok(PlacedAccess { instruction, function, block, ty, head: way.head, declared, steps })
    }

    fn indices(&mut self, element: &Element<'t>) -> Result<Indices, Untagged> {
        let number = |value| str::from_utf8(value).ok()?.parse().ok();
        let list = element.indices().map(|index| number(index.value)).collect();
        Ok(Indices { ty: self.ty(element.ty)?, list })
    }

    fn ty(&mut self, text: &'t [u8]) -> Result<Type, Untagged> {
        let read = || self.context.parse_with(self.definitions, text).ok();
        self.types.entry(text).or_insert_with(read).ok_or(Untagged::Unread)
    }
}

/// Follows accesses through types.
pub(crate) struct Follower<'s, 'c> {
    pub(crate) shapes: &'s mut Shapes<'c>,
    pub(crate) context: &'c Context,
    pub(crate) elements: bool,
    pub(crate) opaque: HashSet<Type>,
}

/// How far a way has been followed.
struct At {
    ty: Type,
    path: Vec<Index>,
    /// Whether other elements of the same type may stand beside this place.
    among: bool,
    /// Whether the place is one of a union's, which ends the way.
    is_union: bool,
}

impl<'c> Follower<'_, 'c> {
    pub(crate) fn new<'s>(
        shapes: &'s mut Shapes<'c>,
        context: &'c Context,
        definitions: &Definitions,
        options: &Options,
    ) -> Follower<'s, 'c> {
        let opaque =
            options.opaque.iter().flat_map(|name| Options::types(definitions, name)).collect();
        Follower { shapes, context, elements: options.elements, opaque }
    }

    pub(crate) fn place(&mut self, access: &PlacedAccess<'_>) -> Result<Place, Untagged> {
        let first = access.steps.first().map_or(access.ty, |it| it.ty);
        if let Some(declared) = access.declared {
            self.begins_with(declared, first)?;
        }
        let mut at =
            At { ty: first, path: Vec::new(), among: true, is_union: self.shapes.is_union(first) };
        for (number, step) in access.steps.iter().enumerate() {
            if at.is_union {
                break;
            }
            self.same(at.ty, step.ty)?;
            let (first, rest) = step.list.split_first().ok_or(Untagged::Unread)?;
            if number > 0 && !at.among && *first != Some(0) {
                return Err(Untagged::Index);
            }
            at.among |= *first != Some(0);
            rest.iter().try_for_each(|&index| self.step(&mut at, index))?;
        }
        self.refuse(at.ty)?;
        if at.is_union && self.elements {
            // A plain pointer may lead to any scalar in it.
            return Err(Untagged::Opaque);
        }
        let shape = |it: &mut Self, ty| it.shapes.of(ty).ok_or(Untagged::Unread);
        let is_member = at.is_union || at.path.iter().any(|it| matches!(it, Index::Member(_)));
        let scalar = match at.is_union {
            true => shape(self, at.ty)?,
            false => {
                self.same(at.ty, access.ty)?;
                shape(self, access.ty)?
            }
        };
        if !is_member {
            let is_byte = self.shapes.is_byte(scalar);
            return match self.elements && !is_byte {
                true => Ok(Place { base: Item::Scalar(scalar), offset: 0, scalar, root: None }),
                false if is_byte && !access.steps.is_empty() => Err(Untagged::ByteArray),
                false => Err(Untagged::NoMember),
            };
        }
        if at.among && self.shapes.is_byte(scalar) {
            return Err(Untagged::ByteArray);
        }
        let root = shape(self, first)?;
        let (base, offset) = self.shapes.cut(root, &at.path).ok_or(Untagged::Unread)?;
        Ok(Place { base, offset, scalar, root: Some(first) })
    }

    /// Goes one index into a type.
    fn step(&mut self, at: &mut At, index: Option<u64>) -> Result<(), Untagged> {
        if at.is_union {
            return Ok(());
        }
        self.refuse(at.ty)?;
        match self.context.kind(at.ty) {
            TypeKind::Array { element, .. } => {
                at.path.push(Index::Element);
                (at.ty, at.among) = (element, true);
            }
            TypeKind::Literal { .. } | TypeKind::Identified { .. } => {
                let member = usize::try_from(index.ok_or(Untagged::Unread)?);
                let member = member.map_err(|_| Untagged::Unread)?;
                let part = self.context.parts(at.ty).get(member).ok_or(Untagged::Unread)?;
                at.path.push(Index::Member(member));
                (at.ty, at.among) = (*part, false);
            }
            _ => return Err(Untagged::NotScalar),
        }
        at.is_union = self.shapes.is_union(at.ty);
        Ok(())
    }

    /// Refuses what may not be looked into.
    fn refuse(&self, ty: Type) -> Result<(), Untagged> {
        let is_union = |name: &[u8]| name.starts_with(b"union.");
        match self.opaque.contains(&ty) {
            true => Err(Untagged::Opaque),
            // clang's name for a union of which the module's type shows one member.
            false if self.context.name(ty).is_some_and(is_union) => Err(Untagged::Type),
            false => Ok(()),
        }
    }

    /// Refuses a type at a place of another one.
    fn same(&mut self, there: Type, asked: Type) -> Result<(), Untagged> {
        self.refuse(there)?;
        if there == asked {
            return Ok(());
        }
        match (self.shapes.of(there), self.shapes.of(asked)) {
            (Some(a), Some(b)) if a == b => Ok(()),
            (Some(a), _) if self.shapes.is_byte(a) => Err(Untagged::Bytes),
            (_, Some(b)) if self.shapes.is_byte(b) => Err(Untagged::Bytes),
            (Some(_), Some(_)) => Err(Untagged::Type),
            _ => Err(Untagged::Unread),
        }
    }

    /// Refuses a type that an object does not begin with.
    fn begins_with(&mut self, mut declared: Type, asked: Type) -> Result<(), Untagged> {
        loop {
            let result = self.same(declared, asked);
            let next = match self.context.kind(declared) {
                TypeKind::Array { element, len } if len > 0 => element,
                TypeKind::Literal { elements: [first, ..], .. } => *first,
                TypeKind::Identified { body: Some([first, ..]), .. } => *first,
                _ => return result,
            };
            if result.is_ok() || result == Err(Untagged::Opaque) {
                return result;
            }
            self.refuse(declared)?;
            declared = next;
        }
    }
}

impl PlacedAccess<'_> {
    /// Returns the types that its `getelementptr`s name.
    pub(crate) fn types(&self) -> impl Iterator<Item = Type> {
        self.steps.iter().map(|it| it.ty)
    }

    /// Returns how many bytes the access has.
    pub(crate) fn bytes(&self, layouts: &mut Layouts<'_>) -> u64 {
        layouts.store_size(self.ty).map_or(0, |size| size.min)
    }
}
