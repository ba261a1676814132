//! The way of a pointer back to what it was made from.

use tbaa::parts::table::{HashMap, HashSet};
use tbaa_ir::{Body, Element};

use crate::untagged::Untagged;

/// The most `getelementptr`s and casts on one way.
const LONGEST: usize = 64;

/// The pointers of a function.
pub(crate) struct Pointers<'t> {
    definitions: HashMap<&'t [u8], Made<'t>>,
    /// Results of `phi`, `select` and `freeze` that may point into an object.
    inside: HashSet<&'t [u8]>,
}

/// How a value is made.
enum Made<'t> {
    Element(Element<'t>),
    Cast(&'t [u8]),
    /// A stack slot, and the type that it has.
    Slot(&'t [u8]),
    /// What is loaded from here.
    Load(&'t [u8]),
}

/// What a way begins with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Head<'t> {
    /// A pointer of which no more is known.
    Value(&'t [u8]),
    /// A pointer that is loaded from a stack slot; two loads most likely give the same.
    Loaded(&'t [u8]),
    /// A stack slot of a type.
    Slot(&'t [u8], &'t [u8]),
    /// A global variable: `@x` without its `@`.
    Global(&'t [u8]),
}

/// A pointer's head, and the `getelementptr`s behind it, the first one first.
pub(crate) struct Way<'t> {
    pub(crate) head: Head<'t>,
    pub(crate) elements: Vec<Element<'t>>,
}

impl<'t> Pointers<'t> {
    pub(crate) fn of(body: &Body<'t>) -> Self {
        let made = |statement: &tbaa_ir::Statement<'t>| {
            Some(match statement.word {
                b"getelementptr" => Made::Element(statement.element()?),
                b"bitcast" | b"addrspacecast" => Made::Cast(statement.converted()?.value),
                b"alloca" => Made::Slot(statement.alloca()?.ty),
                b"load" => Made::Load(statement.values().last()?),
                _ => return None,
            })
        };
        let definitions =
            body.statements.iter().filter_map(|it| Some((it.result?, made(it)?))).collect();
        Pointers { inside: inside(body, &definitions), definitions }
    }

    /// Follows a pointer, as an instruction writes it, back to its head.
    pub(crate) fn way(&self, pointer: &'t [u8]) -> Result<Way<'t>, Untagged> {
        let (mut pointer, mut elements) = (pointer, Vec::new());
        for _ in 0..LONGEST {
            let head = match (pointer.first(), self.definitions.get(pointer)) {
                (_, Some(Made::Element(element))) => {
                    pointer = element.base.value;
                    elements.push(*element);
                    continue;
                }
                (_, Some(Made::Cast(from))) => {
                    pointer = from;
                    continue;
                }
                (_, Some(Made::Slot(ty))) => Head::Slot(pointer, ty),
                (_, Some(Made::Load(from)))
                    if matches!(self.definitions.get(from), Some(Made::Slot(_))) =>
                {
                    Head::Loaded(from)
                }
                (Some(b'%'), _) if self.inside.contains(pointer) => return Err(Untagged::Joined),
                (Some(b'%'), _) => Head::Value(pointer),
                (Some(b'@'), _) => Head::Global(&pointer[1..]),
                _ => {
                    let element = Element::constant(pointer).ok_or(Untagged::Unread)?;
                    pointer = element.base.value;
                    elements.push(element);
                    continue;
                }
            };
            elements.reverse();
            return Ok(Way { head, elements });
        }
        Err(Untagged::Unread)
    }
}

/// Returns what `phi`, `select` and `freeze` make of pointers into objects. A pointer that only
/// steps over whole objects is none of these.
fn inside<'t>(body: &Body<'t>, definitions: &HashMap<&'t [u8], Made<'t>>) -> HashSet<&'t [u8]> {
    let joins = |word: &[u8]| matches!(word, b"phi" | b"select" | b"freeze");
    if !body.statements.iter().any(|it| joins(it.word)) {
        return HashSet::default();
    }
    let constant = |text: &[u8]| text.windows(13).any(|word| word == b"getelementptr");
    let begins = |statement: &&tbaa_ir::Statement<'t>| match definitions.get(&statement.result?) {
        Some(Made::Element(element)) => {
            (element.ty == b"i8" || element.indices().count() > 1).then_some(())
        }
        _ => (joins(statement.word) && constant(statement.text())).then_some(()),
    };
    let mut new: Vec<&[u8]> = body
        .statements
        .iter()
        .filter(|it| begins(it).is_some())
        .filter_map(|it| it.result)
        .collect();
    let users = body.users();
    let mut found: HashSet<&[u8]> = new.iter().copied().collect();
    while let Some(value) = new.pop() {
        for &at in users.get(value).into_iter().flatten() {
            let user = &body.statements[at];
            let goes_on = joins(user.word)
                || matches!(user.word, b"getelementptr" | b"bitcast" | b"addrspacecast");
            if let Some(result) = user.result.filter(|_| goes_on)
                && found.insert(result)
            {
                new.push(result);
            }
        }
    }
    found
}
