//! Put into the library: which mutant is on, as `MUTANT` says. With a path in
//! `MUTANT_REACHED`, the numbers that the program comes by are appended there.

use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

const UNKNOWN: u32 = u32::MAX;
const RECORD: u32 = u32::MAX - 1;
static CHOSEN: AtomicU32 = AtomicU32::new(UNKNOWN);
/// Of each number, whether it is in the file.
static REACHED: [AtomicBool; 1 << 16] = [const { AtomicBool::new(false) }; 1 << 16];
static FILE: LazyLock<std::fs::File> = LazyLock::new(|| {
    let path = std::env::var_os("MUTANT_REACHED").unwrap();
    std::fs::File::options().create(true).append(true).open(path).unwrap()
});

#[inline(always)]
pub(crate) fn on(number: u32) -> bool {
    let chosen = CHOSEN.load(Relaxed);
    if chosen < RECORD { chosen == number } else { unusual(number) }
}

#[cold]
fn unusual(number: u32) -> bool {
    let chosen = CHOSEN.load(Relaxed);
    if chosen == UNKNOWN {
        let record = std::env::var_os("MUTANT_REACHED").is_some();
        let chosen = || std::env::var("MUTANT").map_or(0, |it| it.parse().unwrap());
        CHOSEN.store(if record { RECORD } else { chosen() }, Relaxed);
        return on(number);
    }
    // Another thread has just found out.
    if chosen < RECORD {
        return chosen == number;
    }
    let reached = &REACHED[number as usize];
    if !reached.load(Relaxed) && !reached.swap(true, Relaxed) {
        (&*FILE).write_all(format!("{number}\n").as_bytes()).unwrap();
    }
    false
}
