//! Compares the tags of two builds by their content, not by their metadata numbers.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use tbaa::TagId;
use tbaa_check::link::Linked;

use super::build::Build;
use crate::commands::link::body;
use crate::report::{Failure, Result};

/// The largest number of fields shown for a type.
const FIELDS: usize = 8;

#[derive(Serialize, Default)]
pub(super) struct Tags {
    /// The number of distinct tags in each build.
    pub(super) in_a: usize,
    pub(super) in_b: usize,
    /// The number of tags of A that match a tag of B.
    pub(super) alike: usize,
    pub(super) only_a: Vec<Used>,
    pub(super) only_b: Vec<Used>,
    pub(super) changed: Vec<Changed>,
}

#[derive(Serialize)]
pub(super) struct Used {
    pub(super) tag: String,
    pub(super) meaning: String,
    pub(super) accesses: u64,
}

/// A tag with the same description in both builds and different types.
#[derive(Serialize)]
pub(super) struct Changed {
    pub(super) meaning: String,
    /// The base type as each build has it.
    pub(super) a: String,
    pub(super) b: String,
}

pub(super) fn compare(a: &Build<'_>, b: &Build<'_>) -> Result<Tags> {
    let graphs = [("a", a.input.graph()), ("b", b.input.graph())];
    let linked = Linked::new(&graphs).map_err(Failure::unusable)?;
    let (of_a, of_b) = (a.tags(), b.tags());
    let known = |module, tags: &[(TagId, u64)]| -> HashSet<TagId> {
        tags.iter().filter_map(|&(tag, _)| linked.tag(module, tag)).collect()
    };
    let (in_a, in_b) = (known(0, &of_a), known(1, &of_b));
    let mut tags = Tags { in_a: of_a.len(), in_b: of_b.len(), ..Tags::default() };
    let is_in = |module, tag, other: &HashSet<TagId>| {
        linked.tag(module, tag).is_some_and(|tag| other.contains(&tag))
    };
    // Maps a description to the tags of B that have it and are not in A, each with its base type.
    let mut rest_b: HashMap<String, Vec<(TagId, String)>> = HashMap::new();
    for &(tag, _) in of_b.iter().filter(|&&(tag, _)| !is_in(1, tag, &in_a)) {
        rest_b.entry(b.meaning(tag)).or_default().push((tag, base(b, tag)));
    }
    let mut changed = HashSet::new();
    for &(tag, accesses) in &of_a {
        if is_in(0, tag, &in_b) {
            tags.alike += 1;
            continue;
        }
        let meaning = a.meaning(tag);
        let of_a = base(a, tag);
        let others = rest_b.get(&meaning).map_or(&[][..], Vec::as_slice);
        let mut same = others.iter().filter(|(other, of_b)| is_unnamed(b, *other) && of_a == *of_b);
        let same = same.next().filter(|_| is_unnamed(a, tag));
        match same.or(others.first()) {
            Some((other, of_b)) => {
                changed.insert(*other);
                match same {
                    Some(_) => tags.alike += 1,
                    None => tags.changed.push(Changed { meaning, a: of_a, b: of_b.clone() }),
                }
            }
            None => tags.only_a.push(Used { tag: a.input.label(tag), meaning, accesses }),
        }
    }
    for (tag, accesses) in of_b {
        if !is_in(1, tag, &in_a) && !changed.contains(&tag) {
            let (label, meaning) = (b.input.label(tag), b.meaning(tag));
            tags.only_b.push(Used { tag: label, meaning, accesses });
        }
    }
    Ok(tags)
}

/// Returns whether the root of a tag is unknown or has no name. Linking keeps unnamed roots of two
/// modules distinct, but in two builds of one program they mean the same.
fn is_unnamed(side: &Build<'_>, tag: TagId) -> bool {
    let graph = side.input.graph();
    let root = graph.tag(tag).ok().and_then(|tag| graph.root_of(tag.access));
    root.is_none_or(|root| graph.ty(root).name().is_none())
}

/// Returns the fields or the parent of a tag's base type, as text; for a malformed tag, the error.
fn base(side: &Build<'_>, tag: TagId) -> String {
    let graph = side.input.graph();
    match graph.tag(tag) {
        Ok(tag) => body(graph, tag.base, FIELDS),
        Err(malformed) => malformed.to_string(),
    }
}
