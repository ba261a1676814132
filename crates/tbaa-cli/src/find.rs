//! Finds the accesses that a name means: `!34`, `vec+8`, `@fill:%12`, `fill.c:14`.

use std::ops::Range;
use std::path::Path;

use tbaa::parts::nearest;
use tbaa::raw::RawGraph;
use tbaa::types::TypeKind;
use tbaa::{Access, Graph, Size, TagId, TypeId};
use tbaa_ir::{DebugInfo, Instruction, Keep, Module, Names, Numbering, Opcode, Sizes};

use crate::input::{Content, Input, listed_tags, read_module, reference};
use crate::output;
use crate::printable::{function_name, llvm_name, printable};
use crate::report::{Context, Failure, Result, bail, note};

/// The number of names that a message lists. The rest are only counted.
const SHOWN: usize = 8;

/// What a name means: a tag, or an instruction with or without a tag.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    pub(crate) tag: Option<TagId>,
    /// Index into the module's instructions; `None` if the name means a tag.
    pub(crate) instruction: Option<usize>,
    /// The access, for queries.
    pub(crate) access: Access,
}

impl Found {
    fn of_tag(tag: TagId) -> Found {
        Found { tag: Some(tag), instruction: None, access: tag.into() }
    }
}

impl Input {
    /// Finds the accesses that each name means. Fails if a name means none.
    pub(crate) fn find(&mut self, names: &[&str]) -> Result<Vec<Vec<Found>>> {
        // Read all numbers first: reading may replace the graph, whose ids would become invalid,
        // and looking up a path may add a tag, which would change the numbers of a dump.
        for number in names.iter().copied().filter_map(number) {
            self.read_number(number)?;
        }
        let numbering = self.numbering();
        let found = names.iter().map(|name| match self.content {
            Content::Spec(..) => self.of_spec(name, &numbering),
            Content::Module(_) => self.of_module(name, &numbering),
        });
        found.collect()
    }

    pub(crate) fn pair(&mut self, a: &str, b: &str) -> Result<[Vec<Found>; 2]> {
        let found = self.find(&[a, b])?;
        Ok(found.try_into().unwrap_or_else(|_| unreachable!("a list for each name")))
    }

    /// Returns a description of an access, such as `@fill:2 !34 vec.len (long at 8 of vec)`.
    pub(crate) fn found_name(&self, names: &Names<'_>, found: &Found) -> String {
        let tag = found.tag.map(|tag| self.described(names, tag));
        match (&self.content, found.instruction) {
            (Content::Module(module), Some(index)) => {
                let tag = tag.unwrap_or_else(|| "without a tag".to_owned());
                format!("{} {tag}", access_name(module, index))
            }
            _ => tag.unwrap_or_default(),
        }
    }

    /// Finds a tag by its name in the spec, by a path, or by its number in `tbaa dump`.
    fn of_spec(&mut self, name: &str, numbering: &Numbering) -> Result<Vec<Found>> {
        let Content::Spec(built, _) = &mut self.content else { unreachable!("it is a spec") };
        let number = name.strip_prefix('!').and_then(|digits| digits.parse().ok());
        let numbered = number.and_then(|number| built.graph().tag_of(numbering.node(number)?));
        let tag = match numbered.filter(|_| !built.tags().contains_key(name)) {
            Some(tag) => tag,
            None => built.tag(name).context(&self.file)?,
        };
        self.asked.push((tag, name.to_owned()));
        Ok(vec![Found::of_tag(tag)])
    }

    fn of_module(&mut self, name: &str, numbering: &Numbering) -> Result<Vec<Found>> {
        if let Some(digits) = number(name) {
            return Ok(vec![Found::of_tag(self.numbered(digits, numbering)?)]);
        }
        let Content::Module(module) = &self.content else { unreachable!("specs use names") };
        if name.starts_with("!{") {
            return Ok(vec![Found::of_tag(self.inline(module, name)?)]);
        }
        let instructions = match name.strip_prefix('@') {
            Some(access) => self.in_function(module, access)?,
            None => match name.rsplit_once(':') {
                Some((file, line)) if is_digits(line) => self.on_line(module, file, line)?,
                _ => return self.by_place(module, name),
            },
        };
        let sizes = Sizes::new(module);
        let found = |at| {
            let access = access_of(module, &sizes, &module.instructions()[at]);
            Found { tag: access.tag, instruction: Some(at), access }
        };
        Ok(instructions.into_iter().map(found).collect())
    }

