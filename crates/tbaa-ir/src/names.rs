//! Names tags and types in a programmer's words.

use std::sync::{Mutex, PoisonError};

use crate::{DebugInfo, Module};
use tbaa::parts::table::HashMap;
use tbaa::{Field, Graph, Tag, TagId, TypeId, TypeKind};
use tbaa_types::demangle::{demangled, folded};

/// The largest number of types that are visited to find the union on a tag's path.
const STEPS: usize = 256;

/// The largest number of a union's types that are listed.
const LISTED: usize = 4;

/// Describes the tags of a graph, as in `vec.len (long at 8 of vec)` or `omnipotent char`.
///
/// Field names come from the debug information. If a name is unknown, the offset is shown:
/// `vec+8 (long)`. If the access goes through a union, the types of the union's members are listed.
/// The functions panic on an id of another graph.
///
/// ```
/// use tbaa_ir::Names;
///
/// let text = br#"
/// define i64 @f(ptr %p) {
///   %v = load i64, ptr %p, align 8, !tbaa !0
///   ret i64 %v
/// }
/// !0 = !{!1, !2, i64 8}
/// !1 = !{!"vec", !2, i64 0, !2, i64 8}
/// !2 = !{!"long", !3, i64 0}
/// !3 = !{!"Simple C/C++ TBAA"}
/// "#;
/// let module = tbaa_ir::read(text)?;
/// let names = Names::of_module(&module);
/// let tag = module.instructions()[0].tag.unwrap();
/// assert_eq!(names.place(tag), "vec+8");
/// assert_eq!(names.tag(tag), "vec+8 (long)");
/// # Ok::<(), tbaa_ir::TextError>(())
/// ```
#[derive(Debug)]
pub struct Names<'a> {
    graph: &'a Graph,
    debug: Option<DebugInfo<'a>>,
    /// A cache of field names, by base type, offset and access type.
    fields: Mutex<HashMap<(TypeId, u64, TypeId), Option<String>>>,
    /// The typedef names of unnamed types, and their possible records in the debug information.
    unnamed: Mutex<HashMap<TypeId, Option<Unnamed>>>,
}

/// A typedef's name for an unnamed type, and the records (structs, classes or unions in the debug
/// information) that may be this type.
type Unnamed = (String, Vec<u32>);

/// The largest depth of a pointer that is written with stars.
const STARS: usize = 8;

fn in_source(name: &[u8]) -> String {
    demangled(name).map_or_else(|| String::from_utf8_lossy(name).into_owned(), folded)
}

/// Returns `char **` for `p2 omnipotent char`, and `void **` for `any p2 pointer`. The names come
/// from clang's `CodeGenTBAA::getTypeInfoHelper`.
fn pointer(name: &[u8]) -> Option<String> {
    // `any p2 pointer` is the type of a pointer to a pointer to anything.
    let any = name.strip_prefix(b"any ").and_then(|rest| rest.strip_suffix(b" pointer"));
    let rest = any.unwrap_or(name).strip_prefix(b"p")?;
    let (digits, rest) = rest.split_at(rest.iter().position(|byte| !byte.is_ascii_digit())?);
    let levels: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let to = match any {
        Some(_) => "void".to_owned(),
        None => match rest.strip_prefix(b" ").filter(|to| !to.is_empty())? {
            b"omnipotent char" => "char".to_owned(),
            to => in_source(to),
        },
    };
    (1..=STARS).contains(&levels).then(|| format!("{to} {}", "*".repeat(levels)))
}

/// Returns the source's spelling of a type node's name: `geo::Node *` for `p1 _ZTSN3geo4NodeE`.
pub fn name_in_source(name: &[u8]) -> String {
    match name {
        b"" => "unnamed".to_owned(),
        name => pointer(name).unwrap_or_else(|| in_source(name)),
    }
}

impl<'a> Names<'a> {
    /// Creates names without debug information.
    pub fn of_graph(graph: &'a Graph) -> Self {
        Names { graph, debug: None, fields: Mutex::default(), unnamed: Mutex::default() }
    }

    /// Creates names that also use a module's debug information. Takes time linear in the text.
    pub fn of_module(module: &'a Module<'_>) -> Self {
        let debug = Some(DebugInfo::new(module)).filter(|debug| !debug.has_no_records());
        Names { debug, ..Names::of_graph(module.graph()) }
    }

    /// Returns a type's name as the source spells it, such as `geo::Node *` for clang's mangled
    /// name `p1 _ZTSN3geo4NodeE`. An unnamed struct gets the name of a typedef of a struct with the
    /// same fields, if the debug information has one.
    pub fn ty(&self, ty: TypeId) -> String {
        let node = self.graph.ty(ty);
        match node.name() {
            Some(b"") | None if node.kind() == TypeKind::Root => "an unnamed root".to_owned(),
            Some(b"") | None => self.typedef(ty).unwrap_or_else(|| name_in_source(b"")),
            Some(name) => name_in_source(name),
        }
    }

    /// Returns the field that a tag accesses, such as `vec.len` or `vec+8`. If the tag accesses a
    /// whole type, returns the type's name.
    pub fn place(&self, tag: TagId) -> String {
        match self.graph.tag(tag) {
            Ok(tag) => self.place_of(&tag),
            Err(_) => "a malformed tag".to_owned(),
        }
    }

