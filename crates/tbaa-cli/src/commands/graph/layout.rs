//! Lays out boxes in layers from left to right. Layers are counted from the right. The layer of a
//! box is the length of the longest path from the box, or more if [`Size::left`] needs it.
//!
//! A layer that is too high becomes several columns. Columns that do not fit side by side continue
//! in another band below, as words continue in the next line.

use std::ops::Range;

use tbaa::petgraph::algo::kosaraju_scc;
use tbaa::petgraph::graph::DiGraph;

/// Space between two boxes of a column, in pixels.
const GAP_Y: usize = 14;
/// Space between two layers, in pixels.
const GAP_X: usize = 70;
/// Space between two columns of one layer, in pixels.
const GAP_COLUMN: usize = 24;
/// The width at which a large graph continues in another band, in pixels.
pub(super) const WIDTH: usize = 1570;
/// Space between two bands, in pixels.
const GAP_BAND: usize = 50;
/// The number of passes that sort the layers.
const SWEEPS: usize = 6;

/// Width and height of a box, in pixels.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) width: usize,
    pub(super) height: usize,
    /// True if the box must be left of the boxes for which this is false, or in a higher band.
    pub(super) left: bool,
}

pub(super) struct Layout {
    /// Left and upper edge of each box.
    pub(super) places: Vec<(usize, usize)>,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// Places all boxes. Columns beyond the width `most` continue in a band below. Edges lead from left
/// to right, except on a cycle or into another band.
pub(super) fn layout(sizes: &[Size], edges: &[(usize, usize)], most: usize) -> Layout {
    let (mut graph, mut near) = (DiGraph::new(), vec![Vec::new(); sizes.len()]);
    let nodes: Vec<_> = sizes.iter().map(|_| graph.add_node(())).collect();
    for &(from, to) in edges {
        graph.add_edge(nodes[from], nodes[to], ());
        near[from].push(to);
        near[to].push(from);
    }
    let mut layer_of = longest_ways(&graph, &vec![0; sizes.len()]);
    let is_right = |node: &usize| !sizes[*node].left;
    let right = (0..sizes.len()).filter(is_right).map(|node| layer_of[node] + 1).max();
    let least: Vec<usize> =
        sizes.iter().map(|size| if size.left { right.unwrap_or(0) } else { 0 }).collect();
    layer_of = longest_ways(&graph, &least);
    let count = layer_of.iter().max().map_or(0, |&most| most + 1);
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (node, &layer) in layer_of.iter().enumerate() {
        layers[layer].push(node);
    }
    order(&mut layers, &near);
    let found = place(&layers, sizes, &near, usize::MAX);
    if found.width <= most {
        return found;
    }
    // Boxes without edges and without `left` get a layer of their own, so that layer 0 is smaller.
    let is_alone = |node: &mut usize| near[*node].is_empty() && !sizes[*node].left;
    let alone = layers[0].extract_if(.., is_alone).collect();
    layers.insert(0, alone);
    layers.retain(|layer| !layer.is_empty());
    place(&layers, sizes, &near, most)
}

/// Returns the smallest length for each node that is at least the node's value in `least` and more
/// than the length of each successor. In a cycle, edges to nodes without a length yet are ignored.
fn longest_ways(graph: &DiGraph<(), ()>, least: &[usize]) -> Vec<usize> {
    let mut length: Vec<Option<usize>> = vec![None; least.len()];
    // The order is reverse topological: successors come first.
    for node in kosaraju_scc(graph).into_iter().flatten() {
        let ways = graph.neighbors(node).filter_map(|to| length[to.index()]);
        length[node.index()] = ways.map(|way| way + 1).max().max(Some(least[node.index()]));
    }
    length.into_iter().flatten().collect()
}

/// Sorts the nodes of each layer by the mean position of their neighbours.
fn order(layers: &mut [Vec<usize>], near: &[Vec<usize>]) {
    // Positions are fractions of a layer, because layers differ in length.
    let mut place = vec![0.0; near.len()];
    let fractions = |layer: &[usize], place: &mut Vec<f64>| {
        for (at, &node) in layer.iter().enumerate() {
            place[node] = (at as f64 + 0.5) / layer.len() as f64;
        }
    };
    layers.iter().for_each(|layer| fractions(layer, &mut place));
    for sweep in 0..SWEEPS {
        for at in 0..layers.len() {
            let at = if sweep % 2 == 0 { at } else { layers.len() - 1 - at };
            let layer = &mut layers[at];
            let mean = |node: usize| match near[node].len() {
                0 => place[node],
                len => near[node].iter().map(|&to| place[to]).sum::<f64>() / len as f64,
            };
            let mut keys: Vec<(f64, usize)> =
                layer.iter().map(|&node| (mean(node), node)).collect();
            keys.sort_by(|a, b| a.0.total_cmp(&b.0));
            *layer = keys.into_iter().map(|(_, node)| node).collect();
            fractions(layer, &mut place);
        }
    }
}

/// Places the layers, the last one leftmost, in bands. A band is at most `most` wide, or is one
/// column. The first column without `left` starts a new band, unless `most` is `usize::MAX`.
fn place(layers: &[Vec<usize>], sizes: &[Size], near: &[Vec<usize>], most: usize) -> Layout {
    let area: usize =
        sizes.iter().map(|size| (size.width + GAP_X / 2) * (size.height + GAP_Y)).sum();
    let high =
        |nodes: &[usize]| nodes.iter().map(|&node| sizes[node].height + GAP_Y).sum::<usize>();
    // Columns of this height fill about a square, unless there are few boxes.
    let target = ((area as f64).sqrt() as usize).max(600);
    let mut columns: Vec<(usize, Vec<usize>)> = Vec::new();
    for layer in layers.iter().rev() {
        let all = high(layer);
        let parts = if all > target * 4 / 3 { all.div_ceil(target) } else { 1 };
        let (share, mut filled) = (all.div_ceil(parts), 0);
        for (at, &node) in layer.iter().enumerate() {
            let height = sizes[node].height + GAP_Y;
            if at == 0 || filled + height > share + GAP_Y {
                columns.push((if at == 0 { GAP_X } else { GAP_COLUMN }, Vec::new()));
                filled = 0;
            }
            filled += height;
            columns.last_mut().expect("the first node opens one").1.push(node);
        }
    }
    let stack = |column: &[usize]| high(column) - GAP_Y;
    let widest = |column: &[usize]| column.iter().map(|&node| sizes[node].width).max().unwrap_or(0);
    // The first column of each band, and the band's height.
    let mut bands: Vec<(usize, usize)> = Vec::new();
    let mut starts = Vec::new();
    let (mut width, mut end, mut was_left) = (0, 0, true);
    for (at, (gap, column)) in columns.iter().enumerate() {
        let is_left = sizes[column[0]].left;
        let start = end + gap;
        let is_cut = start + widest(column) > most || most < usize::MAX && was_left && !is_left;
        was_left = is_left;
        let start = if at == 0 || is_cut { 0 } else { start };
        if start == 0 {
            bands.push((at, 0));
        }
        let band = bands.last_mut().expect("the first column opens one");
        band.1 = band.1.max(stack(column));
        starts.push(start);
        end = start + widest(column);
        width = width.max(end);
    }
    let (mut places, mut y) = (vec![(0, 0); sizes.len()], 0);
    let mut spans = Vec::new();
    for (at, &(first, height)) in bands.iter().enumerate() {
        let end = bands.get(at + 1).map_or(columns.len(), |next| next.0);
        for at in first..end {
            let column = &columns[at].1;
            spans.push(y..y + height);
            let mut top = y + (height - stack(column)) / 2;
            for &node in column {
                places[node] = (starts[at], top);
                top += sizes[node].height + GAP_Y;
            }
        }
        y += height + GAP_BAND;
    }
    let columns: Vec<_> = columns.iter().map(|(_, column)| column).zip(spans).collect();
    for (column, span) in columns.iter().rev().chain(&columns) {
        pull(column, sizes, near, &mut places, span);
    }
    Layout { places, width, height: y.saturating_sub(GAP_BAND) }
}

/// Moves the boxes of a column up or down towards their neighbours, as far as order and band allow.
fn pull(
    column: &[usize],
    sizes: &[Size],
    near: &[Vec<usize>],
    places: &mut [(usize, usize)],
    band: &Range<usize>,
) {
    let middle = |node: usize, places: &[(usize, usize)]| places[node].1 + sizes[node].height / 2;
    let mut free = band.start;
    let mut below: usize = column.iter().map(|&node| sizes[node].height + GAP_Y).sum();
    for &node in column {
        let wanted = match near[node].len() {
            0 => places[node].1,
            len => {
                let sum: usize = near[node].iter().map(|&to| middle(to, places)).sum();
                (sum / len).saturating_sub(sizes[node].height / 2)
            }
        };
        // Leave room for the boxes that follow.
        let last = (band.end + GAP_Y).saturating_sub(below);
        places[node].1 = wanted.min(last).max(free);
        free = places[node].1 + sizes[node].height + GAP_Y;
        below -= sizes[node].height + GAP_Y;
    }
}

#[cfg(test)]
mod tests {
    use super::{GAP_Y, Layout, Size, WIDTH, layout};

