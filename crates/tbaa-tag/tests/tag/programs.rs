//! Random programs in C: nested structs, arrays, unions, copies, and structs with equal first
//! members.
//!
//! Each program has an object, and functions that get two pointers to parts of it. A pointer's type
//! is the part's struct, or another struct with the same first members. clang compiles the programs
//! without tags. Our tags must not change their output.

use std::fmt::Write;

use tbaa_tag::Options;
use tbaa_tests::llvm::{Llvm, scratch};
use tbaa_tests::{Rng, setting};

use crate::{WITHOUT_TAGS, run, tagged};

const SCALARS: [&str; 8] =
    ["int", "long", "short", "signed char", "float", "double", "void *", "unsigned"];

/// Programs that clang compiles at once.
const AT_ONCE: usize = 100;

#[derive(Clone)]
enum Ty {
    Scalar(&'static str),
    Struct(usize),
    Array(Box<Ty>, u64),
    Union(Vec<Ty>),
}

struct Struct {
    members: Vec<Ty>,
    /// The index of another struct, and how many of its first members this one begins with.
    twin: Option<(usize, usize)>,
}

/// The structs of a program. A struct contains only earlier ones.
struct World {
    number: usize,
    structs: Vec<Struct>,
}

/// A part of an object: `.m1.m0[1]`.
#[derive(Clone)]
struct Part {
    path: String,
    ty: Ty,
    /// The index of the outermost struct's member that contains it.
    first: usize,
}

impl World {
    fn new(number: usize, rng: &mut Rng) -> Self {
        let mut world = World { number, structs: Vec::new() };
        for at in 0..4 + rng.below(3) {
            let twin = (at > 0 && rng.one_in(3)).then(|| {
                let of = rng.below(at);
                (of, 1 + rng.below(world.structs[of].members.len()))
            });
            let mut members: Vec<Ty> =
                twin.map_or(Vec::new(), |(of, len)| world.structs[of].members[..len].to_vec());
            for _ in 0..1 + rng.below(4) {
                members.push(world.ty(rng, at, 2));
            }
            world.structs.push(Struct { members, twin });
        }
        world
    }

    fn ty(&self, rng: &mut Rng, structs: usize, deep: usize) -> Ty {
        match rng.below(10) {
            0..=2 if structs > 0 => Ty::Struct(rng.below(structs)),
            3 if deep > 0 => Ty::Array(Box::new(self.ty(rng, structs, deep - 1)), 2 + rng.below(2)),
            4 if deep > 0 => {
                Ty::Union((0..2 + rng.below(2)).map(|_| self.ty(rng, structs, deep - 1)).collect())
            }
            _ => Ty::Scalar(SCALARS[rng.below(SCALARS.len())]),
        }
    }

    fn name(&self, number: usize) -> String {
        format!("struct P{}S{number}", self.number)
    }

    fn declaration(&self, ty: &Ty, name: &str) -> String {
        match ty {
            Ty::Scalar(scalar) => format!("{scalar} {name}"),
            Ty::Struct(number) => format!("{} {name}", self.name(*number)),
            Ty::Array(element, len) => self.declaration(element, &format!("{name}[{len}]")),
            Ty::Union(members) => {
                let members = members.iter().enumerate();
                let members =
                    members.map(|(at, ty)| self.declaration(ty, &format!("u{at}")) + "; ");
                format!("union {{ {}}} {name}", members.collect::<String>())
            }
        }
    }

    fn declarations(&self) -> String {
        let mut text = String::new();
        for (number, of) in self.structs.iter().enumerate() {
            writeln!(text, "{} {{", self.name(number)).unwrap();
            for (at, ty) in of.members.iter().enumerate() {
                writeln!(text, "  {};", self.declaration(ty, &format!("m{at}"))).unwrap();
            }
            text += "};\n";
        }
        text
    }

