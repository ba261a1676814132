//! Put into the library: which mutant is on, as `MUTANT` says. With a path in
//! `MUTANT_REACHED`, the numbers that the program comes by are appended there.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const UNKNOWN: u32 = u32::MAX;
const RECORD: u32 = u32::MAX - 1;
static CHOSEN: AtomicU32 = AtomicU32::new(UNKNOWN);
static REACHED: Mutex<Vec<bool>> = Mutex::new(Vec::new());

#[inline(always)]
pub(crate) fn on(number: u32) -> bool {
    let chosen = CHOSEN.load(Relaxed);
    if chosen < RECORD { chosen == number } else { unusual(number) }
}

#[cold]
fn unusual(number: u32) -> bool {
    let path = std::env::var_os("MUTANT_REACHED");
    let Some(path) = path else {
        let chosen = std::env::var("MUTANT").map_or(0, |it| it.parse().unwrap());
        CHOSEN.store(chosen, Relaxed);
        return chosen == number;
    };
    CHOSEN.store(RECORD, Relaxed);
    let mut reached = REACHED.lock().unwrap();
    if reached.len() <= number as usize {
        reached.resize(number as usize + 1, false);
    }
    if !std::mem::replace(&mut reached[number as usize], true) {
        let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{number}\n").as_bytes()).unwrap();
    }
    false
}
