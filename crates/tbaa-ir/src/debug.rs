//! Reads debug information: names of struct fields, and source lines of instructions.
//!
//! Each metadata node must be on a line of its own, as LLVM prints it. A *record* is a struct, a
//! class or a union.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::{borrow::Cow, ops::Range};

use crate::{Instruction, Module};
use tbaa::parts::table::HashMap;
use tbaa_lex::{lexer::Lexer, source::unescaped};

/// The largest number of links that one loop follows: links between nodes may form a cycle.
const DEPTH: usize = 64;

/// Maps a function's offset and a value's name to the metadata number of the source variable.
type Variables = HashMap<(usize, Vec<u8>), Option<u32>>;

/// The largest number of names in a list such as `{i|f}`.
const LISTED: usize = 4;

/// A place in the source code of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Location {
    /// The file's name, as given to the compiler.
    pub file: String,
    /// The folder that the file's name is relative to; empty if the compiler recorded none.
    pub directory: String,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
}

/// The debug information of a module's text.
///
/// ```
/// use tbaa_ir::DebugInfo;
///
/// let text = br#"define void @f(ptr %p) !dbg !2 {
///   store i32 1, ptr %p, align 4, !dbg !1
///   ret void
/// }
/// !0 = !DIFile(filename: "f.c", directory: "/")
/// !1 = !DILocation(line: 7, column: 3, scope: !2)
/// !2 = distinct !DISubprogram(name: "f", file: !0, line: 6)
/// "#;
/// let module = tbaa_ir::read(text)?;
/// let debug = DebugInfo::new(&module);
/// let at = debug.location(&module.instructions()[0]).unwrap();
/// assert_eq!((at.file.as_str(), at.line), ("f.c", 7));
/// # Ok::<(), tbaa_ir::TextError>(())
/// ```
#[derive(Debug)]
pub struct DebugInfo<'t> {
    has_nodes: bool,
    /// A cache: the text is searched only once for each function and value.
    variables: Mutex<Variables>,
    module: &'t Module<'t>,
    text: &'t [u8],
    /// The records, by name and by mangled name. The key of records without either is `""`.
    records: HashMap<Cow<'t, [u8]>, Vec<u32>>,
    /// The typedef names of unnamed records, with the records; found on first use.
    typedefs: OnceLock<Vec<(Vec<u8>, u32)>>,
    /// The base classes; found on first use.
    bases: OnceLock<Vec<u32>>,
}

/// The kind of source parameter that a pointer value comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Parameter {
    /// A parameter that is a pointer or reference, by its name.
    Pointer(String),
    /// The `this` of a member function, except a constructor, a destructor or a lambda.
    This,
    /// Any other parameter, such as a class passed by value, or the `this` of a constructor.
    Other,
}

/// A node such as `!DIFile(filename: "f.c")`.
#[derive(Clone, Copy)]
struct DebugNode<'t> {
    /// The word after the `!`, such as `DIFile`.
    kind: &'t [u8],
    /// The text of the fields, and what follows on the line.
    fields: &'t [u8],
}

