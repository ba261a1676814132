//! Lists small graphs: a root and a few types, with tags for all pairs of types. Of graphs that
//! differ only in the order of types, at most one is listed.

use super::setting;
use super::universe::Universe;

/// A type as numbers: its parent, its size, and each field's type and offset. Type 0 is the root.
pub type Shape = (usize, u64, Vec<(usize, u64)>);

const OFFSETS: [u64; 3] = [0, 4, 8];
const SIZES: [u64; 3] = [1, 4, 8];

/// Returns all lists of one to three fields. The types are 1 to `types`; offsets do not decrease.
pub fn field_lists(types: usize) -> Vec<Vec<(usize, u64)>> {
    let mut all = vec![Vec::new()];
    let mut longest: Vec<Vec<(usize, u64)>> = vec![Vec::new()];
    for _ in 0..3 {
        let longer = longest.iter().flat_map(|list: &Vec<(usize, u64)>| {
            let from = list.last().map_or(0, |field| field.1);
            let fields = OFFSETS.into_iter().filter(move |&offset| offset >= from);
            let fields = fields.flat_map(move |offset| (1..=types).map(move |ty| (ty, offset)));
            fields.map(move |field| [&list[..], &[field]].concat())
        });
        longest = longer.collect();
        all.extend(longest.iter().cloned());
    }
    all.split_off(1)
}

/// Returns the types that may be added after the types `before`.
fn next(before: &[Shape], sized: bool) -> Vec<Shape> {
    let sizes: &[u64] = if sized { &SIZES } else { &[4] };
    let is_scalar = |ty: usize| ty == 0 || before[ty - 1].2.is_empty();
    let parents: Vec<usize> = (0..=before.len()).filter(|&ty| is_scalar(ty)).collect();
    let sized_as = |ty: usize, fields: &Vec<(usize, u64)>| {
        sizes.iter().map(|&size| (ty, size, fields.clone())).collect::<Vec<_>>()
    };
    let scalars = parents.iter().flat_map(|&up| sized_as(up, &Vec::new()));
    let lists = if before.is_empty() { Vec::new() } else { field_lists(before.len()) };
    let aggregates = lists.iter().flat_map(|fields| sized_as(0, fields));
    scalars.chain(aggregates).collect()
}

/// Returns the same types in another order; `None` if a type would precede one that it uses.
fn renumbered(shapes: &[Shape], order: &[usize]) -> Option<Vec<Shape>> {
    let mut place = vec![0; shapes.len() + 1];
    order.iter().enumerate().for_each(|(at, &ty)| place[ty + 1] = at + 1);
    let mut all = Vec::new();
    for (at, &ty) in order.iter().enumerate() {
        let (up, size, fields) = &shapes[ty];
        let fields: Vec<_> = fields.iter().map(|&(of, offset)| (place[of], offset)).collect();
        if place[*up] > at || fields.iter().any(|&(of, _)| of > at) {
            return None;
        }
        all.push((place[*up], *size, fields));
    }
    Some(all)
}

pub fn orders(len: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for ty in 0..len {
        let insert = |order: &Vec<usize>| {
            let insert_at = |at: usize| [&order[..at], &[ty], &order[at..]].concat();
            (0..=order.len()).map(insert_at).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(insert).collect();
    }
    all
}

/// Lists graphs of `types` types, and takes every `step`th from index `from` on. Leaves out a taken
/// graph if another order of its types gives a lesser `Vec<Shape>`.
pub fn graphs(types: usize, sized: bool, step: usize, from: usize) -> Vec<Vec<Shape>> {
    let mut all: Vec<Vec<Shape>> = vec![Vec::new()];
    for len in 1..=types {
        // A graph that is least among the orders of its types is also least without its last type.
        let longer = all.iter().flat_map(|before| {
            next(before, sized).into_iter().map(|shape| [&before[..], &[shape]].concat())
        });
        let (step, from) = if len == types { (step, from) } else { (1, 0) };
        let orders = orders(len);
        let is_least = |shapes: &Vec<Shape>| {
            let mut others = orders.iter().filter_map(|order| renumbered(shapes, order));
            others.all(|other| other >= *shapes)
        };
        all = longer.skip(from).step_by(step).filter(is_least).collect();
    }
    all
}

pub fn universe(shapes: &[Shape], sized: bool) -> Universe {
    let mut u = Universe::new(sized);
    u.root("R");
    for (at, (up, size, fields)) in shapes.iter().enumerate() {
        let name = format!("t{at}");
        let fields: Vec<_> =
            fields.iter().map(|&(ty, offset)| (ty, offset, u.types[ty].size)).collect();
        if fields.is_empty() {
            u.scalar(&name, *up, *size);
        } else {
            u.aggregate(&name, 0, *size, &fields);
        }
    }
    let sizes: &[u64] = if sized { &SIZES } else { &[0] };
    for (base, access) in (1..=shapes.len()).flat_map(|b| (1..=shapes.len()).map(move |a| (b, a))) {
        // All sums of two field offsets, and 2, which is no such sum.
        for offset in [0, 4, 8, 12, 16, 2] {
            sizes.iter().for_each(|&size| _ = u.tag(base, access, offset, size));
        }
    }
    u
}

/// Returns [`graphs`] from index 0 on. The environment variables `TBAA_SMALL` and `TBAA_SMALL_FROM`
/// replace `step` and the index.
pub fn share(types: usize, sized: bool, step: usize) -> Vec<Vec<Shape>> {
    graphs(types, sized, setting("TBAA_SMALL", step), setting("TBAA_SMALL_FROM", 0))
}
