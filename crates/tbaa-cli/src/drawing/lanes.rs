//! Turns an explanation into drawings: the fields on each access's path, and the bytes accessed.

use tbaa::explain::{AccessPath, ByteRange, Comparison, Explanation, Side};
use tbaa::{Field, Format, Graph, Size, Tag, TagId, TypeId, TypeKind};
use tbaa_ir::Names;

use super::{Drawing, Lane, Mark, Span};
use crate::input::Input;
use crate::printable::printable;
use crate::walk::{Next, WalkStep, brackets, elements, follow, type_name, walk};

/// The number of elements drawn of a long array. A [`Lane`] repeats a span at most `COPIES` times.
const ELEMENTS: u64 = 3;
const COPIES: usize = 12;
/// The approximate number of innermost nesting levels that are drawn. The outermost is drawn, too.
const LEVELS: usize = 5;

/// The name that the user gave, and the tag with this name.
type Named<'a> = (&'a str, TagId);

/// Returns the type from which both compared paths start.
pub(crate) fn common(comparison: &Comparison, [a, b]: &[Tag; 2]) -> TypeId {
    if comparison.outer == Side::A { a.base } else { b.base }
}

/// Returns the drawings for an explanation: one of an object that contains both accesses, or else
/// one for each access. Returns no drawing if a tag is malformed.
pub(crate) fn of_explanation(
    input: (&Input, &Names<'_>),
    why: &Explanation,
    [a, b]: [Named<'_>; 2],
) -> Vec<Drawing> {
    let graph = input.0.graph();
    let (Ok(tag_a), Ok(tag_b)) = (graph.tag(a.1), graph.tag(b.1)) else { return Vec::new() };
    if let Some(found) = &why.comparison {
        let base = common(found, &[tag_a, tag_b]);
        let mut build = LaneBuilder::new(input, base, true);
        let path = |path: &AccessPath| follow(graph, base, &path.steps);
        let ends = [path(&found.a), path(&found.b)].map(|places| build.fields(&places));
        for (mark, name, path, end) in
            [(Mark::A, a.0, &found.a, &ends[0]), (Mark::B, b.0, &found.b, &ends[1])]
        {
            match &path.bytes {
                Some(bytes) => build.footprint(mark, name, bytes),
                None => build.slot(mark, name, end),
            }
        }
        return vec![build.drawing];
    }
    let (a, b) = (Way::of(graph, Mark::A, a.0, tag_a), Way::of(graph, Mark::B, b.0, tag_b));
    match (a.then(&b), b.then(&a)) {
        (Some(b), _) => vec![draw(input, &[&a, &b])],
        (None, Some(a)) => vec![draw(input, &[&a, &b])],
        (None, None) => vec![draw(input, &[&a]), draw(input, &[&b])],
    }
}

/// The path of types from a tag's base type, or from a type that contains it, to the access type.
struct Way<'a> {
    mark: Mark,
    name: &'a str,
    places: Vec<WalkStep>,
    /// True if the path reaches the access type.
    meets: bool,
    /// The number of bytes accessed, if known.
    size: Option<u64>,
    base: TypeId,
    offset: u64,
}

impl<'a> Way<'a> {
    fn of(graph: &Graph, mark: Mark, name: &'a str, tag: Tag) -> Way<'a> {
        let mut places = walk(graph, tag.base, tag.offset);
        // End the path at the access type, or at the base type if the path does not reach it.
        let meets = places.iter().position(|place| place.ty == tag.access && place.offset == 0);
        places.truncate(meets.unwrap_or(0) + 1);
        let size = tag.size.and_then(Size::bytes);
        let (base, offset) = (tag.base, tag.offset);
        Way { mark, name, places, meets: meets.is_some(), size, base, offset }
    }

    /// Returns `other`'s path from the base type of `self`, if `self` reaches `other`'s base type.
    fn then(&self, other: &Way<'a>) -> Option<Way<'a>> {
        let at = self.places.iter().position(|place| place.ty == other.base)?;
        // The offset of `other`'s base type in the base type of `self`.
        let before = self.offset.checked_sub(self.places[at].offset)?;
        let places = self.places[..at].iter().chain(&other.places).copied().collect();
        let offset = before.checked_add(other.offset)?;
        Some(Way { places, base: self.base, offset, ..*other })
    }
}

/// Draws an object with the accesses whose paths start at its type.
fn draw(input: (&Input, &Names<'_>), ways: &[&Way<'_>]) -> Drawing {
    let mut build = LaneBuilder::new(input, ways[0].places[0].ty, false);
    let ends: Vec<Ends> = ways.iter().map(|way| build.fields(&way.places)).collect();
    for (way, mut ends) in ways.iter().zip(ends) {
        if !way.meets {
            ends = vec![(way.offset, None)];
        }
        if let Some(size) = way.size {
            ends.iter_mut().for_each(|(start, end)| *end = start.checked_add(size));
        }
        build.slot(way.mark, way.name, &ends);
    }
    build.drawing
}

/// Returns the fields of an aggregate, each with its end; `None` is the end of the aggregate. In
/// the old format, a field ends at the next offset. But if two fields share an offset and `reach`
/// is set, all fields extend to the aggregate's end, as by the rules `union` and `union-strict`.
fn slots(graph: &Graph, ty: TypeId, reach: bool) -> Vec<(Field, Option<u64>)> {
    let node = graph.ty(ty);
    if node.kind() != TypeKind::Aggregate {
        return Vec::new();
    }
    // A field whose type is a root occupies no bytes.
    let with_bytes = node.fields().filter(|field| graph.ty(field.ty).kind() != TypeKind::Root);
    let mut starts: Vec<u64> = with_bytes.map(|field| field.offset).collect();
    starts.sort_unstable();
    let overlaps = reach && starts.windows(2).any(|pair| pair[0] == pair[1]);
    let end = |field: &Field| match (field.extent, node.format()) {
        (Some(extent @ 1..), _) => field.offset.checked_add(extent),
        (_, Format::Old) if !overlaps => {
            starts.get(starts.partition_point(|&start| start <= field.offset)).copied()
        }
        _ => None,
    };
    node.fields().map(|field| (field, end(&field))).collect()
}

/// The objects at the end of a path: the start of each, and its end if known.
type Ends = Vec<(u64, Option<u64>)>;

struct LaneBuilder<'a> {
    input: &'a Input,
    names: &'a Names<'a>,
    graph: &'a Graph,
    drawing: Drawing,
    /// True if fields extend as far as the rules `union` and `union-strict` assume.
    reach: bool,
    /// The types whose fields are drawn already, with the objects they were drawn for.
    drawn: Vec<(TypeId, Ends)>,
}

impl<'a> LaneBuilder<'a> {
    fn new((input, names): (&'a Input, &'a Names<'a>), base: TypeId, reach: bool) -> Self {
        let graph = input.graph();
        let drawing = Drawing { base: type_name(names, base), lanes: Vec::new() };
        LaneBuilder { input, names, graph, drawing, reach, drawn: Vec::new() }
    }

    /// Draws the fields of the types on a path, and returns the objects at its end.
    fn fields(&mut self, places: &[WalkStep]) -> Ends {
        let size = places.first().and_then(|place| self.graph.ty(place.ty).size());
        let mut ends: Ends = vec![(0, size.filter(|&size| size != 0))];
        let levels = places.iter().filter(|place| matches!(place.next, Next::Field(_))).count();
        for (level, place) in places.iter().enumerate() {
            if level == 0 || level + LEVELS >= levels {
                self.level(place.ty, &ends);
            }
            let Next::Field(at) = place.next else { break };
            // The path of an access to a whole aggregate ends at the aggregate.
            if level + 1 == places.len() {
                break;
            }
            let slots = slots(self.graph, place.ty, self.reach);
            let Some((field, end)) = slots.get(at) else { break };
            ends = self.objects_in(&ends, field, *end);
        }
        ends
    }

    /// Returns at most `COPIES` objects of a field, inside the given objects.
    fn objects_in(&self, ends: &Ends, field: &Field, end: Option<u64>) -> Ends {
        let elements = elements(self.graph, field);
        let (stride, count) = elements.unwrap_or((0, Some(1)));
        let mut into = Vec::new();
        for &(start, limit) in ends {
            for element in 0..shown(count) {
                let begin = stride.checked_mul(element).and_then(|at| at.checked_add(field.offset));
                let Some(at) = begin.and_then(|at| start.checked_add(at)) else { break };
                into.push(match elements {
                    Some(_) => (at, at.checked_add(stride)),
                    None => (at, end.and_then(|end| start.checked_add(end)).or(limit)),
                });
            }
        }
        into.truncate(COPIES);
        into
    }

    /// Draws a type's fields in each object of `ends`. Overlapping fields get separate lanes.
    fn level(&mut self, ty: TypeId, ends: &Ends) {
        let key = (ty, ends.clone());
        if self.graph.ty(ty).kind() != TypeKind::Aggregate {
            // A scalar has no fields: draw one span with its name.
            if self.drawing.lanes.is_empty() {
                let label = type_name(self.names, ty);
                let span = Span { start: 0, end: ends[0].1, label: label.clone() };
                self.push(Mark::Fields, label, vec![span], String::new());
            }
            return;
        }
        if self.drawn.contains(&key) {
            return;
        }
        self.drawn.push(key);
        let lanes = side_by_side(self.graph, slots(self.graph, ty, false));
        for (number, fields) in lanes.into_iter().enumerate() {
            let mut spans = Vec::new();
            for &(start, limit) in ends {
                for &(at, field, end) in &fields {
                    let Some(begin) = start.checked_add(field.offset) else { continue };
                    let end = end.and_then(|end| start.checked_add(end)).or(limit);
                    spans.push(Span { start: begin, end, label: self.label(ty, at, &field) });
                }
            }
            let title = if number == 0 { type_name(self.names, ty) } else { String::new() };
            self.push(Mark::Fields, title, spans, String::new());
        }
    }

    /// Returns a field's name or else its type, with brackets for an array.
    fn label(&self, ty: TypeId, at: usize, field: &Field) -> String {
        let array = brackets(elements(self.graph, field).map(|(_, count)| count));
        match self.input.name_of_field(ty, at, field) {
            Some(name) => printable(name) + &array,
            None => type_name(self.names, field.ty) + &array,
        }
    }

    /// Draws the bytes of an access. Draws only the first elements of a long array.
    fn footprint(&mut self, mark: Mark, name: &str, bytes: &ByteRange) {
        let mut spans = vec![(bytes.start, bytes.end)];
        for repeat in &bytes.repeats {
            let count = shown(repeat.count);
            let copies = (0..count).flat_map(|element| {
                let by = repeat.stride.checked_mul(element);
                let shift = move |at: u64| by.and_then(|by| at.checked_add(by));
                spans.iter().filter_map(move |&(start, end)| {
                    Some((shift(start)?, end.map(shift).unwrap_or(None)))
                })
            });
            spans = copies.take(COPIES).collect();
        }
        spans.sort_unstable();
        let note = if bytes.repeats.is_empty() { String::new() } else { bytes.to_string() };
        self.mark(mark, name, &spans, note);
    }

    /// Draws an access to the objects at the end of its path.
    fn slot(&mut self, mark: Mark, name: &str, ends: &Ends) {
        self.mark(mark, name, ends, String::new());
    }

    fn mark(&mut self, mark: Mark, name: &str, ends: &Ends, note: String) {
        let side = if mark == Mark::A { "a" } else { "b" };
        let span = |&(start, end)| Span { start, end, label: String::new() };
        let spans = ends.iter().map(span).collect();
        self.push(mark, format!("{side}: {}", printable(name)), spans, note);
    }

    fn push(&mut self, mark: Mark, title: String, spans: Vec<Span>, note: String) {
        self.drawing.lanes.push(Lane { mark, title, spans, note });
    }
}

/// A field's index, the field, and its end offset if known.
type Slot = (usize, Field, Option<u64>);

/// Puts each field into the first lane whose last field ends at or before its offset.
fn side_by_side(graph: &Graph, slots: Vec<(Field, Option<u64>)>) -> Vec<Vec<Slot>> {
    let mut lanes: Vec<Vec<Slot>> = Vec::new();
    for (at, (field, end)) in slots.into_iter().enumerate() {
        // A field whose type is a root occupies no bytes.
        if graph.ty(field.ty).kind() == TypeKind::Root {
            continue;
        }
        let is_free = |lane: &&mut Vec<Slot>| {
            let filled = lane.last().and_then(|&(_, _, end)| end);
            filled.is_some_and(|filled| filled <= field.offset)
        };
        match lanes.iter_mut().find(is_free) {
            Some(lane) => lane.push((at, field, end)),
            None => lanes.push(vec![(at, field, end)]),
        }
    }
    lanes
}

/// Returns the number of elements to draw: all if at most `ELEMENTS + 1`, otherwise `ELEMENTS`.
fn shown(count: Option<u64>) -> u64 {
    count.filter(|&count| count <= ELEMENTS + 1).unwrap_or(ELEMENTS)
}
