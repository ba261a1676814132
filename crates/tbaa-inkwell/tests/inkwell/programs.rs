//! Runs random programs that access records in many ways: members, wider accesses, fills, masked
//! stores, calls, flexible arrays. A program must return the same value unoptimised and after
//! `-O2`. Accesses that `attach` rejects stay untagged.
//!
//! `TBAA_PROGRAMS` sets the number of programs, `TBAA_SEED` the first seed.

use inkwell::values::{InstructionValue, PointerValue};
use tbaa::declare::Declarations;
use tbaa_lower::emit::{Attachments, Jit, JitOptions, Recorded, TaggedPlace};
use tbaa_tests::{Rng, setting};

use crate::bytes::{FORMS, fill_at, instruction, masked_at};
use crate::support::Code;
use crate::wrong::{both, helper};

/// Records that lie side by side: type, offset of the first byte, number of bytes.
const OBJECTS: [(&str, u64, u64); 4] =
    [("Proto", 0, 24), ("Fixed", 24, 24), ("Outer", 48, 16), ("Arr", 64, 40)];

/// The number of 8-byte words of all records.
const WORDS: u64 = 13;

fn records() -> Declarations {
    tbaa_tests::declared(include_str!("programs.ron"))
}

/// Paths to words: path, index of the record in [`OBJECTS`], offset inside the record.
const PATHS: [(&str, usize, u64); 12] = [
    ("Proto.kind", 0, 0),
    ("Proto.step.n", 0, 8),
    ("Proto.step.d", 0, 8),
    ("Proto.next", 0, 16),
    ("Fixed.cells[1]", 1, 8),
    ("Fixed.cells[*]", 1, 0),
    ("Fixed.tail", 1, 16),
    ("Inner.x", 2, 0),
    ("Outer.y", 2, 8),
    ("Arr.len", 3, 0),
    ("Arr.data[*]", 3, 16),
    ("Arr.data[0]", 3, 8),
];

/// An access. `how` is an index into the `kinds` of [`Step::line`]; `at` is an offset in memory.
struct Step {
    place: TaggedPlace,
    call: Option<Attachments<Recorded>>,
    at: u64,
    bytes: u64,
    how: u64,
    known: bool,
    value: u64,
    /// If present, the program's builder attaches `place`, then this place, then `place` again.
    before: Option<TaggedPlace>,
}

impl Step {
    fn line(&self) -> String {
        let kinds = ["load", "load", "store", "wide store", "fill", "whole fill", "masked", "call"];
        let path = self.place.path();
        let (kind, known) = (kinds[self.how as usize], if self.known { "" } else { ", unknown" });
        format!("{kind} {path}: {} bytes at {}{known}\n", self.bytes, self.at)
    }
}

fn step(rng: &mut Rng, jit: &mut Jit) -> Step {
    let (path, object, offset) = *rng.pick(&PATHS);
    let (ty, start, size) = OBJECTS[object];
    let (at, room) = (start + offset, size - offset);
    let known = rng.one_in(2);
    let (how, value) = (rng.below(8_u64), 1 + rng.below(250_u64));
    let other = rng.one_in(4).then(|| jit.place(rng.pick(&PATHS).0).unwrap());
    let (place, call, before) = (jit.place(path).unwrap(), None, other);
    let mut made = Step { place, call, at, bytes: 8, how, known, value, before };
    match how {
        // Loads, and a store of one word.
        0..3 => {}
        // A store of one or more words. The size for which the place is requested may be unknown.
        3 => {
            made.bytes = 8 * (1 + rng.below(room / 8));
            made.place = jit.sized(path, if known { made.bytes } else { u64::MAX }).unwrap();
        }
        // 4: a fill that begins at a member. 5: a fill of a whole record.
        4 => {
            // A fill of `cells` whose size is unknown to LLVM must stay inside the array.
            let in_array = path.starts_with("Fixed.cells") && !known;
            made.bytes = 1 + rng.below(if in_array { 16 - offset } else { room });
        }
        5 => (made.at, made.bytes, made.place) = (start, size, jit.place(ty).unwrap()),
        // 6: a masked store of 32 bytes. 7: a call that fills 32 bytes.
        6 if room >= 32 => {}
        7 if size >= 32 => (made.at, made.call) = (start, Some(jit.call(&[ty]).unwrap())),
        _ => return step(rng, jit),
    }
    made
}

fn write(code: &Code<'_>, steps: &[Step]) {
    let i64 = code.context.i64_type();
    let mut sum = i64.const_zero();
    let add = |sum, value| {
        let sum = code.builder.build_int_mul(sum, i64.const_int(31, false), "").unwrap();
        code.builder.build_int_add(sum, value, "").unwrap()
    };
    for (number, step) in steps.iter().enumerate() {
        let to = code.address(code.parameter(number % 2), step.at);
        let made = match step.how {
            0 | 1 => {
                let (value, load) = code.load(to, 64, "");
                sum = add(sum, value.into_int_value());
                load
            }
            2 => code.store(to, 64, step.value),
            3 => words(code, to, step),
            4 | 5 => fill_at(code, to, step.value, step.bytes, step.known),
            6 => masked_at(code, "llvm.masked.store", to, step.value),
            _ => instruction(code, helper(code, "fills"), to),
        };
        if let Some(call) = &step.call {
            code.tagger.attach_call(call, made).unwrap();
            continue;
        }
        let place = &step.place;
        if code.tagger.attach(place, made).is_ok()
            && let Some(before) = &step.before
            && code.tagger.attach(before, made).is_ok()
        {
            code.attach(place, made);
        }
    }
    for word in 0..WORDS {
        let (value, _) = code.load(code.address(code.parameter(0), 8 * word), 64, "");
        sum = add(sum, value.into_int_value());
    }
    code.end(sum.into());
}

/// Stores a vector of `step.bytes / 8` words.
fn words<'c>(code: &Code<'c>, to: PointerValue<'c>, step: &Step) -> InstructionValue<'c> {
    let value = code.context.i64_type().const_int(step.value, false);
    let words = inkwell::types::VectorType::const_vector(&vec![value; step.bytes as usize / 8]);
    let store = code.builder.build_store(to, words).unwrap();
    store.set_alignment(8).unwrap();
    store
}

#[test]
fn random_programs_run_alike() {
    let first = setting("TBAA_SEED", 1) as u64;
    for seed in first..first + setting("TBAA_PROGRAMS", 200) as u64 {
        let mut rng = Rng(seed);
        let options = JitOptions::new().form(*rng.pick(&FORMS));
        let mut jit = Jit::with_options(records(), options).unwrap();
        let count = 8 + rng.below(24_usize);
        let steps: Vec<Step> = (0..count).map(|_| step(&mut rng, &mut jit)).collect();
        let [meant, optimised] = both(&|code| write(code, &steps));
        let listed = || steps.iter().map(Step::line).collect::<String>();
        assert_eq!(meant, optimised, "TBAA_SEED={seed}\n{}", listed());
    }
}
