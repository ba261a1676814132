//! Compares clang's tags for accesses to declared types with the tags that the declarations give.
//!
//! A dump of record layouts does not determine the tags: it lacks attributes such as `may_alias`,
//! and the name of `_Bool`, which depends on the language version. So clang compiles accesses to
//! the members, and the tag of each access is compared with the declarations' tag.

use tbaa::declare::{DeclId, DeclKind, Declarations, DeclareError, MemberLayout, TaggedTypes};
use tbaa::parts::table::{HashMap, IndexMap, IndexSet};
use tbaa::{BuildError, Graph, TagId};

/// A record with more members than this, including nested ones, is not compared.
const MEMBERS: usize = 1 << 12;
/// A record whose nesting depth, counting the record itself, exceeds this is not compared.
const DEPTH: usize = 64;

/// C code with accesses to the members of records, for clang to compile.
///
/// For most members that are pointers, there is also an access through the pointer. Bit-fields have
/// no access, because clang never tags them.
///
/// ```
/// use tbaa::declare::{Declarations, Record, Target};
/// use tbaa_ir::clang::ClangAccesses;
///
/// let mut types = Declarations::new(Target::x86_64());
/// types.define(Record::structure("S").field("a", "int").field("next", "struct S *"))?;
/// let accesses = ClangAccesses::of(&types);
/// let lines: Vec<&str> = accesses.lines().map(|(_, line)| line).collect();
/// assert_eq!(
///     lines,
///     [
///         "extern struct S tbaa_of_0;",
///         "#undef a",
///         "#undef next",
///         "void tbaa_access_0(void) { (void)(tbaa_of_0.a); }",
///         "void tbaa_access_1(void) { (void)(tbaa_of_0.next); }",
///         "void tbaa_access_2(void) { (void)(tbaa_of_0.next->a); }",
///     ]
/// );
/// # Ok::<(), tbaa::declare::DeclareError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClangAccesses {
    lines: Vec<Line>,
    /// The records with too many or too deeply nested members to compare.
    endless: Vec<DeclId>,
}

#[derive(Clone, Debug)]
struct Line {
    record: DeclId,
    c: String,
    /// The access; `None` for a line that declares a variable or undefines a macro.
    access: Option<TaggedMember>,
}

#[derive(Clone, Debug)]
struct TaggedMember {
    number: usize,
    path: String,
    /// True if clang may give this access no tag.
    may_lack_tag: bool,
}

/// A record that clang tags differently from its declaration, or that cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ClangDifference {
    /// The record.
    pub record: DeclId,
    /// The difference, with the path of the member, or why the record cannot be compared.
    pub reason: String,
}

impl ClangAccesses {
    /// Returns accesses to the members of the records that have a name.
    pub fn of(types: &Declarations) -> Self {
        let mut found = ClangAccesses { lines: Vec::new(), endless: Vec::new() };
        let mut number = 0;
        for (object, record) in types.records().enumerate() {
            let mut walk =
                Walk { types, left: MEMBERS + 1, found: Vec::new(), names: IndexSet::default() };
            let path = types.display(record);
            walk.members(record, &format!("tbaa_of_{object}"), &path, DEPTH);
            if walk.left == 0 {
                found.endless.push(record);
                continue;
            }
            let c = format!("extern {} tbaa_of_{object};", types.display_with_keywords(record));
            found.lines.push(Line { record, c, access: None });
            // A macro may have the name of a member, for example in the headers of C libraries.
            for name in walk.names {
                let c = format!("#undef {name}");
                found.lines.push(Line { record, c, access: None });
            }
            for (c, path, may_lack_tag) in walk.found {
                let c = format!("void tbaa_access_{number}(void) {{ (void)({c}); }}");
                let access = Some(TaggedMember { number, path, may_lack_tag });
                found.lines.push(Line { record, c, access });
                number += 1;
            }
        }
        found
    }