impl<'t> DebugNode<'t> {
    /// Returns a field's value, as the text writes it.
    fn field(self, wanted: &[u8]) -> Option<&'t [u8]> {
        let mut lexer = Lexer::new(self.fields, 0);
        loop {
            lexer.skip_space().ok()?;
            let name = lexer.word();
            (!name.is_empty() && lexer.eat(b":")).then_some(())?;
            lexer.skip_space().ok()?;
            let start = lexer.at;
            lexer.until(b",)", "a field").ok()?;
            if name == wanted {
                return Some(self.fields[start..lexer.at].trim_ascii_end());
            }
            lexer.eat(b",").then_some(())?;
        }
    }

    fn number(self, field: &[u8]) -> Option<u64> {
        str::from_utf8(self.field(field)?).ok()?.parse().ok()
    }

    fn link(self, field: &[u8]) -> Option<u32> {
        str::from_utf8(self.field(field)?.strip_prefix(b"!")?).ok()?.parse().ok()
    }

    fn string(self, field: &[u8]) -> Option<Cow<'t, [u8]>> {
        let quoted = self.field(field)?.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        Some(unescaped(quoted)).filter(|string| !string.is_empty())
    }

    fn tag(self) -> &'t [u8] {
        self.field(b"tag").unwrap_or_default()
    }

    fn is_record(self) -> bool {
        let tags: [&[u8]; 3] =
            [b"DW_TAG_structure_type", b"DW_TAG_class_type", b"DW_TAG_union_type"];
        self.kind == b"DICompositeType" && tags.contains(&self.tag())
    }

    /// Returns the size in bits; 0 if the node states none.
    fn size(self) -> u64 {
        self.number(b"size").unwrap_or(0)
    }

    /// Returns the member's offset in the record, in bits.
    fn start(self) -> u64 {
        self.number(b"offset").unwrap_or(0)
    }

    /// Returns whether the node is a record with this source name or this mangled name.
    fn has_name(self, name: &[u8]) -> bool {
        let is = |field| self.string(field).is_some_and(|string| *string == *name);
        self.is_record() && (is(b"name") || is(b"identifier"))
    }

    fn has_flag(self, flag: &[u8]) -> bool {
        memchr::memmem::find(self.field(b"flags").unwrap_or_default(), flag).is_some()
    }

    fn is_pointer(self) -> bool {
        let tags: [&[u8]; 3] =
            [b"DW_TAG_pointer_type", b"DW_TAG_reference_type", b"DW_TAG_rvalue_reference_type"];
        tags.contains(&self.tag())
    }
}

impl<'t> DebugInfo<'t> {
    /// Reads a module's debug information, in time linear in the length of the module's text.
    pub fn new(module: &'t Module<'_>) -> Self {
        let text = module.text();
        let mut found = DebugInfo {
            module,
            text,
            has_nodes: memchr::memmem::find(text, b"!DI").is_some(),
            variables: Mutex::default(),
            records: HashMap::new(),
            typedefs: OnceLock::new(),
            bases: OnceLock::new(),
        };
        for number in found.defined_with(b"!DICompositeType(") {
            let Some(node) = found.node(number).filter(|node| node.is_record()) else { continue };
            // A forward declaration has no members.
            if node.link(b"elements").is_none() {
                continue;
            }
            // TBAA uses the mangled names of C++ types.
            let mut names = [node.string(b"name"), node.string(b"identifier")];
            if names.iter().all(Option::is_none) {
                names[0] = Some(Cow::Borrowed(b""));
            }
            for name in names.into_iter().flatten() {
                found.records.entry(name).or_default().push(number);
            }
        }
        found
    }

