//! Random C structs and unions, both as C text and as declarations.

use std::fmt::Write as _;

use tbaa::declare::{Declarations, DeclareError, Member, Record, Target};

use crate::Rng;

/// The bounds of the generator.
#[derive(Clone, Copy)]
pub struct Taste {
    pub int128: bool,
    /// The most elements of an array.
    pub elements: u64,
    /// The most members of a record, besides a flexible array.
    pub members: u64,
}

#[derive(Clone)]
enum CType {
    /// A type that is written the same in C and in declarations.
    Text(String),
    Vector(&'static str, u64),
    Complex(&'static str),
    /// The index of a record.
    Named(usize),
    Inline(Box<CRecord>),
}

impl Default for CType {
    fn default() -> CType {
        text("int")
    }
}

#[derive(Clone, Default)]
struct CMember {
    /// The name; empty for an unnamed member.
    name: String,
    ty: CType,
    /// The lengths of array dimensions; `None` for a flexible array.
    lens: Vec<Option<u64>>,
    bits: Option<u32>,
    align: Option<u64>,
    packed: bool,
}

#[derive(Clone)]
struct CRecord {
    name: String,
    union: bool,
    members: Vec<CMember>,
    packed: bool,
    may_alias: bool,
    pack: Option<u64>,
    align: Option<u64>,
}

/// The operation of an access in C text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Stores a scalar.
    Scalar,
    /// Stores a vector.
    Vector,
    /// Stores a bit-field, for which clang has no tag.
    Bits,
    /// Stores a complex number, for which clang has no tag.
    Complex,
    /// Copies a struct or union. `bits`: the record contains bit-fields, for which `!tbaa.struct`
    /// lists storage units that clang chooses.
    Copy { bits: bool },
}

/// An access to a member.
pub struct Access {
    /// The path in declarations.
    pub path: String,
    /// The expression in C, of a global variable or a part of one.
    pub lvalue: String,
    pub what: What,
    /// True if C's `offsetof` accepts the path.
    pub has_offset: bool,
}

/// The generated types.
pub struct Program {
    records: Vec<CRecord>,
    taste: Taste,
}

const SCALARS: &str = "char|signed char|unsigned char|_Bool|short|unsigned short|int|unsigned int|\
    long|unsigned long|long long|float|double|long double";
const POINTERS: &str = "int *|char **|void *|void **|_Bool *|unsigned long ***|struct Elsewhere *|\
    union Other *const *|int (*)(void *, int)|double (*)[3]|float _Complex *|long double *";
/// The types of bit-fields, and the most bits of each.
const BITS: [(&str, u64); 7] = [
    ("int", 32),
    ("unsigned int", 32),
    ("char", 8),
    ("short", 16),
    ("long long", 64),
    ("_Bool", 1),
    ("enum Plain", 32),
];
/// Vectors: the element type, the number of elements, and the bytes of an element.
const VECTORS: [(&str, u64, u64); 4] =
    [("float", 4, 4), ("int", 2, 4), ("short", 16, 2), ("double", 2, 8)];

impl Program {
    /// Returns a random program of `count` records, `R0` and so on.
    pub fn new(rng: &mut Rng, count: usize, taste: Taste) -> Program {
        let mut program = Program { records: Vec::new(), taste };
        for number in 0..count {
            let record = program.record(rng, &format!("r{number}"), 0, None);
            program.records.push(CRecord { name: format!("R{number}"), ..record });
        }
        program
    }