    /// Returns lines of C to append to the types' declarations, each with the record that it tests.
    pub fn lines(&self) -> impl Iterator<Item = (DeclId, &str)> {
        self.lines.iter().map(|line| (line.record, line.c.as_str()))
    }

    /// Removes the accesses to a record, for example if later C code cannot name the record.
    pub fn leave_out(&mut self, record: DeclId) {
        self.lines.retain(|line| line.record != record);
    }

    /// Compares clang's tags for [`lines`](Self::lines) with the tags of `types`. Returns each
    /// record that differs, with its first different member, and each record that is too large.
    ///
    /// `accesses` are the loads and stores of clang's module in file order, each as the name of its
    /// function, and its tag. `graph` is the graph of this module.
    ///
    /// Let clang attach tags but not optimise (`-O1 -Xclang -disable-llvm-passes`), in the tag
    /// format that the policy of `types` uses.
    ///
    /// # Errors
    ///
    /// [`DeclareError::Build`] if the graph is full.
    pub fn differences(
        &self,
        types: &mut TaggedTypes,
        graph: &mut Graph,
        accesses: impl IntoIterator<Item = (impl AsRef<[u8]>, Option<TagId>)>,
    ) -> Result<Vec<ClangDifference>, DeclareError> {
        let mut tags: HashMap<usize, Option<TagId>> = HashMap::default();
        for (function, tag) in accesses {
            // A function's last access is to the member; earlier ones load pointers to it.
            if let Some(number) = number(function.as_ref()) {
                tags.insert(number, tag);
            }
        }
        let reason = format!(
            "more than {MEMBERS} members are not compared with clang's: name the records inside"
        );
        let endless = self.endless.iter().map(|&record| (record, reason.clone()));
        let mut found: IndexMap<DeclId, String> = endless.collect();
        for Line { record, access, .. } in &self.lines {
            let Some(access) = access.as_ref().filter(|_| !found.contains_key(record)) else {
                continue;
            };
            let theirs = tags.get(&access.number).copied().flatten();
            if theirs.is_none() && access.may_lack_tag {
                continue;
            }
            let reason = match types.tag(graph, &access.path) {
                Ok(ours) if Some(ours) == theirs => continue,
                Ok(ours) if theirs.is_some_and(|tag| is_pointer_of_old(graph, ours, tag)) => {
                    continue;
                }
                Ok(ours) => {
                    let [ours, theirs] = [Some(ours), theirs].map(|tag| show(graph, tag));
                    let differs = match ours == theirs {
                        true => ", but means another type by one of these names".to_owned(),
                        false => format!(", and not as {ours}"),
                    };
                    format!("clang tags {} as {theirs}{differs}", access.path)
                }
                // An access without a tag may alias everything: that is always correct.
                Err(DeclareError::Untagged { .. }) => continue,
                Err(error @ DeclareError::Build(BuildError::Graph(_))) => return Err(error),
                // For example, an element of an empty array that is not the last member.
                Err(DeclareError::Build(error)) => format!("{}: {error}", access.path),
                Err(error) => error.to_string(),
            };
            found.insert(*record, reason);
        }
        Ok(found.into_iter().map(|(record, reason)| ClangDifference { record, reason }).collect())
    }
}

/// Returns the number in the name of a function from [`ClangAccesses::lines`].
fn number(function: &[u8]) -> Option<usize> {
    // On 32-bit Windows, a name may begin with the byte 1 and an underscore.
    let name = function.strip_prefix(b"\x01_").unwrap_or(function);
    std::str::from_utf8(name.strip_prefix(b"tbaa_access_")?).ok()?.parse().ok()
}

