//! Linking may give an opaque struct the body that another module gives to the struct's name. These
//! tests compare the linked types with those of LLVM's linker.
//!
//! Until LLVM 20, `llvm-link` completed types by their names. Since LLVM 21, it keeps types of one
//! name separate, and a declared global has the type of its definition in another module. So one
//! test compares all types with LLVM 19, and one compares the types of globals with LLVM 22.
//!
//! The comparison ignores numbers at the end of names. The generated modules have no two names with
//! one body, and no opaque struct whose name has several bodies.

use std::path::PathBuf;
use std::process::Command;

use tbaa::types::{Context, Equality, MergedTypes, Type, TypeClasses, TypeKind, canonical_name};
use tbaa_ir::types::ReadTypes;
use tbaa_tests::llvm::{Llvm, scratch};
use tbaa_tests::{Rng, setting};

const NAMES: [&str; 5] = ["A", "struct.B", "C", "D", "E"];

/// Two possible bodies for each of [`NAMES`], from which modules are generated.
struct World {
    bodies: Vec<[String; 2]>,
    /// True for a name that may have either body. A struct of such a name is never opaque.
    varied: Vec<bool>,
    /// True if modules give a body only to structs whose elements have bodies.
    sized: bool,
}

impl World {
    fn new(rng: &mut Rng, sized: bool) -> World {
        // If `cyclic`, structs may contain themselves when the modules are linked.
        let cyclic = !sized && rng.one_in(4);
        let mut body = |of: usize, variant: usize| {
            // The first element distinguishes all bodies.
            let mut text = format!("i{}", 1 + variant + 2 * of);
            for _ in 0..rng.below(3) {
                let name = match of + 1 + rng.below(2) {
                    next if cyclic => NAMES.get(next % 3),
                    _ => NAMES.get(of + 1 + rng.below(NAMES.len())),
                };
                text += &match (rng.below(5), name) {
                    (0, Some(name)) => format!(", [2 x %{name}]"),
                    (1, Some(name)) => format!(", {{ i8, %{name} }}"),
                    (2 | 3, Some(name)) => format!(", %{name}"),
                    _ => ", ptr".to_owned(),
                };
            }
            if rng.one_in(4) { format!("<{{ {text} }}>") } else { format!("{{ {text} }}") }
        };
        let bodies: Vec<[String; 2]> =
            (0..NAMES.len()).map(|of| [0, 1].map(|variant| body(of, variant))).collect();
        let mut world = World { bodies, varied: vec![false; NAMES.len()], sized };
        // Unless `cyclic`, a body refers only to names with higher indices.
        for of in (0..NAMES.len()).rev().filter(|_| !cyclic) {
            let below =
                [0, 1].iter().any(|&it| world.parts(of, it).iter().any(|&part| world.varied[part]));
            world.varied[of] = below || rng.one_in(3);
        }
        world
    }

