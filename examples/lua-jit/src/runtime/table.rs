//! Tables: an array for the keys from 1 on, and a hash of linked nodes, as Lua has them.

use bumpalo::Bump;

use super::layout::{Node, NodeKey, TKey, TValue, Table, Value, tag};
use super::number;
use super::state::grow;

/// The most elements of an array part.
const MOST: u32 = 1 << 28;

/// The node of all tables without a hash part; nobody writes to it.
struct Dummy(Node);
// SAFETY: it is never written.
unsafe impl Sync for Dummy {}
static DUMMY: Dummy = Dummy(EMPTY);

const EMPTY: Node = Node {
    i_val: TValue::NIL,
    i_key: TKey { nk: NodeKey { value: Value { i: 0 }, tt: tag::NIL, next: 0 } },
};

/// What a table without nodes points to.
pub(crate) fn no_nodes() -> *mut Node {
    (&raw const DUMMY.0).cast_mut()
}

/// A float with an integer's value is that integer as a key.
pub(crate) fn normal(key: TValue) -> TValue {
    match key.as_number().and_then(number::exact_integer) {
        Some(i) => TValue::integer(i),
        None => key,
    }
}

fn hash(value: Value, tt: u16) -> u64 {
    // SAFETY: the tag says which member was written.
    unsafe {
        match tt {
            tag::STRING => u64::from((*value.s).hash),
            tag::BOOLEAN => value.b as u64,
            tag::INTEGER => value.i as u64,
            tag::NUMBER => value.n.to_bits() >> 17 ^ value.n.to_bits() >> 50,
            _ => value.gc as u64 >> 4,
        }
    }
}

fn same(key: &NodeKey, other: &TValue) -> bool {
    // SAFETY: the tag says which member was written.
    key.tt == other.tt
        && unsafe {
            match key.tt {
                tag::NIL => true,
                tag::BOOLEAN => key.value.b == other.value.b,
                tag::NUMBER => key.value.n == other.value.n,
                _ => key.value.i == other.value.i,
            }
        }
}

impl Table {
    fn node_count(&self) -> usize {
        if std::ptr::eq(self.node, no_nodes()) { 0 } else { 1 << self.lsizenode }
    }

    fn main_position(&self, value: Value, tt: u16) -> *mut Node {
        let mask = (1u64 << self.lsizenode) - 1;
        // SAFETY: the hash is masked to the number of nodes.
        unsafe { self.node.add((hash(value, tt) & mask) as usize) }
    }

    /// Where the value of a normal key is.
    pub(crate) fn find(&self, key: &TValue) -> Option<*mut TValue> {
        if let Some(i) = key.as_integer().filter(|&i| i >= 1 && i as u64 <= self.sizearray.into()) {
            // SAFETY: the index is inside the array.
            return Some(unsafe { self.array.add(i as usize - 1) });
        }
        let mut node = self.main_position(key.value, key.tt);
        // SAFETY: links lead to nodes of the same table.
        unsafe {
            loop {
                if (*node).i_key.nk.tt != tag::NIL && same(&(*node).i_key.nk, key) {
                    return Some(&raw mut (*node).i_val);
                }
                match (*node).i_key.nk.next {
                    0 => return None,
                    next => node = node.offset(next as isize),
                }
            }
        }
    }

    /// The value of a normal key.
    pub(crate) fn get(&self, key: &TValue) -> TValue {
        // SAFETY: `find` leads into the table.
        self.find(key).map_or(TValue::NIL, |at| unsafe { *at })
    }

    /// Sets the value of a key that is normal, and neither nil nor NaN. `false`
    /// if the table would be too large.
    pub(crate) fn set(&mut self, memory: &Bump, key: TValue, value: TValue) -> bool {
        // SAFETY: `find` leads into the table, and nodes are the table's own.
        unsafe {
            if let Some(at) = self.find(&key) {
                *at = value;
                return true;
            }
            if value.tt == tag::NIL {
                return true;
            }
            if key.as_integer() == Some(i64::from(self.sizearray) + 1) {
                if !self.grow_array(memory, (self.sizearray * 2).max(4)) {
                    return false;
                }
                *self.array.add(key.value.i as usize - 1) = value;
                return true;
            }
            let Some(node) = self.new_key(key) else {
                return self.grow_nodes(memory) && self.set(memory, key, value);
            };
            (*node).i_val = value;
        }
        true
    }

