//! Reads records from the output of clang's `-fdump-record-layouts-complete`.

use std::hash::{Hash, Hasher};

use tbaa::declare::{Declarations, DeclareError, Member, MemberType, Record};
use tbaa::parts::table::{IndexMap, IndexSet};

/// The largest nesting depth of unnamed records.
const DEPTH: usize = 32;

/// The largest number of unnamed records inside one named record.
const UNNAMED: usize = 1 << 12;

/// The structs and unions of a C header, with clang's layout.
///
/// clang prints them if it is called as `clang -fsyntax-only -Xclang -fdump-record-layouts-complete
/// -Xclang -fdump-record-layouts-canonical -x c header.h`. This dump is wrong for a record with an
/// attribute such as `packed` after its members: see [`probes`](Self::probes). Offsets and sizes
/// come from clang, and are checked against the target's types.
///
/// ```
/// use tbaa::declare::{Declarations, Target};
/// use tbaa_ir::clang::ClangRecords;
///
/// let dump = "
/// *** Dumping AST Record Layout
///          0 | struct Node
///          0 |   struct Node * next
///      8:0-2 |   unsigned int kind
///         12 |   int[2] keys
///            | [sizeof=24, align=8]
/// ";
/// let mut types = Declarations::new(Target::x86_64());
/// let skipped = ClangRecords::parse(dump).declare(&mut types);
/// assert!(skipped.is_empty());
/// assert_eq!(types.offset_of("Node.keys[1]")?, 16);
/// # Ok::<(), tbaa::declare::DeclareError>(())
/// ```
#[derive(Clone, Default, Debug)]
pub struct ClangRecords<'t> {
    records: IndexMap<Key<'t>, Dumped<'t>>,
}

/// The name of a record without its keyword. For an unnamed record it is clang's description, which
/// includes the source position. clang writes `unnamed` at the declaration and `anonymous` at a
/// use, so keys that differ only in these words are equal.
#[derive(Clone, Copy, Debug)]
struct Key<'t>(&'t str);

impl<'t> Key<'t> {
    fn of(ty: &'t str) -> Self {
        let ty = ty.trim_start_matches("const ").trim_start_matches("volatile ");
        if ty.ends_with(')') {
            return Key(ty);
        }
        let keyword = ["struct ", "union ", "class "];
        Key(keyword.into_iter().find_map(|keyword| ty.strip_prefix(keyword)).unwrap_or(ty))
    }

    fn parts(self) -> impl Iterator<Item = &'t str> {
        self.0.split("(anonymous ").flat_map(|part| part.split("(unnamed "))
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.parts().eq(other.parts())
    }
}

impl Eq for Key<'_> {}

impl Hash for Key<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().for_each(|part| part.hash(state));
    }
}

#[derive(Clone, Default, PartialEq, Debug)]
struct Dumped<'t> {
    /// The name; empty for an unnamed record, even if a typedef names it.
    name: &'t str,
    union: bool,
    /// True if clang describes a different record the same way, because a macro makes both.
    ambiguous: bool,
    members: Vec<Line<'t>>,
    size: u64,
    align: u64,
}

/// A line for a member, such as `164:0-8 |   int b2`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Line<'t> {
    /// The offset in bits.
    offset: u64,
    bits: Option<u32>,
    ty: &'t str,
    name: &'t str,
}

impl<'t> ClangRecords<'t> {
    /// Reads clang's dump. Skips lines outside records. Of two records of one name, uses the first.
    pub fn parse(text: &'t str) -> Self {
        let mut records = ClangRecords::default();
        let mut open: Option<(Key<'_>, Dumped<'_>)> = None;
        for line in text.lines() {
            let Some((place, rest)) = line.split_once(" | ") else { continue };
            if let Some(sizes) = rest.strip_prefix("[sizeof=") {
                let number = |text: &str| {
                    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
                    text[..end].parse().unwrap_or(0)
                };
                if let Some((key, mut record)) = open.take() {
                    record.size = number(sizes);
                    record.align = sizes.split_once("align=").map_or(1, |(_, rest)| number(rest));
                    let unnamed = record.name.is_empty();
                    let known = records.records.entry(key).or_insert_with(|| record.clone());
                    known.ambiguous |= unnamed && *known != record;
                }
                continue;
            }
            let indent = rest.len() - rest.trim_start().len();
            match (&mut open, indent) {
                (None, 0) => {
                    let name = rest.trim_end();
                    let union = name.starts_with("union ");
                    // If `key.0 == name`, the record is unnamed, or only a typedef names it.
                    let key = Key::of(name);
                    let name = if key.0 == name { "" } else { key.0 };
                    open = Some((key, Dumped { name, union, ..Dumped::default() }));
                }
                (Some((_, record)), 2) => record.members.extend(member(place, &rest[2..])),
                // Members of members are more indented: skip them.
                _ => {}
            }
        }
        records
    }