    /// Returns the metadata numbers that the lines containing `mark` define, in file order.
    fn defined_with(&self, mark: &'static [u8]) -> impl Iterator<Item = u32> + use<'t> {
        let (text, finder) = (self.text, memchr::memmem::Finder::new(mark));
        let mut searched = 0;
        let lines = std::iter::from_fn(move || {
            let rest = &text[searched..];
            let at = finder.find(rest)?;
            let start = memchr::memrchr(b'\n', &rest[..at]).map_or(0, |newline| newline + 1);
            searched += at + line(&rest[at..]).len();
            Some(&rest[start..])
        });
        lines.filter_map(|line| Lexer::new(line.strip_prefix(b"!")?, 0).number().ok())
    }

    pub(super) fn has_no_records(&self) -> bool {
        self.records.is_empty() && self.typedefs().is_empty()
    }

    fn typedefs(&self) -> &[(Vec<u8>, u32)] {
        self.typedefs.get_or_init(|| {
            let typedef = |number| {
                let node = self.node(number)?;
                let record = node.link(b"baseType")?;
                let of = self.node(record).filter(|of| of.is_record())?;
                let name = node.string(b"name")?.into_owned();
                of.string(b"name").is_none().then_some((name, record))
            };
            self.defined_with(b"tag: DW_TAG_typedef").filter_map(typedef).collect()
        })
    }

    /// Finds the unnamed records that may have `fields` (offset in bytes, name of type in TBAA).
    /// Returns the typedef name of the records, and the records. 2 to [`LISTED`] names become
    /// `{pair|point}`; `None` if there are more names or none.
    pub(super) fn unnamed(&self, fields: &[(u64, &[u8])]) -> Option<(String, Vec<u32>)> {
        let mut found: Vec<_> = self.typedefs().iter().collect();
        found.retain(|(_, record)| self.has_fields(*record, fields).is_some());
        let mut names: Vec<_> = found.iter().map(|(name, _)| lossy(name)).collect();
        names.sort_unstable();
        names.dedup();
        let name = match names.len() {
            1 => names.remove(0),
            2..=LISTED => format!("{{{}}}", names.join("|")),
            _ => return None,
        };
        Some((name, found.iter().map(|found| found.1).collect()))
    }

    /// Returns records without any name, such as closures of lambdas, that may have these fields.
    pub(super) fn closures(&self, fields: &[(u64, &[u8])]) -> Vec<u32> {
        let mut found = self.records.get(&b""[..]).cloned().unwrap_or_default();
        found.retain(|&record| self.has_fields(record, fields).is_some());
        found
    }

    /// Returns `Some` if TBAA may describe a record by these fields. Does not compare bit-fields.
    /// The fields come from clang's `CodeGenTBAA::getBaseTypeInfoHelper`.
    fn has_fields(&self, record: u32, fields: &[(u64, &[u8])]) -> Option<()> {
        let is_bit_field = |member: &DebugNode<'t>| member.has_flag(b"DIFlagBitField");
        let mut members = self.members(self.node(record)?);
        let has_bit_fields = members.iter().any(is_bit_field);
        members.retain(|member| !is_bit_field(member));
        let mut rest = fields.iter();
        for member in members {
            let ty = self.strip(member.link(b"baseType")?, &mut 0)?;
            let mut at_member = rest.by_ref().skip_while(|(at, _)| at * 8 < member.start());
            let (at, name) = at_member.next()?;
            // TBAA has `char` for unions and chars. An enum may have one of several names.
            let is_of_type = match *name {
                b"" | b"omnipotent char" => true,
                name if ty.is_record() => ty.has_name(name),
                name => self.is_called(ty, name) || ty.tag() == b"DW_TAG_enumeration_type",
            };
            (at.checked_mul(8)? == member.start() && is_of_type).then_some(())?;
        }
        (has_bit_fields || rest.next().is_none()).then_some(())
    }

    /// Returns whether TBAA may call a type `name`; false for a record. clang drops `unsigned`, and
    /// names a pointer by depth and target, or `any pointer`.
    fn is_called(&self, ty: DebugNode<'t>, name: &[u8]) -> bool {
        let (mut levels, mut to) = (0, Some(ty));
        while let Some(pointer) = to.filter(|to| to.is_pointer() && levels < DEPTH) {
            levels += 1;
            to = pointer.link(b"baseType").and_then(|link| self.strip(link, &mut 0));
        }
        if levels == 0 {
            let own = ty.string(b"name").filter(|_| !ty.is_record());
            return own.is_some_and(|own| own.strip_prefix(b"unsigned ").unwrap_or(&own) == name);
        }
        let any = name.strip_prefix(b"any ");
        let rest = any.unwrap_or(name).strip_prefix(format!("p{levels} ").as_bytes());
        let Some(own) = rest else { return name == b"any pointer" };
        // TBAA has `_ZTS1s` for C's `struct s`.
        let ends = |to: DebugNode<'t>| to.string(b"name").is_some_and(|name| own.ends_with(&name));
        any.is_some() || to.is_some_and(|to| !to.is_record() || to.has_name(own) || ends(to))
    }

    fn body(&self, number: u32) -> Option<Lexer<'t>> {
        let mut lexer = Lexer::new(self.text, self.module.definition(number)? + 1);
        lexer.number().ok()?;
        lexer.token(b"=")?;
        if lexer.eat_word(b"distinct") {
            lexer.skip_space().ok()?;
        }
        lexer.eat(b"!").then_some(lexer)
    }

