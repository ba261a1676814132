//! Random C structs and unions, both as C text and as declarations.

use std::fmt::Write as _;

use tbaa::declare::{Declarations, DeclareError, Member, Record, Target};

use crate::Rng;

/// The features that the generator may use.
#[derive(Clone, Copy)]
pub struct Taste {
    pub int128: bool,
    /// Bit-fields, packed and aligned records: what changes layouts.
    pub odd: bool,
    /// Elements of an array at most.
    pub elements: u64,
    /// Members of a record at most.
    pub members: u64,
}

#[derive(Clone)]
enum Ty {
    /// A type that C and declarations spell alike.
    Text(String),
    Vector(&'static str, u64),
    Complex(&'static str),
    /// A record by number.
    Named(usize),
    Inline(Box<Rec>),
}

#[derive(Clone)]
struct Mem {
    /// The name; empty for an anonymous member.
    name: String,
    ty: Ty,
    /// Lengths of arrays; `None` for a flexible array.
    lens: Vec<Option<u64>>,
    bits: Option<u32>,
    align: Option<u64>,
    packed: bool,
}

#[derive(Clone)]
struct Rec {
    name: String,
    union: bool,
    members: Vec<Mem>,
    packed: bool,
    pack: Option<u64>,
    align: Option<u64>,
    flexible: bool,
}

/// The operation of an access in C text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Stores a scalar.
    Scalar,
    /// Stores a vector.
    Vector,
    /// Stores a bit-field: no tag in clang.
    Bits,
    /// Stores a complex number: no tag in clang.
    Complex,
    /// Copies a struct or union. With bit-fields, the old format lists storage units, which depend
    /// on clang.
    Copy { bits: bool },
}

/// An access to a member.
pub struct Access {
    pub record: String,
    /// As a path of this crate.
    pub path: String,
    /// In C, from an object of the record on.
    pub lvalue: String,
    pub what: What,
    /// True if `offsetof` takes it.
    pub has_offset: bool,
}

/// The generated types.
pub struct Program {
    records: Vec<Rec>,
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
/// Vectors: the element type, their number, and the bytes of each.
const VECTORS: [(&str, u64, u64); 4] =
    [("float", 4, 4), ("int", 2, 4), ("short", 16, 2), ("double", 2, 8)];

impl Program {
    pub fn new(seed: u64, count: usize, taste: Taste) -> Program {
        Program::random(&mut Rng(seed), count, taste)
    }

    /// A program of so many records, `R0` and so on.
    pub fn random(rng: &mut Rng, count: usize, taste: Taste) -> Program {
        let mut program = Program { records: Vec::new(), taste };
        for number in 0..count {
            let name = format!("R{number}");
            let record = program.record(rng, name, 0);
            program.records.push(record);
        }
        program
    }

    fn record(&self, rng: &mut Rng, name: String, depth: u64) -> Rec {
        let union = rng.one_in(4);
        let odd = self.taste.odd;
        let mut record = Rec {
            packed: odd && rng.one_in(8),
            pack: (odd && rng.one_in(10)).then(|| 1 << rng.below(4)),
            align: (odd && rng.one_in(8)).then(|| 1 << rng.below(6)),
            name,
            union,
            members: Vec::new(),
            flexible: false,
        };
        let count = 1 + rng.below(self.taste.members);
        for number in 0..count {
            let mut member = self.member(rng, &record.name, number, depth);
            if let Ty::Inline(inner) = &mut member.ty {
                pack_all(inner, record.pack);
            }
            record.members.push(member);
        }
        if depth == 0 && !union && rng.one_in(12) {
            let ty = one_of(rng, "int|char|double");
            record.flexible = true;
            record.members.push(Mem { ty, lens: vec![None], ..plain("flex") });
        }
        record
    }