    /// Returns lines of C to append to the header, each with the name of a record or typedef. With
    /// them, `-fdump-record-layouts` dumps these records. Use this second dump instead of the
    /// first: clang makes the first before it has read the attributes after a record.
    pub fn probes(&self, types: &Declarations) -> Vec<(&'t str, String)> {
        let named = self.records.values().filter(|record| !record.name.is_empty());
        let named = named.map(|record| {
            let keyword = if record.union { "union" } else { "struct" };
            (record.name, format!("_Static_assert(sizeof({keyword} {}) + 1, \"\");", record.name))
        });
        let line = |name| (name, format!("_Static_assert(sizeof({name}) + 1, \"\");"));
        let typedefs = self.typedefs(types).into_iter().map(line);
        named.chain(typedefs).collect()
    }

    /// Returns the names of member types that are neither in the dump nor among `types`. In the
    /// second dump, made with [`probes`](Self::probes), they are enums that only a typedef names.
    /// Declare them first.
    pub fn typedefs(&self, types: &Declarations) -> Vec<&'t str> {
        let members = self.records.values().flat_map(|record| &record.members);
        let names = members.filter_map(|member| {
            let ty = member.ty.trim_start_matches("const ").trim_start_matches("volatile ");
            let (name, rest) = ty.split_at(ty.find(['[', ' ']).unwrap_or(ty.len()));
            let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            let alone = plain && !name.is_empty() && (rest.is_empty() || rest.starts_with('['));
            let is_known = types.named(name).is_some() || self.records.contains_key(&Key(name));
            (alone && !is_known).then_some(name)
        });
        names.collect::<IndexSet<_>>().into_iter().collect()
    }

    /// Returns the names of records that only a typedef names. The dump does not say which are
    /// unions: see [`set_union`](Self::set_union).
    pub fn typedef_records(&self) -> impl Iterator<Item = &'t str> {
        let unnamed = self.records.iter().filter(|(_, record)| record.name.is_empty());
        unnamed.map(|(key, _)| key.0).filter(|name| !name.ends_with(')'))
    }

    /// Marks a record as a union, by the typedef that names it.
    pub fn set_union(&mut self, typedef: &str) {
        let mut records = self.records.iter_mut();
        if let Some((_, record)) = records.find(|(key, _)| **key == Key(typedef)) {
            record.union = true;
        }
    }

    /// Removes a record by its name. Records that contain it need another declaration of it.
    pub fn leave_out(&mut self, name: &str) {
        if let Some(at) = self.records.keys().position(|key| *key == Key(name)) {
            self.records.shift_remove_index(at);
        }
    }

    /// Returns the names of the enums in the members' types. Declare them first: the dump does not
    /// state their integer types.
    pub fn enums(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        let members = self.records.values().flat_map(|record| &record.members);
        let names = members.filter_map(|member| {
            let (_, rest) = member.ty.split_once("enum ")?;
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let (name, rest) = rest.split_at(end.unwrap_or(rest.len()));
            // `S::(unnamed at f.h:1:2)` has no name: S is the enclosing record.
            Some(name).filter(|name| !name.is_empty() && !rest.starts_with("::"))
        });
        names.collect::<IndexSet<_>>().into_iter()
    }

    /// Declares all named records, and undeclared enums as `unsigned int`. Returns the records that
    /// it cannot declare, with the reasons.
    pub fn declare(&self, types: &mut Declarations) -> Vec<(&'t str, DeclareError)> {
        for name in self.enums() {
            if types.named(name).is_none() {
                // Ignore an error, such as a name of another kind: using the name reports it again.
                let _ = types.enumeration(name, "unsigned int");
            }
        }
        let mut skipped = Vec::new();
        let mut done: IndexSet<Key<'_>> = IndexSet::default();
        for (&start, record) in &self.records {
            if record.name.is_empty() {
                continue;
            }
            // Records that a record contains are declared before it.
            let mut stack = vec![(start, 0)];
            while let Some((key, next)) = stack.pop() {
                let Some(record) = self.records.get(&key).filter(|_| !done.contains(&key)) else {
                    continue;
                };
                if let Some(member) = record.members.get(next) {
                    stack.push((key, next + 1));
                    let part = self.inner(member.ty).map_or(Key(""), |(key, _)| key);
                    if self.records.contains_key(&part) && stack.len() <= self.records.len() {
                        stack.push((part, 0));
                    }
                    continue;
                }
                done.insert(key);
                if !record.name.is_empty() {
                    let described = self.record(types, record, record.name, 0, &mut { UNNAMED });
                    let defined = described.and_then(|described| types.define(described));
                    skipped.extend(defined.err().map(|error| (record.name, error)));
                }
            }
        }
        skipped
    }

    /// For a record or an array of records, returns the record and the text of the array's lengths.
    fn inner(&self, ty: &'t str) -> Option<(Key<'t>, &'t str)> {
        let element = match ty.find('[').filter(|_| ty.ends_with(']')) {
            Some(at) => ty[..at].trim_end(),
            None => ty,
        };
        let known = self.records.contains_key(&Key::of(element)) && !element.ends_with('*');
        known.then(|| (Key::of(element), &ty[element.len()..]))
    }

    fn record(
        &self,
        types: &mut Declarations,
        record: &Dumped<'t>,
        name: &str,
        depth: usize,
        left: &mut usize,
    ) -> Result<Record, DeclareError> {
        let kind = if record.union { Record::union } else { Record::structure };
        let mut described = kind(name);
        let mut packed = false;
        for line in &record.members {
            if line.ty.ends_with("base)") || line.ty.ends_with("pointer)") {
                let reason = "base classes and tables of functions are not read from a dump: \
                              declare the class yourself";
                return Err(DeclareError::Invalid { place: line.ty.to_owned(), reason });
            }
            let ty = self.ty(types, line.ty, depth, left)?;
            let align = match (self.inner(line.ty), &ty) {
                (Some((key, _)), _) => self.records[&key].align.max(1),
                (None, MemberType::Declared(id)) => types.align_of(*id),
                (None, _) => 1,
            };
            packed |= line.bits.is_none() && !line.offset.is_multiple_of(align.saturating_mul(8));
            let member = Member::new(line.name, ty).at_bit(line.offset);
            described = described.member(match line.bits {
                Some(bits) => member.bits(bits),
                None => member,
            });
        }
        packed |= !record.size.is_multiple_of(record.align.max(1));
        described = described.size(record.size).align(record.align.max(1));
        // Only a packed record has a misaligned member, or a size that is no multiple of `align`.
        Ok(if packed { described.packed() } else { described })
    }

    fn ty(
        &self,
        types: &mut Declarations,
        ty: &'t str,
        depth: usize,
        left: &mut usize,
    ) -> Result<MemberType, DeclareError> {
        if let Some((key, lens)) = self.inner(ty) {
            let record = &self.records[&key];
            let invalid = |reason| DeclareError::Invalid { place: ty.to_owned(), reason };
            let mut element = match record.name {
                "" if record.ambiguous => {
                    let reason = "clang calls another unnamed record the same: name one of them";
                    return Err(invalid(reason));
                }
                "" if depth > DEPTH || *left == 0 => {
                    let reason =
                        "more than 4,096 unnamed records, or 32 inside each other: name them";
                    return Err(invalid(reason));
                }
                "" => {
                    *left -= 1;
                    self.record(types, record, "", depth + 1, left)?.into()
                }
                name => types.ty(name)?.into(),
            };
            // The text `[3][2]` is an array of three arrays of two elements.
            for len in lens.rsplit('[').filter_map(|len| len.strip_suffix(']')) {
                element = MemberType::Array(Box::new(element), len.trim().parse().ok());
            }
            return Ok(element);
        }
        Ok(types.ty(&spelling(ty)).or_else(|error| fallback(types, ty).ok_or(error))?.into())
    }
}

