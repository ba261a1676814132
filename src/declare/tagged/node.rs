//! Makes the TBAA nodes of declared types.

use super::{Policy, TaggedTypes};
use crate::builder::{BuildError, SizedField};
use crate::declare::declarations::{DeclKind, FieldDecl, RecordDecl};
use crate::declare::error::{Result, invalid};
use crate::declare::{DeclId, Declarations, DeclareError};
use crate::graph::{Format, Graph, Int, Operand, RawGraph as _, TypeId};

impl Declarations {
    /// Returns the offset and size in bytes of a bit-field's storage unit. The unit contains all
    /// adjacent bit-fields, up to a bit-field of width 0 or a member that is not a bit-field.
    /// Source: C11 section 3.14, "memory location".
    pub(in crate::declare) fn unit(&self, record: &RecordDecl, index: usize) -> (u64, u64) {
        let is_part = |field: &&FieldDecl| field.bits.is_some_and(|bits| bits > 0);
        let (before, after) = record.fields.split_at(index);
        let after = after.iter().take_while(is_part);
        let run = before.iter().rev().take_while(is_part).chain(after);
        let (mut from, mut to) = (u64::MAX, 0);
        for field in run {
            let bits = u64::from(field.bits.unwrap_or(0));
            from = from.min(field.offset / 8);
            to = to.max((field.offset + bits).div_ceil(8));
        }
        (from, to.saturating_sub(from))
    }
}

impl TaggedTypes {
    /// Returns whether a record can be a base type of its members' tags. clang: `isValidBaseType`.
    pub(super) fn has_node(&self, record: &RecordDecl) -> bool {
        match self.policy {
            Policy::Rfc => record.defined,
            _ => record.defined && !record.union && !record.flexible,
        }
    }

    /// Returns the type whose node is used for `ty`. clang: `CodeGenTBAA::getTypeInfo`.
    fn representative(&self, mut ty: DeclId) -> DeclId {
        let char = self.types.char();
        let rfc = self.policy == Policy::Rfc;
        loop {
            ty = match self.types.kind(ty) {
                DeclKind::Scalar { .. } | DeclKind::Pointer { .. } => return ty,
                DeclKind::Void | DeclKind::Function => return char,
                DeclKind::Enum { integer, .. } if !self.types.cplusplus => *integer,
                DeclKind::Enum { .. } => return ty,
                DeclKind::Record(record) => return if self.has_node(record) { ty } else { char },
                _ if !rfc => return char,
                DeclKind::Array { .. } => self.types.innermost(ty),
                DeclKind::Vector { .. } | DeclKind::Complex { .. } => return ty,
                DeclKind::Atomic { of } => *of,
            };
        }
    }

    /// Returns the node of a type, if there is one. Makes the node if necessary.
    pub(super) fn node_of(&mut self, graph: &mut Graph, ty: DeclId) -> Result<Option<TypeId>> {
        let wanted = self.representative(ty);
        // Types whose nodes are being made, innermost last, each with the index of its next part.
        let mut stack = vec![(wanted, 0)];
        while let Some((ty, next)) = stack.pop() {
            if self.known(ty).is_some() {
                continue;
            }
            if let Some(part) = self.part(ty, next) {
                stack.extend([(ty, next + 1), (part, 0)]);
                continue;
            }
            let node = self.make(graph, ty)?;
            if self.nodes.len() <= ty.index() {
                self.nodes.resize(ty.index() + 1, None);
            }
            self.nodes[ty.index()] = Some(node);
        }
        Ok(self.made(wanted))
    }

    fn made(&self, ty: DeclId) -> Option<TypeId> {
        self.known(ty).flatten()
    }

    fn known(&self, ty: DeclId) -> Option<Option<TypeId>> {
        self.nodes.get(ty.index()).copied().flatten()
    }