    fn node(&self, number: u32) -> Option<DebugNode<'t>> {
        let mut lexer = self.body(number)?;
        let kind = lexer.word();
        lexer.eat(b"(").then_some(())?;
        // Use one line only: otherwise text that is cut off would be searched to its end.
        Some(DebugNode { kind, fields: line(lexer.rest()) })
    }

    /// Returns the metadata numbers in a list node such as `!{!1, !2}`.
    fn list(&self, number: u32) -> Option<Vec<u32>> {
        let mut lexer = self.body(number)?;
        lexer.eat(b"{").then_some(())?;
        let mut numbers = Vec::new();
        while lexer.eat(b"!") {
            numbers.extend(lexer.number());
            lexer.eat(b", ");
        }
        Some(numbers)
    }

    /// Returns the non-static members and the base classes of a record, in order.
    fn members(&self, record: DebugNode<'t>) -> Vec<DebugNode<'t>> {
        let list = record.link(b"elements").and_then(|link| self.list(link)).unwrap_or_default();
        let mut members: Vec<_> = list.into_iter().filter_map(|list| self.node(list)).collect();
        let tags: [&[u8]; 2] = [b"DW_TAG_member", b"DW_TAG_inheritance"];
        members.retain(|one| tags.contains(&one.tag()) && !one.has_flag(b"DIFlagStaticMember"));
        members
    }

    /// Returns the members of a record that overlap the byte at the bit offset `bits`. There may be
    /// several: members of a union, or bit-fields in one byte.
    fn members_at(&self, record: DebugNode<'t>, bits: u64) -> Vec<DebugNode<'t>> {
        let byte = bits..bits.saturating_add(8);
        let mut members = self.members(record);
        members.retain(|member| {
            let start = member.start();
            let size = match member.size() {
                // The node of a base class states no size: use its type's.
                0 => member.link(b"baseType").and_then(|ty| self.strip(ty, &mut 0)),
                _ => Some(*member),
            };
            let end = start.saturating_add(size.map_or(0, DebugNode::size).max(1));
            start <= bits && bits < end || byte.contains(&start)
        });
        members
    }

    /// Follows typedefs, qualifiers and arrays to the type that is none of these. Reduces `bits` to
    /// the offset in one array element.
    fn strip(&self, mut number: u32, bits: &mut u64) -> Option<DebugNode<'t>> {
        let mut is_array = false;
        for _ in 0..DEPTH {
            let node = self.node(number)?;
            match node.tag() {
                b"DW_TAG_typedef"
                | b"DW_TAG_const_type"
                | b"DW_TAG_volatile_type"
                | b"DW_TAG_restrict_type"
                | b"DW_TAG_atomic_type" => {}
                b"DW_TAG_array_type" => is_array = true,
                _ => {
                    if is_array {
                        *bits = bits.checked_rem(node.size()).unwrap_or(*bits);
                    }
                    return Some(node);
                }
            }
            number = node.link(b"baseType")?;
        }
        None
    }

    /// Returns the path from a record to the field at `offset` (in bytes), such as `l.base`. The
    /// field may be a record that TBAA calls `access`. In a union, `access` selects the member;
    /// unless exactly one member fits, the path ends in a list: `{i|f}`. `None` if the records of
    /// this name give different paths, or if none has such a field.
    pub(super) fn path(&self, record: &[u8], offset: u64, access: &[u8]) -> Option<String> {
        self.path_in(self.records.get(record)?, offset, access)
    }

    /// Does the same as [`path`](Self::path) for the records with these metadata numbers.
    pub(super) fn path_in(&self, records: &[u32], offset: u64, access: &[u8]) -> Option<String> {
        let bits = offset.checked_mul(8)?;
        let mut paths = records.iter().filter_map(|&number| {
            let mut path = Vec::new();
            self.follow(self.node(number)?, bits, access, &mut path)?;
            Some(path.join("."))
        });
        let first = paths.next()?;
        paths.all(|other| other == first).then_some(first)
    }

    /// Appends to `path` the names of the members that lead to the field at `bits`, if it exists.
    fn follow(
        &self,
        mut record: DebugNode<'t>,
        mut bits: u64,
        access: &[u8],
        path: &mut Vec<String>,
    ) -> Option<()> {
        for _ in 0..DEPTH {
            let members = self.members_at(record, bits);
            let member = match &members[..] {
                [one] => *one,
                [] => return None,
                _ => match self.choose(&members, bits, access) {
                    Ok(one) => one,
                    Err(list) => {
                        path.push(list);
                        return Some(());
                    }
                },
            };
            if let Some(name) = member.string(b"name") {
                path.push(lossy(&name));
            }
            bits = bits.saturating_sub(member.start());
            let ty = self.strip(member.link(b"baseType")?, &mut bits)?;
            if !ty.is_record() {
                return (bits == 0).then_some(());
            }
            if bits == 0 && ty.has_name(access) {
                return Some(());
            }
            record = ty;
        }
        None
    }

    /// Returns the member that fits the access type `access` at the bit offset `bits`. Unless
    /// exactly one member fits, returns a list of the members' names as an error.
    fn choose(
        &self,
        members: &[DebugNode<'t>],
        bits: u64,
        access: &[u8],
    ) -> Result<DebugNode<'t>, String> {
        let has_type = |member: &&DebugNode<'t>| {
            let mut bits = bits.saturating_sub(member.start());
            let ty = member.link(b"baseType").and_then(|ty| self.strip(ty, &mut bits));
            // A record fits by its name alone.
            ty.is_some_and(|ty| ty.has_name(access) || bits == 0 && self.is_called(ty, access))
        };
        let mut matching = members.iter().filter(has_type);
        if let (Some(&one), None) = (matching.next(), matching.next()) {
            return Ok(one);
        }
        let names: Vec<_> = members.iter().filter_map(|member| member.string(b"name")).collect();
        let mut listed: Vec<_> = names.iter().take(LISTED).map(|name| lossy(name)).collect();
        if names.len() > LISTED {
            listed.push("...".into());
        }
        Err(format!("{{{}}}", listed.join("|")))
    }

    /// Returns the source location of an instruction, from a `!dbg` on its first line.
    pub fn location(&self, instruction: &Instruction) -> Option<Location> {
        self.location_at(instruction.offset as usize)
    }

    /// Does the same as [`location`](Self::location) for the instruction at an offset in the text,
    /// even if [`Module`] does not list it.
    pub fn location_at(&self, offset: usize) -> Option<Location> {
        self.place(attached(line(self.text.get(offset..)?), b"!dbg !")?)
    }

    /// Like [`location_at`](Self::location_at), but if the instruction has no source line, searches
    /// its block: returns the location of the nearest later instruction with a source line, or else
    /// of the nearest earlier one. Searches a limited number of lines of the text.
    pub fn location_near(&self, offset: usize) -> Option<Location> {
        /// The largest number of lines that are searched in each direction.
        const NEAR: usize = 64;
        let has_line = |line: &[u8]| {
            let at = attached(line, b"!dbg !").and_then(|number| self.place(number));
            at.filter(|at| at.line > 0)
        };
        if !self.has_nodes {
            return None;
        }
        let is_end = |line: &&[u8]| line.starts_with(b"}") || !line.starts_with(b" ");
        let newline = |byte: &u8| *byte == b'\n';
        let rest = self.text.get(offset..)?;
        let first = rest.split(newline).next().and_then(has_line);
        let behind = || {
            let mut lines = rest.split(newline).skip(1).take(NEAR).take_while(|part| !is_end(part));
            lines.find_map(has_line)
        };
        let before = || {
            let mut lines = self.text[..offset].rsplit(newline).skip(1).take(NEAR);
            lines.by_ref().take_while(|line| !is_end(line)).find_map(has_line)
        };
        first.or_else(behind).or_else(before)
    }

    /// Returns where a loop starts in the source, from the `!llvm.loop` of the branch at `offset`.
    /// See LLVM's `Loop::getLocRange`.
    pub fn loop_at(&self, offset: usize) -> Option<Location> {
        let rest = self.text.get(offset..)?;
        // A `switch` takes several lines.
        let end = memchr::memmem::find(rest, b"\n\n").unwrap_or(rest.len());
        let line = &rest[..end.min(memchr::memmem::find(rest, b"\n}").unwrap_or(end))];
        let list = self.list(attached(line, b"!llvm.loop !")?)?;
        list.into_iter().find_map(|number| self.place(number))
    }

    /// Returns the names of all source files, in no particular order.
    pub fn files(&self) -> Vec<String> {
        let start = b"!DIFile(";
        let nodes = memchr::memmem::find_iter(self.text, start).filter_map(|at| {
            let fields = line(&self.text[at + start.len()..]);
            DebugNode { kind: b"DIFile", fields }.string(b"filename")
        });
        nodes.map(|name| lossy(&name)).collect()
    }

    fn place(&self, number: u32) -> Option<Location> {
        let node = self.node(number)?;
        (node.kind == b"DILocation").then_some(())?;
        let small = |field| node.number(field).map_or(0, |it| it.try_into().unwrap_or(0));
        let (file, directory) = self.file(node.link(b"scope")?)?;
        Some(Location { file, directory, line: small(b"line"), column: small(b"column") })
    }

    /// Returns the language of the first compile unit, such as `DW_LANG_C11`.
    pub fn language(&self) -> Option<&'t str> {
        let unit = memchr::memmem::find(self.text, b"!DICompileUnit(")?;
        let fields = line(self.text.get(unit + b"!DICompileUnit(".len()..)?);
        let node = DebugNode { kind: b"DICompileUnit", fields };
        let language = node.field(b"language").or_else(|| node.field(b"sourceLanguageName"))?;
        std::str::from_utf8(language).ok()
    }

    /// Returns the source parameter whose value is `value`, from a `#dbg_value` or `#dbg_declare`
    /// (LLVM: `DbgVariableRecord`) in the text range `function`.
    pub fn parameter(&self, function: Range<usize>, value: &[u8]) -> Option<Parameter> {
        if !self.has_nodes {
            return None;
        }
        let find = || {
            let text = self.text.get(function.clone())?;
            let found = ["#dbg_value(ptr ", "#dbg_declare(ptr "].iter().find_map(|record| {
                let start = [record.as_bytes(), value, b", !"].concat();
                Some(memchr::memmem::find(text, &start)? + start.len())
            });
            Lexer::new(text, found?).number().ok()
        };
        let mut known = self.variables.lock().unwrap_or_else(PoisonError::into_inner);
        let number = *known.entry((function.start, value.to_vec())).or_insert_with(find);
        drop(known);
        let variable = self.node(number?)?;
        (variable.kind == b"DILocalVariable" && variable.number(b"arg").is_some()).then_some(())?;
        let name = variable.string(b"name")?;
        let ty = self.strip(variable.link(b"type")?, &mut 0)?;
        let is_plain_member = || self.is_special_member(variable) == Some(false);
        Some(match &*name {
            b"this" if is_plain_member() => Parameter::This,
            b"this" => Parameter::Other,
            name if ty.is_pointer() => Parameter::Pointer(lossy(name)),
            _ => Parameter::Other,
        })
    }

    /// Returns whether a variable belongs to a constructor, a destructor, or a function whose scope
    /// has no name, such as a lambda.
    fn is_special_member(&self, variable: DebugNode<'t>) -> Option<bool> {
        let function = self.node(variable.link(b"scope")?)?;
        let name = function.string(b"name")?;
        let class = self.node(function.link(b"scope")?)?.string(b"name").unwrap_or_default();
        let class = class.split(|&byte| byte == b'<').next().unwrap_or_default();
        let own = name.split(|&byte| byte == b'<').next().unwrap_or_default();
        Some(own.starts_with(b"~") || own == class || class.is_empty())
    }

    /// Returns whether a class of this name is a base class of another class.
    pub fn is_base_class(&self, name: &[u8]) -> bool {
        let bases = self.bases.get_or_init(|| {
            let at = memchr::memmem::find_iter(self.text, b"tag: DW_TAG_inheritance");
            let base = |at: usize| {
                let fields = line(&self.text[at..]);
                DebugNode { kind: b"DIDerivedType", fields }.link(b"baseType")
            };
            let mut found: Vec<u32> = at.filter_map(base).collect();
            found.sort_unstable();
            found.dedup();
            found
        });
        bases.iter().filter_map(|&base| self.strip(base, &mut 0)).any(|base| base.has_name(name))
    }

    /// Returns the name and folder of the file of the nearest scope that has a file.
    fn file(&self, mut scope: u32) -> Option<(String, String)> {
        for _ in 0..DEPTH {
            let node = self.node(scope)?;
            if let Some(file) = node.link(b"file").and_then(|file| self.node(file)) {
                let string = |field| lossy(&file.string(field).unwrap_or_default());
                let name = Some(string(b"filename")).filter(|name| !name.is_empty())?;
                return Some((name, string(b"directory")));
            }
            scope = node.link(b"scope")?;
        }
        None
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn line(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())]
}

/// Returns the metadata number after the last `mark`, such as `!dbg !`, in a text.
fn attached(line: &[u8], mark: &[u8]) -> Option<u32> {
    let at = memchr::memmem::rfind(line, mark)? + mark.len();
    Lexer::new(line, at).number().ok()
}
