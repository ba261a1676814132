//! Declares the structs of a runtime like Lua's.

use tbaa::declare::{Declarations, Policy, TaggedTypes};
use tbaa::{Graph, TagId};

/// Returns the paths of the members that compiled code of a language like Lua accesses.
pub fn paths() -> Vec<&'static str> {
    include_str!("runtime.txt").lines().collect()
}

pub fn types() -> Declarations {
    tbaa_tests::declared(include_str!("runtime.ron"))
}

/// Returns a graph with the tags of [`paths`], the declarations under a policy, and these tags.
pub fn tags(policy: Policy) -> (Graph, TaggedTypes, Vec<TagId>) {
    let mut graph = Graph::new();
    let mut types = types().into_tagged(policy);
    let tags = paths().iter().filter_map(|path| types.tag(&mut graph, path).ok()).collect();
    (graph, types, tags)
}
