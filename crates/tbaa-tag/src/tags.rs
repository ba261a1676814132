//! Finds the tags of a module's accesses, and adds them to its text.

use std::collections::BTreeMap;

use tbaa::declare::TaggedTypes;
use tbaa::parts::table::{HashMap, IndexSet};
use tbaa::{BuildError, Graph, TagId, TypeId};
use tbaa_ir::{Module, Opcode, Rewriter, Sizes, TextError};

use crate::declared::Declared;
use crate::error::{TagError, Untagged};
use crate::options::Options;
use crate::overlaps::Overlaps;
use crate::places::{Accesses, Follower, Place, PlacedAccess, Reader};
use crate::shapes::{Base, Item, Shape, Shapes};

/// The name of the root in the graph that [`tag`] makes.
const ROOT: &str = "types by structure";

/// An access that gets a tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaggedAccess {
    /// The index of the access in [`Module::instructions`].
    pub instruction: usize,
    /// The tag, which is in [`Tags::graph`].
    pub tag: TagId,
}

/// A load, store or atomic access that gets no tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UntaggedAccess {
    /// The index of the access in [`Module::instructions`].
    pub instruction: usize,
    /// The reason why it gets no tag.
    pub why: Untagged,
}

/// The tags for a module, and the accesses that get none.
#[derive(Debug)]
#[non_exhaustive]
pub struct Tags {
    /// The graph that contains the tags.
    pub graph: Graph,
    /// The accesses that get a tag, in the module's order.
    pub tags: Vec<TaggedAccess>,
    /// The other loads, stores and atomic accesses.
    pub untagged: Vec<UntaggedAccess>,
    /// Names in the options that match no type of the module.
    pub unknown: Vec<String>,
}

/// Finds tags for the accesses of a module.
///
/// Call this before LLVM's passes. They replace `getelementptr`s on struct types by others that
/// count bytes, and accesses through these get no tag.
///
/// ```
/// use tbaa_tag::{Options, tag};
///
/// let text = br#"target datalayout = "e-i64:64"
/// %Point = type { i32, float }
/// define void @f(ptr %p, ptr %q) {
///   %x = getelementptr %Point, ptr %p, i32 0, i32 0
///   store i32 1, ptr %x
///   %y = getelementptr %Point, ptr %q, i32 0, i32 1
///   store float 2.0, ptr %y
///   ret void
/// }
/// "#;
/// let module = tbaa_ir::read(text)?;
/// let tags = tag(&module, &Options::new())?;
/// assert_eq!(tags.tags.len(), 2);
/// let new = String::from_utf8(tags.to_bytes(&module)?).unwrap();
/// assert!(new.contains("store float 2.0, ptr %y, !tbaa !"));
/// assert!(new.contains(r#"!{!"{i32, float@4}", "#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns a [`TagError`], for instance if the module has no data layout, or if its language allows
/// memory to be accessed as any type.
pub fn tag(module: &Module<'_>, options: &Options) -> Result<Tags, TagError> {
    let (found, sizes) = read(module)?;
    let (context, definitions, layout) = sizes.into_parts();
    let mut shapes = Shapes::new(&context, layout.layouts(&context), &definitions, options);
    let opaque =
        options.opaque.iter().flat_map(|name| Options::types(&definitions, name)).collect();
    let (elements, followed) = (options.elements, shapes.followed());
    let mut follower =
        Follower { shapes: &mut shapes, context: &context, elements, opaque, followed };
    let mut places = Vec::with_capacity(found.accesses.len());
    for (at, access) in found.accesses {
        places.push((at, access.and_then(|access| Ok((follower.place(&access)?, access)))));
    }
    let is_bytes = |place: &Result<_, _>| matches!(place, Err(Untagged::Bytes));
    if !found.has_structs && places.iter().any(|(_, place)| is_bytes(place)) {
        // If no `getelementptr` names a struct and some count bytes, any access may be to a member.
        for (_, place) in places.iter_mut().filter(|place| place.1.is_ok()) {
            *place = Err(Untagged::NoMember);
        }
    }
    let good = places.iter().filter_map(|(_, place)| place.as_ref().ok());
    let good: Vec<(&PlacedAccess, Place)> = good.map(|(place, access)| (access, *place)).collect();
    let overlaps = Overlaps::of(&good, &found.flows, &shapes, &mut layout.layouts(&context));
    let (mut tags, mut untagged) = (Vec::new(), Vec::new());
    for (instruction, place) in places {
        let overlaps = |access: &PlacedAccess| {
            access.steps.iter().any(|step| overlaps.types.contains(&step.ty))
                || overlaps.instructions.contains(&instruction)
        };
        match place {
            Ok((_, access)) if overlaps(&access) => {
                untagged.push(UntaggedAccess { instruction, why: Untagged::Overlap });
            }
            Ok((place, _)) => tags.push((instruction, place)),
            Err(why) => untagged.push(UntaggedAccess { instruction, why }),
        }
    }
    let (graph, tags) = made(&shapes, &tags)?;
    let unknown =
        options.names().filter(|name| Options::types(&definitions, name).next().is_none());
    let unknown = unknown.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    Ok(Tags { graph, tags, untagged, unknown })
}