    /// Makes the array part larger, and takes keys over from the nodes.
    pub(crate) fn grow_array(&mut self, memory: &Bump, size: u32) -> bool {
        if size > MOST {
            return false;
        }
        self.array = grow(memory, self.array, self.sizearray, size as usize, TValue::NIL);
        let old = std::mem::replace(&mut self.sizearray, size);
        for i in 0..self.node_count() {
            // SAFETY: there are so many nodes. A key that has moved keeps its node,
            // whose value nobody finds any more.
            unsafe {
                let node = &mut *self.node.add(i);
                let NodeKey { value, tt, .. } = node.i_key.nk;
                if tt == tag::INTEGER && value.i > old.into() && value.i <= size.into() {
                    *self.array.add(value.i as usize - 1) = node.i_val;
                    node.i_val = TValue::NIL;
                }
            }
        }
        true
    }

    /// A node for a new key; `None` if none is free.
    ///
    /// A key whose main position is taken gets a free node, which is linked behind that position.
    unsafe fn new_key(&mut self, TValue { value, tt }: TValue) -> Option<*mut Node> {
        if self.node_count() == 0 {
            return None;
        }
        let main = self.main_position(value, tt);
        // SAFETY: all nodes are the table's own, and free ones are below `lastfree`.
        unsafe {
            let (mut node, mut next) = (main, 0);
            while (*node).i_key.nk.tt != tag::NIL {
                if self.lastfree == self.node {
                    return None;
                }
                self.lastfree = self.lastfree.sub(1);
                node = self.lastfree;
            }
            if node != main {
                let distance = node.offset_from(main) as i32;
                let link = &mut (*main).i_key.nk.next;
                next = if *link == 0 { 0 } else { *link - distance };
                *link = distance;
            }
            (*node).i_key.nk = NodeKey { value, tt, next };
            Some(node)
        }
    }

    fn grow_nodes(&mut self, memory: &Bump) -> bool {
        // SAFETY: there are so many nodes, and the new ones are others.
        let old = unsafe { std::slice::from_raw_parts(self.node, self.node_count()) };
        let live = || old.iter().filter(|node| node.i_val.tt != tag::NIL);
        self.make_nodes(memory, live().count() as u32 + 1)
            && live().all(|node| {
                // SAFETY: all members of the union begin with a value's two.
                let NodeKey { value, tt, .. } = unsafe { node.i_key.nk };
                self.set(memory, TValue { value, tt }, node.i_val)
            })
    }

    /// Replaces the nodes by empty ones for so many keys.
    pub(crate) fn make_nodes(&mut self, memory: &Bump, count: u32) -> bool {
        if count == 0 || count > MOST {
            return count == 0;
        }
        let size = count.next_power_of_two();
        let nodes = memory.alloc_slice_fill_copy(size as usize, EMPTY).as_mut_ptr_range();
        (self.node, self.lastfree) = (nodes.start, nodes.end);
        self.lsizenode = size.trailing_zeros() as u8;
        true
    }

    /// A border: a count of elements after which there is none.
    pub(crate) fn length(&self) -> i64 {
        let filled = |i: u32| {
            // SAFETY: callers ask inside the array.
            unsafe { (*self.array.add(i as usize)).tt != tag::NIL }
        };
        if self.sizearray > 0 && !filled(self.sizearray - 1) {
            let (mut low, mut high) = (0, self.sizearray - 1);
            // Everything below `low` counts; there is none at `high`.
            while low < high {
                let middle = low + (high - low) / 2;
                if filled(middle) { low = middle + 1 } else { high = middle }
            }
            return low.into();
        }
        let mut length = i64::from(self.sizearray);
        while self.get(&TValue::integer(length + 1)).tt != tag::NIL {
            length += 1;
        }
        length
    }
}
