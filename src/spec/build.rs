//! Builds the graph that a spec describes.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::document::{CopyDecl, Spec, TagDecl, TypeDecl, options};
use super::name::bytes;
use super::place::SpecPath;
use super::{Built, SpecError, error};
use crate::builder::{BuildError, SizedField};
use crate::declare::TaggedTypes;
use crate::extent::Size;
use crate::graph::{CopyEntry, CopyId, Format, Graph, Tag, TagId, TypeId};
use crate::nearest::suggestion;

impl Spec {
    /// Reads a spec and checks its form: the spec format must define each field and variant, no
    /// field may occur twice in an entry, and no required field may be missing.
    ///
    /// # Errors
    ///
    /// [`SpecError`], with the line and column of the mistake.
    pub fn parse(text: &str) -> Result<Spec, SpecError> {
        options().from_str(text).map_err(|error| error::of_ron(text, &error))
    }

    /// Builds the graph that the spec describes.
    ///
    /// # Errors
    ///
    /// [`SpecError`] if a name is declared twice, a name is used without being declared before, an
    /// expectation is repeated or incomplete, or a type or node is refused. The error has the
    /// [`SpecPath`](super::SpecPath) of the mistake, but not its line and column. [`Spec::load`]
    /// adds these.
    pub fn build(self) -> Result<Built, SpecError> {
        let spec = self;
        check_types(&spec)?;
        let mut declared = Declared::default();
        for (index, decl) in spec.types.iter().enumerate() {
            let place = SpecPath::list("types").item(index);
            let id = declared.add_type(decl).map_err(|error| error.within(place))?;
            declared.types.insert(decl.key().to_owned(), id);
        }
        if let Some(declare) = &spec.declare {
            declared.tagged = Some(declare.declare()?.into_tagged(declare.policy));
        }
        for (index, decl) in spec.tags.iter().enumerate() {
            let place = SpecPath::list("tags").item(index);
            if let Some(first) = declared.tags.get_index_of(&decl.name) {
                let message = format!("a second tag {:?}: rename one", decl.name);
                let other = SpecPath::list("tags").item(first);
                return Err(SpecError::new(place.field("name"), message).with_other(other));
            }
            let id = declared.add_tag(decl).map_err(|error| error.within(place))?;
            declared.tags.insert(decl.name.clone(), id);
        }
        for (index, path) in spec.declare.iter().flat_map(|declare| &declare.tags).enumerate() {
            let place = SpecPath::list("declare").field("tags").item(index);
            declared.tag_or_path(path).map_err(|error| error.within(place))?;
        }
        for (index, decl) in spec.copies.iter().enumerate() {
            let place = SpecPath::list("copies").item(index);
            declared.add_copy(decl).map_err(|error| error.within(place))?;
        }
        check_expectations(&spec, &mut declared)?;
        let Declared { graph, types, tags, tagged } = declared;
        Ok(Built { spec, graph, types, tags, tagged })
    }

    /// Reads a spec and builds the graph that it describes.
    ///
    /// # Errors
    ///
    /// As [`Spec::parse`] and [`Spec::build`], always with line and column.
    pub fn load(text: &str) -> Result<Built, SpecError> {
        Spec::parse(text)?.build().map_err(|error| error.located(text))
    }
}

/// Checks that keys and a type's field names are unique, and that types are declared before use.
fn check_types(spec: &Spec) -> Result<(), SpecError> {
    let entry = |index| SpecPath::list("types").item(index);
    let mut keys = IndexMap::new();
    for (index, decl) in spec.types.iter().enumerate() {
        let first = *keys.entry(decl.key()).or_insert(index);
        if first != index {
            let remedy = match decl {
                TypeDecl::AnonymousRoot { .. } | TypeDecl::EmptyRoot { .. } => "give another key",
                _ => "tell them apart with `key: \"...\"`",
            };
            let message = format!("a second type {:?}: {remedy}", decl.key());
            let place = entry(index).join(&key_place(decl));
            return Err(SpecError::new(place, message).with_other(entry(first)));
        }
    }
    for (index, decl) in spec.types.iter().enumerate() {
        for (place, key) in references(decl) {
            let place = entry(index).join(&place);
            match keys.get(key) {
                Some(&at) if at < index => {}
                Some(&at) if at == index => {
                    let message = format!("type {key:?} contains itself: no type can");
                    return Err(SpecError::new(place, message));
                }
                Some(&at) => {
                    let message = format!(
                        "type {key:?} is declared later: declare before use, \
                         a type cannot contain itself"
                    );
                    return Err(SpecError::new(place, message).with_other(entry(at)));
                }
                None => return Err(no_type(place, key, keys.keys().copied())),
            }
        }
        let mut names = HashSet::new();
        for (field, (name, ..)) in decl.fields().into_iter().enumerate() {
            if !name.is_empty() && !names.insert(name) {
                let place = entry(index).field("fields").item(field).item(0);
                let message = format!("a second field {name:?} in {:?}: rename one", decl.key());
                return Err(SpecError::new(place, message));
            }
        }
    }
    Ok(())
}