/// Finds tags of declared types for the accesses of a module.
///
/// The module's struct types `%struct.X`, `%class.X`, `%union.X` and `%X` mean the declared record
/// `X`, also with a number that LLVM appended. An access can get the tag of a declared member if
/// its `getelementptr`s lead through such a type to the member's offset, and the access has the
/// member's size. The program must keep [`DECLARED_PROMISE`](crate::DECLARED_PROMISE).
///
/// ```
/// use tbaa::declare::{Declarations, Policy, Record, Target};
/// use tbaa_tag::tag_declared;
///
/// let text = br#"target datalayout = "e-i64:64"
/// %Box = type { i64 }
/// define double @f(ptr %p) {
///   %at = getelementptr %Box, ptr %p, i32 0, i32 0
///   %value = load double, ptr %at
///   ret double %value
/// }
/// "#;
/// let mut types = Declarations::new(Target::x86_64());
/// let word = Record::union("").field("i", "long").field("n", "double");
/// types.define(Record::structure("Box").field("word", word))?;
/// let module = tbaa_ir::read(text)?;
/// let tags = tag_declared(&module, types.into_tagged(Policy::Rfc))?;
/// let tag = tags.graph.tag(tags.tags[0].tag)?;
/// assert_eq!(tags.graph.ty(tag.access).name(), Some(&b"double"[..]), "Box.word.n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Fails as [`tag`] does, and with [`TagError::Layout`] if a struct type of the module contradicts
/// the declared record with its name.
pub fn tag_declared(module: &Module<'_>, types: TaggedTypes) -> Result<Tags, TagError> {
    let (found, sizes) = read(module)?;
    let (context, definitions, layout) = sizes.into_parts();
    let mut declared = Declared::new(types, &context, &definitions, layout.layouts(&context))?;
    let (mut tags, mut untagged) = (Vec::new(), Vec::new());
    for (instruction, access) in found.accesses {
        let tag = access.and_then(|access| declared.tag(&access));
        let is_store = module.instructions()[instruction].opcode == Opcode::Store;
        let is_constant = |tag| declared.graph.tag(tag).is_ok_and(|tag| tag.immutable);
        match tag {
            // LLVM assumes that a store with an immutable tag changes nothing.
            Ok(tag) if is_store && is_constant(tag) => {
                untagged.push(UntaggedAccess { instruction, why: Untagged::Constant });
            }
            Ok(tag) => tags.push(TaggedAccess { instruction, tag }),
            Err(why) => untagged.push(UntaggedAccess { instruction, why }),
        }
    }
    Ok(Tags { graph: declared.graph, tags, untagged, unknown: Vec::new() })
}

fn read(module: &Module<'_>) -> Result<(Accesses, Sizes), TagError> {
    if let Some(language) = language(module.text()) {
        return Err(TagError::Language(language));
    }
    let sizes = Sizes::read(module).map_err(TagError::Type)?;
    if !sizes.has_layout() {
        return Err(TagError::NoLayout);
    }
    let found = Reader::new(module, &sizes).accesses();
    Ok((found, sizes))
}

