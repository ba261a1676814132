//! The definition of rules `union` and `union-strict`, evaluated by listing paths, elements and
//! byte ranges. It is slow, and shares no code with the library's oracle.

use super::universe::{Field, Tag, Universe};

/// Only array elements up to this offset in the array are listed: enough for random universes.
const HORIZON: u64 = 4_000;
const NO_END: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub struct Path {
    /// The field and the array element of each step.
    steps: Vec<(usize, u64)>,
    end: usize,
    /// The offset to which the path leads.
    displacement: u64,
    /// The offset to which the path would lead if each step entered element 0.
    collapsed: u64,
}

/// The number of bytes that an access touches.
#[derive(Clone, Copy)]
enum Size {
    /// The bytes up to the next field, for an old-format tag, which has no size.
    Slot,
    Bytes(u64),
    /// All bytes up to the end of the base type.
    Unknown,
}

#[derive(Clone, Copy)]
struct Access {
    tag: Tag,
    size: Size,
}

/// The answers of rules `union` and `union-strict`: true if two accesses may alias.
pub type Answers = [bool; 2];

/// Evaluates rules `union` and `union-strict` on one universe.
pub struct Naive<'u> {
    u: &'u Universe,
    /// The paths from each type.
    paths: Vec<Vec<Path>>,
}

