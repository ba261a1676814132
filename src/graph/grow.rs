//! Functions of [`Graph`] that add nodes. `RawGraph` and the builder use them.

use std::hash::BuildHasher;

use super::encoding::{Format, Shape, TAG_TYPES, TagParts};
use super::operand::{OperandKind, PACKED_LIMIT, Packed};
use super::{
    ASCENDING, DISTINCT, Graph, GraphError, IS_SCALAR, NO_ROOT, NO_TAG, NodeId, Operand, RawGraph,
    Record, Tag, TagId, WELL_FORMED,
};

fn operands_of<'o>(records: &[Record], operands: &'o [Packed], node: u32) -> &'o [Packed] {
    let from = records[node as usize].first as usize;
    let to = records.get(node as usize + 1).map_or(operands.len(), |r| r.first as usize);
    &operands[from..to]
}

impl Graph {
    /// Releases memory that the graph has reserved but does not use.
    pub fn shrink_to_fit(&mut self) {
        self.strings.shrink_to_fit(&self.hasher);
        self.ints.shrink_to_fit();
        self.raws.shrink_to_fit();
        self.operands.shrink_to_fit();
        self.records.shrink_to_fit();
        self.tags.shrink_to_fit();
        self.copies.shrink_to_fit();
        self.types.shrink_to_fit();
        let Graph { unique, hasher, records, operands, .. } = self;
        unique.shrink_to_fit(|&node| hasher.hash_one(operands_of(records, operands, node)));
    }

    /// Reserves memory for `nodes` more nodes, if it is available.
    pub fn reserve(&mut self, nodes: usize) {
        let Graph { unique, hasher, records, operands, .. } = self;
        let _ = records.try_reserve(nodes);
        let hash = |&node: &u32| hasher.hash_one(operands_of(records, operands, node));
        let _ = unique.try_reserve(nodes, hash);
    }

    /// Returns the uniqued node with the operands `self.operands[first..]`. Adds it if it is new.
    pub(super) fn intern(&mut self, first: usize) -> Result<NodeId, GraphError> {
        let hash = self.hasher.hash_one(&self.operands[first..]);
        let found = self.unique.find(hash, |&other| {
            let at = self.records[other as usize].first as usize;
            // The operands of the graph's last node end at `first`.
            let end = self.records.get(other as usize + 1).map_or(first, |r| r.first as usize);
            self.operands[at..end] == self.operands[first..]
        });
        if let Some(&index) = found {
            self.operands.truncate(first);
            return Ok(self.id(index as usize));
        }
        let id = self.push_record(first, 0)?;
        self.inherit(id);
        self.make_unique(id.index, hash);
        Ok(id)
    }

    pub(super) fn hash_of(&self, node: u32) -> u64 {
        self.hasher.hash_one(self.packed_at(node as usize))
    }

    /// Adds a node to the table of uniqued nodes, under the hash of its operands.
    pub(super) fn make_unique(&mut self, node: u32, hash: u64) {
        let Graph { unique, hasher, records, operands, .. } = self;
        unique.insert_unique(hash, node, |&other| {
            hasher.hash_one(operands_of(records, operands, other))
        });
    }

