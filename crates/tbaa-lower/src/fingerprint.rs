//! A hash that is the same on all machines and in all versions of Rust.

use std::fmt;

use tbaa::parts::table::IndexSet;
use tbaa::{Graph, NodeId, Operand, TagId};

/// A 128-bit FNV-1a hash, which identifies a set of tags and what was computed for them. It does
/// not protect against deliberate collisions.
///
/// Algorithm: Fowler, Noll, Vo, draft-eastlake-fnv.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fingerprint(u128);

impl Fingerprint {
    pub(super) fn new() -> Fingerprint {
        Fingerprint(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Parses the output of `Display`.
    #[cfg(feature = "serde")]
    pub(super) fn parse(text: &str) -> Option<Fingerprint> {
        let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let whole = text.len() == 32 && text.bytes().all(lower);
        whole.then(|| u128::from_str_radix(text, 16).ok().map(Fingerprint)).flatten()
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
    }

    pub(super) fn number(&mut self, number: u64) {
        number.to_le_bytes().into_iter().for_each(|byte| self.byte(byte));
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        bytes.iter().for_each(|&byte| self.byte(byte));
    }

    /// Hashes the contents of tags, including all their types. Returns whether any hashed node is
    /// `distinct`. If so, equal hashes do not mean equal types.
    pub(super) fn tags(&mut self, graph: &Graph, tags: impl Iterator<Item = TagId>) -> bool {
        let mut nodes: IndexSet<NodeId> = IndexSet::default();
        for tag in tags {
            let (at, _) = nodes.insert_full(graph.tag_node(tag));
            self.number(at as u64);
        }
        let mut distinct = false;
        let mut at = 0;
        while let Some(&node) = nodes.get_index(at) {
            distinct |= graph.is_distinct(node);
            self.number(graph.operand_count(node) as u64);
            for operand in graph.operands(node) {
                match operand {
                    Operand::Null => self.byte(0),
                    Operand::String(text) => {
                        self.byte(1);
                        self.bytes(text);
                    }
                    Operand::Int(int) => {
                        self.byte(2);
                        self.number(u64::from(int.bits));
                        self.number(int.value);
                    }
                    Operand::Node(node) => {
                        self.byte(3);
                        self.number(nodes.insert_full(node).0 as u64);
                    }
                    Operand::Raw(text) => {
                        self.byte(4);
                        self.bytes(text.as_bytes());
                    }
                }
            }
            at += 1;
        }
        distinct
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