    /// Reads the module again with all nodes, if no node with this number was read so far.
    fn read_number(&mut self, digits: &str) -> Result {
        let numbering = self.numbering();
        let Content::Module(module) = &mut self.content else { return Ok(()) };
        let unknown = |module: &Module<'_>| {
            let (file, known) = (&self.file, known_tags(module));
            let what = format!("!{digits} is no plain metadata node that {file} defines: {known}");
            Failure::unusable(what)
        };
        let number = digits.parse().map_err(|_| unknown(module))?;
        if module.node(number).or_else(|| numbering.node(number)).is_none() {
            let all = read_module(&self.file, module.text().to_vec(), Keep::All)?;
            if all.node(number).is_none() {
                return Err(unknown(module));
            }
            *module = all;
        }
        Ok(())
    }

    /// Finds a tag by its number in `tbaa dump`, or else in the text. May make the node a tag.
    fn numbered(&mut self, digits: &str, numbering: &Numbering) -> Result<TagId> {
        let Content::Module(module) = &mut self.content else { unreachable!("specs use names") };
        let undefined = || Failure::unusable(format!("!{digits} is not defined in {}", self.file));
        let number: u32 = digits.parse().map_err(|_| undefined())?;
        let node = numbering.node(number).or_else(|| module.node(number)).ok_or_else(undefined)?;
        if let Some(tag) = module.graph().tag_of(node) {
            return Ok(tag);
        }
        let is_type = module.graph().ty(TypeId::of_node(node)).name().is_some();
        let count = module.graph().tag_count();
        let tag = match module.node(number) {
            Some(_) => module.tag(number).ok_or_else(undefined)?,
            None => module.graph_mut().mark_attached(node),
        };
        let (tag_node, added) = (module.graph().tag_node(tag), module.graph().tag_count() > count);
        // A type node whose tag exists already under the same number needs no note.
        let known = !added && module.number_of(tag_node) == module.number_of(node);
        let file = &self.file;
        if is_type && tag_node != node && !known {
            note(format!(
                "!{number} is a type node of {file}, read as a tag of the scalar format: an access to that whole type"
            ));
        } else if added {
            note(format!("!{number} is not attached to any instruction of {file}"));
        }
        Ok(tag)
    }

    /// Finds the inline tag that `tbaa matrix` prints as `label`.
    fn inline(&self, module: &Module<'_>, label: &str) -> Result<TagId> {
        let is = |tag: &TagId| reference(module, module.graph().tag_node(*tag)) == label;
        let Some(tag) = module.graph().tags().find(is) else {
            bail!("no inline tag of {} prints as {label}: {}", self.file, known_tags(module));
        };
        Ok(tag)
    }

    /// Finds a tag by `vec.len`, `vec+8`, `long`, or the whole text that a command prints for it.
    fn by_place(&self, module: &Module<'_>, name: &str) -> Result<Vec<Found>> {
        let names = Names::of_module(module);
        let graph = module.graph();
        let offset = offset(name);
        let fits = |tag: TagId| {
            let at = graph.tag(tag).ok().zip(offset);
            let same = at.is_some_and(|(tag, (base, offset))| {
                tag.offset == offset && names.ty(tag.base) == base
            });
            same || names.place(tag) == name || is_whole_type(graph, tag, name)
        };
        let in_full = |&tag: &TagId| names.tag(tag) == name || self.described(&names, tag) == name;
        let mut found: Vec<TagId> = graph.tags().filter(in_full).collect();
        if found.is_empty() {
            found = graph.tags().filter(|&tag| fits(tag)).collect();
        }
        let file = &self.file;
        match &found[..] {
            [] => {
                let places = graph.tags().map(|tag| names.place(tag));
                let functions = module.functions().map(|name| format!("@{}", function_name(name)));
                let candidates: Vec<String> = places.chain(functions).collect();
                let all = || candidates.iter().map(String::as_str);
                let near = all().find(|candidate| candidate.strip_prefix('@') == Some(name));
                if let Some(near) = near.or_else(|| nearest(name, all())) {
                    bail!("{name:?} names no access of {file}: did you mean {near}?");
                }
                let known = known_tags(module);
                bail!(
                    "{name:?} names no access of {file}: {known}. `tbaa --help` says how accesses are named"
                )
            }
            [tag] => Ok(vec![Found::of_tag(*tag)]),
            _ => {
                let names = listed(found.iter().map(|&tag| self.described(&names, tag)));
                bail!("{name:?} names several tags of {file}: {names}; say which, by its number")
            }
        }
    }

    /// Finds an access by `fill:%12` (its result, or else its pointer) or `fill:7` (the seventh).
    fn in_function(&self, module: &Module<'_>, access: &str) -> Result<Vec<usize>> {
        let file = &self.file;
        let Some((name, access)) = access.rsplit_once(':').filter(|_| names_access(access)) else {
            bail!(
                "{file}: @{access} is a function; name an access in it: @{access}:%x or @{access}:1"
            );
        };
        let function = self.function(module, name)?;
        let instructions = module.accesses_of(function);
        let all = instructions.clone().map(|index| access_name(module, index));
        if access.is_empty() {
            bail!("{file}: name an access of @{name}, one of {}", listed(all));
        }
        if !access.starts_with('%') {
            let nth = access.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            return match nth.and_then(|nth| instructions.clone().nth(nth)) {
                Some(index) => Ok(vec![index]),
                None => bail!(
                    "{file}: there is no @{name}:{access}: @{name} has {} accesses, counted from 1",
                    instructions.len()
                ),
            };
        }
        let is = |span: Option<Range<usize>>| {
            span.is_some_and(|span| module.text()[span] == *access.as_bytes())
        };
        let instruction = |index: usize| &module.instructions()[index];
        let result = |&index: &usize| is(module.result_span(instruction(index)));
        if let Some(index) = instructions.clone().find(result) {
            return Ok(vec![index]);
        }
        let pointer = |&index: &usize| is(module.pointer_span(instruction(index)));
        let through: Vec<usize> = instructions.clone().filter(pointer).collect();
        match &through[..] {
            [] => {
                bail!(
                    "{file}: {access} of @{name} is neither the result nor the pointer of an access"
                )
            }
            [_] => Ok(through),
            _ => {
                let names = listed(through.iter().map(|&index| access_name(module, index)));
                bail!(
                    "{file}: several accesses of @{name} go through {access}; name one of {names}"
                )
            }
        }
    }

    /// Finds a function by its LLVM or source name. A unique source name may omit the parameters.
    pub(crate) fn function(&self, module: &Module<'_>, name: &str) -> Result<u32> {
        let all = |is: &dyn Fn(&[u8]) -> bool| -> Vec<(u32, &[u8])> {
            (0..).zip(module.functions()).filter(|(_, function)| is(function)).collect()
        };
        // Names are printed with `@`, so accept it.
        let name = name.strip_prefix('@').unwrap_or(name);
        let symbol = |bytes: &[u8]| bytes == name.as_bytes() || llvm_name(bytes) == name;
        let source = |bytes: &[u8]| function_name(bytes) == name;
        let bare = |bytes: &[u8]| {
            function_name(bytes).strip_prefix(name).is_some_and(|rest| rest.starts_with('('))
        };
        if let Some(&(index, _)) = all(&symbol).first() {
            return Ok(index);
        }
        let file = &self.file;
        let found = Some(all(&source)).filter(|found| !found.is_empty());
        match &found.unwrap_or_else(|| all(&bare))[..] {
            [(index, _)] => Ok(*index),
            [] => {
                let names: Vec<String> = module.functions().map(function_name).collect();
                let short = names.iter().map(|name| name.split('(').next().unwrap_or_default());
                let all = names.iter().map(String::as_str).chain(short);
                let near = nearest(name, all).map(|near| format!(": did you mean @{near}?"));
                bail!("{file}: no function @{name} has a body{}", near.unwrap_or_default())
            }
            found => {
                let source: Vec<String> =
                    found.iter().map(|found| function_name(found.1)).collect();
                let names = found.iter().zip(&source).map(|((_, symbol), name)| {
                    // Shortened source names may be equal: then print LLVM's names.
                    let is_one = source.iter().filter(|source| *source == name).count() == 1;
                    format!("@{}", if is_one { name.clone() } else { llvm_name(symbol) })
                });
                bail!("{file}: @{name} names several functions: {}; say which", listed(names))
            }
        }
    }

    /// Finds all accesses on a line of the text, or on a line of the source by `!dbg`.
    fn on_line(&self, module: &Module<'_>, file: &str, line: &str) -> Result<Vec<usize>> {
        let number: usize = line.parse().unwrap_or(usize::MAX);
        let all = 0..module.instructions().len();
        let instruction = |index: usize| &module.instructions()[index];
        let is_text = is_same_file(&self.file, file) || file == "-" && self.file == "<stdin>";
        let mut near = Vec::new();
        let found: Vec<usize> = if is_text {
            let span = line_span(module.text(), number).unwrap_or_default();
            all.filter(|&index| span.contains(&(instruction(index).offset as usize))).collect()
        } else {
            let debug = DebugInfo::new(module);
            let location = |&index: &usize| {
                let at = debug.location(instruction(index));
                at.filter(|at| is_same_file(&at.file, file)).map(|at| at.line as usize)
            };
            near.extend(all.clone().filter_map(|index| location(&index)));
            all.filter(|index| location(index) == Some(number)).collect()
        };
        if !found.is_empty() {
            return Ok(found);
        }
        near.sort_unstable();
        near.dedup();
        near.sort_by_key(|&other| other.abs_diff(number));
        let module = &self.file;
        match &near[..] {
            [] if is_text => bail!("line {line} of {file} holds no memory access"),
            [] => bail!(
                "no instruction of {module} comes from {file}; compile with -g, and `!dbg` says where each comes from"
            ),
            _ => bail!(
                "no memory access of {module} comes from line {line} of {file}, for there is none or LLVM removed \
                 it; the nearest lines that have one are {}",
                listed(near.iter().map(usize::to_string))
            ),
        }
    }
}