    /// Returns the type at index `next` among those whose nodes must be made before that of `ty`.
    fn part(&self, ty: DeclId, next: usize) -> Option<DeclId> {
        let part = match self.types.kind(ty) {
            DeclKind::Record(record) => record.fields.get(next).map(|field| field.ty),
            DeclKind::Scalar { parent, .. } => parent.filter(|_| next == 0),
            DeclKind::Vector { element, .. } | DeclKind::Complex { element } => {
                Some(*element).filter(|_| next == 0)
            }
            _ => None,
        };
        let part = part.or_else(|| {
            let below = !matches!(self.types.kind(ty), DeclKind::Scalar { parent: None, .. });
            Some(self.types.char()).filter(|_| below && self.known(self.types.char()).is_none())
        });
        part.map(|part| self.representative(part))
    }

    /// Makes the node of a type. The nodes of all types that `part` returns for it must exist.
    fn make(&mut self, graph: &mut Graph, ty: DeclId) -> Result<Option<TypeId>, DeclareError> {
        let size = self.types.size_of(ty).unwrap_or(0);
        let char = self.made(self.types.char());
        let made = match self.types.kind(ty) {
            DeclKind::Scalar { name, parent, .. } => {
                let name = name.clone();
                let parent = match parent.and_then(|parent| self.made(parent)) {
                    Some(parent) => parent,
                    None => self.root(graph)?,
                };
                self.scalar(graph, &name, parent, size)?
            }
            &DeclKind::Pointer { to } => return self.pointer(graph, to).map(Some),
            DeclKind::Enum { name, .. } => {
                let Some(char) = char else { return Ok(None) };
                self.scalar(graph, &self.mangled(name)?, char, size)?
            }
            &DeclKind::Vector { element, len } => {
                let name = format!("<{len} x {}>", self.types.display(element));
                return self.pack(graph, &name, size, element, len);
            }
            &DeclKind::Complex { element } => {
                let name = format!("_Complex {}", self.types.display(element));
                return self.pack(graph, &name, size, element, 2);
            }
            DeclKind::Record(_) => return self.record(graph, ty),
            _ => return Ok(char),
        };
        Ok(Some(made))
    }

    fn root(&mut self, graph: &mut Graph) -> Result<TypeId, DeclareError> {
        let root = match self.root {
            Some(root) => root,
            None => graph.builder().root(&self.types.root)?,
        };
        Ok(*self.root.insert(root))
    }

    fn scalar(&self, graph: &mut Graph, name: &str, parent: TypeId, size: u64) -> Result<TypeId> {
        let mut b = graph.builder();
        Ok(match self.policy.format() {
            Format::Old => b.scalar_type(name, parent)?,
            Format::New => b.sized_type(parent, size, name, &[])?,
        })
    }

    /// Returns the node of a pointer type. clang: `CodeGenTBAA::getTypeInfoHelper`.
    fn pointer(&mut self, graph: &mut Graph, to: DeclId) -> Result<TypeId, DeclareError> {
        let mut depth = 1;
        let mut pointee = self.types.innermost(to);
        while let DeclKind::Pointer { to } = *self.types.kind(pointee) {
            depth += 1;
            pointee = self.types.innermost(to);
        }
        let any = self.any_pointer(graph, depth)?;
        let name = match self.types.kind(pointee) {
            DeclKind::Scalar { name, .. } => name.clone(),
            DeclKind::Record(record) if !record.name.is_empty() => self.mangled(&record.name)?,
            _ => return Ok(any),
        };
        self.scalar(graph, &format!("p{depth} {name}"), any, self.types.target.pointer.0)
    }

    /// Returns the node of `void` with `depth` asterisks. clang: `CodeGenTBAA::getAnyPtr`.
    fn any_pointer(&mut self, graph: &mut Graph, depth: usize) -> Result<TypeId, DeclareError> {
        while self.any_pointers.len() < depth {
            let (name, parent) = match self.any_pointers.last() {
                Some(&below) => (format!("any p{} pointer", self.any_pointers.len() + 1), below),
                None => {
                    let char = self.made(self.types.char());
                    let root = self.root(graph)?;
                    ("any pointer".to_owned(), char.unwrap_or(root))
                }
            };
            let size = self.types.target.pointer.0;
            let node = self.scalar(graph, &name, parent, size)?;
            self.any_pointers.push(node);
        }
        Ok(self.any_pointers[depth - 1])
    }