/// Reads a member's line: `place` is its text before the ` | `, and `text` is the rest.
fn member<'t>(place: &'t str, text: &'t str) -> Option<Line<'t>> {
    let place = place.trim();
    let (bytes, bits) = match place.split_once(':') {
        None => (place, None),
        Some((bytes, "-")) => (bytes, Some((0, 0))),
        Some((bytes, range)) => {
            let (from, to) = range.split_once('-')?;
            let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
            let width = u32::try_from(to.checked_sub(from)?.checked_add(1)?).ok()?;
            (bytes, Some((from, width)))
        }
    };
    let bytes: u64 = bytes.parse().ok()?;
    let offset = bytes.checked_mul(8)?.checked_add(bits.map_or(0, |(from, _)| from))?;
    // The line of an unnamed member ends with a space.
    let base = text.strip_suffix(" (empty)").unwrap_or(text);
    let (ty, name) = match base.ends_with([' ', ')']) {
        // It is an unnamed member, or a base class: `struct A (base)`.
        true => (base.trim_end(), ""),
        false => text.rsplit_once(' ')?,
    };
    Some(Line { offset, bits: bits.map(|(_, width)| width), ty, name })
}

/// Returns a type in the spelling that `Declarations::ty` reads.
fn spelling(ty: &str) -> String {
    let atomic = ty.strip_prefix("_Atomic(").and_then(|rest| {
        let (of, after) = rest.rsplit_once(')')?;
        let blank = if of.contains('*') { "" } else { " " };
        Some(format!("{of}{blank}_Atomic{after}"))
    });
    vector(ty).or(atomic).or_else(|| unnamed_enum(ty)).unwrap_or_else(|| ty.to_owned())
}