fn no_type<'k>(place: SpecPath, key: &str, keys: impl Iterator<Item = &'k str>) -> SpecError {
    let hint = suggestion(key, keys, "declare it under `types`");
    SpecError::new(place, format!("no type {key:?}{hint}"))
}

/// Checks the expectations without an oracle, and adds the tags of the paths that they name.
fn check_expectations(spec: &Spec, declared: &mut Declared) -> Result<(), SpecError> {
    let mut pairs: HashMap<(usize, usize), usize> = HashMap::new();
    for (index, expect) in spec.expect.iter().enumerate() {
        let place = || SpecPath::list("expect").item(index);
        let a = declared.tag_or_path(&expect.a).map_err(|e| e.within(place().field("a")))?;
        let b = declared.tag_or_path(&expect.b).map_err(|e| e.within(place().field("b")))?;
        if let Some(first) = pairs.insert((a.min(b), a.max(b)), index) {
            let (a, b) = (&expect.a, &expect.b);
            let message = format!(
                "a second expectation for {a:?} and {b:?}: keep one, the order does not matter"
            );
            let other = SpecPath::list("expect").item(first);
            return Err(SpecError::new(place().field("a"), message).with_other(other));
        }
        if expect.answers().next().is_none() {
            let message = "an expectation without an answer: give llvm, union or union_strict";
            return Err(SpecError::new(place(), message));
        }
        if expect.why.trim().is_empty() {
            let message = "an empty reason: say what decides";
            return Err(SpecError::new(place().field("why"), message));
        }
    }
    Ok(())
}

/// Returns every reference of a type to another, with its path inside the entry.
fn references(decl: &TypeDecl) -> Vec<(SpecPath, &str)> {
    let mut references = Vec::new();
    if let TypeDecl::Scalar { parent, .. } | TypeDecl::Type { parent, .. } = decl {
        references.push((SpecPath::list("parent"), parent.as_str()));
    }
    for (field, (_, ty, _)) in decl.fields().into_iter().enumerate() {
        references.push((SpecPath::list("fields").item(field).item(1), ty));
    }
    references
}

/// Returns the path of an entry's key or, if it has none, of its name.
fn key_place(decl: &TypeDecl) -> SpecPath {
    match decl {
        TypeDecl::AnonymousRoot { .. }
        | TypeDecl::EmptyRoot { .. }
        | TypeDecl::Root { key: Some(_), .. }
        | TypeDecl::Scalar { key: Some(_), .. }
        | TypeDecl::Struct { key: Some(_), .. }
        | TypeDecl::Type { key: Some(_), .. } => SpecPath::list("key"),
        _ => SpecPath::list("name"),
    }
}

/// The types and tags declared so far. Errors of the methods have paths relative to the entry.
#[derive(Default)]
pub(super) struct Declared {
    pub(super) graph: Graph,
    pub(super) types: IndexMap<String, TypeId>,
    /// The tags by their names or paths.
    pub(super) tags: IndexMap<String, TagId>,
    /// The types that were declared with a layout.
    pub(super) tagged: Option<TaggedTypes>,
}

impl Declared {
    fn ty(&self, key: &str, place: &SpecPath) -> Result<TypeId, SpecError> {
        let keys = self.types.keys().map(String::as_str);
        self.types.get(key).copied().ok_or_else(|| no_type(place.clone(), key, keys))
    }

    /// Returns the index of a tag in [`Declared::tags`].
    fn tag(&self, name: &str) -> Result<usize, SpecError> {
        self.tags.get_index_of(name).ok_or_else(|| {
            let names = self.tags.keys().map(String::as_str);
            let hint = suggestion(name, names, "declare it under `tags`");
            SpecError::new(SpecPath::default(), format!("no tag {name:?}{hint}"))
        })
    }

    /// Returns a tag's index in [`Declared::tags`]. If `name` is a new path, adds its tag first.
    fn tag_or_path(&mut self, name: &str) -> Result<usize, SpecError> {
        let Some(tagged) = self.tagged.as_mut().filter(|_| !self.tags.contains_key(name)) else {
            return self.tag(name);
        };
        let tag = tagged.tag(&mut self.graph, name);
        let tag = tag.map_err(|error| SpecError::new(SpecPath::default(), error.to_string()))?;
        Ok(self.tags.insert_full(name.to_owned(), tag).0)
    }