    /// Returns an unnamed record. Its members' names begin with `prefix` (except `flex`), because
    /// members of anonymous records share one namespace. `pack` is the outermost record's.
    fn record(&self, rng: &mut Rng, prefix: &str, depth: u64, pack: Option<u64>) -> CRecord {
        let union = rng.one_in(4);
        let [packed, may_alias] = [8, 10].map(|times| rng.one_in(times));
        let own_pack = rng.one_in(10).then(|| 1 << rng.below(4));
        let pack = if depth == 0 { own_pack } else { pack };
        let align = rng.one_in(8).then(|| 1 << rng.below(6));
        let empty = depth == 0 && rng.one_in(12);
        let count = if empty { 0 } else { 1 + rng.below(self.taste.members) };
        let mut members: Vec<_> =
            (0..count).map(|number| self.member(rng, prefix, number, depth, pack)).collect();
        if depth == 0 && !union && !empty && rng.one_in(12) {
            let ty = one_of(rng, "int|char|double");
            members.push(CMember { name: "flex".into(), ty, lens: vec![None], ..<_>::default() });
        }
        CRecord { name: String::new(), union, members, packed, may_alias, pack, align }
    }

    fn member(
        &self,
        rng: &mut Rng,
        prefix: &str,
        number: u64,
        depth: u64,
        pack: Option<u64>,
    ) -> CMember {
        let name = format!("{prefix}m{number}");
        let mut member = CMember { name: name.clone(), ..CMember::default() };
        if rng.one_in(4) {
            let (ty, most) = *rng.pick(&BITS);
            let width = if number > 0 && rng.one_in(8) { 0 } else { 1 + rng.below(most) as u32 };
            member.ty = text(ty);
            member.bits = Some(width);
            // Records must have a named member.
            if number > 0 && (width == 0 || rng.one_in(10)) {
                member.name.clear();
            } else if rng.one_in(10) {
                member.align = Some(1 << rng.below(5));
            }
            member.packed = width > 0 && rng.one_in(12);
            return member;
        }
        member.align = rng.one_in(12).then(|| 1 << rng.below(6));
        member.packed = rng.one_in(12);
        let is_flexible = |record: &CRecord| record.members.iter().any(|m| m.lens == [None]);
        let earlier: Vec<usize> =
            (0..self.records.len()).filter(|&n| !is_flexible(&self.records[n])).collect();
        member.ty = match rng.below(10) {
            0..=3 => one_of(rng, SCALARS),
            4 if self.taste.int128 && rng.one_in(3) => text("__int128"),
            4 => one_of(rng, "enum Plain|enum Signed"),
            5 => one_of(rng, POINTERS),
            6 if rng.one_in(2) => {
                let (lane, len, _) = *rng.pick(&VECTORS);
                CType::Vector(lane, len)
            }
            6 => CType::Complex(if rng.one_in(2) { "float" } else { "double" }),
            7 | 8 if !earlier.is_empty() => {
                CType::Named(*rng.pick(&earlier[earlier.len().saturating_sub(6)..]))
            }
            7..=9 if depth < 3 => {
                let anonymous = rng.one_in(2);
                let inner = self.record(rng, &name, depth + 1, pack);
                let ty = CType::Inline(Box::new(inner));
                if anonymous {
                    // An attribute here would apply to the record.
                    return CMember { ty, ..CMember::default() };
                }
                ty
            }
            _ => CType::default(),
        };
        if rng.one_in(3) {
            for _ in 0..1 + rng.below(2) {
                member.lens.push(Some(1 + rng.below(self.taste.elements)));
            }
        }
        member
    }

