//! Turns the type DAG into boxes with rows, and arrows between them.
//!
//! Marked types and fields ([`Marks`]) are highlighted. In a graph of more than [`SMALL`] types,
//! unmarked scalar fields are left out, and several types may share a box (see [`DrawnKind`]).

use std::collections::{HashMap, HashSet};

use tbaa::petgraph::Incoming;
use tbaa::petgraph::graph::NodeIndex;
use tbaa::petgraph::visit::{EdgeFiltered, IntoNeighbors, IntoNeighborsDirected};
use tbaa::{Edge, Field, Graph, TypeDag, TypeId, TypeKind, TypeNode};
use tbaa_ir::Names;

use super::mark::{Bits, Marks};
use crate::input::Input;
use crate::output::counted;
use crate::printable::printable;
use crate::walk::{elements, named_parent, type_name};

/// The largest number of types in a small graph, which is drawn in more detail.
const SMALL: usize = 60;
/// The largest number of fields shown for a type, in a small graph and in a large one.
const ROWS: (usize, usize) = (48, 12);
/// The smallest number of types that share a box.
const GROUP: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DrawnKind {
    Root,
    Scalar,
    /// A box of scalars with the same parent, with a row for each.
    Scalars,
    /// A box of aggregates that contain no aggregate and are in no other type, with a row for each.
    Apart,
    Struct,
    /// An aggregate in which some fields share bytes.
    Union,
    Malformed,
}

impl DrawnKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            DrawnKind::Root => "root",
            DrawnKind::Scalar => "scalar",
            DrawnKind::Scalars => "scalars",
            DrawnKind::Apart => "structs",
            DrawnKind::Struct => "struct",
            DrawnKind::Union => "union",
            DrawnKind::Malformed => "malformed",
        }
    }
}

pub(super) struct DrawnType {
    pub(super) kind: DrawnKind,
    pub(super) name: String,
    /// The size in bytes, if the format records it.
    pub(super) size: Option<u64>,
    pub(super) rows: Vec<Row>,
    pub(super) marks: Bits,
}

/// A field, a type in a box of several types, or the number of fields that are not shown.
#[derive(Default)]
pub(super) struct Row {
    pub(super) offset: Option<u64>,
    pub(super) text: String,
    /// `None` if not an array, otherwise the number of elements: `Some(None)` if that is unbounded.
    pub(super) array: Option<Option<u64>>,
    pub(super) overlaps: bool,
    pub(super) marks: Bits,
}

pub(super) struct Arrow {
    pub(super) from: usize,
    /// The row where the arrow starts; `None` if it starts at the title.
    pub(super) row: Option<usize>,
    pub(super) to: usize,
    pub(super) parent: bool,
    pub(super) marks: Bits,
}

#[derive(Default)]
pub(super) struct Dag {
    pub(super) nodes: Vec<DrawnType>,
    pub(super) edges: Vec<Arrow>,
    /// A sentence about what is not drawn.
    pub(super) omitted: Option<String>,
}

impl Dag {
    pub(super) fn of(input: &Input, names: &Names<'_>, marks: &Marks, types: &TypeDag) -> Dag {
        let graph = input.graph();
        let small = types.node_count() <= SMALL;
        let (groups, apart) = match small {
            true => Default::default(),
            false => (groups(graph, types, marks), apart(graph, types, marks)),
        };
        let (place, dag, hidden) = (HashMap::new(), Dag::default(), 0);
        let mut build =
            DagBuilder { input, names, graph, marks, small, groups, place, dag, hidden };
        let drawn: HashSet<TypeId> = apart.iter().copied().collect();
        let types: Vec<TypeId> =
            types.node_weights().copied().filter(|ty| !drawn.contains(ty)).collect();
        build.nodes(&types);
        build.edges(&types);
        build.apart(&apart);
        if !small {
            build.dag.omitted = Some(format!(
                "{} types, so {} fields are not shown, most of them scalars. --around TYPE draws a \
                 type with all its fields and what is near it",
                types.len() + apart.len(),
                build.hidden
            ));
        }
        build.dag
    }
}

/// Returns the scalars that share a box, by their parent: unmarked ones that are no type's parent.
fn groups(graph: &Graph, types: &TypeDag, marks: &Marks) -> HashMap<TypeId, Vec<TypeId>> {
    let mut groups: HashMap<TypeId, Vec<TypeId>> = HashMap::new();
    for at in types.node_indices() {
        let ty = types[at];
        let is_parent =
            types.edges_directed(at, Incoming).any(|edge| *edge.weight() == Edge::Parent);
        if graph.ty(ty).kind() == TypeKind::Scalar
            && marks.ty(ty) == 0
            && !is_parent
            && let Some(parent) = graph.ty(ty).parent()
        {
            groups.entry(parent).or_default().push(ty);
        }
    }
    groups.retain(|_, members| members.len() >= GROUP);
    groups
}

