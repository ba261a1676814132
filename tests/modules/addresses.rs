//! Checks the answers of `Pointers::meet` against runs of random address computations.

use std::fmt::Write;
use std::rc::Rc;

use tbaa_ir::{Effects, Flow, Opcode, Pointers, Sizes};
use tbaa_tests::{Rng, setting};

const INPUTS: usize = 16;

/// A value of the generated function.
struct Known {
    /// The number of bits; 0 for a pointer.
    bits: u32,
    /// The value for each input; `None` for poison. A pointer's value is its distance from `%v0`.
    values: Vec<Option<i64>>,
}

#[derive(Default)]
struct Generated {
    /// The width of a pointer: 32 or 64.
    bits: u32,
    known: Vec<Known>,
    text: String,
}

fn wrapped(exact: i128, bits: u32) -> i64 {
    match bits {
        32 => i64::from(exact as i32),
        _ => exact as i64,
    }
}

impl Generated {
    fn add(&mut self, bits: u32, of: usize, value: impl Fn(usize, i64) -> Option<i64>) {
        let values = self.known[of].values.iter().enumerate();
        let values = values.map(|(input, &of)| value(input, of?)).collect();
        self.known.push(Known { bits, values });
    }

    fn pick(&self, rng: &mut Rng, pointer: bool) -> usize {
        let fits = |at: &usize| (self.known[*at].bits == 0) == pointer;
        *rng.pick(&(0..self.known.len()).filter(fits).collect::<Vec<_>>())
    }

    fn integer(&mut self, rng: &mut Rng) {
        let (of, new) = (self.pick(rng, false), self.known.len());
        let bits = self.known[of].bits;
        let cast = match bits {
            32 => *rng.pick(&["sext", "zext"]),
            _ => "trunc",
        };
        if rng.one_in(3) {
            let to = 96 - bits;
            writeln!(self.text, "  %v{new} = {cast} i{bits} %v{of} to i{to}").unwrap();
            return self.add(to, of, |_, value| match cast {
                "zext" => Some(i64::from(value as u32)),
                _ => Some(wrapped(value.into(), to)),
            });
        }
        let opcode = *rng.pick(&["add", "mul", "shl", "sub"]);
        let by = match opcode {
            "shl" => *rng.pick(&[0, 1, 2, 3, i64::from(bits) - 1]),
            _ => *rng.pick(&[-8, -3, -1, 0, 1, 2, 3, 4, 12, i64::from(i32::MAX)]),
        };
        let first = rng.one_in(2) && matches!(opcode, "add" | "mul");
        let operands = if first { format!("{by}, %v{of}") } else { format!("%v{of}, {by}") };
        let flag = *rng.pick(&["", "nsw ", "nsw "]);
        writeln!(self.text, "  %v{new} = {opcode} {flag}i{bits} {operands}").unwrap();
        self.add(bits, of, |_, value| {
            let (value, by) = (i128::from(value), i128::from(by));
            let exact = match opcode {
                "add" => value + by,
                "mul" => value * by,
                "shl" => value << by,
                _ => value - by,
            };
            let result = wrapped(exact, bits);
            (flag.is_empty() || i128::from(result) == exact).then_some(result)
        });
    }

    fn address(&mut self, rng: &mut Rng) {
        let (of, new) = (self.pick(rng, true), self.known.len());
        let index = (!rng.one_in(3)).then(|| self.pick(rng, false));
        let constant = rng.below(5_u64) as i64 - 2;
        let index_text = match index {
            Some(index) => format!("i{} %v{index}", self.known[index].bits),
            None => format!("i64 {constant}"),
        };
        // A type, its size, a constant second index or none, and the offset that this index adds.
        let (ty, size, second, more) = *rng.pick(&[
            ("i8", 1, "", 0),
            ("i16", 2, "", 0),
            ("i32", 4, "", 0),
            ("i64", 8, "", 0),
            ("[3 x i16]", 6, ", i64 2", 4),
            ("{ i32, i32 }", 8, ", i32 1", 4),
        ]);
        let text = format!("getelementptr {ty}, ptr %v{of}, {index_text}{second}");
        writeln!(self.text, "  %v{new} = {text}").unwrap();
        let bits = self.bits;
        let indices = index.map(|index| self.known[index].values.clone());
        self.add(0, of, |input, from| {
            let index = indices.as_ref().map_or(Some(constant), |indices| indices[input])?;
            let to = from.wrapping_add(index.wrapping_mul(size)).wrapping_add(more);
            Some(wrapped(to.into(), bits))
        });
    }
}

