//! Compares three summaries of what a call writes: bit masks of tags, alias regions, and intervals
//! in a tree of types.

use std::collections::{HashMap, HashSet};
use std::{env, fs};

use tbaa::{Access, AliasRule, MemoryEffect, Oracle, TagId};
use tbaa_cranelift::Regions;
use tbaa_ir::Opcode;
use tbaa_lower::{Lowering, Options};

/// Counts the pairs of a call and a load that are NoAlias by rule `union`, and those that remain
/// NoAlias with each summary. Each function with tagged stores counts as a call that does these
/// stores. An interval, as in `JavaScriptCore`'s abstract heaps, covers the leaves of the tree from
/// the first to the last one that the stores may write.
#[test]
#[ignore = "reads the modules that TBAA_MODULES names"]
fn effects_of_real_calls() {
    for file in env::var("TBAA_MODULES").unwrap_or_default().split_whitespace() {
        let text = fs::read(file).unwrap();
        let module = tbaa_ir::read(&text).unwrap();
        let oracle = Oracle::new(module.graph(), AliasRule::Union);
        let mut loads: HashMap<TagId, u64> = HashMap::new();
        let mut calls: HashMap<u32, HashSet<TagId>> = HashMap::new();
        let mut accesses = Vec::new();
        for instruction in module.instructions() {
            let Some(tag) = instruction.tag else { continue };
            accesses.push(match instruction.opcode {
                Opcode::Load => {
                    *loads.entry(tag).or_default() += 1;
                    Access::from(tag).reading()
                }
                Opcode::Store => {
                    calls.entry(instruction.function).or_default().insert(tag);
                    Access::from(tag).writing()
                }
                _ => continue,
            });
        }
        let tags = module.attached_tags();
        let place: HashMap<TagId, usize> = tags.iter().copied().zip(0..).collect();
        let weight = |tag: &TagId| (Access::from(*tag), 1 + loads.get(tag).copied().unwrap_or(0));
        let masks = oracle.masks(tags.iter().map(weight), 64).unwrap();
        let regions = [Regions::MOST, 256].map(|most| {
            let mut regions = Regions::new(&oracle).at_most(most);
            regions.extend(&oracle, accesses.iter().copied()).unwrap();
            regions
        });
        let mut lowering = Lowering::new(Options::new().lineage("effects"));
        lowering.lower(&oracle, tags.iter().copied()).unwrap();
        let chain = |tag: &TagId| {
            let graph = lowering.graph();
            let ty = lowering.tag(*tag).map(|lowered| graph.tag(lowered).unwrap().access);
            let mut chain: Vec<_> =
                std::iter::successors(ty, |&ty| graph.ty(ty).parent()).collect();
            chain.reverse();
            chain
        };
        let mut chains: Vec<_> = tags.iter().map(chain).collect();
        let own = chains.clone();
        chains.sort();
        let interval = |tag: TagId| {
            let own = &own[place[&tag]];
            let start = chains.partition_point(|chain| chain < own);
            (start, start + chains[start..].partition_point(|chain| chain.starts_with(own)))
        };
        let [mut exact, mut by_masks, mut by_interval] = [0; 3];
        let mut by_regions = [0; 2];
        for stores in calls.values() {
            let effect = stores.iter().fold(MemoryEffect::NONE, |effect, tag| {
                effect.union(masks.effect(place[tag], tbaa::AccessKind::Write))
            });
            let hull = stores.iter().map(|&tag| interval(tag));
            let hull = hull.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap();
            for (&load, times) in &loads {
                if stores.iter().any(|&store| oracle.may_alias(store, load)) {
                    continue;
                }
                exact += times;
                let read = masks.effect(place[&load], tbaa::AccessKind::Read);
                by_masks += times * u64::from(!effect.conflicts(read));
                let (start, end) = interval(load);
                by_interval += times * u64::from(end <= hull.0 || hull.1 <= start);
                for (regions, kept) in regions.iter().zip(&mut by_regions) {
                    let meets = |store: &TagId| match [*store, load].map(|tag| regions.id(tag)) {
                        [Some(store), Some(load)] => store == load,
                        _ => true,
                    };
                    *kept += times * u64::from(!stores.iter().any(meets));
                }
            }
        }
        let percent = |kept: u64| format!("{:.2} %", 100.0 * kept as f64 / exact as f64);
        println!(
            "{file}: {} calls, {exact} pairs; masks of 64 bits {}, 16 regions {}, 256 regions {}, \
             intervals {}",
            calls.len(),
            percent(by_masks),
            percent(by_regions[0]),
            percent(by_regions[1]),
            percent(by_interval)
        );
        assert!(by_masks <= exact && by_interval <= exact && by_regions[0] <= by_regions[1]);
    }
}
