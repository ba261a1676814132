//! Adding nodes, and taking them for types and tags.

use std::hash::BuildHasher;

use super::encoding::{COPY_STRIDE, COPY_TAG, Shape, TAG_TYPES};
use super::operand::{Kind, PACKED_LIMIT, Packed};
use super::{
    CopyId, DISTINCT, Graph, GraphError, IS_COPY, IS_SCALAR, IS_TYPE, NO_ROOT, NO_TAG, NodeId,
    Operand, Record, TagId, TypeId, UNFILLED, WELL_FORMED,
};
use crate::table::HashMap;

fn operands_of<'o>(records: &[Record], operands: &'o [Packed], node: u32) -> &'o [Packed] {
    let from = records[node as usize].first as usize;
    let to = records.get(node as usize + 1).map_or(operands.len(), |r| r.first as usize);
    &operands[from..to]
}

impl Graph {
    /// Gives back memory that the graph holds to grow into.
    pub fn shrink_to_fit(&mut self) {
        self.strings.shrink_to_fit();
        self.ints.shrink_to_fit();
        self.raws.shrink_to_fit();
        self.operands.shrink_to_fit();
        self.records.shrink_to_fit();
        self.tags.shrink_to_fit();
        self.types.shrink_to_fit();
        let Graph { unique, hasher, records, operands, .. } = self;
        unique.shrink_to_fit(|&node| hasher.hash_one(operands_of(records, operands, node)));
    }

    /// Adds a uniqued node with any operands, or finds it.
    ///
    /// # Errors
    ///
    /// [`GraphError::ForeignId`] and [`GraphError::Full`]; the graph is then
    /// unchanged as far as any node goes.
    ///
    /// LLVM: `MDNode::get`.
    pub fn insert(&mut self, operands: &[Operand<'_>]) -> Result<NodeId, GraphError> {
        self.insert_all(operands.iter().copied())
    }

    /// As [`Graph::insert`].
    pub(crate) fn insert_all<'o>(
        &mut self,
        operands: impl ExactSizeIterator<Item = Operand<'o>>,
    ) -> Result<NodeId, GraphError> {
        let first = self.operands.len();
        self.push_operands(operands)?;
        self.intern(first)
    }

    /// Makes a uniqued node of the operands from `first` on, or finds it.
    pub(super) fn intern(&mut self, first: usize) -> Result<NodeId, GraphError> {
        let hash = self.hasher.hash_one(&self.operands[first..]);
        let found = self.unique.find(hash, |&other| {
            let at = self.records[other as usize].first as usize;
            // The newest node ends where the candidate begins.
            let end = self.records.get(other as usize + 1).map_or(first, |r| r.first as usize);
            self.operands[at..end] == self.operands[first..]
        });
        if let Some(&index) = found {
            self.operands.truncate(first);
            return Ok(self.id(index as usize));
        }
        let id = self.push_record(first, 0)?;
        self.inherit(id);
        let Graph { unique, hasher, records, operands, .. } = self;
        unique.insert_unique(hash, id.index, |&other| {
            hasher.hash_one(operands_of(records, operands, other))
        });
        Ok(id)
    }

    /// Adds a node outside the table of unique nodes, `len` operands to be set
    /// by [`Graph::fill`].
    ///
    /// This is how a distinct node is made (`distinct`), and a node that
    /// stands in a cycle: its id must exist before its operands do.
    ///
    /// # Errors
    ///
    /// [`GraphError::Full`].
    ///
    /// LLVM: `MDNode::getDistinct`, `MDNode::getTemporary`.
    pub fn reserve(&mut self, len: usize, distinct: bool) -> Result<NodeId, GraphError> {
        let first = self.operands.len();
        if len > PACKED_LIMIT.saturating_sub(first) {
            return Err(GraphError::Full);
        }
        self.operands.resize(first + len, Packed::NULL);
        self.unfilled += 1;
        self.push_record(first, UNFILLED | if distinct { DISTINCT } else { 0 })
    }

