//! Emits lists of alias scopes, and lists of rows, each list once. A row is a string: the number of
//! a class (see [`crate::AccessClasses`]), and the lower numbers of the classes that it may alias.

use super::sink::{Sink, SinkOperand, Storage};
use tbaa::parts::table::{Entry, HashMap};

/// The scopes and lists that were emitted, by the name of their domain.
#[derive(Clone, Debug)]
pub(super) struct ScopeLists<N>(HashMap<Box<str>, Domain<N>>);

impl<N> Default for ScopeLists<N> {
    fn default() -> Self {
        ScopeLists(HashMap::default())
    }
}

#[derive(Clone, Debug)]
struct Domain<N> {
    node: N,
    /// The number and node of each scope, by name.
    scopes: HashMap<Box<str>, (u32, N)>,
    /// The list nodes, by the numbers of the scopes in them.
    lists: HashMap<Box<[u32]>, N>,
    /// The operands of `!tbaa.relations`, by their rows.
    relations: HashMap<Vec<String>, N>,
}

impl<N: Clone> ScopeLists<N> {
    /// Returns the node that lists the scopes with these names, or `None` if there are no names.
    pub(super) fn list<'n, S: Sink<Node = N>>(
        &mut self,
        sink: &mut S,
        domain: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Option<N>, S::Error> {
        let mut names = names.into_iter().peekable();
        if names.peek().is_none() {
            return Ok(None);
        }
        let known = self.domain(sink, domain)?;
        let mut numbers = Vec::new();
        let mut nodes = Vec::new();
        for name in names {
            let (number, node) = match known.scopes.get(name) {
                Some(known) => known.clone(),
                None => {
                    let operands =
                        [SinkOperand::Bytes(name.as_bytes()), SinkOperand::Node(&known.node)];
                    let node = sink.node(&operands, Storage::Uniqued)?;
                    let number = known.scopes.len() as u32;
                    known.scopes.insert(name.into(), (number, node.clone()));
                    (number, node)
                }
            };
            numbers.push(number);
            nodes.push(node);
        }
        if let Some(list) = known.lists.get(&*numbers) {
            return Ok(Some(list.clone()));
        }
        let operands: Vec<_> = nodes.iter().map(SinkOperand::Node).collect();
        let list = sink.node(&operands, Storage::Uniqued)?;
        known.lists.insert(numbers.into(), list.clone());
        Ok(Some(list))
    }

    /// Returns the node with the domain's name and these rows, or `None` if there are no rows.
    pub(super) fn relation<S: Sink<Node = N>>(
        &mut self,
        sink: &mut S,
        domain: &str,
        rows: Vec<String>,
    ) -> Result<Option<N>, S::Error> {
        if rows.is_empty() {
            return Ok(None);
        }
        let known = self.domain(sink, domain)?;
        if let Some(node) = known.relations.get(&rows) {
            return Ok(Some(node.clone()));
        }
        let texts = std::iter::once(domain).chain(rows.iter().map(String::as_str));
        let operands: Vec<_> = texts.map(|text| SinkOperand::Bytes(text.as_bytes())).collect();
        let node = sink.node(&operands, Storage::Uniqued)?;
        known.relations.insert(rows, node.clone());
        Ok(Some(node))
    }

    fn domain<S: Sink<Node = N>>(
        &mut self,
        sink: &mut S,
        domain: &str,
    ) -> Result<&mut Domain<N>, S::Error> {
        match self.0.entry(domain.into()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(free) => {
                let node = sink.node(&[SinkOperand::Bytes(domain.as_bytes())], Storage::Uniqued)?;
                let (scopes, lists) = (HashMap::default(), HashMap::default());
                Ok(free.insert(Domain { node, scopes, lists, relations: HashMap::default() }))
            }
        }
    }
}
