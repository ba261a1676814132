//! The scopes that were emitted.

use super::sink::{Sink, SinkOperand};
use tbaa_lex::table::HashMap;

/// The scopes that were emitted.
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
    /// Each scope's number and node.
    scopes: HashMap<Box<str>, (u32, N)>,
    /// Lists, by the numbers of the scopes in them.
    lists: HashMap<Box<[u32]>, N>,
}

impl<N: Clone> ScopeLists<N> {
    /// Returns the list of scopes of these names; `None` of no names.
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
        if !self.0.contains_key(domain) {
            let node = sink.node(&[SinkOperand::Bytes(domain.as_bytes())], false)?;
            let (scopes, lists) = (HashMap::default(), HashMap::default());
            self.0.insert(domain.into(), Domain { node, scopes, lists });
        }
        let Some(known) = self.0.get_mut(domain) else { return Ok(None) };
        let mut numbers = Vec::new();
        let mut nodes = Vec::new();
        for name in names {
            let (number, node) = match known.scopes.get(name) {
                Some(known) => known.clone(),
                None => {
                    let operands =
                        [SinkOperand::Bytes(name.as_bytes()), SinkOperand::Node(&known.node)];
                    let node = sink.node(&operands, false)?;
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
        let list = sink.node(&operands, false)?;
        known.lists.insert(numbers.into(), list.clone());
        Ok(Some(list))
    }
}