    /// Adds a node. If it is uniqued and an equal one exists, returns that node instead.
    pub(crate) fn add<'o>(
        &mut self,
        distinct: bool,
        operands: impl IntoIterator<Item = Operand<'o>>,
    ) -> Result<NodeId, GraphError> {
        let first = self.operands.len();
        if let Err(error) = operands.into_iter().try_for_each(|operand| self.push_operand(operand))
        {
            self.operands.truncate(first);
            return Err(error);
        }
        if !distinct {
            return self.intern(first);
        }
        let id = self.push_record(first, DISTINCT)?;
        self.inherit(id);
        Ok(id)
    }

    /// Returns the tag with the parts of `tag`, and adds it if it is new. The node is the one that
    /// LLVM would make, and all its integers are `i64`. [`Size::Bytes`](crate::Size::Bytes) is
    /// written as its number, an unknown size as 2^64-1. The path need not exist;
    /// [`Builder::tag`](crate::Builder::tag) checks that it does.
    ///
    /// # Errors
    ///
    /// [`GraphError::TagFormat`] if the format is not that of the access type, or the size does not
    /// fit the format; [`GraphError::ForeignId`]; [`GraphError::Full`].
    ///
    /// LLVM: `MDBuilder::createTBAAStructTagNode`, `createTBAAAccessTag`.
    pub fn insert_tag(&mut self, tag: Tag) -> Result<TagId, GraphError> {
        let Tag { base, access, offset, size, immutable, format } = tag;
        if !self.owns(base.0) || !self.owns(access.0) {
            return Err(GraphError::ForeignId);
        }
        if format != Shape::of(self, access.0).format || size.is_some() != (format == Format::New) {
            return Err(GraphError::TagFormat);
        }
        let size = size.map(|size| size.bytes().unwrap_or(u64::MAX));
        let node =
            self.add(false, TagParts::operands(base.0, access.0, offset, size, immutable))?;
        Ok(self.mark_tag(node))
    }

    /// Returns a tag's base type and access type, without one that is missing or not a node.
    pub(crate) fn types_of_tag(&self, tag: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        TAG_TYPES.map(|at| self.operand(tag, at).and_then(Operand::node)).into_iter().flatten()
    }

    /// Records the format of `ty` for its root, unless a format is recorded for this root already.
    pub(super) fn note_format(&mut self, ty: NodeId) {
        let root = self.records[ty.index()].root;
        let shape = Shape::of(self, ty);
        if !shape.is_root() && root != NO_ROOT {
            self.root_formats.entry(root).or_insert(shape.format);
        }
    }

    fn push_operand(&mut self, operand: Operand<'_>) -> Result<(), GraphError> {
        if self.operands.len() >= PACKED_LIMIT {
            return Err(GraphError::Full);
        }
        let packed = self.pack(operand)?;
        self.operands.push(packed);
        Ok(())
    }

    pub(super) fn pack(&mut self, operand: Operand<'_>) -> Result<Packed, GraphError> {
        let packed = match operand {
            Operand::Null => Some(Packed::NULL),
            Operand::String(bytes) => {
                Packed::new(OperandKind::String, self.strings.intern(bytes, &self.hasher))
            }
            Operand::Int(int) => Packed::small(int)
                .or_else(|| Packed::new(OperandKind::Int, self.ints.insert_full(int).0)),
            Operand::Node(id) if self.owns(id) => Packed::new(OperandKind::Node, id.index()),
            Operand::Node(_) => return Err(GraphError::ForeignId),
            Operand::Raw(text) => {
                let index = match self.raws.get_index_of(text) {
                    Some(index) => index,
                    None => self.raws.insert_full(text.into()).0,
                };
                Packed::new(OperandKind::Raw, index)
            }
        };
        packed.ok_or(GraphError::Full)
    }

    pub(super) fn push_record(&mut self, first: usize, flags: u8) -> Result<NodeId, GraphError> {
        let index = self.records.len();
        if index >= PACKED_LIMIT {
            self.operands.truncate(first);
            return Err(GraphError::Full);
        }
        self.records.push(Record { first: first as u32, root: NO_ROOT, tag: NO_TAG, flags });
        Ok(self.id(index))
    }

    /// Sets a node's root and its flags `IS_SCALAR`, `WELL_FORMED` and `ASCENDING`. The root and
    /// `IS_SCALAR` depend on those of the parent, which must have been set before.
    pub(super) fn inherit(&mut self, id: NodeId) {
        let shape = Shape::of(self, id);
        let parent = shape.parent(self, id);
        let above = parent.map(|parent| &self.records[parent.index()]);
        let root = above.map_or(id.index, |above| above.root);
        let scalar = above.is_some_and(|above| above.flags & IS_SCALAR != 0)
            || parent.is_some_and(|parent| Shape::of(self, parent).is_root());
        let scalar = scalar && shape.is_scalar(self, id);
        let well_formed = shape.is_well_formed(self, id);
        let ascending = shape.is_ascending(self, id);
        let record = &mut self.records[id.index()];
        record.root = root;
        record.flags |= if scalar { IS_SCALAR } else { 0 };
        record.flags |= if well_formed { WELL_FORMED } else { 0 };
        record.flags |= if well_formed && ascending { ASCENDING } else { 0 };
    }
}