    /// Returns the parts of a struct, at most 400, without itself; with `unions`, also parts of unions.
    fn parts(&self, number: usize, unions: bool) -> Vec<Part> {
        let mut found = Vec::new();
        let members = self.structs[number].members.iter().enumerate();
        let part =
            |(first, ty): (usize, &Ty)| Part { path: format!(".m{first}"), ty: ty.clone(), first };
        let mut open: Vec<Part> = members.map(part).collect();
        while let Some(part) = open.pop() {
            let mut inner = |path: String, ty: &Ty| {
                open.push(Part {
                    path: part.path.clone() + &path,
                    ty: ty.clone(),
                    first: part.first,
                });
            };
            match &part.ty {
                Ty::Scalar(_) => {}
                Ty::Struct(number) => {
                    let members = self.structs[*number].members.iter().enumerate();
                    members.for_each(|(at, ty)| inner(format!(".m{at}"), ty));
                }
                Ty::Array(element, len) => {
                    inner(format!("[i % {len}]"), element);
                    inner(format!("[{}]", len - 1), element);
                }
                Ty::Union(members) if unions => {
                    members.iter().enumerate().for_each(|(at, ty)| inner(format!(".u{at}"), ty));
                }
                Ty::Union(_) => {}
            }
            if found.len() < 400 {
                found.push(part);
            }
        }
        found
    }
}

/// A pointer's name and type, and how many of its struct's members may be used.
#[derive(Clone, Copy)]
struct Pointer {
    name: char,
    ty: usize,
    members: usize,
}

fn statement(world: &World, rng: &mut Rng, pointers: &[Pointer; 2], deep: usize) -> String {
    let parts = |pointer: &Pointer| {
        let mut parts = world.parts(pointer.ty, true);
        parts.retain(|part| part.first < pointer.members);
        parts
    };
    let pointer = *rng.pick(pointers);
    let all = parts(&pointer);
    let scalars: Vec<_> = all.iter().filter(|it| matches!(it.ty, Ty::Scalar(_))).collect();
    let Part { path, ty: Ty::Scalar(scalar), .. } = *rng.pick(&scalars) else { unreachable!() };
    let place = format!("{}->{}", pointer.name, &path[1..]);
    let through = match *scalar {
        "void *" => "(unsigned long)",
        _ => "",
    };
    let structs: Vec<_> = all
        .iter()
        .filter_map(|it| if let Ty::Struct(number) = it.ty { Some((it, number)) } else { None })
        .collect();
    match rng.below(13) {
        0..=3 => format!("{place} = ({scalar}){through}(x & 63);\n"),
        4..=7 => format!("x = x * 31 + (unsigned){through}{place};\n"),
        8 if deep > 0 => {
            let inner: String = (0..2).map(|_| statement(world, rng, pointers, deep - 1)).collect();
            format!("for (int k = 0; k < 3; k++) {{\n{inner}}}\n")
        }
        9 if deep > 0 => {
            let [then, other] = [(); 2].map(|()| statement(world, rng, pointers, deep - 1));
            format!("if (x & 1) {{\n{then}}} else {{\n{other}}}\n")
        }
        10 if deep > 0 && !structs.is_empty() => {
            let (part, ty) = *rng.pick(&structs);
            let inner = Pointer { name: 'q', ty, members: usize::MAX };
            let body: String =
                (0..2).map(|_| statement(world, rng, &[inner, pointers[0]], 0)).collect();
            let (name, place) = (world.name(ty), format!("{}->{}", pointer.name, &part.path[1..]));
            match rng.one_in(2) {
                true => format!("{{ {name} *q = &{place};\n{body}}}\n"),
                false => {
                    format!("{{ {name} copy = {place}, *q = &copy;\n{body}{place} = copy; }}\n")
                }
            }
        }
        11 if !structs.is_empty() => {
            let (part, ty) = *rng.pick(&structs);
            let other = pointers.iter().flat_map(|other| {
                let same = |part: &Part| matches!(part.ty, Ty::Struct(number) if number == ty);
                let parts = parts(other).into_iter().filter(move |part| same(part));
                parts.map(move |part| format!("{}->{}", other.name, &part.path[1..]))
            });
            let other = rng.pick(&other.collect::<Vec<_>>()).clone();
            // C forbids assignment between objects that overlap only in part, so it goes through a copy.
            let from = format!("{}->{}", pointer.name, &part.path[1..]);
            format!("{{ {} copy = {other}; {from} = copy; }}\n", world.name(ty))
        }
        12 if !path.contains(".u") => {
            let store = format!("*s = ({scalar}){through}(x & 15);");
            format!("{{ {scalar} *s = &{place}; {store} x += (unsigned){through}{place}; }}\n")
        }
        _ => format!("x += (unsigned){through}{place};\n{place} = ({scalar}){through}(x & 31);\n"),
    }
}

/// Returns a pointer to a struct in the object: its type, its expression, and how many members may be
/// used.
fn view(world: &World, rng: &mut Rng, root: usize) -> (usize, String, usize) {
    let mut parts = world.parts(root, false);
    parts.retain(|part| matches!(part.ty, Ty::Struct(_)));
    parts.push(Part { path: String::new(), ty: Ty::Struct(root), first: 0 });
    let part = rng.pick(&parts);
    let Ty::Struct(ty) = part.ty else { unreachable!() };
    let place = format!("&o{}", part.path);
    // The pointer may have the type of another struct with the same first members.
    let twins = world.structs.iter().enumerate().filter_map(|(at, of)| match of.twin {
        Some((twin, len)) if twin == ty => Some((at, len)),
        _ => None,
    });
    let mut twins: Vec<_> = twins.collect();
    twins.extend(world.structs[ty].twin);
    if twins.is_empty() || rng.one_in(2) {
        return (ty, place, usize::MAX);
    }
    let (twin, len) = *rng.pick(&twins);
    (twin, format!("({} *){place}", world.name(twin)), len)
}

/// Returns the C text of a program. Its last function, `programN`, returns the program's result.
fn program(number: usize, rng: &mut Rng) -> String {
    let world = World::new(number, rng);
    let root = world.structs.len() - 1;
    let mut text = world.declarations();
    let mut calls = String::new();
    for function in 0..3 {
        let [a, b] = [(); 2].map(|()| view(&world, rng, root));
        let b = if rng.one_in(3) { a.clone() } else { b };
        let pointers =
            [('a', &a), ('b', &b)].map(|(name, of)| Pointer { name, ty: of.0, members: of.2 });
        let body: String =
            (0..4 + rng.below(6)).map(|_| statement(&world, rng, &pointers, 2)).collect();
        let inline = if rng.one_in(2) { "__attribute__((noinline)) " } else { "" };
        let [ty_a, ty_b] = [a.0, b.0].map(|it| world.name(it));
        writeln!(
            text,
            "static {inline}unsigned p{number}f{function}({ty_a} *a, {ty_b} *b, unsigned i, unsigned x) {{\n\
             {body}return x; }}"
        )
        .unwrap();
        for i in 0..2 {
            writeln!(calls, "  x = p{number}f{function}({}, {}, i + {i}, x);", a.1, b.1).unwrap();
        }
    }
    let object = world.name(root);
    let object = match rng.one_in(2) {
        true => format!("static {object} o;"),
        false => format!("{object} o; __builtin_memset(&o, 0, sizeof o);"),
    };
    format!(
        "{text}unsigned program{number}(unsigned i) {{\n  unsigned x = i;\n  {object}\n{calls}  return x; }}\n"
    )
}

/// Returns a C file of programs, which prints a line for each.
fn programs(first: usize, count: usize) -> String {
    let mut text = "int printf(const char *, ...);\n".to_owned();
    for number in first..first + count {
        text += &program(number, &mut Rng(number as u64));
    }
    text += "int main(int n, char **arguments) {\n";
    for number in first..first + count {
        writeln!(text, "  printf(\"{number} %u\\n\", program{number}(n));").unwrap();
    }
    text + "}\n"
}

/// Returns the lines of programs that print something else with tags, at `-O0` or `-O3`.
fn differ(first: usize, count: usize, change: impl Fn(&[u8]) -> Vec<u8>) -> Vec<String> {
    let Some(llvm) = Llvm::get() else { return Vec::new() };
    let file = scratch(&format!("programs{first}.c"), programs(first, count).as_bytes());
    let plain = llvm.clang(&file, &WITHOUT_TAGS);
    let expected = run(&format!("plain{first}"), &plain, "-O0");
    let new = change(&plain);
    let mut differ = Vec::new();
    for level in ["-O0", "-O3"] {
        let printed = run(&format!("tagged{first}"), &new, level);
        let lines = expected.lines().zip(printed.lines());
        differ.extend(lines.filter(|(a, b)| a != b).map(|(a, b)| format!("{level}: {a}, {b}")));
    }
    differ
}

#[test]
fn tags_change_no_program() {
    let count = setting("TBAA_TAG_PROGRAMS", 200);
    for first in (0..count).step_by(AT_ONCE) {
        let count = AT_ONCE.min(count - first);
        for options in [Options::new(), Options::new().elements()] {
            let found = differ(first, count, |it| tagged(it, &options));
            assert!(found.is_empty(), "{options:?}: {found:#?}");
        }
    }
}

/// Two kinds of wrong tags change the output: structs declared as nominal, though the programs mix
/// them, and stores with the tag of a type of their own.
#[test]
fn wrong_tags_change_programs() {
    if Llvm::get().is_none() {
        return;
    }
    let nominal = |bytes: &[u8]| {
        let names = tbaa_ir::read(bytes).unwrap();
        let names = names
            .type_definitions()
            .iter()
            .map(|type_definition| String::from_utf8_lossy(&type_definition.name));
        tagged(bytes, &names.fold(Options::new(), |options, name| options.nominal(&name)))
    };
    assert!(
        !differ(0, AT_ONCE, nominal).is_empty(),
        "structs with the same members as different ones"
    );
    let swapped = |bytes: &[u8]| {
        let text = String::from_utf8(tagged(bytes, &Options::new())).unwrap();
        let wrong = |line: &str| match line.split_once(", !tbaa !") {
            Some((access, _)) if line.starts_with("  store") => {
                format!("{access}, !tbaa !999999\n")
            }
            _ => format!("{line}\n"),
        };
        let root = text.lines().find(|line| line.contains("types by structure")).unwrap();
        let root = root.split_once(" =").unwrap().0;
        let text: String = text.lines().map(wrong).collect();
        (text
            + &format!(
                "!999998 = !{{!\"wrong\", {root}, i64 0}}\n!999999 = !{{!999998, !999998, i64 0}}\n"
            ))
            .into_bytes()
    };
    assert!(!differ(0, AT_ONCE, swapped).is_empty(), "stores with the tag of something else");
}