    /// Returns a random module, or `None` if the chosen bodies are not valid together. Each struct
    /// is the type of two globals: `@NAME`, which modules may share, and `@mN_NAME` in module `N`.
    fn module(&self, rng: &mut Rng, number: usize) -> Option<Module> {
        let mut chosen: Vec<Option<Option<usize>>> = vec![None; NAMES.len()];
        let mut wanted: Vec<usize> = (0..NAMES.len()).filter(|_| rng.one_in(2)).collect();
        while let Some(of) = wanted.pop() {
            if chosen[of].is_none() {
                let variant = match self.varied[of] {
                    true => Some(rng.below(2)),
                    false => rng.one_in(2).then_some(0),
                };
                chosen[of] = Some(variant);
                wanted.extend(variant.iter().flat_map(|&variant| self.parts(of, variant)));
            }
        }
        for of in (0..NAMES.len()).rev().filter(|_| self.sized) {
            let is_open = |&part: &usize| chosen[part] == Some(None);
            if chosen[of].flatten().is_some_and(|chosen| self.parts(of, chosen).iter().any(is_open))
            {
                if self.varied[of] {
                    return None;
                }
                chosen[of] = Some(None);
            }
        }
        let (mut text, mut structs, mut globals) = (String::new(), Vec::new(), Vec::new());
        for (of, name) in NAMES.iter().enumerate() {
            let Some(variant) = chosen[of] else { continue };
            let body = variant.map_or("opaque", |variant| &self.bodies[of][variant]);
            text += &format!("%{name} = type {body}\n");
            let is_defined = self.sized && variant.is_some();
            for (global, linkage) in
                [(name.to_string(), "weak "), (format!("m{number}_{name}"), "")]
            {
                text += &match is_defined {
                    true => format!("@{global} = {linkage}global %{name} zeroinitializer\n"),
                    false => format!("@{global} = external global %{name}\n"),
                };
                globals.push(format!("ptr @{global}"));
            }
            structs.push((of, variant.is_some()));
        }
        // `llvm-link` drops declarations that are not used.
        text +=
            &format!("@use{number} = global [{} x ptr] [{}]\n", globals.len(), globals.join(", "));
        let mut spellings = NAMES.map(str::to_owned);
        for (name, spelling) in NAMES.iter().zip(&mut spellings).filter(|_| self.sized) {
            if rng.one_in(3) {
                *spelling += &format!(".{}", rng.below(3));
                text = text.replace(&format!("%{name}"), &format!("%{spelling}"));
            }
        }
        let mut context = Context::new();
        let names = tbaa_ir::read(text.as_bytes()).unwrap();
        let names = names.read_types(&mut context).ok()?;
        let ty = |name: &String| names.named(name.as_bytes());
        Some(Module { text, structs, types: spellings.each_ref().map(ty), context })
    }

    /// Returns the indices of the names in a body.
    fn parts(&self, of: usize, variant: usize) -> Vec<usize> {
        let is_in = |name: &str| self.bodies[of][variant].contains(&format!("%{name}"));
        (0..NAMES.len()).filter(|&part| is_in(NAMES[part])).collect()
    }
}

struct Module {
    text: String,
    structs: Vec<(usize, bool)>,
    /// The type of each name. In the module's text, the name may end with a number.
    types: [Option<Type>; NAMES.len()],
    context: Context,
}

impl Module {
    fn ty(&self, of: usize) -> Type {
        self.types[of].unwrap()
    }
}

/// The types that a linker made from some modules.
struct Theirs {
    context: Context,
    globals: Vec<(String, Type)>,
}

impl Theirs {
    /// Reads a linked module; `None` if a struct in it contains itself.
    fn read(text: &[u8]) -> Option<Theirs> {
        let mut context = Context::new();
        let names = match tbaa_ir::read(text).unwrap().read_types(&mut context) {
            Ok(names) => names,
            Err(error) => {
                assert!(error.kind.to_string().contains("contains itself"), "{error}");
                return None;
            }
        };
        let mut globals = Vec::new();
        for line in String::from_utf8_lossy(text).lines() {
            let Some((name, rest)) =
                line.strip_prefix('@').and_then(|strip_prefix| strip_prefix.split_once(" = "))
            else {
                continue;
            };
            let (_, ty) = rest.split_once("global ").unwrap();
            if let Some(ty) = ty.strip_prefix('%') {
                let ty = format!("%{}", ty.split(' ').next().unwrap());
                globals.push((name.to_owned(), context.parse_with(&names, ty.as_bytes()).unwrap()));
            }
        }
        Some(Theirs { context, globals })
    }

    fn global(&self, name: &str) -> Type {
        self.globals.iter().find(|(global, _)| global == name).unwrap().1
    }
}

fn worlds() -> u64 {
    setting("TBAA_LINKS", 200) as u64
}

fn modules(seed: u64, sized: bool) -> Vec<Module> {
    let mut rng = Rng(seed);
    let world = World::new(&mut rng, sized);
    let count = 2 + rng.below(2);
    let mut modules = Vec::new();
    while modules.len() < count {
        modules.extend(world.module(&mut rng, modules.len()));
    }
    modules
}

fn files(modules: &[Module]) -> Vec<PathBuf> {
    let write =
        |(at, module): (usize, &Module)| scratch(&format!("{at}.ll"), module.text.as_bytes());
    modules.iter().enumerate().map(write).collect()
}