    /// Returns the declarations, on a target, of the wanted records and of all records inside them.
    pub fn declare(
        &self,
        target: Target,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Declarations, DeclareError> {
        let mut with: Vec<bool> = (0..self.records.len()).map(wanted).collect();
        // The records inside a record have lower numbers.
        for at in (0..with.len()).rev() {
            if with[at] {
                mark_parts(&self.records[at], &mut with);
            }
        }
        let mut types = Declarations::new(target);
        types.enumeration("Plain", "unsigned int")?;
        types.enumeration("Signed", "int")?;
        for (record, _) in self.records.iter().zip(with).filter(|(_, with)| *with) {
            types.define(describe(record))?;
        }
        Ok(types)
    }

    /// Returns the types as C text.
    pub fn c(&self) -> String {
        let mut c = String::from(
            "enum Plain { PLAIN }; enum Signed { SIGNED = -1 };\n\
             struct Elsewhere; union Other; extern int any;\n",
        );
        for (lane, len, width) in VECTORS {
            let size = format!("__attribute__((vector_size({})))", len * width);
            writeln!(c, "typedef {lane} v{lane}{len} {size};").unwrap();
        }
        for record in &self.records {
            if let Some(pack) = record.pack {
                writeln!(c, "#pragma pack(push, {pack})").unwrap();
            }
            writeln!(c, "{};", c_record(record)).unwrap();
            if record.pack.is_some() {
                writeln!(c, "#pragma pack(pop)").unwrap();
            }
            writeln!(c, "extern {1} g_{0}, h_{0};", record.name, c_name(record)).unwrap();
        }
        c
    }

    /// Returns the name of each record in declarations, and in C.
    pub fn names(&self) -> impl Iterator<Item = (&str, String)> {
        self.records.iter().map(|record| (&*record.name, c_name(record)))
    }

    /// Returns accesses to the members of all records, and to members of nested records.
    pub fn accesses(&self, rng: &mut Rng) -> Vec<Access> {
        let mut accesses = Vec::new();
        for record in &self.records {
            self.walk(rng, record, &record.name, true, 0, &mut accesses);
        }
        accesses
    }

    /// Panics unless two declarations of the program have the same layout. Returns the numbers of
    /// accesses and of bit-fields.
    pub fn compare(
        &self,
        what: &str,
        mut types: [&mut Declarations; 2],
        rng: &mut Rng,
    ) -> [usize; 2] {
        let mut bits = 0;
        for CRecord { name, .. } in &self.records {
            let [ours, theirs] = types.each_ref().map(|types| {
                let id = types.named(name).unwrap();
                let members = types.members(id).map(|m| (m.name, m.offset, m.bits));
                (types.size_of(id), types.align_of(id), members.collect::<Vec<_>>())
            });
            assert_eq!(ours, theirs, "{what}: {name}");
            bits += ours.2.iter().filter(|member| member.2.is_some()).count();
        }
        let accesses = self.accesses(rng);
        for Access { path, .. } in &accesses {
            let [ours, theirs] = types.each_mut().map(|types| types.offset_of(path));
            assert_eq!(ours, theirs, "{what}: {path}");
        }
        [accesses.len(), bits]
    }

    fn has_bits(&self, record: &CRecord) -> bool {
        record.members.iter().any(|member| match &member.ty {
            _ if member.bits.is_some() => true,
            CType::Named(number) => self.has_bits(&self.records[*number]),
            CType::Inline(inner) => self.has_bits(inner),
            _ => false,
        })
    }

    /// Adds accesses to a record's members. `constant`: `prefix` has a constant offset.
    fn walk(
        &self,
        rng: &mut Rng,
        record: &CRecord,
        prefix: &str,
        constant: bool,
        depth: u32,
        accesses: &mut Vec<Access>,
    ) {
        for member in &record.members {
            let dot = if member.name.is_empty() { "" } else { "." };
            let (mut path, mut constant) = (format!("{prefix}{dot}{}", member.name), constant);
            for len in &member.lens {
                if rng.one_in(2) {
                    write!(path, "[{}]", rng.below(len.unwrap_or(9))).unwrap();
                } else {
                    path.push_str("[any]");
                    constant = false;
                }
            }
            let (lvalue, has_offset) = (format!("g_{path}"), constant && member.bits.is_none());
            let mut push = |what| {
                let (path, lvalue) = (path.clone(), lvalue.clone());
                accesses.push(Access { path, lvalue, what, has_offset });
            };
            match &member.ty {
                _ if member.bits.is_some() && member.name.is_empty() => {}
                _ if member.bits.is_some() => push(What::Bits),
                CType::Text(_) => push(What::Scalar),
                CType::Vector(..) => push(What::Vector),
                CType::Complex(_) => {
                    push(What::Complex);
                    let (path, lvalue) = (format!("{path}[1]"), format!("__imag__ {lvalue}"));
                    let part = Access { path, lvalue, what: What::Scalar, has_offset: false };
                    accesses.push(part);
                }
                CType::Named(number) => {
                    let inner = &self.records[*number];
                    push(What::Copy { bits: self.has_bits(inner) });
                    if depth < 3 {
                        self.walk(rng, inner, &path, constant, depth + 1, accesses);
                    }
                }
                CType::Inline(inner) => {
                    let depth = depth + u32::from(!member.name.is_empty());
                    self.walk(rng, inner, &path, constant, depth, accesses);
                }
            }
        }
    }
}

fn mark_parts(record: &CRecord, with: &mut [bool]) {
    for member in &record.members {
        match &member.ty {
            CType::Named(number) => with[*number] = true,
            CType::Inline(inner) => mark_parts(inner, with),
            _ => {}
        }
    }
}

fn text(ty: &str) -> CType {
    CType::Text(ty.to_owned())
}

fn one_of(rng: &mut Rng, types: &str) -> CType {
    let types: Vec<_> = types.split('|').map(text).collect();
    rng.pick(&types).clone()
}

fn keyword(record: &CRecord) -> &'static str {
    if record.union { "union" } else { "struct" }
}

fn c_name(record: &CRecord) -> String {
    format!("{} {}", keyword(record), record.name)
}

fn attributes(align: Option<u64>, packed: bool) -> String {
    let align = align.map(|align| format!(" __attribute__((aligned({align})))"));
    align.unwrap_or_default() + if packed { " __attribute__((packed))" } else { "" }
}

fn c_record(record: &CRecord) -> String {
    let mut attributes_of_record = attributes(record.align, record.packed);
    if record.may_alias {
        attributes_of_record += " __attribute__((may_alias))";
    }
    let mut c = format!("{}{attributes_of_record} {} {{", keyword(record), record.name);
    for CMember { name, ty, lens, bits, align, packed } in &record.members {
        let ty = match ty {
            CType::Text(text) if bits.is_some() => text.clone(),
            CType::Text(text) => format!("__typeof__({text})"),
            CType::Vector(lane, len) => format!("v{lane}{len}"),
            CType::Complex(part) => format!("{part} _Complex"),
            // C text refers to a record by its typedef.
            CType::Named(number) => format!("ALIAS_{number}"),
            CType::Inline(inner) => c_record(inner),
        };
        let len = |len: &Option<u64>| len.map_or("[]".to_owned(), |len| format!("[{len}]"));
        let lens: String = lens.iter().map(len).collect();
        let bits = bits.map_or(String::new(), |bits| format!(":{bits}"));
        write!(c, " {ty} {name}{lens}{bits}{};", attributes(*align, *packed)).unwrap();
    }
    c.push_str(" }");
    if record.name.is_empty() {
        return c;
    }
    format!("{c}; typedef {} ALIAS_{}", c_name(record), &record.name[1..])
}

fn describe(record: &CRecord) -> Record {
    let new = if record.union { Record::union } else { Record::structure };
    let described = new(record.name.clone());
    let described = if record.packed { described.packed() } else { described };
    let described = if record.may_alias { described.may_alias() } else { described };
    let described = record.pack.into_iter().fold(described, Record::pack);
    let described = record.align.into_iter().fold(described, Record::align);
    record.members.iter().fold(described, |described, member| {
        let name = member.name.clone();
        let inner = match &member.ty {
            CType::Text(text) => Member::new(name, text.as_str()),
            CType::Vector(lane, len) => Member::new(name, format!("<{len} x {lane}>")),
            CType::Complex(part) => Member::new(name, format!("{part} _Complex")),
            CType::Named(number) => Member::new(name, format!("R{number}")),
            CType::Inline(inner) => Member::new(name, describe(inner)),
        };
        let inner = member.lens.iter().rev().fold(inner, |inner, &len| inner.array(len));
        let inner = member.bits.into_iter().fold(inner, Member::bits);
        let inner = member.align.into_iter().fold(inner, Member::align);
        described.member(if member.packed { inner.packed() } else { inner })
    })
}