    /// Does the same as [`place`](Self::place) for a tag that may not be in the graph.
    pub fn place_of(&self, tag: &Tag) -> String {
        let base = self.ty(tag.base);
        if tag.is_whole() && tag.offset == 0 {
            return base;
        }
        match self.field(tag) {
            Some(path) => format!("{base}.{path}"),
            // Like LLVM, print the offset as a signed number.
            None => format!("{base}{:+}", tag.offset as i64),
        }
    }

    /// Returns a tag's description, such as `vec.len (long at 8 of vec)`, `vec+8 (long)` or `int`.
    pub fn tag(&self, tag: TagId) -> String {
        match self.graph.tag(tag) {
            Ok(tag) => self.tag_of(&tag),
            Err(malformed) => format!("malformed: {malformed}"),
        }
    }

    /// Does the same as [`tag`](Self::tag) for a tag that may not be in the graph.
    pub fn tag_of(&self, tag: &Tag) -> String {
        let mut says = Vec::new();
        if !(tag.is_whole() && tag.offset == 0) {
            let access = self.ty(tag.access);
            says.push(match self.field(tag) {
                Some(_) => format!("{access} at {} of {}", tag.offset as i64, self.ty(tag.base)),
                None => access,
            });
        }
        says.extend(self.union_on_path(tag).map(|union| self.members(union)));
        if tag.immutable {
            says.push("immutable".to_owned());
        }
        let place = self.place_of(tag);
        if says.is_empty() { place } else { format!("{place} ({})", says.join(", ")) }
    }

    /// Returns the path of a tag's field, by the names of members.
    fn field(&self, tag: &Tag) -> Option<String> {
        let debug = self.debug.as_ref().filter(|_| !tag.is_whole())?;
        let name = |ty| self.graph.ty(ty).name();
        let find = || match name(tag.base)? {
            b"" => debug.path_in(&self.unnamed(tag.base)?.1, tag.offset, name(tag.access)?),
            base => {
                let (at, access) = (tag.offset, name(tag.access)?);
                let closures = || {
                    let is_local = base.starts_with(b"_ZTSZ") || base.ends_with(b"E_");
                    let fields = self.fields_of(tag.base).filter(|_| is_local)?;
                    debug.path_in(&debug.closures(&fields), at, access)
                };
                debug.path(base, at, access).or_else(closures)
            }
        };
        let mut fields = self.fields.lock().unwrap_or_else(PoisonError::into_inner);
        fields.entry((tag.base, tag.offset, tag.access)).or_insert_with(find).clone()
    }

    /// Returns a typedef's name for an unnamed type, if the debug information has one.
    #[doc(hidden)]
    pub fn typedef(&self, ty: TypeId) -> Option<String> {
        let is_unnamed = self.graph.ty(ty).name().unwrap_or_default().is_empty();
        is_unnamed.then(|| self.unnamed(ty).map(|(name, _)| name))?
    }

    fn unnamed(&self, ty: TypeId) -> Option<Unnamed> {
        let debug = self.debug.as_ref()?;
        let find = || debug.unnamed(&self.fields_of(ty)?);
        let mut known = self.unnamed.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(ty).or_insert_with(find).clone()
    }

    /// Returns a type's fields, each as its offset and the name of its type.
    fn fields_of(&self, ty: TypeId) -> Option<Vec<(u64, &'a [u8])>> {
        let field = |field: Field| Some((field.offset, self.graph.ty(field.ty).name()?));
        self.graph.ty(ty).fields().map(field).collect()
    }

    /// Returns the description of a union, such as `of union U: int, float`.
    fn members(&self, union: TypeId) -> String {
        let mut types: Vec<String> = Vec::new();
        for field in self.graph.ty(union).fields() {
            let name = self.ty(field.ty);
            if !types.contains(&name) {
                types.push(name);
            }
            if types.len() > LISTED {
                types[LISTED] = "...".to_owned();
                break;
            }
        }
        format!("of union {}: {}", self.ty(union), types.join(", "))
    }

    /// Returns the first union on a path from the base type to the access type, both included.
    fn union_on_path(&self, tag: &Tag) -> Option<TypeId> {
        let mut pending = vec![(tag.base, tag.offset, None)];
        for _ in 0..STEPS {
            let (ty, offset, mut union) = pending.pop()?;
            if union.is_none() && self.is_union(ty) {
                union = Some(ty);
            }
            if ty == tag.access && offset == 0 {
                return union;
            }
            let fields = self.graph.ty(ty).fields();
            let last = fields.clone().map(|field| field.offset).filter(|&at| at <= offset).max();
            let here = fields.filter(|field| Some(field.offset) == last && field.ty != ty);
            pending.extend(here.map(|field| (field.ty, offset - field.offset, union)));
        }
        None
    }

    /// Returns whether a type is an aggregate of different types that all begin at one offset.
    fn is_union(&self, ty: TypeId) -> bool {
        let node = self.graph.ty(ty);
        let mut fields = node.fields();
        let Some(first) = fields.next() else { return false };
        node.kind() == TypeKind::Aggregate
            && fields.clone().any(|field| field.ty != first.ty)
            && fields.all(|field| field.offset == first.offset)
    }
}
