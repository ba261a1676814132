//! Stores which classes (sets of tags) may alias, and the number of tags in each class.
//!
//! A class's row lists the classes that it may alias. The row is a list or, if smaller, a bit set.

use tbaa::parts::ones;

/// The members (classes) that one member is related to, including itself.
#[derive(Clone, Debug)]
enum Row {
    /// The related members, in ascending order.
    Few(Vec<u32>),
    /// One bit for each member, set if that member is related.
    Many(Vec<u64>),
}

impl Row {
    /// Returns an empty row for `related` members out of `len`.
    fn new(len: usize, related: usize) -> Row {
        match Row::is_long(len, related) {
            true => Row::Many(vec![0; len.div_ceil(64)]),
            false => Row::Few(Vec::with_capacity(related)),
        }
    }

    fn add(&mut self, member: usize) {
        match self {
            Row::Few(list) => list.push(member as u32),
            Row::Many(bits) => bits[member / 64] |= 1 << (member % 64),
        }
    }

    /// Returns whether a list would take more memory than a bit set.
    fn is_long(len: usize, related: usize) -> bool {
        related > len.div_ceil(64) * 2
    }

    /// Returns the cost of iterating over the row: the number of list elements or bit set words.
    fn cost(&self) -> usize {
        match self {
            Row::Few(list) => list.len(),
            Row::Many(bits) => bits.len(),
        }
    }

    fn has(&self, member: usize) -> bool {
        match self {
            Row::Few(list) => list.binary_search(&(member as u32)).is_ok(),
            Row::Many(bits) => bits[member / 64] >> (member % 64) & 1 != 0,
        }
    }
}

/// A symmetric and reflexive relation on members, which are the numbers below `len`.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    rows: Vec<Row>,
    /// The number of tags in each class, at least 1.
    pub(super) sizes: Vec<u64>,
}

impl Relation {
    /// Returns the relation with the pairs that `each` passes to its callback. `each` must pass
    /// each pair only once. `counts` has the number of pairs that contain each member.
    pub(super) fn new(
        sizes: Vec<u64>,
        counts: &[usize],
        each: impl FnOnce(&mut dyn FnMut(usize, usize)),
    ) -> Relation {
        let len = sizes.len();
        let mut rows: Vec<Row> = counts.iter().map(|&count| Row::new(len, 1 + count)).collect();
        rows.iter_mut().enumerate().for_each(|(at, row)| row.add(at));
        each(&mut |a, b| {
            rows[a].add(b);
            rows[b].add(a);
        });
        for row in &mut rows {
            if let Row::Few(list) = row {
                list.sort_unstable();
            }
        }
        Relation { rows, sizes }
    }

    /// Returns the number of bytes of a row for a member in `pairs` pairs, out of `len` members.
    pub(super) fn bytes(len: usize, pairs: usize) -> usize {
        if Row::is_long(len, 1 + pairs) { len.div_ceil(64) * 8 } else { (1 + pairs) * 4 }
    }

    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    pub(super) fn related(&self, a: usize, b: usize) -> bool {
        let (row, other) = (&self.rows[a], &self.rows[b]);
        if row.cost() <= other.cost() { row.has(b) } else { other.has(a) }
    }

    /// Returns the members related to `member`, including itself, in ascending order.
    pub(super) fn near(&self, member: usize) -> impl Iterator<Item = usize> + '_ {
        self.near_of(member, &[])
    }

    /// Returns members related to `member`: all of them if `set` is empty, and otherwise at least
    /// those in `set`. Iterates over the row or `set`, whichever is shorter.
    pub(super) fn near_of<'r>(
        &'r self,
        member: usize,
        set: &'r [u32],
    ) -> impl Iterator<Item = usize> + 'r {
        let row = &self.rows[member];
        let set = if row.cost() < set.len() { &[][..] } else { set };
        let (list, bits) = match row {
            _ if !set.is_empty() => (&[][..], &[][..]),
            Row::Few(list) => (&list[..], &[][..]),
            Row::Many(bits) => (&[][..], &bits[..]),
        };
        let chosen = set.iter().filter(|&&at| row.has(at as usize));
        chosen.chain(list).map(|&at| at as usize).chain(ones(bits.iter().copied()))
    }

    pub(super) fn size_of(&self, members: &[u32]) -> u64 {
        members.iter().fold(0, |sum: u64, &at| sum.saturating_add(self.sizes[at as usize]))
    }
}

/// Finds the connected parts of a set of members.
pub(super) struct Parts<'r> {
    relation: &'r Relation,
    /// Equals `sets`, the current set's number, for each of its members that is in no part yet.
    left: Vec<u32>,
    sets: u32,
}

impl<'r> Parts<'r> {
    pub(super) fn new(relation: &'r Relation) -> Parts<'r> {
        Parts { relation, left: vec![0; relation.len()], sets: 0 }
    }

    /// Returns the connected parts of a set, each in ascending order.
    pub(super) fn of(&mut self, set: &[u32]) -> Vec<Vec<u32>> {
        self.sets = self.sets.checked_add(1).unwrap_or_else(|| {
            self.left.fill(0);
            1
        });
        set.iter().for_each(|&at| self.left[at as usize] = self.sets);
        let (mut parts, mut left_over) = (Vec::new(), set.len());
        for &seed in set {
            if std::mem::take(&mut self.left[seed as usize]) != self.sets {
                continue;
            }
            left_over -= 1;
            let mut part = vec![seed];
            let mut next = 0;
            while next < part.len() && left_over > 0 {
                for at in self.relation.near_of(part[next] as usize, set) {
                    if self.left[at] == self.sets {
                        self.left[at] = 0;
                        left_over -= 1;
                        part.push(at as u32);
                    }
                }
                next += 1;
            }
            part.sort_unstable();
            parts.push(part);
        }
        parts
    }
}