    /// Sets the operands of a reserved node, once.
    ///
    /// A uniqued node that refers to itself becomes distinct, as in LLVM.
    ///
    /// # Errors
    ///
    /// [`GraphError::NotReserved`] if the node was not reserved with this
    /// number of operands or was filled before; [`GraphError::ForeignId`];
    /// [`GraphError::Full`].
    pub fn fill(&mut self, id: NodeId, operands: &[Operand<'_>]) -> Result<(), GraphError> {
        self.fill_all(id, operands.iter().copied())
    }

    /// As [`Graph::fill`].
    pub(crate) fn fill_all<'o>(
        &mut self,
        id: NodeId,
        operands: impl ExactSizeIterator<Item = Operand<'o>>,
    ) -> Result<(), GraphError> {
        if !self.owns(id) {
            return Err(GraphError::ForeignId);
        }
        let range = self.range(id.index());
        if self.records[id.index()].flags & UNFILLED == 0 || range.len() != operands.len() {
            return Err(GraphError::NotReserved);
        }
        let end = self.operands.len();
        self.push_operands(operands)?;
        self.operands.copy_within(end.., range.start);
        self.operands.truncate(end);
        let record = &mut self.records[id.index()];
        record.flags &= !UNFILLED;
        let itself = Packed::new(Kind::Node, id.index());
        if self.operands[range].iter().any(|&operand| Some(operand) == itself) {
            record.flags |= DISTINCT;
        }
        self.inherit(id);
        self.unfilled -= 1;
        if self.unfilled == 0 {
            // What still has no root stands in or under a cycle.
            self.waiting = HashMap::default();
        }
        self.mark_within(id);
        Ok(())
    }

    /// Takes the operands of a node for what it makes of them, if it was taken
    /// for something before it was filled.
    fn mark_within(&mut self, id: NodeId) {
        let Record { tag, flags, .. } = self.records[id.index()];
        if flags & IS_TYPE != 0 {
            let types: Vec<_> = self.operands(id).filter_map(Operand::node).collect();
            for ty in types {
                self.mark_type(ty);
            }
        }
        if tag != NO_TAG {
            self.mark_types_of(id);
        }
        if flags & IS_COPY != 0 {
            self.mark_tags_of(id);
        }
    }

    /// Takes `node` as an access tag, and the nodes at its type positions as
    /// types.
    ///
    /// # Panics
    ///
    /// If `node` was issued by another graph.
    pub fn mark_tag(&mut self, node: NodeId) -> TagId {
        if let Some(tag) = self.tag_of(node) {
            return tag;
        }
        let index = self.tags.len() as u32;
        self.tags.push(node.index);
        self.records[node.index()].tag = index;
        self.mark_types_of(node);
        TagId { index, stamp: self.stamp }
    }

    fn mark_types_of(&mut self, tag: NodeId) {
        for position in TAG_TYPES {
            if let Some(ty) = self.operand(tag, position).and_then(Operand::node) {
                self.mark_type(ty);
            }
        }
    }

    /// Takes `node`, and whatever types it is made of, as types.
    ///
    /// # Panics
    ///
    /// If `node` was issued by another graph.
    pub fn mark_type(&mut self, node: NodeId) -> TypeId {
        let mut work = vec![node];
        while let Some(next) = work.pop() {
            assert!(self.owns(next), "{next:?} was issued by another graph");
            let record = &mut self.records[next.index()];
            if record.flags & IS_TYPE != 0 {
                continue;
            }
            record.flags |= IS_TYPE;
            self.types.push(next.index);
            self.note_format(next);
            work.extend(self.operands(next).filter_map(Operand::node));
        }
        TypeId(node)
    }

    /// Takes `node` as a `tbaa.struct` node, and the nodes at its tag
    /// positions as tags.
    ///
    /// # Panics
    ///
    /// If `node` was issued by another graph.
    pub fn mark_copy(&mut self, node: NodeId) -> CopyId {
        assert!(self.owns(node), "{node:?} was issued by another graph");
        if self.records[node.index()].flags & IS_COPY == 0 {
            self.records[node.index()].flags |= IS_COPY;
            self.mark_tags_of(node);
        }
        CopyId(node)
    }

