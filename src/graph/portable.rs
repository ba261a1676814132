//! The serialised form of a graph: a list of nodes, whose operands refer to nodes by index.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Draft, DraftOperand, Graph, GraphError, Int, Operand, RawGraph};

#[derive(Serialize, Deserialize)]
#[serde(rename = "Graph", deny_unknown_fields)]
struct Portable {
    nodes: Vec<PortableNode>,
    /// The indices of the nodes that are tags, in the order of their tag ids.
    tags: Vec<u32>,
    types: Vec<u32>,
    /// The indices of the `tbaa.struct` nodes.
    copies: Vec<u32>,
    /// The number of each node in LLVM text: 5 for `!5`. [`Graph`] neither writes nor uses the
    /// numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    numbers: Vec<Option<u32>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename = "Node", deny_unknown_fields)]
struct PortableNode {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    distinct: bool,
    operands: Vec<PortableOperand>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename = "Operand")]
enum PortableOperand {
    Null,
    Str(String),
    Bytes(Vec<u8>),
    Int { bits: u32, value: u64 },
    Node(u32),
    Raw(String),
}

impl PortableNode {
    fn draft(&self) -> Result<Draft<'_>, String> {
        let operands =
            self.operands.iter().map(PortableOperand::draft).collect::<Result<_, _>>()?;
        Ok(Draft { distinct: self.distinct, operands })
    }
}

impl PortableOperand {
    fn draft(&self) -> Result<DraftOperand<'_>, String> {
        let operand = match self {
            PortableOperand::Null => Operand::Null,
            PortableOperand::Str(text) => Operand::String(text.as_bytes()),
            PortableOperand::Bytes(bytes) => Operand::String(bytes),
            PortableOperand::Int { bits, value } => {
                if *bits < 64 && *value >> bits != 0 {
                    return Err(format!("{value} does not fit into {bits} bits"));
                }
                Operand::Int(Int { bits: *bits, value: *value })
            }
            PortableOperand::Node(index) => return Ok(DraftOperand::Member(*index as usize)),
            PortableOperand::Raw(text) => Operand::Raw(text),
        };
        Ok(operand.into())
    }
}

impl From<Operand<'_>> for PortableOperand {
    fn from(operand: Operand<'_>) -> Self {
        match operand {
            Operand::Null => PortableOperand::Null,
            Operand::String(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => PortableOperand::Str(text.to_owned()),
                Err(_) => PortableOperand::Bytes(bytes.to_owned()),
            },
            Operand::Int(Int { bits, value }) => PortableOperand::Int { bits, value },
            Operand::Node(id) => PortableOperand::Node(id.index),
            Operand::Raw(text) => PortableOperand::Raw(text.to_owned()),
        }
    }
}

impl Serialize for Graph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nodes = self
            .nodes()
            .map(|id| PortableNode {
                distinct: self.is_distinct(id),
                operands: self.operands(id).map(PortableOperand::from).collect(),
            })
            .collect();
        Portable {
            nodes,
            tags: self.tags.clone(),
            types: self.types().map(|ty| ty.0.index).collect(),
            copies: self.copies().map(|copy| copy.0.index).collect(),
            numbers: Vec::new(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Graph {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let portable = Portable::deserialize(deserializer)?;
        let drafts = portable.nodes.iter().map(PortableNode::draft).collect::<Result<Vec<_>, _>>();
        let mut graph = Graph::new();
        let drafts = drafts.map_err(D::Error::custom)?;
        let ids = graph.insert_group(&drafts).map_err(|error| match error {
            GraphError::NoMember => {
                D::Error::custom("a node is referred to but not among the nodes")
            }
            error => D::Error::custom(error),
        })?;
        let node = |index: &u32| {
            ids.get(*index as usize).copied().ok_or_else(|| {
                D::Error::custom(format!("node {index} is referred to but not among the nodes"))
            })
        };
        for tag in &portable.tags {
            graph.mark_tag(node(tag)?);
        }
        for copy in &portable.copies {
            graph.mark_copy(node(copy)?);
        }
        for ty in &portable.types {
            graph.mark_type(node(ty)?);
        }
        Ok(graph)
    }
}