fn merge(modules: &[Module]) -> MergedTypes {
    MergedTypes::new(&modules.iter().map(|module| &module.context).collect::<Vec<_>>()).unwrap()
}

fn compare(what: &str, theirs: &Context, ours: &Context, pairs: &[(Type, Type)]) {
    let classes = TypeClasses::new(&[theirs, ours], Equality::Unfolding);
    for &(their, our) in pairs {
        let said = format!("{what}: {}, {}", theirs.definition(their), ours.definition(our));
        assert!(classes.same(their, our), "{said}");
        let name = |context: &Context, ty| canonical_name(context.name(ty).unwrap()).to_vec();
        assert_eq!(name(theirs, their), name(ours, our), "{said}");
        for &(their_other, our_other) in pairs {
            let same = (their == their_other, our == our_other);
            assert_eq!(same.0, same.1, "{said}, {}", ours.definition(our_other));
        }
    }
}

fn is_opaque(context: &Context, ty: Type) -> bool {
    matches!(context.kind(ty), TypeKind::Identified { body: None, .. })
}

#[test]
fn all_types_are_those_of_llvm_19() {
    if Llvm::get().is_none() {
        return;
    }
    let (mut completed, mut recursive) = (0, 0);
    for seed in 0..worlds() {
        let modules = modules(seed, false);
        let linked = Command::new("llvm-link-19").arg("-S").args(files(&modules)).output();
        let Ok(linked) = linked else { return println!("skipped: there is no llvm-link-19") };
        assert!(linked.status.success(), "{seed}: {}", String::from_utf8_lossy(&linked.stderr));
        let ours = merge(&modules);
        let Some(theirs) = Theirs::read(&linked.stdout) else {
            // LLVM 19 made a struct that contains itself. The library leaves some struct opaque.
            let of = |of| {
                modules
                    .iter()
                    .flat_map(|module| &module.structs)
                    .filter(move |module| module.0 == of)
            };
            let is_left = |&(number, is_complete): &(usize, bool)| {
                !is_complete && of(number).any(|other| other.1)
            };
            let left = modules.iter().flat_map(|module| {
                let structs = module.structs.iter().filter(|&module| is_left(module));
                structs.filter(|it| is_opaque(ours.context(), ours.ty(module.ty(it.0))))
            });
            assert!(left.count() > 0, "seed {seed}");
            recursive += 1;
            continue;
        };
        let mut pairs = Vec::new();
        for (number, module) in modules.iter().enumerate() {
            for &(of, is_complete) in &module.structs {
                let our = ours.ty(module.ty(of));
                completed += usize::from(!is_complete && !is_opaque(ours.context(), our));
                pairs.push((theirs.global(&format!("m{number}_{}", NAMES[of])), our));
            }
        }
        compare(&format!("seed {seed}"), &theirs.context, ours.context(), &pairs);
    }
    println!("{} worlds, {completed} structs completed, {recursive} worlds recursive", worlds());
    assert!(completed > 0 && recursive > 0, "{completed} {recursive}");
}

#[test]
fn types_of_globals_are_those_of_llvm_22() {
    let Some(llvm) = Llvm::get() else { return };
    let mut completed = 0;
    for seed in 0..worlds() {
        let modules = modules(seed, true);
        let theirs = Theirs::read(&llvm.link(&files(&modules))).unwrap();
        let ours = merge(&modules);
        let mut pairs = Vec::new();
        for (number, module) in modules.iter().enumerate() {
            for &(of, is_complete) in &module.structs {
                let our = ours.ty(module.ty(of));
                if is_complete {
                    pairs.push((theirs.global(&format!("m{number}_{}", NAMES[of])), our));
                } else {
                    // This module declares the global, and another one may define it.
                    pairs.push((theirs.global(NAMES[of]), our));
                    completed += usize::from(!is_opaque(ours.context(), our));
                }
            }
        }
        compare(&format!("seed {seed}"), &theirs.context, ours.context(), &pairs);
    }
    println!("{} worlds, {completed} structs completed", worlds());
    assert!(completed > 0);
}
