//! Stores that may give memory another type than a store of the same function has given it.
//!
//! C allows that for allocated memory, and LLVM exchanges the two all the same. The runtime warns of two in one
//! function: only these look at what was there. A `static` function that may be inlined counts as a part of
//! each function that calls it.

use super::pass::Pass;
use tbaa::parts::table::{HashMap, HashSet};
use tbaa::{Oracle, TagId};
use tbaa_ir::{Function, Opcode, Pointers, Value};

/// Stores of a function that are compared with each other. Of a function that has more, all look.
const MOST: usize = 256;

/// Which functions may be inlined where, and what they store.
#[derive(Default)]
pub(super) struct Inlined<'t> {
    /// The callers of `static` functions.
    callers: HashMap<&'t [u8], Vec<&'t [u8]>>,
    /// The tags of each function's stores.
    stores: HashMap<&'t [u8], HashSet<TagId>>,
    /// The functions that may be inlined into each.
    callees: HashMap<&'t [u8], Vec<&'t [u8]>>,
}

impl<'t> Inlined<'t> {
    pub(super) fn new(pass: &Pass<'t>, bodies: &[(&'t [u8], Function<'t>)]) -> Self {
        let mut inlined = Inlined::default();
        let may_be_inlined = |body: &Function<'t>| {
            let header = &body.header;
            let words = &header.text[..memchr::memchr(b'@', header.text).unwrap_or(0)];
            let is_static = words.split(|it| *it == b' ').any(|it| it == b"internal");
            is_static && !pass.groups.have(header.attributes.clone(), b"noinline")
        };
        let small = bodies.iter().filter(|(_, body)| may_be_inlined(body));
        let small: HashSet<&[u8]> = small.map(|(name, _)| *name).collect();
        for (name, body) in bodies {
            let tags = stores(pass, body).map(|it| it.tag).collect();
            inlined.stores.insert(name, tags);
            for inst in body.instructions.iter().filter(|it| it.opcode == Opcode::Call) {
                let Some(callee) = body.call(inst).and_then(|it| small.get(it.callee)) else {
                    continue;
                };
                let callers = inlined.callers.entry(callee).or_default();
                if callee != name && callers.last() != Some(name) {
                    callers.push(name);
                    inlined.callees.entry(name).or_default().push(callee);
                }
            }
        }
        inlined
    }

    /// The functions that one may be inlined into, a line each.
    pub(super) fn callers_of(&self, name: &[u8]) -> Vec<u8> {
        self.callers.get(name).map_or(Vec::new(), |callers| callers.join(&b'\n'))
    }

    /// The tags of stores in other functions that may come to stand in one with a function's own.
    fn beside(&self, name: &[u8]) -> HashSet<TagId> {
        let of = |map: &HashMap<&'t [u8], Vec<&'t [u8]>>, name: &[u8]| {
            map.get(name).cloned().unwrap_or_default()
        };
        let callers = of(&self.callers, name);
        let siblings = callers.iter().flat_map(|it| of(&self.callees, it)).filter(|it| *it != name);
        let all = callers.iter().copied().chain(siblings).chain(of(&self.callees, name));
        all.filter_map(|it| self.stores.get(it)).flatten().copied().collect()
    }
}

struct Store {
    at: usize,
    pointer: Value,
    size: u64,
    tag: TagId,
}

/// The plain stores of a function that tell something.
fn stores<'f, 't>(
    pass: &'f Pass<'t>,
    function: &'f Function<'t>,
) -> impl Iterator<Item = Store> + 'f {
    let stores = function.instructions.iter().enumerate();
    stores.filter(|(_, inst)| inst.opcode == Opcode::Store).filter_map(|(at, inst)| {
        let access = &pass.module.instructions()[inst.access?];
        let tag = pass.telling(access.tag)?;
        let size = pass.size(inst.ty)?.store;
        Some(Store { at, pointer: function.pointer(inst)?, size, tag })
    })
}

/// Returns the stores that look at what is there.
pub(super) fn rewrites<'t>(
    pass: &Pass<'t>,
    (name, function): (&[u8], &Function<'t>),
    pointers: &Pointers<'t>,
) -> HashSet<usize> {
    let is_memory = |it: &Store| !pointers.is_register(it.pointer);
    let stores: Vec<Store> = stores(pass, function).filter(is_memory).collect();
    let beside = pass.inlined.beside(name);
    let mut found = HashSet::default();
    if stores.is_empty() || stores.len() == 1 && beside.is_empty() {
        return found;
    }
    let [llvm, ..] = pass.oracles();
    let part = |a: TagId, b: TagId| a != b && !Oracle::may_alias(llvm, a, b);
    for (at, a) in stores.iter().enumerate() {
        if beside.iter().any(|&tag| part(a.tag, tag)) {
            found.insert(a.at);
        }
        let apart = |b: &Store| {
            stores.len() <= MOST
                && pointers.meet((a.pointer, Some(a.size)), (b.pointer, Some(b.size)))
                    == Some(false)
        };
        for b in stores[..at].iter().filter(|b| part(a.tag, b.tag) && !apart(b)) {
            found.extend([a.at, b.at]);
        }
    }
    found
}