/// Returns whether a name has the form of an access (`@f:2`, `@f:%x` or an incomplete `@f:`).
pub(crate) fn names_access(name: &str) -> bool {
    let access = name.rsplit_once(':').map(|(_, access)| access);
    access.is_some_and(|access| access.is_empty() || access.starts_with('%') || is_digits(access))
}

/// Returns an instruction as an access. One that loads or stores a value has a size as in
/// [`Access::of_width`], or [`Size::Unknown`] if its type has no known size and is not a scalar.
/// `va_arg` has [`Size::Unknown`], because it also accesses the list of arguments.
pub(crate) fn access_of(module: &Module<'_>, sizes: &Sizes, instruction: &Instruction) -> Access {
    use Opcode::{AtomicRmw, CmpXchg, Load, Store, VaArg};
    let access = Access::from(instruction.tag);
    let Some(tag) = instruction.tag else { return access };
    match instruction.opcode {
        Load | Store | AtomicRmw | CmpXchg => {}
        VaArg => return access.with_size(Size::Unknown),
        _ => return access,
    }
    let ty = sizes.ty(module.access_type(instruction));
    let is_scalar = |kind: TypeKind<'_>| {
        matches!(kind, TypeKind::Primitive(_) | TypeKind::Int(_) | TypeKind::Pointer { .. })
    };
    let scalar = ty.is_some_and(|ty| sizes.with_kind(ty, is_scalar));
    let size = ty.and_then(|ty| sizes.size_of(ty)).filter(|ty| !ty.scalable);
    match size {
        Some(size) => Access::of_width(module.graph(), tag, size.store),
        None if scalar => access,
        None => access.with_size(Size::Unknown),
    }
}

