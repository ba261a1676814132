//! Compares the reports for random accesses with those of a simple reference implementation.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use tbaa_tests::Rng;
use tbaa_tests::llvm::Llvm;

use super::{WAYS, build, read_json, reports, scratch};

/// Random accesses to memory. Types are numbered: 0 and 1 are children of the root, and each other
/// type is a child of an earlier one.
struct World {
    parents: Vec<usize>,
    /// For each instruction: its type (`parents.len()` if untagged), size, and whether it writes.
    sites: Vec<(usize, usize, bool)>,
    /// The accesses in order: the index in `sites`, and the offset in memory.
    steps: Vec<(usize, usize)>,
}

const MEMORY: usize = 16;

impl World {
    /// Returns random accesses. All types except type 1 form a chain, so that few accesses
    /// contradict each other. This tests cached results.
    fn random(rng: &mut Rng) -> World {
        let parents = vec![0, 0, 0, 2, 3];
        let site = |rng: &mut Rng| {
            let size = *rng.pick(&[1_usize, 1, 2, 2, 4, 4, 8, 8, 3, 16]);
            // The library takes one byte of type 0 for a character, because type 0 has children and
            // its parent is the root. Characters are checked less exactly.
            let ty = match rng.below(24) {
                0 => parents.len(),
                1 | 2 => 1,
                _ if size == 1 => 4,
                _ => *rng.pick(&[0, 2, 3, 4]),
            };
            (ty, size, ty == parents.len() || rng.one_in(2))
        };
        let sites: Vec<_> = (0..200).map(|_| site(rng)).collect();
        // Most accesses are aligned.
        let step = |rng: &mut Rng| {
            let number = rng.below(sites.len());
            let align = if rng.one_in(4) { 1 } else { sites[number].1.next_power_of_two() };
            (number, rng.below(MEMORY) / align * align)
        };
        let steps = (0..8000).map(|_| step(rng)).collect();
        World { parents, sites, steps }
    }

