//! Runs each fuzz target on its seeds, on damaged seeds, and on random bytes.

use std::fs;

use tbaa_tests::fuzz::TARGETS;
use tbaa_tests::{Rng, damage, files, setting};

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = format!("fuzz/seeds/{target}");
    let is_there = std::path::Path::new(tbaa_tests::ROOT).join(&folder).exists();
    let files = if is_there { files(&folder, &[]) } else { Vec::new() };
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

#[test]
fn every_target_runs() {
    let only = std::env::var("TBAA_FUZZ_TARGET").ok();
    for (name, run) in
        TARGETS.iter().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name))
    {
        let seeds = seeds(name);
        seeds.iter().for_each(|seed| run(seed));
        let mut rng = Rng(setting("TBAA_SEED", 1) as u64);
        for _ in 0..setting("TBAA_FUZZ", 60) {
            let mut bytes: Vec<u8> = (0..600).map(|_| rng.next() as u8).collect();
            run(&bytes[..rng.below(600)]);
            if !seeds.is_empty() {
                bytes = rng.pick(&seeds).clone();
                damage::bytes(&mut rng, &mut bytes);
                run(&bytes);
            }
        }
    }
}
