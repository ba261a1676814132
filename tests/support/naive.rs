//! The definition of rules `union` and `union-strict`, evaluated by listing
//! paths, elements and byte ranges. Slow, and shares no code with the engine.

use super::universe::{Field, Tag, Universe};

/// Array elements further from the start than this are not listed: every pair
/// of element sizes in a universe has repeated itself by then.
const HORIZON: u64 = 4_000;
const NO_END: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub struct Path {
    /// Field and element of each step.
    steps: Vec<(usize, u64)>,
    end: usize,
    displacement: u64,
    collapsed: u64,
    /// Where the innermost array ends.
    array_end: Option<u64>,
    /// Where the slot of the last field ends.
    slot_end: Option<u64>,
}

/// What the definition says of one pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    pub union: bool,
    pub strict: bool,
}

fn both(may: bool) -> Answer {
    Answer { union: may, strict: may }
}

/// The naive rules over one universe.
pub struct Naive<'u> {
    u: &'u Universe,
    /// All paths from each type as the base of a tag.
    paths: Vec<Vec<Path>>,
}

impl<'u> Naive<'u> {
    pub fn new(u: &'u Universe) -> Self {
        let mut naive = Naive { u, paths: Vec::new() };
        naive.paths = (0..u.types.len()).map(|ty| naive.paths_from(ty, NO_END)).collect();
        naive
    }

    fn ancestors(&self, ty: usize) -> Vec<usize> {
        let mut list = vec![ty];
        while let Some(up) = self.u.types[*list.last().unwrap()].parent {
            list.push(up);
        }
        list
    }

    fn root(&self, ty: usize) -> usize {
        let top = *self.ancestors(ty).last().unwrap();
        match self.u.types[top].fields.first() {
            Some(field) if !self.u.types[top].root => self.root(field.ty),
            _ => top,
        }
    }

    /// The fields of a type. In the old format a scalar's parent counts as
    /// one: nothing tells it from a struct's.
    fn fields(&self, ty: usize) -> Vec<Field> {
        let ty = &self.u.types[ty];
        match ty.parent {
            Some(parent) if !self.u.sized => vec![Field { ty: parent, offset: 0, extent: 0 }],
            _ => ty.fields.clone(),
        }
    }

    /// All paths from a type that has `slot` bytes to itself.
    fn paths_from(&self, ty: usize, slot: u64) -> Vec<Path> {
        let mut paths = vec![Path {
            steps: Vec::new(),
            end: ty,
            displacement: 0,
            collapsed: 0,
            array_end: None,
            slot_end: None,
        }];
        for (number, field) in self.fields(ty).iter().enumerate() {
            let size = self.u.types[field.ty].size;
            let flexible = self.u.sized && field.extent == 0 && size != 0;
            let extent = match flexible {
                true if slot == NO_END || slot <= field.offset => NO_END,
                true => slot - field.offset,
                false => field.extent,
            };
            let array = self.u.sized && size != 0 && (flexible || extent > size);
            let mut element = 0;
            loop {
                let begin = element * size;
                if element > 0 && (!array || begin >= extent || begin > HORIZON) {
                    break;
                }
                let end_of_field = field.offset.saturating_add(extent);
                let slot = if array { size } else { extent };
                for below in self.paths_from(field.ty, slot) {
                    let start = field.offset + begin;
                    let mut steps = vec![(number, element)];
                    steps.extend(&below.steps);
                    let last = below.steps.is_empty();
                    let moved = |end: u64| end.saturating_add(start);
                    let slot_end = match below.slot_end {
                        Some(end) => moved(end),
                        None if size == 0 => field.offset,
                        None => end_of_field,
                    };
                    let array_end = below.array_end.map(moved).or(array.then_some(end_of_field));
                    debug_assert_eq!(last, below.slot_end.is_none());
                    paths.push(Path {
                        steps,
                        end: below.end,
                        displacement: start + below.displacement,
                        collapsed: field.offset + below.collapsed,
                        array_end,
                        slot_end: Some(slot_end),
                    });
                }
                element += 1;
            }
        }
        paths
    }

    fn denoted(&self, tag: &Tag) -> Vec<&Path> {
        let paths = &self.paths[tag.base];
        if tag.base == tag.access {
            return paths.iter().filter(|p| p.steps.is_empty() && tag.offset == 0).collect();
        }
        let ends = |path: &&Path| {
            path.end == tag.access
                || !self.u.sized && self.ancestors(path.end).contains(&tag.access)
        };
        let folded: Vec<&Path> =
            paths.iter().filter(ends).filter(|path| path.collapsed == tag.offset).collect();
        if !folded.is_empty() || !self.u.sized {
            return folded;
        }
        paths.iter().filter(ends).filter(|path| path.displacement == tag.offset).collect()
    }

