//! Identifies types by their structure, and makes the base types of tags from their members.

use tbaa::parts::fnv;
use tbaa::parts::table::{HashMap, IndexSet};
use tbaa_ir::types::Definitions;
use tbaa_types::{Context, Layouts, Type, TypeKind};

use crate::options::Options;

/// The greatest nesting depth of types that is examined.
const DEEPEST: usize = 64;

/// In a list of members with more bytes than this, a hash replaces all but the last member.
const NAME: usize = 60;

/// The structure of a type, without its name. Inner types are indices of other shapes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Shape {
    /// A scalar, or a type that is not examined further.
    Scalar(String),
    /// An array: its element, and the number of elements.
    Array(u32, u64),
    /// A struct: its members, each with its offset in bytes.
    Struct { members: Vec<(u64, u32)>, nominal: Option<Box<[u8]>> },
}

/// The base type of a tag, or the last member of a base type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Item {
    /// A scalar, by the index of its shape.
    Scalar(u32),
    /// A struct, by the index of its [`Base`].
    Base(u32),
}

/// A base type. `before` is the base type without the last member.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Base {
    pub(crate) before: Option<u32>,
    pub(crate) offset: u64,
    pub(crate) last: Item,
    nominal: Option<Box<[u8]>>,
}

/// The shapes of a module's types, and the base types for tags.
pub(crate) struct Shapes<'c> {
    context: &'c Context,
    layouts: Layouts<'c>,
    nominal: HashMap<Type, Box<[u8]>>,
    unions: HashMap<Type, String>,
    known: HashMap<Type, Option<u32>>,
    shapes: IndexSet<Shape>,
    bases: IndexSet<Base>,
    /// For each base type, the list of its members as text.
    names: Vec<String>,
    /// For each struct, the base types that have its first 0, 1, 2, ... members.
    prefixes: HashMap<u32, Vec<Option<u32>>>,
}

/// A step of a path into a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Index {
    Member(usize),
    /// To any element of an array.
    Element,
}

impl<'c> Shapes<'c> {
    pub(crate) fn new(
        context: &'c Context,
        layouts: Layouts<'c>,
        definitions: &Definitions,
        options: &Options,
    ) -> Self {
        let mut unions = HashMap::default();
        for members in &options.unions {
            let mut names: Vec<_> =
                members.iter().map(|name| String::from_utf8_lossy(name)).collect();
            names.sort_unstable();
            let union = format!("union of {}", names.join(", "));
            let types = members.iter().flat_map(|name| Options::types(definitions, name));
            unions.extend(types.map(|ty| (ty, union.clone())));
        }
        let mut nominal = HashMap::default();
        for name in &options.nominal {
            nominal.extend(Options::types(definitions, name).map(|ty| (ty, name.clone())));
        }
        let (known, prefixes) = (HashMap::default(), HashMap::default());
        let (shapes, bases, names) = (IndexSet::default(), IndexSet::default(), Vec::new());
        Shapes { context, layouts, nominal, unions, known, shapes, bases, names, prefixes }
    }

    /// Returns, for each shape, whether in some type another member or element comes after it.
    pub(crate) fn followed(&mut self) -> Vec<bool> {
        self.context.types().for_each(|ty| _ = self.of(ty));
        let mut followed = vec![false; self.shapes.len()];
        // A shape refers only to earlier ones.
        for (at, shape) in self.shapes.iter().enumerate().rev() {
            let outer = followed[at];
            let mut mark = |it: u32, is_last: bool| followed[it as usize] |= outer || !is_last;
            match shape {
                Shape::Scalar(_) => {}
                Shape::Array(element, len) => mark(*element, *len <= 1),
                Shape::Struct { members, .. } => {
                    (1..).zip(members).for_each(|(end, it)| mark(it.1, end == members.len()));
                }
            }
        }
        followed
    }

    /// Returns a type's shape, or `None` if its size is unknown or its nesting is too deep.
    pub(crate) fn of(&mut self, ty: Type) -> Option<u32> {
        self.at_depth(ty, 0)
    }

    fn at_depth(&mut self, ty: Type, depth: usize) -> Option<u32> {
        if let Some(&known) = self.known.get(&ty) {
            return known;
        }
        if depth == DEEPEST {
            return None;
        }
        let shape = self.make(ty, depth);
        self.known.insert(ty, shape);
        shape
    }

    fn make(&mut self, ty: Type, depth: usize) -> Option<u32> {
        let size = self.layouts.store_size(ty).ok().filter(|size| !size.scalable)?;
        let shape = match self.context.kind(ty) {
            _ if let Some(union) = self.unions.get(&ty) => Shape::Scalar(union.clone()),
            TypeKind::Array { element, len } => {
                Shape::Array(self.at_depth(element, depth + 1)?, len)
            }
            TypeKind::Literal { .. } | TypeKind::Identified { .. } => {
                let offsets = self.layouts.struct_layout(ty).ok()?.offsets;
                let mut members = Vec::with_capacity(offsets.len());
                for (offset, &part) in offsets.iter().zip(self.context.parts(ty)) {
                    members.push((offset.min, self.at_depth(part, depth + 1)?));
                }
                Shape::Struct { members, nominal: self.nominal.get(&ty).cloned() }
            }
            kind => Shape::Scalar(match kind {
                TypeKind::Int(1 | 8) => BYTE.to_owned(),
                // Programs cast typed pointers freely, so the pointee is ignored.
                TypeKind::Pointer { address_space: 0, .. } => "ptr".to_owned(),
                TypeKind::Pointer { address_space: space, .. } => format!("ptr addrspace({space})"),
                TypeKind::Primitive(_) | TypeKind::Int(_) => self.context.display(ty).to_string(),
                // For a vector, or a type that the target defines, only the size matters.
                _ => format!("{} opaque bytes", size.min),
            }),
        };
        Some(self.shapes.insert_full(shape).0 as u32)
    }