    /// Adds the node of a type. The caller must record its key.
    pub(super) fn add_type(&mut self, decl: &TypeDecl) -> Result<TypeId, SpecError> {
        let ids = references(decl).into_iter().map(|(place, key)| self.ty(key, &place));
        let ids = ids.collect::<Result<Vec<_>, _>>()?;
        let mut b = self.graph.builder();
        let id = match decl {
            TypeDecl::Root { name, .. } => b.root(bytes(name)),
            TypeDecl::AnonymousRoot { .. } => b.anonymous_root(),
            TypeDecl::EmptyRoot { .. } => b.empty_root(),
            TypeDecl::Scalar { name, .. } => b.scalar_type(bytes(name), ids[0]),
            TypeDecl::Struct { name, fields, .. } => {
                let fields = fields.iter().zip(&ids).map(|(field, &ty)| (ty, field.offset));
                b.struct_type(bytes(name), &fields.collect::<Vec<_>>())
            }
            TypeDecl::Type { name, size, fields, .. } => {
                let fields = fields.iter().zip(&ids[1..]);
                let fields = fields.map(|(field, &ty)| SizedField {
                    ty,
                    offset: field.offset,
                    size: field.size,
                });
                b.sized_type(ids[0], *size, bytes(name), &fields.collect::<Vec<_>>())
            }
        };
        id.map_err(|error| refused(&error, &key_place(decl)))
    }

    /// Adds the node of a tag. The caller must record its name.
    pub(super) fn add_tag(&mut self, decl: &TagDecl) -> Result<TagId, SpecError> {
        let base = self.ty(&decl.base, &SpecPath::list("base"))?;
        let access = self.ty(&decl.access, &SpecPath::list("access"))?;
        let format = self.graph.ty(base).format();
        let size = match (format, decl.size) {
            (Format::New, size) => Some(Size::Bytes(size.unwrap_or(0))),
            (Format::Old, None) => None,
            (Format::Old, Some(_)) => {
                let message = "a size in an old-format tag: only tags of size-aware types \
                               (`Type`) have one, leave it out";
                return Err(SpecError::new(SpecPath::list("size"), message));
            }
        };
        let &TagDecl { offset, immutable, .. } = decl;
        let tag = Tag { base, access, offset, size, immutable, format };
        let id = self.graph.builder().tag(tag);
        id.map_err(|error| refused(&error, &SpecPath::list("name")))
    }

    pub(super) fn add_copy(&mut self, decl: &CopyDecl) -> Result<CopyId, SpecError> {
        let place = |entry| SpecPath::list("entries").item(entry);
        let mut entries = Vec::with_capacity(decl.entries.len());
        for (index, &(offset, size, ref name)) in decl.entries.iter().enumerate() {
            let tag = self.tag(name).map_err(|error| error.within(place(index).item(2)))?;
            entries.push(CopyEntry { offset, size, tag: self.tags[tag] });
        }
        let id = self.graph.builder().struct_copy(&entries);
        id.map_err(|error| refused(&error, &SpecPath::list("entries")))
    }
}

/// Returns the error for an entry that the builder refused. Its path is the most precise one that
/// the builder's error gives, or else `name`.
fn refused(error: &BuildError, name: &SpecPath) -> SpecError {
    let field = |field| SpecPath::list("fields").item(field);
    let place = match error {
        BuildError::RootAsField { field: index, .. } => field(*index).item(1),
        BuildError::DescendingOffset { field: index, .. } => field(*index).item(2),
        BuildError::OverlappingCopy { entry } => SpecPath::list("entries").item(*entry),
        BuildError::OffsetInScalar { .. } => SpecPath::list("offset"),
        BuildError::AggregateAccess { .. } => SpecPath::list("access"),
        BuildError::AggregateParent { .. } => SpecPath::list("parent"),
        BuildError::MixedFormats { argument, .. }
        | BuildError::MixedRoots { argument, .. }
        | BuildError::RootInTag { argument, .. }
        | BuildError::Malformed { argument, .. } => match argument.as_str() {
            "parent" => SpecPath::list("parent"),
            "base" => SpecPath::list("base"),
            "access" => SpecPath::list("access"),
            // The argument is a text such as "field 2 of ...".
            other => other
                .strip_prefix("field ")
                .and_then(|rest| rest.split(' ').next()?.parse().ok())
                .map_or_else(|| name.clone(), |index| field(index).item(1)),
        },
        _ => name.clone(),
    };
    SpecError::new(place, error.to_string())
}
