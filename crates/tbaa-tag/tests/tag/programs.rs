//! Tests tags on random C programs with nested structs, arrays, unions, copies, and structs with
//! equal first members.
//!
//! Each program has an object, and functions that get two pointers to parts of it. A pointer's type
//! is the struct of that part, or another struct with the same first members. clang compiles the
//! programs without tags. The tags that are then added must not change the output.

use std::fmt::Write;

use tbaa_tag::Options;
use tbaa_tests::llvm::{Llvm, scratch};
use tbaa_tests::{Rng, setting};

use crate::{WITHOUT_TAGS, run, tagged};

const SCALARS: [&str; 8] =
    ["int", "long", "short", "signed char", "float", "double", "void *", "unsigned"];

/// The number of programs in one C file.
const AT_ONCE: usize = 100;

#[derive(Clone)]
enum Ty {
    Scalar(&'static str),
    Struct(usize),
    Array(Box<Ty>, u64),
    Union(Vec<Ty>),
    /// An array of length 0, and two scalars that are its elements too.
    Endless(&'static str),
}

impl Ty {
    fn as_struct(&self) -> Option<usize> {
        if let Ty::Struct(number) = self { Some(*number) } else { None }
    }
}

struct Struct {
    members: Vec<Ty>,
    /// An earlier struct's index, and how many of its first members this struct begins with.
    twin: Option<(usize, usize)>,
}

/// The structs of a program. A struct contains only structs before it.
struct World {
    number: usize,
    structs: Vec<Struct>,
}

/// A part of an object, with a path such as `.m1.m0[1]`.
#[derive(Clone)]
struct Part {
    path: String,
    ty: Ty,
    /// The index of the outermost struct's member that contains this part.
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
            let begin = twin.map_or(&[][..], |(of, len)| &world.structs[of].members[..len]);
            let own = (0..1 + rng.below(4)).map(|_| match rng.below(12) {
                0 => Ty::Endless(["int", "long", "float", "double"][rng.below(4)]),
                _ => world.ty(rng, at, 2),
            });
            let members = begin.iter().cloned().chain(own).collect();
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
            Ty::Endless(scalar) => format!("{scalar} {name}[0], {name}x, {name}y"),
        }
    }

    fn declarations(&self) -> String {
        let mut text = String::new();
        for (number, of) in self.structs.iter().enumerate() {
            let members = of.members.iter().enumerate();
            let members =
                members.map(|(at, ty)| format!("  {};\n", self.declaration(ty, &format!("m{at}"))));
            text += &format!("{} {{\n{}}};\n", self.name(number), members.collect::<String>());
        }
        text
    }

    /// Returns at most 400 parts of a struct. If `unions` is true, they include unions' members.
    fn parts(&self, number: usize, unions: bool) -> Vec<Part> {
        let mut found = Vec::new();
        let mut open = Vec::new();
        for (first, ty) in self.structs[number].members.iter().enumerate() {
            open.push(Part { path: format!(".m{first}"), ty: ty.clone(), first });
        }
        while let Some(part) = open.pop() {
            let mut inner = |path: String, ty: &Ty| {
                let path = part.path.clone() + &path;
                open.push(Part { path, ty: ty.clone(), first: part.first });
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
                Ty::Endless(scalar) => {
                    let ends = ["x", "y", "[i % 2]"].into_iter();
                    ends.for_each(|end| inner(end.to_owned(), &Ty::Scalar(scalar)));
                }
            }
            if found.len() < 400 {
                found.push(part);
            }
        }
        found
    }
}