/// An answer of `Pointers::meet` holds for each input for which neither pointer is poison. Integers
/// wrap, but a computation with `nsw` that overflows is poison.
#[test]
fn places_meet_as_in_a_run() {
    let mut counts = [0_usize; 3];
    for seed in 0..setting("TBAA_SEEDS", 400) as u64 {
        let rng = &mut Rng(seed);
        let bits = if seed % 3 == 0 { 32 } else { 64 };
        let mut made = Generated { bits, ..Generated::default() };
        made.known.push(Known { bits: 0, values: vec![Some(0); INPUTS] });
        for bits in [32, 64] {
            let values = (0..INPUTS).map(|input| match input {
                0..4 => Some(wrapped(rng.next().into(), bits)),
                4..6 => Some(wrapped(i128::from(i64::MAX) >> (64 - bits), bits) - input as i64),
                _ => Some(rng.below(9_u64) as i64 - 4),
            });
            let values = values.collect();
            made.known.push(Known { bits, values });
        }
        for _ in 0..12 {
            if rng.one_in(2) { made.integer(rng) } else { made.address(rng) }
        }
        let pointers: Vec<_> =
            (0..made.known.len()).filter(|&at| made.known[at].bits == 0).collect();
        let mut text = format!("target datalayout = \"e-p:{bits}:{bits}\"\n");
        write!(text, "define void @f(ptr %v0, i32 %v1, i64 %v2) {{\n{}", made.text).unwrap();
        for at in &pointers {
            writeln!(text, "  %l{at} = load i8, ptr %v{at}").unwrap();
        }
        text += "  ret void\n}\n";
        let module = tbaa_ir::read(text.as_bytes()).unwrap();
        let (sizes, effects) = (Sizes::new(&module), Effects::new(&module));
        let function = Rc::new(module.function(&sizes, 0));
        let found = Pointers::new(&function, Some(&Flow::of(&function)), &effects);
        let loads = function.instructions.iter().filter(|inst| inst.opcode == Opcode::Load);
        let places: Vec<_> = loads.map(|load| function.pointer(load).unwrap()).collect();
        for (a, &value_a) in pointers.iter().zip(&places) {
            for (b, &value_b) in pointers.iter().zip(&places) {
                let lens = [(); 2].map(|()| 1_u64 << rng.below(4_u32));
                let said = found.meet((value_a, Some(lens[0])), (value_b, Some(lens[1])));
                counts[said.map_or(0, |meet| 1 + usize::from(meet))] += 1;
                let runs = made.known[*a].values.iter().zip(&made.known[*b].values);
                for (at_a, at_b) in runs.filter_map(|(a, b)| a.zip(*b)) {
                    let distance = wrapped(i128::from(at_b) - i128::from(at_a), bits);
                    let meet = -(lens[1] as i64) < distance && distance < lens[0] as i64;
                    assert!(
                        said.is_none_or(|said| said == meet),
                        "seed {seed}: %v{a} ({} bytes) and %v{b} ({}) at {at_a} and {at_b}\n{text}",
                        lens[0],
                        lens[1],
                    );
                }
            }
        }
    }
    println!("unknown, apart, meet: {counts:?}");
    assert!(counts[1] > counts[0] / 50 && counts[2] > counts[0] / 50, "{counts:?}");
}