/// Returns the name of an access: `@fill:2` is the second access of `fill`.
pub(crate) fn access_name(module: &Module<'_>, index: usize) -> String {
    let function = module.instructions()[index].function;
    let name = module.functions().nth(function as usize).unwrap_or(b"?");
    format!("@{}:{}", function_name(name), index - module.accesses_of(function).start + 1)
}

/// Returns the name and the accesses of each function that has accesses.
pub(crate) fn by_function<'a>(
    module: &'a Module<'_>,
) -> impl Iterator<Item = (&'a [u8], &'a [Instruction])> {
    let names: Vec<&[u8]> = module.functions().collect();
    let functions = module.instructions().chunk_by(|a, b| a.function == b.function);
    functions.map(move |all| (names[all[0].function as usize], all))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a tag accesses a whole type that has this name in its node, such as `p1 int`.
fn is_whole_type(graph: &Graph, tag: TagId, name: &str) -> bool {
    let whole = graph.tag(tag).ok().filter(|tag| tag.is_whole() && tag.offset == 0);
    whole.is_some_and(|tag| graph.ty(tag.access).name() == Some(name.as_bytes()))
}

/// Returns the digits of `!8` or `8`.
fn number(name: &str) -> Option<&str> {
    Some(name.strip_prefix('!').unwrap_or(name)).filter(|digits| is_digits(digits))
}

/// Splits `vec+8` or `vec-8` into type and offset. Negative offsets are in two's complement.
fn offset(name: &str) -> Option<(&str, u64)> {
    let at = name.rfind(['+', '-'])?;
    let digits = &name[at + 1..];
    let value: u64 = digits.parse().ok().filter(|_| is_digits(digits))?;
    let value = if name.as_bytes()[at] == b'-' { value.wrapping_neg() } else { value };
    Some((&name[..at], value))
}

/// Returns whether the names are equal, or the path `known` ends in the components of `asked`.
fn is_same_file(known: &str, asked: &str) -> bool {
    !asked.is_empty() && (known == asked || Path::new(known).ends_with(asked))
}

/// Returns the bytes of a line of the text. Lines are counted from 1.
fn line_span(text: &[u8], number: usize) -> Option<Range<usize>> {
    let mut starts = std::iter::once(0)
        .chain(text.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(at, _)| at + 1));
    let start = starts.nth(number.checked_sub(1)?)?;
    Some(start..starts.next().unwrap_or(text.len()))
}

fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    output::listed(names, SHOWN, ", ", " and ")
}

fn known_tags(module: &Module<'_>) -> String {
    let tags = listed_tags(module);
    if tags.is_empty() {
        return "it has no tags".to_owned();
    }
    let names = Names::of_module(module);
    let name = |&tag: &TagId| {
        let meaning = printable(names.place(tag));
        format!("{} {meaning}", reference(module, module.graph().tag_node(tag)))
    };
    format!("its tags are {}", listed(tags.iter().map(name)))
}
