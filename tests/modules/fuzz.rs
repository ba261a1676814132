//! The fuzz targets, each on its seeds, on damaged seeds, and on bytes by chance.

use std::fs;
use std::path::Path;

use tbaa_tests::fuzz::TARGETS;
use tbaa_tests::{Rng, setting};

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(tbaa_tests::ROOT).join("fuzz/seeds").join(target);
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn damage(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..1 + rng.below(4) {
        let (at, from) = (rng.below(bytes.len()), rng.below(bytes.len()));
        match rng.below(6) {
            0 => bytes[at] = rng.next() as u8,
            1 => bytes[at] = bytes[from],
            2 => {
                let end = (from + rng.below(20)).min(bytes.len());
                let part = bytes[from..end].to_vec();
                bytes.splice(at..at, part);
            }
            // A longer part of the text in place of another.
            3 => {
                let (end, until) = (from + rng.below(200), at + rng.below(200));
                let part = bytes[from..end.min(bytes.len())].to_vec();
                bytes.splice(at..until.min(bytes.len()), part);
                if bytes.is_empty() {
                    return;
                }
            }
            // A bracket that has no other.
            4 => bytes[at] = *rng.pick(b"(){}[]<>\"%@,;"),
            _ if bytes.len() > 1 => drop(bytes.remove(at)),
            _ => {}
        }
    }
}

#[test]
fn every_target_runs() {
    for (name, run) in TARGETS {
        let seeds = seeds(name);
        seeds.iter().for_each(|seed| run(seed));
        let mut rng = Rng(setting("TBAA_SEED", 1) as u64);
        for _ in 0..setting("TBAA_FUZZ", 60) {
            let mut bytes: Vec<u8> = (0..600).map(|_| rng.next() as u8).collect();
            run(&bytes[..rng.below(600)]);
            if !seeds.is_empty() {
                bytes = rng.pick(&seeds).clone();
                damage(&mut rng, &mut bytes);
                run(&bytes);
            }
        }
    }
}