    fn text(&self, threads: bool) -> String {
        let mut text = String::from(
            "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n\
             target triple = \"x86_64-unknown-linux-gnu\"\n",
        );
        let steps: Vec<_> =
            self.steps.iter().map(|(site, at)| format!("i32 {}", site << 8 | at)).collect();
        let _ = write!(
            text,
            "@memory = global [{} x i8] zeroinitializer, align 16\n@steps = constant [{} x i32] [{}]
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
define ptr @idle(ptr %none) {{\n  ret ptr null\n}}
define i32 @main() {{
entry:\n  %thread = alloca i64\n  br i1 {threads}, label %two, label %loop
two:\n  %created = call i32 @pthread_create(ptr %thread, ptr null, ptr @idle, ptr null)\n  br label %loop
loop:
  %at = phi i64 [ 0, %entry ], [ 0, %two ], [ %next, %loop ]
  %from = getelementptr i32, ptr @steps, i64 %at
  %step = load i32, ptr %from
  %site = lshr i32 %step, 8
  %offset = and i32 %step, 255
  %place = getelementptr i8, ptr @memory, i32 %offset
  call void @go(i32 %site, ptr %place)
  %next = add i64 %at, 1
  %more = icmp ult i64 %next, {}
  br i1 %more, label %loop, label %end
end:\n  ret i32 0\n}}
define void @go(i32 %site, ptr %p) {{
  switch i32 %site, label %none [",
            MEMORY + 16,
            steps.len(),
            steps.join(", "),
            steps.len(),
        );
        for site in 0..self.sites.len() {
            let _ = write!(text, " i32 {site}, label %site{site}");
        }
        text.push_str(" ]\nnone:\n  ret void\n");
        for site in 0..self.sites.len() {
            let _ = write!(text, "site{site}:\n  call void @s{site}(ptr %p)\n  ret void\n");
        }
        text.push_str("}\n");
        for (number, &(ty, size, writes)) in self.sites.iter().enumerate() {
            let bits = 8 * size;
            let access = match writes {
                true => format!("store i{bits} 0, ptr %p, align 1"),
                false => format!("%v{number} = load volatile i{bits}, ptr %p, align 1"),
            };
            let tag = (ty < self.parents.len()).then(|| format!(", !tbaa !{}", 100 + ty));
            let tag = tag.unwrap_or_default();
            let _ = write!(
                text,
                "define void @s{number}(ptr %p) noinline {{\n  {access}{tag}\n  ret void\n}}\n"
            );
        }
        text.push_str("!0 = !{!\"root\"}\n");
        for (ty, &parent) in self.parents.iter().enumerate() {
            let (parent, node, tag) = (if ty < 2 { 0 } else { parent + 1 }, ty + 1, ty + 100);
            let _ = writeln!(text, "!{node} = !{{!\"t{ty}\", !{parent}, i64 0}}");
            let _ = writeln!(text, "!{tag} = !{{!{node}, !{node}, i64 0}}");
        }
        text
    }

    fn may_alias(&self, a: usize, b: usize) -> bool {
        let is_below = |mut index: usize, above: usize| loop {
            if index == above {
                return true;
            } else if index < 2 {
                return false;
            }
            index = self.parents[index];
        };
        is_below(a, b) || is_below(b, a)
    }

    /// Returns, for each pair of types, the number of pairs of sites that contradict each other.
    /// The maps are for a write and a later read, for a read and a later write, and for two writes.
    fn contradictions(&self) -> [BTreeMap<(String, String), u64>; 3] {
        let mut found = [const { BTreeSet::new() }; 3];
        let mut memory = vec![(None, BTreeSet::new()); MEMORY + 16];
        for &(site, at) in &self.steps {
            let (ty, size, writes) = self.sites[site];
            for (writer, readers) in &mut memory[at..at + size] {
                let typed = ty < self.parents.len();
                let mut note = |order: usize, first: usize| {
                    if typed && !self.may_alias(self.sites[first].0, ty) {
                        found[order].insert((first, site));
                    }
                };
                if writes {
                    readers.iter().for_each(|&first| note(1, first));
                    writer.iter().for_each(|&first| note(2, first));
                    (*writer, *readers) = (typed.then_some(site), BTreeSet::new());
                } else {
                    writer.iter().for_each(|&first| note(0, first));
                    readers.insert(site);
                }
            }
        }
        found.map(|pairs: BTreeSet<(usize, usize)>| {
            let mut types = BTreeMap::new();
            for (first, second) in pairs {
                let of = |site: usize| format!("t{}", self.sites[site].0);
                *types.entry((of(first), of(second))).or_default() += 1;
            }
            types
        })
    }
}

#[test]
fn random_accesses_are_judged_as_by_the_definition() {
    let Some(_) = Llvm::get() else { return };
    let mut compared = 0;
    for seed in 0..8 {
        let world = World::random(&mut Rng(seed));
        let source = scratch(&format!("world{seed}.ll"));
        fs::write(&source, world.text(seed % 3 == 0)).unwrap();
        let expected = world.contradictions();
        let (way, flags) = WAYS[usize::from(seed % 4 == 0)];
        let program = build(&source, way, flags);
        for options in ["", "report_stores=1", "reuse=1"] {
            let json = scratch("world.json");
            reports(&program, &format!("exitcode=0:json={}:{options}", json.display()));
            let json = read_json(&json);
            let mut found = [const { BTreeMap::new() }; 3];
            for kind in json["kinds"].as_array().unwrap() {
                let (first, second) = (&kind["first"], &kind["second"]);
                let order = match (first["does"].as_str(), second["does"].as_str()) {
                    (Some("write"), Some("read")) => 0,
                    (Some("read"), Some("write")) => 1,
                    _ => 2,
                };
                let ty = |value: &serde_json::Value| {
                    value["says"].as_str().unwrap().split('"').nth(1).unwrap().to_owned()
                };
                found[order].insert((ty(first), ty(second)), kind["pairs"].as_u64().unwrap());
            }
            let run = format!("{} {way} {options}", source.display());
            assert_eq!(found[0], expected[0], "{run}: a write, and a later read");
            // The library remembers only one reader of each byte, so it may report fewer pairs.
            let is_there =
                |(types, pairs): (_, &u64)| *pairs <= expected[1].get(types).copied().unwrap_or(0);
            assert!(found[1].iter().all(is_there), "{run}: {:?}", found[1]);
            assert_eq!(options != "reuse=1", found[1].is_empty(), "{run}");
            let stores = if options == "report_stores=1" { &expected[2] } else { &BTreeMap::new() };
            assert_eq!(found[2], *stores, "{run}: two writes");
            compared += found.iter().flat_map(BTreeMap::values).sum::<u64>();
        }
    }
    assert!(compared > 400, "{compared}");
}