/// A pointer's name, its struct type, and how many of the first members it may access.
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
    let scalars: Vec<_> = all.iter().filter(|part| matches!(part.ty, Ty::Scalar(_))).collect();
    let Part { path, ty: Ty::Scalar(scalar), .. } = *rng.pick(&scalars) else { unreachable!() };
    let place = format!("{}->{}", pointer.name, &path[1..]);
    let through = match *scalar {
        "void *" => "(unsigned long)",
        _ => "",
    };
    let structs = all.iter().filter_map(|part| Some((part, part.ty.as_struct()?)));
    let structs: Vec<_> = structs.collect();
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
            if rng.one_in(2) {
                return format!("{{ {name} *q = &{place};\n{body}}}\n");
            }
            format!("{{ {name} copy = {place}, *q = &copy;\n{body}{place} = copy; }}\n")
        }
        11 if !structs.is_empty() => {
            let (part, ty) = *rng.pick(&structs);
            let other = pointers.iter().flat_map(|other| {
                let parts = parts(other).into_iter();
                let parts = parts.filter(move |part| part.ty.as_struct() == Some(ty));
                parts.map(move |part| format!("{}->{}", other.name, &part.path[1..]))
            });
            let other = rng.pick(&other.collect::<Vec<_>>()).clone();
            // C forbids assignment between objects that overlap only in part, so this uses a copy.
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

/// Returns a struct pointer: type, expression, and how many of the first members it may access.
fn view(world: &World, rng: &mut Rng, root: usize) -> (usize, String, usize) {
    let mut parts = world.parts(root, false);
    parts.retain(|part| part.ty.as_struct().is_some());
    parts.push(Part { path: String::new(), ty: Ty::Struct(root), first: 0 });
    let part = rng.pick(&parts);
    let Ty::Struct(ty) = part.ty else { unreachable!() };
    let place = format!("&o{}", part.path);
    // The pointer's type may be another struct with the same first members.
    let twins = world.structs.iter().zip(0..).filter_map(|(of, at)| Some((at, of.twin?)));
    let twins = twins.filter(|(_, (twin, _))| *twin == ty).map(|(at, (_, len))| (at, len));
    let twins: Vec<_> = twins.chain(world.structs[ty].twin).collect();
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
        let [ty_a, ty_b] = [a.0, b.0].map(|ty| world.name(ty));
        text += &format!("static {inline}unsigned p{number}f{function}({ty_a} *a, {ty_b} *b, ");
        text += &format!("unsigned i, unsigned x) {{\n{body}return x; }}\n");
        for i in 0..2 {
            writeln!(calls, "  x = p{number}f{function}({}, {}, i + {i}, x);", a.1, b.1).unwrap();
        }
    }
    let mut object = format!("static {} o;", world.name(root));
    if !rng.one_in(2) {
        object = format!("{} o; __builtin_memset(&o, 0, sizeof o);", world.name(root));
    }
    format!(
        "{text}unsigned program{number}(unsigned i) {{\n  unsigned x = i;\n  {object}\n{calls}  return x; }}\n"
    )
}

/// Returns a C file with `count` programs, which prints a line for each program.
fn programs(first: usize, count: usize) -> String {
    let mut text = "int printf(const char *, ...);\n".to_owned();
    let mut main = "int main(int n, char **arguments) {\n".to_owned();
    for number in first..first + count {
        text += &program(number, &mut Rng(number as u64));
        main += &format!("  printf(\"{number} %u\\n\", program{number}(n));\n");
    }
    text + &main + "}\n"
}

/// Returns the lines of output that differ, at `-O0` or `-O3`, once `change` has edited the module.
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
            let found = differ(first, count, |bytes| tagged(bytes, &options));
            assert!(found.is_empty(), "{options:?}: {found:#?}");
        }
    }
}

/// Two kinds of wrong tags change the output. In the first, options declare that structs never
/// alias, but programs access one struct as another. In the second, stores have an unrelated tag.
#[test]
fn wrong_tags_change_programs() {
    if Llvm::get().is_none() {
        return;
    }
    let nominal = |bytes: &[u8]| {
        let module = tbaa_ir::read(bytes).unwrap();
        let names = module.type_definitions().iter().map(|ty| String::from_utf8_lossy(&ty.name));
        tagged(bytes, &names.fold(Options::new(), |options, name| options.nominal(&name)))
    };
    let found = differ(0, 2 * AT_ONCE, nominal);
    assert!(!found.is_empty(), "structs with the same members as different ones");
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
        let ty = format!("!999998 = !{{!\"wrong\", {root}, i64 0}}\n");
        (text + &ty + "!999999 = !{!999998, !999998, i64 0}\n").into_bytes()
    };
    assert!(!differ(0, AT_ONCE, swapped).is_empty(), "stores with the tag of something else");
}