/// Returns `unsigned int` for an unnamed enum, and an array of `unsigned int` for an array of them.
/// A record that contains an unnamed enum of another width cannot be declared.
fn unnamed_enum(ty: &str) -> Option<String> {
    let ty = ty.trim_start_matches("const ").trim_start_matches("volatile ");
    let (_, place) = ty.strip_prefix("enum ")?.split_once("(unnamed at ")?;
    let (place, lens) = place.rsplit_once(')')?;
    // Exclude function types: they have parentheses after the place of the enum.
    let column = place.rsplit(':').next()?;
    let number = !column.is_empty() && column.bytes().all(|byte| byte.is_ascii_digit());
    (number && (lens.is_empty() || lens.starts_with('['))).then(|| format!("unsigned int{lens}"))
}

/// Returns the spelling of a vector type, or of a pointer to one or an array of them. clang prints
/// the attribute before the rest of the type or after it.
fn vector(ty: &str) -> Option<String> {
    let (len, of) = match ty.strip_prefix("__attribute__((__vector_size__(") {
        Some(rest) => (rest.split_once(" * ")?.0, rest.split_once("))) ")?.1),
        None => {
            let (of, rest) = ty.split_once(" __attribute__((ext_vector_type(")?;
            (rest.strip_suffix(")))")?, of)
        }
    };
    let (element, derived) = of.split_at(of.find(['[', '*']).unwrap_or(of.len()));
    Some(format!("<{len} x {}>{derived}", element.trim_end()))
}

/// Returns a type that can be declared and that clang tags like the pointer type `ty`. `None` if
/// `ty` is no pointer.
fn fallback(types: &mut Declarations, ty: &str) -> Option<tbaa::declare::DeclId> {
    if ty.contains("(*") && ty.ends_with(')') {
        return types.ty("void (*)()").ok();
    }
    // It may be a pointer to an unnamed record that a typedef names.
    let stars = ty.trim_end_matches("const").trim_end();
    let name = stars.trim_end_matches(['*', ' ']);
    let depth = stars[name.len()..].matches('*').count();
    (depth > 0).then(|| types.ty(&format!("void {}", "*".repeat(depth))).ok()).flatten()
}
