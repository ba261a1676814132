//! The serialised form of a [`Summary`]. Operands give strings and nodes by index.

use serde::{Deserialize, Serialize};

use super::summary::{Facts, Key, Op, Origin, Summary};

#[derive(Serialize, Deserialize)]
#[serde(rename = "Summary", deny_unknown_fields)]
pub(super) struct Portable {
    modules: Vec<String>,
    strings: Vec<Text>,
    nodes: Vec<Node>,
}

/// A string; `Bytes` if it is not UTF-8.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Text {
    Text(String),
    Bytes(Vec<u8>),
}

/// A node's [`Key`] and [`Facts`]: `roles`, `module`, `origin`, `ops` and `scalar_of`.
#[derive(Serialize, Deserialize)]
struct Node(u8, u32, Option<(u32, u32)>, Vec<Op>, #[serde(default)] Vec<u32>);

impl From<Summary> for Portable {
    fn from(summary: Summary) -> Portable {
        let text = |bytes: Box<[u8]>| match String::from_utf8(bytes.into()) {
            Ok(text) => Text::Text(text),
            Err(error) => Text::Bytes(error.into_bytes()),
        };
        let node = |(key, facts): (Key, Facts)| {
            let origin = key.origin.map(|origin| (origin.module, origin.place));
            Node(facts.roles, facts.module, origin, key.ops, facts.scalar_of)
        };
        Portable {
            modules: summary.modules,
            strings: summary.strings.into_iter().map(text).collect(),
            nodes: summary.nodes.into_iter().map(node).collect(),
        }
    }
}

impl TryFrom<Portable> for Summary {
    type Error = &'static str;

    fn try_from(portable: Portable) -> Result<Summary, &'static str> {
        let Portable { modules, strings, nodes } = portable;
        let has = |index: u32, count: usize| (index as usize) < count;
        for (at, Node(_, module, origin, ops, scalar_of)) in nodes.iter().enumerate() {
            let module = origin.map_or(*module, |(origin, _)| origin.max(*module));
            if !scalar_of.iter().chain([&module]).all(|&module| has(module, modules.len())) {
                return Err("a node of a module that is not among the modules");
            }
            for op in ops {
                match *op {
                    Op::Str(string) if !has(string, strings.len()) => {
                        return Err("an operand that is not among the strings");
                    }
                    Op::Node(node) if !has(node, at) => {
                        return Err("an operand that does not stand before its node");
                    }
                    Op::This if origin.is_none() => {
                        return Err("only a node of a module's own may refer to itself");
                    }
                    Op::Int(int) if int.bits < 64 && int.value >> int.bits != 0 => {
                        return Err("an integer that does not fit its type");
                    }
                    _ => {}
                }
            }
        }
        let bytes = |text| match text {
            Text::Text(text) => text.into_bytes().into(),
            Text::Bytes(bytes) => bytes.into(),
        };
        let node = |Node(roles, module, origin, ops, scalar_of)| {
            let origin = origin.map(|(module, place)| Origin { module, place });
            (Key { origin, ops }, Facts { roles, module, scalar_of })
        };
        let read = Summary {
            modules,
            strings: strings.into_iter().map(bytes).collect(),
            nodes: nodes.into_iter().map(node).collect(),
        };
        // Linking sorts the input into canonical order.
        Ok(Summary::link(&[&read]).0)
    }
}