    pub fn denotes(&self, tag: &Tag) -> bool {
        !self.denoted(tag).is_empty()
    }

    fn known_size(tag: &Tag) -> Option<u64> {
        (tag.size != 0 && tag.size != u64::MAX).then_some(tag.size)
    }

    /// The bytes of a denoted path, from the base type's start.
    fn bytes(&self, tag: &Tag, path: &Path) -> (u64, u64) {
        let end = match (Self::known_size(tag), path.slot_end) {
            (Some(size), _) => path.displacement.saturating_add(size),
            (None, Some(slot_end)) => slot_end,
            (None, None) => self.u.types[tag.access].size,
        };
        (path.displacement, end.min(path.array_end.unwrap_or(NO_END)))
    }

    /// How many paths `alias` compares at most: with arrays inside arrays without
    /// end they are billions.
    pub fn comparisons(&self, a: &Tag, b: &Tag) -> usize {
        let objects = self.paths[a.base].len() + self.paths[b.base].len();
        objects.saturating_mul(self.denoted(a).len()).saturating_mul(self.denoted(b).len())
    }

    pub fn alias(&self, a: &Tag, b: &Tag) -> Answer {
        let covers =
            |a: &Tag, b: &Tag| a.base == a.access && self.ancestors(b.access).contains(&a.access);
        if self.root(a.access) != self.root(b.access) || covers(a, b) || covers(b, a) {
            return both(true);
        }
        if self.denoted(a).is_empty() || self.denoted(b).is_empty() {
            return both(true);
        }
        let (one, other) = (self.overlap(a, b), self.overlap(b, a));
        Answer { union: one.union || other.union, strict: one.strict || other.strict }
    }

    fn overlap(&self, a: &Tag, b: &Tag) -> Answer {
        let mut answer = both(false);
        let (of_a, of_b) = (self.denoted(a), self.denoted(b));
        for q in &self.paths[a.base] {
            let object =
                q.end == b.base || b.base == b.access && self.ancestors(q.end).contains(&b.base);
            if !object {
                continue;
            }
            for p in &of_a {
                let along = p.steps.iter().zip(&q.steps).all(|(p, q)| p.0 == q.0);
                if answer.union && (answer.strict || !along) {
                    continue;
                }
                for r in &of_b {
                    if self.share(a, b, p, q, r) {
                        answer.union = true;
                        answer.strict |= along;
                    }
                }
            }
        }
        answer
    }

    fn share(&self, a: &Tag, b: &Tag, p: &Path, q: &Path, r: &Path) -> bool {
        if self.u.sized {
            let (from, to) = self.bytes(a, p);
            let (r_from, r_to) = self.bytes(b, r);
            let at = q.displacement;
            let r_to = if r_to == NO_END { NO_END } else { r_to + at };
            return from.max(r_from + at) < to.min(r_to);
        }
        let other: Vec<_> = q.steps.iter().chain(&r.steps).map(|step| step.0).collect();
        let mut ty = a.base;
        for (number, (step, &other_step)) in p.steps.iter().zip(&other).enumerate() {
            let fields = self.fields(ty);
            if step.0 == other_step {
                ty = fields[step.0].ty;
                continue;
            }
            let ours: Vec<_> = p.steps[number..].iter().map(|step| step.0).collect();
            let slot = |tag, steps: &[usize]| self.slot(ty, steps, Self::known_size(tag));
            let (x, y) = (slot(a, &ours), slot(b, &other[number..]));
            return x.0.max(y.0) < x.1.min(y.1);
        }
        true
    }

    /// The slot of the first of `steps` from an old-format type, which an
    /// access known to reach past it extends. The end of an overlapping
    /// aggregate, and of any last field, is taken to lie after all fields.
    fn slot(&self, ty: usize, steps: &[usize], size: Option<u64>) -> (u64, u64) {
        let fields = self.fields(ty);
        let overlapping = fields
            .iter()
            .enumerate()
            .any(|(i, x)| fields[..i].iter().any(|y| x.offset == y.offset));
        let from = fields[steps[0]].offset;
        let next = fields.get(steps[0] + 1).map(|field| field.offset);
        let end = if overlapping { NO_END } else { next.unwrap_or(NO_END) };
        let (mut at, mut start) = (ty, 0);
        for &step in steps {
            let field = &self.fields(at)[step];
            start += field.offset;
            at = field.ty;
        }
        (from, end.max(size.map_or(0, |size| start + size)))
    }
}