    fn boxes(count: usize) -> Vec<Size> {
        let size = |at| Size { width: 60 + at % 7 * 20, height: 20 + at % 5 * 30, left: at > 30 };
        (0..count).map(size).collect()
    }

    /// Asserts that no two boxes overlap or are too near, and that all are inside the picture.
    fn assert_apart(sizes: &[Size], Layout { places, width, height }: &Layout) {
        for (a, (&(x, y), size)) in places.iter().zip(sizes).enumerate() {
            assert!(x + size.width <= *width && y + size.height <= *height, "box {a}");
            for (b, (&(u, v), other)) in places.iter().zip(sizes).enumerate().skip(a + 1) {
                let apart = x + size.width <= u
                    || u + other.width <= x
                    || y + size.height + GAP_Y <= v
                    || v + other.height + GAP_Y <= y;
                assert!(apart, "boxes {a} and {b}");
            }
        }
    }

    #[test]
    fn boxes_stand_apart_and_edges_lead_right() {
        for count in [0, 1, 2, 40, 500] {
            let sizes = boxes(count);
            let edges: Vec<_> =
                (0..count).flat_map(|a| [(a, a / 2), (a, a / 3)]).filter(|(a, b)| a != b).collect();
            let found = layout(&sizes, &edges, usize::MAX);
            assert_apart(&sizes, &found);
            for (from, to) in edges {
                assert!(found.places[from].0 < found.places[to].0, "{from} to {to}");
            }
        }
    }

    #[test]
    fn a_cycle_and_a_long_chain_have_a_layout() {
        let sizes = boxes(3);
        assert_apart(&sizes, &layout(&sizes, &[(0, 1), (1, 2), (2, 0)], WIDTH));
        let sizes = boxes(20_000);
        let chain: Vec<_> = (1..20_000).map(|node| (node, node - 1)).collect();
        let found = layout(&sizes, &chain, WIDTH);
        assert!(found.width <= WIDTH && found.height > 20_000);
    }

    #[test]
    fn a_layer_of_many_is_broken_into_columns() {
        let sizes = boxes(400);
        let edges: Vec<_> = (1..400).map(|node| (node, 0)).collect();
        let found = layout(&sizes, &edges, usize::MAX);
        assert_apart(&sizes, &found);
        assert!(found.height < 3 * found.width, "{} by {}", found.width, found.height);
    }
}