/// Returns the unmarked aggregates that have no aggregate as a field and are no type's field.
/// Returns none if they are fewer than [`GROUP`].
fn apart(graph: &Graph, types: &TypeDag, marks: &Marks) -> Vec<TypeId> {
    let is_aggregate = |ty: TypeId| graph.ty(ty).kind() == TypeKind::Aggregate;
    let is_part =
        |at| types.edges_directed(at, Incoming).any(|edge| *edge.weight() != Edge::Parent);
    let is_apart = |&at: &NodeIndex| {
        let ty = types[at];
        let has_parts = || graph.ty(ty).fields().any(|field| is_aggregate(field.ty));
        is_aggregate(ty) && !is_part(at) && marks.ty(ty) == 0 && !has_parts()
    };
    let all: Vec<TypeId> = types.node_indices().filter(is_apart).map(|at| types[at]).collect();
    if all.len() < GROUP { Vec::new() } else { all }
}

/// Returns types at most `depth` steps from `centre` along fields, and the ancestors of these.
pub(super) fn around(graph: &Graph, centre: &[TypeId], depth: usize) -> TypeDag {
    let dag = graph.type_dag();
    let fields = EdgeFiltered::from_fn(&dag, |edge| *edge.weight() != Edge::Parent);
    let parents = EdgeFiltered::from_fn(&dag, |edge| *edge.weight() == Edge::Parent);
    let mut step_on: Vec<NodeIndex> =
        dag.node_indices().filter(|&at| centre.contains(&dag[at])).collect();
    let mut found: HashSet<NodeIndex> = step_on.iter().copied().collect();
    for step in 0..depth {
        let mut next = Vec::new();
        for at in step_on {
            // A common `int` field does not make two aggregates neighbours. So a scalar leads to
            // the aggregates that contain it only if it is in `centre`.
            if step == 0 || graph.ty(dag[at]).kind() == TypeKind::Aggregate {
                next.extend(fields.neighbors_directed(at, Incoming));
            }
            next.extend(fields.neighbors(at));
        }
        next.retain(|&at| found.insert(at));
        step_on = next;
    }
    let mut pending: Vec<NodeIndex> = found.iter().copied().collect();
    while let Some(at) = pending.pop() {
        pending.extend(parents.neighbors(at).filter(|&parent| found.insert(parent)));
    }
    dag.filter_map(|at, &ty| found.contains(&at).then_some(ty), |_, &edge| Some(edge))
}

struct DagBuilder<'a> {
    input: &'a Input,
    names: &'a Names<'a>,
    graph: &'a Graph,
    marks: &'a Marks,
    small: bool,
    groups: HashMap<TypeId, Vec<TypeId>>,
    /// The index of the box of each type that has a box of its own.
    place: HashMap<TypeId, usize>,
    dag: Dag,
    /// The number of fields that are not shown.
    hidden: usize,
}