    fn mark_tags_of(&mut self, copy: NodeId) {
        let tags: Vec<_> = (COPY_TAG..self.operand_count(copy))
            .step_by(COPY_STRIDE)
            .filter_map(|position| self.operand(copy, position)?.node())
            .collect();
        for tag in tags {
            self.mark_tag(tag);
        }
    }

    /// Takes note of a type's format, if it is the first under its root.
    fn note_format(&mut self, ty: NodeId) {
        let root = self.records[ty.index()].root;
        let shape = Shape::of(self, ty);
        if !shape.is_root() && root != NO_ROOT {
            self.root_formats.entry(root).or_insert(shape.format);
        }
    }

    /// Appends packed operands; on error none of them.
    fn push_operands<'o>(
        &mut self,
        operands: impl ExactSizeIterator<Item = Operand<'o>>,
    ) -> Result<(), GraphError> {
        let first = self.operands.len();
        if operands.len() > PACKED_LIMIT.saturating_sub(first) {
            return Err(GraphError::Full);
        }
        for operand in operands {
            match self.pack(operand) {
                Ok(packed) => self.operands.push(packed),
                Err(error) => {
                    self.operands.truncate(first);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    pub(super) fn pack(&mut self, operand: Operand<'_>) -> Result<Packed, GraphError> {
        let packed = match operand {
            Operand::Null => Some(Packed::NULL),
            Operand::String(bytes) => {
                let index = match self.strings.get_index_of(bytes) {
                    Some(index) => index,
                    None => self.strings.insert_full(bytes.into()).0,
                };
                Packed::new(Kind::String, index)
            }
            Operand::Int(int) => Packed::new(Kind::Int, self.ints.insert_full(int).0),
            Operand::Node(id) if self.owns(id) => Packed::new(Kind::Node, id.index()),
            Operand::Node(_) => return Err(GraphError::ForeignId),
            Operand::Raw(text) => {
                let index = match self.raws.get_index_of(text) {
                    Some(index) => index,
                    None => self.raws.insert_full(text.into()).0,
                };
                Packed::new(Kind::Raw, index)
            }
        };
        packed.ok_or(GraphError::Full)
    }

    fn push_record(&mut self, first: usize, flags: u8) -> Result<NodeId, GraphError> {
        let index = self.records.len();
        if index >= PACKED_LIMIT {
            self.operands.truncate(first);
            return Err(GraphError::Full);
        }
        self.records.push(Record { first: first as u32, root: NO_ROOT, tag: NO_TAG, flags });
        Ok(self.id(index))
    }

    /// Records what a node has from its parent: its root, and whether it is a
    /// scalar. A parent that does not know yet, itself or one above it being
    /// reserved, tells the node when it does.
    fn inherit(&mut self, id: NodeId) {
        let mut told = Vec::new();
        let mut next = Some(id);
        while let Some(id) = next {
            let shape = Shape::of(self, id);
            let parent = shape.parent(self, id);
            let above = parent.map(|parent| &self.records[parent.index()]);
            let root = above.map_or(id.index, |above| above.root);
            let scalar = above.is_some_and(|above| above.flags & IS_SCALAR != 0)
                || parent.is_some_and(|parent| Shape::of(self, parent).is_root());
            let scalar = scalar && shape.is_scalar(self, id);
            let well_formed = shape.is_well_formed(self, id);
            let record = &mut self.records[id.index()];
            record.root = root;
            record.flags |= if scalar { IS_SCALAR } else { 0 };
            record.flags |= if well_formed { WELL_FORMED } else { 0 };
            let is_type = record.flags & IS_TYPE != 0;
            if let Some(parent) = parent.filter(|_| root == NO_ROOT) {
                if self.unfilled != 0 {
                    self.waiting.entry(parent.index).or_default().push(id.index);
                }
            } else {
                if is_type {
                    self.note_format(id);
                }
                told.extend(self.waiting.remove(&id.index).into_iter().flatten());
            }
            next = told.pop().map(|index| self.id(index as usize));
        }
    }
}