    pub(crate) fn get(&self, shape: u32) -> &Shape {
        &self.shapes[shape as usize]
    }

    pub(crate) fn is_byte(&self, shape: u32) -> bool {
        matches!(self.get(shape), Shape::Scalar(name) if name == BYTE)
    }

    pub(crate) fn is_union(&self, ty: Type) -> bool {
        self.unions.contains_key(&ty)
    }

    pub(crate) fn bases(&self) -> &IndexSet<Base> {
        &self.bases
    }

    /// Returns a base type's name: the list of its members in braces.
    pub(crate) fn name(&self, base: u32) -> String {
        format!("{{{}}}", self.names[base as usize])
    }

    /// Returns the base type that ends with a path's member, and the member's offset in it.
    pub(crate) fn cut(&mut self, shape: u32, path: &[Index]) -> Option<(Item, u64)> {
        match (path.split_first(), self.get(shape)) {
            (None, Shape::Scalar(_)) => Some((Item::Scalar(shape), 0)),
            (Some((Index::Element, rest)), &Shape::Array(element, _)) => self.cut(element, rest),
            (Some((&Index::Member(at), rest)), Shape::Struct { members, nominal }) => {
                let (&(offset, member), nominal) = (members.get(at)?, nominal.clone());
                let (last, inner) = self.cut(member, rest)?;
                let before = self.prefix(shape, at);
                Some((self.append(before, offset, last, nominal), offset.checked_add(inner)?))
            }
            _ => None,
        }
    }

    /// Returns a shape (for an array, its element) as an item, or `None` if there are no bytes.
    fn whole(&mut self, mut shape: u32) -> Option<Item> {
        loop {
            match self.get(shape) {
                Shape::Scalar(_) => return Some(Item::Scalar(shape)),
                Shape::Array(_, 0) => return None,
                Shape::Array(element, _) => shape = *element,
                Shape::Struct { members, .. } => {
                    return self.prefix(shape, members.len()).map(Item::Base);
                }
            }
        }
    }

    /// Returns a struct's first `len` members as a base type, or `None` if they have no bytes.
    fn prefix(&mut self, shape: u32, len: usize) -> Option<u32> {
        if !self.prefixes.contains_key(&shape) {
            let Shape::Struct { members, nominal } = self.get(shape).clone() else { return None };
            let (mut all, mut before) = (vec![None], None);
            for (offset, member) in members {
                if let Some(item) = self.whole(member)
                    && let Item::Base(base) = self.append(before, offset, item, nominal.clone())
                {
                    before = Some(base);
                }
                all.push(before);
            }
            self.prefixes.insert(shape, all);
        }
        *self.prefixes[&shape].get(len)?
    }

    /// Returns `before` with one more member. If the only member is a struct at offset 0 and there
    /// is no `nominal`, returns that struct.
    fn append(
        &mut self,
        before: Option<u32>,
        offset: u64,
        last: Item,
        nominal: Option<Box<[u8]>>,
    ) -> Item {
        if let (None, 0, Item::Base(_), None) = (before, offset, last, &nominal) {
            return last;
        }
        let nominal = nominal.filter(|_| before.is_none());
        let own = match last {
            Item::Scalar(shape) => match self.get(shape) {
                Shape::Scalar(name) => name.clone(),
                _ => String::new(),
            },
            Item::Base(base) => self.name(base),
        };
        let mut name = match (before, &nominal) {
            (Some(before), _) => format!("{}, {own}", self.names[before as usize]),
            (None, Some(nominal)) => format!("{}: {own}", String::from_utf8_lossy(nominal)),
            (None, None) => own.clone(),
        };
        if offset != 0 {
            name += &format!("@{offset}");
        }
        if name.len() > NAME {
            name = format!("...{:016x}, {own}@{offset}", fnv(name.as_bytes()));
        }
        let base = Base { before, offset, last, nominal };
        let (at, is_new) = self.bases.insert_full(base);
        if is_new {
            self.names.push(name);
        }
        Item::Base(at as u32)
    }

    /// Returns whether LLVM answers `MayAlias` for tags with these base types and offsets. LLVM:
    /// `matchAccessTags` for the old format.
    pub(crate) fn may_alias(&self, a: (Item, u64), b: (Item, u64)) -> bool {
        self.reaches(a, b) || self.reaches(b, a)
    }

    fn reaches(&self, (mut at, mut offset): (Item, u64), (base, place): (Item, u64)) -> bool {
        loop {
            if at == base {
                return offset == place;
            }
            let Item::Base(number) = at else { return false };
            let of = &self.bases[number as usize];
            match (offset.checked_sub(of.offset), of.before) {
                (Some(inner), _) => (at, offset) = (of.last, inner),
                (None, Some(before)) => at = Item::Base(before),
                (None, None) => return false,
            }
        }
    }
}

const BYTE: &str = "i8";