    fn member(&self, rng: &mut Rng, of: &str, number: u64, depth: u64) -> Mem {
        let name = format!("{}m{number}", of.to_lowercase());
        let odd = self.taste.odd;
        let mut member = plain(&name);
        if odd && rng.one_in(4) {
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
        member.align = (odd && rng.one_in(12)).then(|| 1 << rng.below(6));
        member.packed = odd && rng.one_in(12);
        let earlier: Vec<usize> =
            (0..self.records.len()).filter(|&n| !self.records[n].flexible).collect();
        member.ty = match rng.below(10) {
            0..=3 => one_of(rng, SCALARS),
            4 if self.taste.int128 && rng.one_in(3) => text("__int128"),
            4 => one_of(rng, "enum Plain|enum Signed"),
            5 => one_of(rng, POINTERS),
            6 if rng.one_in(2) => {
                let (lane, len, _) = *rng.pick(&VECTORS);
                Ty::Vector(lane, len)
            }
            6 => Ty::Complex(if rng.one_in(2) { "float" } else { "double" }),
            7 | 8 if !earlier.is_empty() => {
                let recent = &earlier[earlier.len().saturating_sub(6)..];
                Ty::Named(*rng.pick(recent))
            }
            7..=9 if depth < 3 => {
                let anonymous = rng.one_in(2);
                let inner = self.record(rng, String::new(), depth + 1);
                let inner = Rec { name: String::new(), ..inner };
                // Members of anonymous records share one namespace.
                let inner = rename(inner, &name);
                if anonymous {
                    // An attribute here would apply to the record.
                    return Mem { ty: Ty::Inline(Box::new(inner)), ..plain("") };
                }
                Ty::Inline(Box::new(inner))
            }
            _ => text("int"),
        };
        if rng.one_in(3) {
            for _ in 0..1 + rng.below(2) {
                member.lens.push(Some(1 + rng.below(self.taste.elements)));
            }
        }
        member
    }

    /// The declarations, on a target.
    pub fn declare(&self, target: Target) -> Result<Declarations, DeclareError> {
        self.declare_some(target, |_| true)
    }

    /// The declarations of some records and of all that is inside them.
    pub fn declare_some(
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

    /// The types in C.
    pub fn c(&self) -> String {
        let mut c = String::from(
            "enum Plain { PLAIN }; enum Signed { SIGNED = -1 };\n\
             struct Elsewhere; union Other; extern int any;\n",
        );
        for (lane, len, width) in VECTORS {
            let bytes = len * width;
            writeln!(c, "typedef {lane} v{lane}{len} __attribute__((vector_size({bytes})));")
                .unwrap();
        }
        for record in &self.records {
            if let Some(pack) = record.pack {
                writeln!(c, "#pragma pack(push, {pack})").unwrap();
            }
            writeln!(c, "{};", c_record(record)).unwrap();
            if record.pack.is_some() {
                writeln!(c, "#pragma pack(pop)").unwrap();
            }
            let name = c_name(record);
            writeln!(c, "extern {name} g_{0}, h_{0};", record.name).unwrap();
        }
        c
    }

    /// Each named record with its name in C.
    pub fn names(&self) -> impl Iterator<Item = (&str, String)> {
        self.records.iter().map(|record| (&*record.name, c_name(record)))
    }

    /// An access to each member, and to members of members.
    pub fn accesses(&self, rng: &mut Rng) -> Vec<Access> {
        let mut accesses = Vec::new();
        for record in &self.records {
            self.walk(rng, record, record, "", true, 0, &mut accesses);
        }
        accesses
    }

    fn has_bits(&self, record: &Rec) -> bool {
        record.members.iter().any(|member| match &member.ty {
            _ if member.bits.is_some() => true,
            Ty::Named(number) => self.has_bits(&self.records[*number]),
            Ty::Inline(inner) => self.has_bits(inner),
            _ => false,
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn walk(
        &self,
        rng: &mut Rng,
        top: &Rec,
        record: &Rec,
        prefix: &str,
        constant: bool,
        depth: u32,
        accesses: &mut Vec<Access>,
    ) {
        for member in &record.members {
            let mut way = match (prefix, member.name.as_str()) {
                (_, "") => prefix.to_owned(),
                (prefix, name) => format!("{prefix}.{name}"),
            };
            let mut constant = constant;
            for len in &member.lens {
                match rng.below(2) {
                    0 => write!(way, "[{}]", rng.below(len.unwrap_or(9))).unwrap(),
                    _ => {
                        way.push_str("[any]");
                        constant = false;
                    }
                }
            }
            let mut push = |way: &str, what, lvalue: Option<String>| {
                accesses.push(Access {
                    record: top.name.clone(),
                    path: format!("{}{way}", top.name),
                    lvalue: lvalue.unwrap_or_else(|| format!("g_{}{way}", top.name)),
                    what,
                    has_offset: constant && what != What::Bits,
                });
            };
            match &member.ty {
                _ if member.bits.is_some() && member.name.is_empty() => {}
                _ if member.bits.is_some() => push(&way, What::Bits, None),
                Ty::Text(_) => push(&way, What::Scalar, None),
                Ty::Vector(..) => push(&way, What::Vector, None),
                Ty::Complex(_) => {
                    push(&way, What::Complex, None);
                    let part = format!("__imag__ g_{}{way}", top.name);
                    push(&format!("{way}[1]"), What::Scalar, Some(part));
                    accesses.last_mut().unwrap().has_offset = false;
                }
                Ty::Named(number) => {
                    push(&way, What::Copy { bits: self.has_bits(&self.records[*number]) }, None);
                    if depth < 3 {
                        let inner = &self.records[*number];
                        self.walk(rng, top, inner, &way, constant, depth + 1, accesses);
                    }
                }
                Ty::Inline(inner) => {
                    let same = if member.name.is_empty() { depth } else { depth + 1 };
                    self.walk(rng, top, inner, &way, constant, same, accesses);
                }
            }
        }
    }
}

fn mark_parts(record: &Rec, with: &mut [bool]) {
    for member in &record.members {
        match &member.ty {
            Ty::Named(number) => with[*number] = true,
            Ty::Inline(inner) => mark_parts(inner, with),
            _ => {}
        }
    }
}

fn text(ty: &str) -> Ty {
    Ty::Text(ty.to_owned())
}

fn one_of(rng: &mut Rng, types: &str) -> Ty {
    let types: Vec<_> = types.split('|').map(text).collect();
    rng.pick(&types).clone()
}

fn plain(name: &str) -> Mem {
    Mem {
        name: name.to_owned(),
        ty: text("int"),
        lens: Vec::new(),
        bits: None,
        align: None,
        packed: false,
    }
}

/// Gives the members of an inner record unique names.
fn rename(mut record: Rec, prefix: &str) -> Rec {
    for member in &mut record.members {
        if !member.name.is_empty() {
            member.name = format!("{prefix}{}", member.name);
        }
        if let Ty::Inline(inner) = &member.ty {
            member.ty = Ty::Inline(Box::new(rename((**inner).clone(), prefix)));
        }
    }
    record
}

/// `#pragma pack` applies to everything inside a record.
fn pack_all(record: &mut Rec, pack: Option<u64>) {
    record.pack = pack;
    for member in &mut record.members {
        if let Ty::Inline(inner) = &mut member.ty {
            pack_all(inner, pack);
        }
    }
}

fn c_name(record: &Rec) -> String {
    let keyword = if record.union { "union" } else { "struct" };
    format!("{keyword} {}", record.name)
}

fn c_record(record: &Rec) -> String {
    let keyword = if record.union { "union" } else { "struct" };
    let mut c = format!("{keyword} ");
    if record.packed {
        c.push_str("__attribute__((packed)) ");
    }
    if let Some(align) = record.align {
        write!(c, "__attribute__((aligned({align}))) ").unwrap();
    }
    write!(c, "{} {{", record.name).unwrap();
    for member in &record.members {
        let ty = match &member.ty {
            Ty::Text(text) if member.bits.is_some() => text.clone(),
            Ty::Text(text) => format!("__typeof__({text})"),
            Ty::Vector(lane, len) => format!("v{lane}{len}"),
            Ty::Complex(part) => format!("{part} _Complex"),
            // The declarations know only one record by this name.
            Ty::Named(number) => format!("ALIAS_{number}"),
            Ty::Inline(inner) => c_record(inner),
        };
        write!(c, " {ty} {}", member.name).unwrap();
        for len in &member.lens {
            match len {
                Some(len) => write!(c, "[{len}]").unwrap(),
                None => c.push_str("[]"),
            }
        }
        if let Some(bits) = member.bits {
            write!(c, ":{bits}").unwrap();
        }
        if let Some(align) = member.align {
            write!(c, " __attribute__((aligned({align})))").unwrap();
        }
        if member.packed {
            c.push_str(" __attribute__((packed))");
        }
        c.push(';');
    }
    c.push_str(" }");
    if record.name.is_empty() {
        return c;
    }
    let number = &record.name[1..];
    format!("{c}; typedef {keyword} {} ALIAS_{number}", record.name)
}

fn describe(record: &Rec) -> Record {
    let new = if record.union { Record::union } else { Record::structure };
    let described = new(record.name.clone());
    let described = if record.packed { described.packed() } else { described };
    let described = record.pack.into_iter().fold(described, Record::pack);
    let described = record.align.into_iter().fold(described, Record::align);
    record.members.iter().fold(described, |described, member| {
        let name = member.name.clone();
        let inner = match &member.ty {
            Ty::Text(text) => Member::new(name, text.as_str()),
            Ty::Vector(lane, len) => Member::new(name, format!("<{len} x {lane}>")),
            Ty::Complex(part) => Member::new(name, format!("{part} _Complex")),
            Ty::Named(number) => Member::new(name, format!("R{number}")),
            Ty::Inline(inner) => Member::new(name, describe(inner)),
        };
        let inner = member.lens.iter().rev().fold(inner, |inner, &len| inner.array(len));
        let inner = member.bits.into_iter().fold(inner, Member::bits);
        let inner = member.align.into_iter().fold(inner, Member::align);
        described.member(if member.packed { inner.packed() } else { inner })
    })
}
