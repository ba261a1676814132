//! Represents the types of several contexts as a graph with a label at each node and ordered edges.

use super::encoding::canonical_name;
use crate::context::Symbol;
use crate::table::{Entry, HashMap, IndexSet};
use crate::{Context, Type, TypeKind};

/// A type without its parts. Labels of different contexts can be compared.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Label {
    /// A symbol that has no index into a context's tables, and the number of parts.
    Plain(Symbol, usize),
    /// A struct with a body, if struct names are compared: its canonical name, true if it is
    /// packed, and the number of its elements.
    Named(Box<[u8]>, bool, usize),
    Opaque(Box<[u8]>),
    /// An opaque struct without a name, which is equal only to itself.
    Nameless(Type),
    Target(Box<[u8]>, Box<[u32]>, usize),
}

impl Label {
    fn of(context: &Context, ty: Type, names: bool) -> Label {
        let count = context.parts(ty).len();
        match context.symbol(ty) {
            Symbol::Identified { opaque: true, .. } => match context.name(ty) {
                Some(name) => Label::Opaque(canonical_name(name).into()),
                None => Label::Nameless(ty),
            },
            Symbol::Identified { packed, .. } if names => {
                let name = canonical_name(context.name(ty).unwrap_or_default());
                Label::Named(name.into(), packed, count)
            }
            // Names are not compared here: an identified struct may equal a literal struct.
            Symbol::Identified { packed, .. } => Label::Plain(Symbol::Literal { packed }, count),
            Symbol::Target { .. } => match context.kind(ty) {
                TypeKind::Target { name, ints, .. } => {
                    Label::Target(name.into(), ints.into(), count)
                }
                _ => Label::Nameless(ty),
            },
            symbol => Label::Plain(symbol, count),
        }
    }
}

/// Returns whether a type is a struct with a body. In structural equality, all uses of such a
/// struct in one type must correspond to uses of a single struct in the other type.
fn has_identity(context: &Context, ty: Type) -> bool {
    matches!(context.symbol(ty), Symbol::Literal { .. } | Symbol::Identified { opaque: false, .. })
}

#[derive(Default)]
pub(super) struct Automaton {
    /// For each context, by its stamp, the node of its first type.
    pub(super) bases: HashMap<u32, usize>,
    /// For each node, the number of its label.
    pub(super) symbols: Vec<u32>,
    /// For each node, true if it is a struct with a body.
    pub(super) structs: Vec<bool>,
    /// For each node, the index after its last edge in `edges`. The next node's edges begin there.
    ends: Vec<usize>,
    pub(super) edges: Vec<u32>,
}

/// For each opaque struct, the struct of another context that completes it.
pub(crate) type Completions<'c> = HashMap<Type, (&'c Context, Type)>;

impl Automaton {
    /// Returns the graph of the contexts' types. Compares struct names if `completions` is given.
    pub(super) fn new(contexts: &[&Context], completions: Option<&Completions<'_>>) -> Automaton {
        let names = completions.is_some();
        let (mut graph, mut labels) = (Automaton::default(), IndexSet::default());
        let (mut count, mut distinct) = (0, Vec::new());
        for &context in contexts {
            if let Entry::Vacant(entry) = graph.bases.entry(context.stamp) {
                entry.insert(count);
                count += context.type_count();
                distinct.push(context);
            }
        }
        for context in distinct {
            for ty in context.types() {
                let completion = completions.and_then(|completions| completions.get(&ty));
                let (context, ty) = completion.copied().unwrap_or((context, ty));
                graph.symbols.push(labels.insert_full(Label::of(context, ty, names)).0 as u32);
                graph.structs.push(has_identity(context, ty));
                let bases = &graph.bases;
                let number = |part: &Type| (bases[&part.stamp] + part.index()) as u32;
                graph.edges.extend(context.parts(ty).iter().map(number));
                graph.ends.push(graph.edges.len());
            }
        }
        graph
    }

    pub(super) fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Returns all edges: the source, the position among the source's edges, and the target.
    pub(super) fn all_edges(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        let of =
            move |node| (0..).zip(self.edges(node)).map(move |(at, &target)| (node, at, target));
        (0..self.len() as u32).flat_map(of)
    }

    pub(super) fn edges(&self, node: u32) -> &[u32] {
        let first = node.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.edges[first..self.ends[node as usize]]
    }
}