impl<'u> Naive<'u> {
    pub fn new(u: &'u Universe) -> Self {
        let naive = Naive { u, paths: Vec::new() };
        let paths = (0..u.types.len()).map(|ty| naive.paths_from(ty, NO_END)).collect();
        Naive { paths, ..naive }
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

    /// Returns the fields of a type. In the old format a scalar's parent counts as a field, because
    /// the operands for a parent look like those for a field.
    fn fields(&self, ty: usize) -> Vec<Field> {
        let ty = &self.u.types[ty];
        match ty.parent {
            Some(parent) if !self.u.sized => vec![Field { ty: parent, offset: 0, extent: 0 }],
            _ => ty.fields.clone(),
        }
    }

    /// Returns the paths from a type that occupies `slot` bytes.
    fn paths_from(&self, ty: usize, slot: u64) -> Vec<Path> {
        let mut paths = vec![Path { steps: Vec::new(), end: ty, displacement: 0, collapsed: 0 }];
        for (number, field) in self.fields(ty).iter().enumerate() {
            let size = self.u.types[field.ty].size;
            let flexible = self.u.sized && field.extent == 0 && size != 0;
            let extent = match flexible {
                true if slot == NO_END || slot <= field.offset => NO_END,
                true => slot - field.offset,
                false => field.extent,
            };
            let array = self.u.sized && size != 0 && (flexible || extent > size);
            for element in 0.. {
                let begin = element * size;
                if element > 0 && (!array || begin >= extent || begin > HORIZON) {
                    break;
                }
                let slot = if array { size } else { extent };
                for below in self.paths_from(field.ty, slot) {
                    paths.push(Path {
                        steps: [&[(number, element)], &below.steps[..]].concat(),
                        end: below.end,
                        displacement: field.offset + begin + below.displacement,
                        collapsed: field.offset + below.collapsed,
                    });
                }
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
        let ends: Vec<&Path> = paths.iter().filter(ends).collect();
        let at = |offset_of: fn(&Path) -> u64| {
            ends.iter().copied().filter(|path| offset_of(path) == tag.offset).collect()
        };
        let collapsed: Vec<&Path> = at(|path| path.collapsed);
        if !self.u.sized || !collapsed.is_empty() {
            collapsed
        } else {
            at(|path| path.displacement)
        }
    }

    /// Returns the displacement of each path that a tag denotes.
    pub fn displacements(&self, tag: &Tag) -> Vec<u64> {
        self.denoted(tag).iter().map(|path| path.displacement).collect()
    }

    /// Returns the displacement of each path from one type to another.
    pub fn places_of(&self, base: usize, access: usize) -> Vec<u64> {
        let paths = self.paths[base].iter().filter(|path| path.end == access);
        paths.map(|path| path.displacement).collect()
    }

    pub fn denotes(&self, tag: &Tag) -> bool {
        !self.denoted(tag).is_empty()
    }

    /// Returns the end of a size-aware type: the largest of its size, the ends of its fields and of
    /// their contents, and the end of its parent.
    pub fn end(&self, ty: usize) -> u64 {
        let of_type = &self.u.types[ty];
        let of_fields = (0..of_type.fields.len()).map(|field| self.slot(ty, field).1);
        let parent = of_type.parent.map(|parent| self.end(parent));
        of_fields.chain(parent).fold(of_type.size, u64::max)
    }

    /// Returns the start of a field, and the end of the field and its contents.
    fn slot(&self, ty: usize, field: usize) -> (u64, u64) {
        let Field { ty, offset, extent } = self.u.types[ty].fields[field];
        let size = self.u.types[ty].size;
        if size != 0 && extent == 0 {
            return (offset, NO_END);
        }
        let last = (extent.max(1) - 1).checked_div(size).map_or(0, |last| last * size);
        let inside = self.end(ty).saturating_add(last);
        (offset, extent.max(inside).saturating_add(offset))
    }

    /// Returns the declared bytes of a field, or of an element of an array field.
    fn declared(&self, ty: usize, (field, element): (usize, u64)) -> (u64, u64) {
        let Field { ty, offset, extent } = self.fields(ty)[field];
        let size = self.u.types[ty].size;
        let end = if extent == 0 && size != 0 { NO_END } else { offset + extent };
        match size != 0 && (extent == 0 || extent > size) {
            true => (offset + element * size, end.min(offset + (element + 1) * size)),
            false => (offset, end),
        }
    }

    /// Returns whether a size-aware access of known size exceeds the base type on every path.
    fn leaves(&self, access: &Access) -> bool {
        let Size::Bytes(size) = access.size else { return false };
        let end = self.end(access.tag.base);
        let leaves = |path: &&Path| path.displacement.saturating_add(size) > end;
        self.u.sized && self.denoted(&access.tag).iter().all(leaves)
    }

    /// Returns the bytes that an access touches on a path, as offsets in the base type.
    fn bytes(&self, access: &Access, path: &Path) -> (u64, u64) {
        let end = self.end(access.tag.base);
        let size = if let Size::Bytes(size) = access.size { size } else { NO_END };
        (path.displacement, path.displacement.saturating_add(size).min(end))
    }

    /// Returns the most combinations of paths that `alias` compares. There are billions if flexible
    /// arrays contain flexible arrays.
    pub fn comparisons(&self, a: &Tag, b: &Tag) -> usize {
        let objects = self.paths[a.base].len() + self.paths[b.base].len();
        objects.saturating_mul(self.denoted(a).len()).saturating_mul(self.denoted(b).len())
    }

    /// Returns the answers on two tags.
    pub fn alias(&self, a: &Tag, b: &Tag) -> Answers {
        self.alias_sized((a, None), (b, None))
    }

    /// Returns the answers on two tags, each with a size in place of its own if one is given.
    pub fn alias_sized(&self, a: (&Tag, Option<u64>), b: (&Tag, Option<u64>)) -> Answers {
        let [x, y] = [a, b].map(|(tag, size)| Access {
            tag: *tag,
            size: match size.or(self.u.sized.then_some(tag.size)) {
                None => Size::Slot,
                Some(0 | u64::MAX) => Size::Unknown,
                Some(size) => Size::Bytes(size),
            },
        });
        let covers =
            |a: Tag, b: Tag| a.base == a.access && self.ancestors(b.access).contains(&a.access);
        let unknown = |access: &Access| !self.denotes(&access.tag) || self.leaves(access);
        if self.root(x.tag.access) != self.root(y.tag.access)
            || covers(x.tag, y.tag)
            || covers(y.tag, x.tag)
            || unknown(&x)
            || unknown(&y)
        {
            return [true; 2];
        }
        let (one, other) = (self.overlap(&x, &y), self.overlap(&y, &x));
        [one[0] || other[0], one[1] || other[1]]
    }

    fn overlap(&self, a: &Access, b: &Access) -> Answers {
        let [mut union, mut strict] = [false; 2];
        let (of_a, of_b) = (self.denoted(&a.tag), self.denoted(&b.tag));
        let whole = b.tag.base == b.tag.access;
        let holds = |ty| ty == b.tag.base || whole && self.ancestors(ty).contains(&b.tag.base);
        for q in self.paths[a.tag.base].iter().filter(|path| holds(path.end)) {
            for p in &of_a {
                let along = !self.part_at_union(a.tag.base, p, q);
                if union && (strict || !along) {
                    continue;
                }
                if of_b.iter().any(|r| self.share(a, b, p, q, r)) {
                    union = true;
                    strict |= along;
                }
            }
        }
        [union, strict]
    }

    /// Returns whether the fields or elements at which two paths first differ share a byte; in the
    /// old format, whether they are two fields of a type for which `is_overlapping` is true.
    fn part_at_union(&self, mut ty: usize, p: &Path, q: &Path) -> bool {
        for (&ours, &theirs) in p.steps.iter().zip(&q.steps) {
            if ours == theirs {
                ty = self.fields(ty)[ours.0].ty;
                continue;
            }
            let (x, y) = (self.declared(ty, ours), self.declared(ty, theirs));
            return match self.u.sized {
                true => x.0.max(y.0) < x.1.min(y.1),
                false => ours.0 != theirs.0 && self.is_overlapping(ty),
            };
        }
        false
    }

    /// Returns whether two fields of an old-format type have the same offset.
    fn is_overlapping(&self, ty: usize) -> bool {
        let fields = self.fields(ty);
        let offset = |field: usize| fields[field].offset;
        (0..fields.len()).any(|i| (0..i).any(|j| offset(i) == offset(j)))
    }

    fn share(&self, a: &Access, b: &Access, p: &Path, q: &Path, r: &Path) -> bool {
        if self.u.sized {
            let (from, to) = self.bytes(a, p);
            let (r_from, r_to) = self.bytes(b, r);
            let at = q.displacement;
            let r_to = if r_to == NO_END { NO_END } else { r_to + at };
            return from.max(r_from + at) < to.min(r_to);
        }
        let other: Vec<_> = q.steps.iter().chain(&r.steps).map(|step| step.0).collect();
        let mut ty = a.tag.base;
        for (number, (step, &other_step)) in p.steps.iter().zip(&other).enumerate() {
            let fields = self.fields(ty);
            if step.0 == other_step {
                ty = fields[step.0].ty;
                continue;
            }
            let ours: Vec<_> = p.steps[number..].iter().map(|step| step.0).collect();
            let slot = |access, steps: &[usize]| self.inferred_slot(ty, steps, access);
            let (x, y) = (slot(a, &ours), slot(b, &other[number..]));
            return x.0.max(y.0) < x.1.min(y.1);
        }
        true
    }

    /// Returns the slot (the bytes up to the next field) of the first field of `steps`, in an
    /// old-format type, enlarged if the access extends past the slot. The slot has no end if the
    /// field is the last, or if two fields of the type have the same offset.
    fn inferred_slot(&self, ty: usize, steps: &[usize], access: &Access) -> (u64, u64) {
        let fields = self.fields(ty);
        let from = fields[steps[0]].offset;
        let next = fields.get(steps[0] + 1).map(|field| field.offset);
        let end = if self.is_overlapping(ty) { NO_END } else { next.unwrap_or(NO_END) };
        let (mut at, mut start) = (ty, 0);
        for &step in steps {
            let field = &self.fields(at)[step];
            start += field.offset;
            at = field.ty;
        }
        // Elements have no known size: the access may begin at any byte up to the next field.
        let last = next.map_or(start, |next| start.max(next.saturating_sub(1)));
        let reached = match access.size {
            Size::Slot => 0,
            Size::Bytes(size) => last + size,
            Size::Unknown => NO_END,
        };
        (from, end.max(reached))
    }
}