    /// Makes a size-aware node whose only field is an array of `len` elements.
    fn pack(
        &mut self,
        graph: &mut Graph,
        name: &str,
        size: u64,
        element: DeclId,
        len: u64,
    ) -> Result<Option<TypeId>, DeclareError> {
        let extent = self.types.size_of(element).unwrap_or(0).saturating_mul(len);
        let char = self.made(self.types.char());
        let element = self.made(self.representative(element));
        let (Some(char), Some(ty)) = (char, element) else { return Ok(None) };
        let field = SizedField { ty, offset: 0, size: extent };
        Ok(Some(graph.builder().sized_type(char, size, name, &[field])?))
    }

    /// Makes the node of a record. clang: `CodeGenTBAA::getBaseTypeInfoHelper`.
    fn record(&self, graph: &mut Graph, ty: DeclId) -> Result<Option<TypeId>, DeclareError> {
        let Some(record) = self.types.record(ty) else { return Ok(None) };
        let char = self.made(self.types.char());
        let mut fields = Vec::with_capacity(record.fields.len());
        let mut unit = 0;
        for (index, field) in record.fields.iter().enumerate() {
            let (mut of, mut offset) = (field.ty, field.offset / 8);
            let mut size = self.types.size_of(field.ty).unwrap_or(0);
            match (self.policy, field.bits) {
                (Policy::Clang, None) if field.base && self.types.is_empty(field.ty) => continue,
                (_, None) => {}
                (Policy::Rfc, Some(0)) => continue,
                (Policy::Rfc, Some(_)) if index < unit => continue,
                (Policy::Rfc, Some(_)) => {
                    let run = record.fields[index..].iter();
                    unit = index + run.take_while(|f| f.bits.is_some_and(|b| b > 0)).count();
                    of = self.types.char();
                    (offset, size) = self.types.unit(record, index);
                }
                (_, Some(_)) if field.name.is_empty() => continue,
                (_, Some(_)) => {}
            }
            if let Some(ty) = self.made(self.representative(of)) {
                fields.push(SizedField { ty, offset, size });
            }
        }
        fields.sort_by_key(|field| field.offset);
        let name = match (self.policy, record.name.as_str()) {
            (Policy::Rfc, _) => record.title.clone(),
            (_, "") if self.types.cplusplus => {
                return invalid(
                    record.title.clone(),
                    "a C++ struct without a name has one only in clang: name it",
                );
            }
            (_, name) if self.types.cplusplus => self.mangled(name)?,
            (_, name) => name.to_owned(),
        };
        let size = self.types.size_of(ty).unwrap_or(0);
        Ok(match (self.policy.format(), char) {
            (Format::Old, _) => {
                // Without fields, a clang node is a root, and the builder refuses roots as fields.
                let int = |value| Operand::Int(Int::i64(value));
                let fields =
                    fields.iter().flat_map(|f| [Operand::Node(f.ty.node()), int(f.offset)]);
                let operands = [Operand::String(name.as_bytes())].into_iter().chain(fields);
                let node = graph.add(false, operands).map_err(BuildError::from)?;
                Some(graph.mark_type(node))
            }
            (Format::New, Some(c)) => Some(graph.builder().sized_type(c, size, name, &fields)?),
            (Format::New, None) => None,
        })
    }

    /// Returns a type's name as the Itanium C++ ABI mangles it: `_ZTSN1A1BE` for `A::B`.
    fn mangled(&self, name: &str) -> Result<String> {
        let is_known = !self.types.target.is_microsoft() && !name.contains(['<', '(', ' ']);
        if self.policy == Policy::Clang && self.types.cplusplus && !is_known {
            let reason = "clang's name of a C++ type on Windows, or of a template, is not known: \
                          declare the types as C, or use policy rfc";
            return invalid(name, reason);
        }
        let (std, rest) = name.strip_prefix("std::").map_or(("", name), |rest| ("St", rest));
        let parts: String = rest.split("::").map(|part| format!("{}{part}", part.len())).collect();
        let nested = rest.contains("::");
        Ok(if nested { format!("_ZTSN{std}{parts}E") } else { format!("_ZTS{std}{parts}") })
    }
}
