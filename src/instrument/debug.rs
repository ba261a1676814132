//! Where instructions stand in the program's source, as `!dbg` says.

use crate::table::HashMap;

/// The places of the metadata nodes of a text.
pub(super) struct Debug<'t> {
    text: &'t [u8],
    nodes: HashMap<u32, usize>,
}

/// A place in a source file; line 0 is an unknown one.
#[derive(Clone, Copy, Default)]
pub(super) struct Place<'t> {
    pub(super) file: &'t [u8],
    pub(super) line: u32,
    pub(super) column: u32,
}

/// Scopes nest no deeper in any program; a cycle of them ends here.
const MAX_SCOPES: usize = 256;

impl<'t> Debug<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        let mut nodes = HashMap::default();
        for newline in memchr::memmem::find_iter(text, b"\n!") {
            if let Some((number, _)) = number(&text[newline + 2..]) {
                nodes.insert(number, newline + 1);
            }
        }
        Debug { text, nodes }
    }

    /// Returns the place of a `DILocation`.
    pub(super) fn place(&self, location: u32) -> Place<'t> {
        let Some(node) = self.node(location) else { return Place::default() };
        let field = |name| self.field(node, name).unwrap_or(0);
        let (line, column) = (field(b"line: "), field(b"column: "));
        let mut scope = self.field(node, b"scope: !");
        for _ in 0..MAX_SCOPES {
            let Some(node) = scope.and_then(|scope| self.node(scope)) else { break };
            if let Some(file) = self.field(node, b"file: !") {
                let file = self.node(file).and_then(|node| quoted(node, b"filename: \""));
                return Place { file: file.unwrap_or_default(), line, column };
            }
            scope = self.field(node, b"scope: !");
        }
        Place { file: b"", line, column }
    }

    /// Returns the line that defines a node.
    fn node(&self, number: u32) -> Option<&'t [u8]> {
        let node = &self.text[*self.nodes.get(&number)?..];
        Some(&node[..memchr::memchr(b'\n', node).unwrap_or(node.len())])
    }

    fn field(&self, node: &[u8], name: &[u8]) -> Option<u32> {
        let at = memchr::memmem::find(node, name)? + name.len();
        Some(number(&node[at..])?.0)
    }
}

/// Returns the number of the node that is attached as `!dbg` in `text`.
pub(super) fn location(text: &[u8]) -> Option<u32> {
    let at = memchr::memmem::rfind(text, b"!dbg !")? + b"!dbg !".len();
    Some(number(&text[at..])?.0)
}

/// Reads the decimal number that a text begins with, and its length.
pub(super) fn number(text: &[u8]) -> Option<(u32, usize)> {
    let len = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    Some((str::from_utf8(&text[..len]).ok()?.parse().ok()?, len))
}

fn quoted<'t>(node: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let rest = &node[memchr::memmem::find(node, name)? + name.len()..];
    Some(&rest[..memchr::memchr(b'"', rest)?])
}