impl DagBuilder<'_> {
    fn nodes(&mut self, types: &[TypeId]) {
        let grouped: HashSet<TypeId> = self.groups.values().flatten().copied().collect();
        for &ty in types {
            if grouped.contains(&ty) {
                continue;
            }
            let node = self.graph.ty(ty);
            let all = fields(self.graph, node);
            let kind = match node.kind() {
                TypeKind::Root => DrawnKind::Root,
                TypeKind::Scalar => DrawnKind::Scalar,
                TypeKind::Aggregate if all.iter().any(|field| field.1) => DrawnKind::Union,
                TypeKind::Aggregate => DrawnKind::Struct,
                _ => DrawnKind::Malformed,
            };
            self.place.insert(ty, self.dag.nodes.len());
            let (name, marks) = (self.name(ty), self.marks.ty(ty));
            let (size, rows) = (node.size(), Vec::new());
            self.dag.nodes.push(DrawnType { kind, name, size, rows, marks });
            self.group(ty);
        }
    }

    fn rows(&self, types: &[TypeId]) -> Vec<Row> {
        types.iter().map(|&ty| Row { text: self.name(ty), ..Row::default() }).collect()
    }

    /// Adds the box of the scalars with this `parent`, if they share one, and its arrow.
    fn group(&mut self, parent: TypeId) {
        let Some(members) = self.groups.get(&parent) else { return };
        let rows = self.rows(members);
        let name = format!("{} under {}", rows.len(), self.name(parent));
        let (from, to) = (self.dag.nodes.len(), self.place[&parent]);
        self.dag.edges.push(Arrow { from, row: None, to, parent: true, marks: 0 });
        let kind = DrawnKind::Scalars;
        self.dag.nodes.push(DrawnType { kind, name, size: None, rows, marks: 0 });
    }

    fn apart(&mut self, types: &[TypeId]) {
        if types.is_empty() {
            return;
        }
        self.hidden += types.iter().map(|&ty| self.graph.ty(ty).fields().count()).sum::<usize>();
        let rows = self.rows(types);
        let name = format!("{} of scalars alone, in no other struct", rows.len());
        let (kind, size) = (DrawnKind::Apart, None);
        self.dag.nodes.push(DrawnType { kind, name, size, rows, marks: 0 });
    }

    fn edges(&mut self, types: &[TypeId]) {
        for &ty in types {
            let Some(&from) = self.place.get(&ty) else { continue };
            let node = self.graph.ty(ty);
            if node.kind() == TypeKind::Aggregate {
                self.fields(ty, from);
            }
            if let Some(to) = named_parent(node).and_then(|parent| self.place.get(&parent)) {
                let marks = self.marks.parent(ty);
                self.dag.edges.push(Arrow { from, row: None, to: *to, parent: true, marks });
            }
        }
    }

    fn fields(&mut self, ty: TypeId, from: usize) {
        let all = fields(self.graph, self.graph.ty(ty));
        let is_scalar = |field: &Field| {
            matches!(self.graph.ty(field.ty).kind(), TypeKind::Scalar | TypeKind::Root)
        };
        let most = if self.small { ROWS.0 } else { ROWS.1 };
        // If there are too many fields, prefer marked ones, then aggregates, then the first ones.
        let mut shown: Vec<usize> = (0..all.len()).collect();
        shown.sort_by_key(|&at| (self.marks.field(ty, at) == 0, is_scalar(&all[at].0)));
        if !self.small {
            shown.retain(|&at| self.marks.field(ty, at) != 0 || !is_scalar(&all[at].0));
        }
        shown.truncate(most);
        shown.sort_unstable();
        // One arrow is enough for all unmarked fields of one scalar type.
        let mut drawn = HashSet::new();
        for &at in &shown {
            let (field, overlaps) = &all[at];
            let marks = self.marks.field(ty, at);
            let row = Some(self.dag.nodes[from].rows.len());
            let text = self.field_text(ty, at, field);
            let array = elements(self.graph, field).map(|(_, count)| count);
            let offset = Some(field.offset);
            self.dag.nodes[from].rows.push(Row { offset, text, array, overlaps: *overlaps, marks });
            let wanted = marks != 0 || !is_scalar(field) || self.small && drawn.insert(field.ty);
            if let Some(&to) = self.place.get(&field.ty).filter(|_| wanted) {
                self.dag.edges.push(Arrow { from, row, to, parent: false, marks });
            }
        }
        if let more @ 1.. = all.len() - shown.len() {
            self.hidden += more;
            let text = match shown.len() {
                0 => counted(more, "scalar"),
                _ => format!("… {more} more"),
            };
            self.dag.nodes[from].rows.push(Row { text, ..Row::default() });
        }
    }

    fn field_text(&self, ty: TypeId, at: usize, field: &Field) -> String {
        let name = self.input.any_name_of_field(self.names, ty, at, field);
        let name = name.map_or(String::new(), |name| printable(name) + ": ");
        name + &self.name(field.ty)
    }

    fn name(&self, ty: TypeId) -> String {
        type_name(self.names, ty)
    }
}

/// Returns the fields of an aggregate, and whether each shares bytes with another. In a format
/// without sizes, only fields at the same offset are known to share bytes.
fn fields(graph: &Graph, node: TypeNode<'_>) -> Vec<(Field, bool)> {
    if node.kind() != TypeKind::Aggregate {
        return Vec::new();
    }
    let mut all: Vec<(Field, bool)> = node.fields().map(|field| (field, false)).collect();
    let end = |field: &Field| match field.extent {
        Some(0) => u64::MAX,
        extent => field.offset.saturating_add(extent.unwrap_or(1)),
    };
    // The index of the field with the largest end among those visited.
    let mut furthest: Option<usize> = None;
    let mut sorted: Vec<usize> = (0..all.len()).collect();
    // A field whose type is a root occupies no bytes.
    sorted.retain(|&at| graph.ty(all[at].0.ty).kind() != TypeKind::Root);
    sorted.sort_by_key(|&at| all[at].0.offset);
    for at in sorted {
        if let Some(before) = furthest
            && end(&all[before].0) > all[at].0.offset
        {
            (all[before].1, all[at].1) = (true, true);
        }
        if furthest.is_none_or(|before| end(&all[at].0) > end(&all[before].0)) {
            furthest = Some(at);
        }
    }
    all
}