impl Tags {
    /// Returns the number of untagged accesses for each reason.
    pub fn reasons(&self) -> BTreeMap<Untagged, usize> {
        let mut counts = BTreeMap::new();
        for UntaggedAccess { why, .. } in &self.untagged {
            *counts.entry(*why).or_default() += 1;
        }
        counts
    }

    /// Returns the module's text with the tags added.
    ///
    /// # Errors
    ///
    /// Returns a [`TextError`] if the tags cannot be written into the text.
    pub fn to_bytes(&self, module: &Module<'_>) -> Result<Vec<u8>, TextError> {
        let mut rewriter = Rewriter::new(module);
        let numbers = rewriter.define_graph(&self.graph)?;
        for &TaggedAccess { instruction, tag } in &self.tags {
            rewriter.set_metadata(instruction, "tbaa", Some(numbers[&self.graph.tag_node(tag)]));
        }
        rewriter.to_bytes()
    }
}

/// Returns the module's language if tags would be wrong for it.
fn language(text: &[u8]) -> Option<&'static str> {
    const SIGNS: [(&[u8], &str); 4] = [
        (b"!\"rustc version ", "Rust"),
        (b"language: DW_LANG_Rust", "Rust"),
        (b"language: DW_LANG_Zig", "Zig"),
        (b"producer: \"zig ", "Zig"),
    ];
    let lines = text.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"!"));
    let sign = |line: &[u8], sign: &[u8]| line.windows(sign.len()).any(|pair| pair == sign);
    lines.flat_map(|line| SIGNS.iter().filter(move |it| sign(line, it.0))).map(|line| line.1).next()
}

fn made(
    shapes: &Shapes<'_>,
    places: &[(usize, Place)],
) -> Result<(Graph, Vec<TaggedAccess>), BuildError> {
    let (mut graph, mut tags) = (Graph::new(), Vec::with_capacity(places.len()));
    if places.is_empty() {
        return Ok((graph, tags));
    }
    let needed = needed(shapes, places);
    let root = graph.builder().root(ROOT)?;
    let mut types: HashMap<Item, TypeId> = HashMap::default();
    // The builder returns the same id for equal nodes.
    let scalar = |graph: &mut Graph, shape: u32| {
        let Shape::Scalar(name) = shapes.get(shape) else { unreachable!("it is a scalar") };
        graph.builder().scalar_type(name, root)
    };
    for (at, base) in shapes.bases().iter().enumerate().filter(|base| needed[base.0]) {
        let last = match base.last {
            Item::Scalar(shape) => scalar(&mut graph, shape)?,
            base => types[&base],
        };
        let before = base.before.map(|before| (types[&Item::Base(before)], 0));
        let fields: Vec<_> = before.into_iter().chain([(last, base.offset)]).collect();
        let ty = graph.builder().struct_type(shapes.name(at as u32), &fields)?;
        types.insert(Item::Base(at as u32), ty);
    }
    for &(instruction, place) in places {
        let access = scalar(&mut graph, place.scalar)?;
        let base = types.get(&place.base).copied().unwrap_or(access);
        let tag = graph.builder().struct_tag(base, access, place.offset)?;
        tags.push(TaggedAccess { instruction, tag });
    }
    Ok((graph, tags))
}

/// Returns for each base type whether the tags need it. A base type refers only to earlier ones.
fn needed(shapes: &Shapes<'_>, places: &[(usize, Place)]) -> Vec<bool> {
    let bases: &IndexSet<Base> = shapes.bases();
    let mut needed = vec![false; bases.len()];
    let mark = |needed: &mut [bool], item| {
        if let Item::Base(base) = item {
            needed[base as usize] = true;
        }
    };
    places.iter().for_each(|place| mark(&mut needed, place.1.base));
    for at in (0..bases.len()).rev() {
        if needed[at] {
            mark(&mut needed, bases[at].last);
            bases[at].before.map(Item::Base).into_iter().for_each(|item| mark(&mut needed, item));
        }
    }
    needed
}