/// Returns whether clang's tag differs only because clang before 20 has one type for all pointers.
fn is_pointer_of_old(graph: &Graph, ours: TagId, theirs: TagId) -> bool {
    const ANY: Option<&[u8]> = Some(b"any pointer");
    let (Ok(ours), Ok(theirs)) = (graph.tag(ours), graph.tag(theirs)) else { return false };
    let name = |ty| graph.ty(ty).name();
    let bases = (ours.base == ours.access, theirs.base == theirs.access);
    let above = graph.ty(ours.access).parent();
    name(theirs.access) == ANY
        && ours.offset == theirs.offset
        && (bases == (true, true)
            || bases == (false, false) && name(ours.base) == name(theirs.base))
        && std::iter::successors(above, |&ty| graph.ty(ty).parent())
            .take(2)
            .any(|ty| name(ty) == ANY)
}

fn show(graph: &Graph, tag: Option<TagId>) -> String {
    let Some(tag) = tag else { return "nothing".to_owned() };
    let Ok(tag) = graph.tag(tag) else { return "a malformed tag".to_owned() };
    let name = |ty| String::from_utf8_lossy(graph.ty(ty).name().unwrap_or_default()).into_owned();
    format!("({}, {}, {})", name(tag.base), name(tag.access), tag.offset)
}

/// The state while the members of one record are visited.
struct Walk<'d> {
    types: &'d Declarations,
    left: usize,
    /// Each access: a C expression, the declarations' path, and whether clang may give no tag.
    found: Vec<(String, String, bool)>,
    names: IndexSet<&'d str>,
}

impl<'d> Walk<'d> {
    fn members(&mut self, record: DeclId, c: &str, path: &str, depth: usize) {
        for member in self.types.members(record) {
            if member.bits.is_some() || self.left == 0 || depth == 0 {
                self.left *= usize::from(depth > 0);
                continue;
            }
            let [c, path] = match member.name {
                "" => [c.to_owned(), path.to_owned()],
                name => {
                    self.names.insert(name);
                    [format!("{c}.{name}"), format!("{path}.{name}")]
                }
            };
            self.value(member.ty, c, path, depth - 1);
        }
    }

    /// Adds an access to a member, or to each member inside it. For a pointer, calls `pointee` too.
    fn value(&mut self, ty: DeclId, mut c: String, mut path: String, depth: usize) {
        let (ty, lens) = self.types.array_parts(ty);
        for _ in lens {
            c += "[0]";
            path += "[*]";
        }
        self.left = self.left.saturating_sub(1);
        match self.types.kind(ty) {
            DeclKind::Record(_) => self.members(ty, &c, &path, depth),
            DeclKind::Void | DeclKind::Function | DeclKind::Array { .. } => {}
            DeclKind::Complex { .. } => self.found.push((format!("__real__ {c}"), path, true)),
            DeclKind::Vector { .. } | DeclKind::Atomic { .. } => self.found.push((c, path, true)),
            DeclKind::Pointer { to } => {
                self.found.push((c.clone(), path.clone(), false));
                self.pointee(*to, &c, &path);
            }
            DeclKind::Scalar { .. } | DeclKind::Enum { .. } => self.found.push((c, path, false)),
        }
    }

    /// Adds at most one access through a pointer, to find attributes of the pointee.
    fn pointee(&mut self, to: DeclId, c: &str, path: &str) {
        match self.types.kind(to) {
            DeclKind::Record(_) => {
                let scalar = |field: &MemberLayout<'_>| {
                    let kind = self.types.kind(field.ty);
                    let plain = matches!(
                        kind,
                        DeclKind::Scalar { .. } | DeclKind::Enum { .. } | DeclKind::Pointer { .. }
                    );
                    plain && field.bits.is_none() && !field.name.is_empty()
                };
                if let Some(MemberLayout { name, .. }) = self.types.members(to).find(scalar) {
                    self.names.insert(name);
                    self.found.push((format!("{c}->{name}"), format!("{path}->{name}"), false));
                }
            }
            DeclKind::Scalar { .. } | DeclKind::Enum { .. } | DeclKind::Pointer { .. } => {
                self.found.push((format!("*{c}"), format!("*{path}"), false));
            }
            _ => {}
        }
    }
}
