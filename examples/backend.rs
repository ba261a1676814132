//! An optimiser that removes redundant loads and dead stores from straight-line code. It uses
//! `may_conflict` under rule `union`. Types are added while the oracle is in use.
//!
//! ```sh
//! cargo run --example backend
//! ```

use std::fmt;

use tbaa::declare::{Declarations, DeclareError, Policy, Record, TaggedTypes, Target};
use tbaa::{Access, AliasRule, Graph, Oracle};

/// A virtual register. It is written at most once.
type Reg = usize;

/// The memory that an access reads or writes: `size` bytes at `offset` from the pointer with the
/// number `pointer`.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Destination {
    pointer: usize,
    offset: u64,
    size: u64,
    access: Access,
}

impl Destination {
    /// Returns whether `self` and `other` are certainly the same bytes.
    fn is(&self, other: &Destination) -> bool {
        (self.pointer, self.offset, self.size) == (other.pointer, other.offset, other.size)
    }

    /// Returns whether `self` and `other` have the same pointer, and their bytes do not overlap.
    fn is_apart_from(&self, other: &Destination) -> bool {
        let behind = |a: &Destination, b: &Destination| a.offset >= b.offset + b.size;
        self.pointer == other.pointer && (behind(self, other) || behind(other, self))
    }
}

#[derive(Clone, PartialEq, Debug)]
enum Op {
    Constant(Reg, u64),
    Add(Reg, Reg, Reg),
    Load(Reg, Destination),
    Store(Destination, Reg),
    /// A call of code that may read and write all memory.
    Call,
    /// An output of a register's value.
    Print(Reg),
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |p: &Destination| format!("p{}+{} ({} bytes)", p.pointer, p.offset, p.size);
        match self {
            Op::Constant(to, value) => write!(f, "r{to} = {value}"),
            Op::Add(to, a, b) => write!(f, "r{to} = r{a} + r{b}"),
            Op::Load(to, from) => write!(f, "r{to} = load {}", place(from)),
            Op::Store(to, from) => write!(f, "store r{from} to {}", place(to)),
            Op::Call => f.write_str("call"),
            Op::Print(reg) => write!(f, "print r{reg}"),
        }
    }
}

/// The compiler: its types, and the oracle that owns the graph of their tags.
struct Compiler {
    types: TaggedTypes,
    oracle: Oracle,
}

impl Compiler {
    fn new() -> Compiler {
        let types = Declarations::new(Target::x86_64()).into_tagged(Policy::Rfc);
        Compiler { types, oracle: Oracle::new(Graph::new(), AliasRule::Union) }
    }

    fn define(&mut self, record: Record) -> Result<(), DeclareError> {
        self.types.types_mut().define(record)?;
        Ok(())
    }

    /// Returns the memory that `path` leads to, where `pointer` points to the path's first type.
    /// Adds a tag to the oracle's graph if necessary.
    fn place(&mut self, pointer: usize, path: &str) -> Result<Destination, DeclareError> {
        let Compiler { types, oracle } = self;
        let place = oracle.update(|graph| types.place(graph, path))?;
        let access = Access::from(place.tag);
        Ok(Destination { pointer, offset: place.offset, size: place.size, access })
    }

    /// Returns whether one access may write bytes that the other reads or writes.
    fn conflict(&self, first: (&Destination, bool), second: (&Destination, bool)) -> bool {
        let access = |(place, writes): (&Destination, bool)| {
            if writes { place.access.writing() } else { place.access.reading() }
        };
        !first.0.is_apart_from(second.0)
            && self.oracle.may_conflict(access(first), access(second)).is_some()
    }

    /// Removes loads whose values are in registers, and stores whose bytes are overwritten before
    /// they can be read.
    fn optimize(&self, code: &[Op]) -> Vec<Op> {
        self.without_dead_stores(self.without_redundant_loads(code))
    }

    fn without_redundant_loads(&self, code: &[Op]) -> Vec<Op> {
        // Memory, whether a store made its contents known, and the register with the contents.
        let mut known: Vec<(Destination, bool, Reg)> = Vec::new();
        // The register of each removed load, and the register to use instead.
        let mut renamed: Vec<(Reg, Reg)> = Vec::new();
        let mut kept = Vec::new();
        for op in code {
            let now = |reg: &Reg| {
                renamed.iter().find(|(old, _)| old == reg).map_or(*reg, |&(_, new)| new)
            };
            match op {
                Op::Constant(to, value) => kept.push(Op::Constant(*to, *value)),
                Op::Add(to, a, b) => kept.push(Op::Add(*to, now(a), now(b))),
                Op::Print(reg) => kept.push(Op::Print(now(reg))),
                Op::Call => {
                    known.clear();
                    kept.push(Op::Call);
                }
                Op::Load(to, from) => {
                    if let Some(&(_, _, reg)) = known.iter().find(|(place, ..)| place.is(from)) {
                        renamed.push((*to, reg));
                        continue;
                    }
                    known.push((*from, false, *to));
                    kept.push(op.clone());
                }
                Op::Store(to, from) => {
                    let from = now(from);
                    known.retain(|(place, stored, _)| {
                        !place.is(to) && !self.conflict((place, *stored), (to, true))
                    });
                    // A register has 8 bytes. A smaller store writes only some of them.
                    if to.size == 8 {
                        known.push((*to, true, from));
                    }
                    kept.push(Op::Store(*to, from));
                }
            }
        }
        kept
    }

    fn without_dead_stores(&self, code: Vec<Op>) -> Vec<Op> {
        // Memory that later operations overwrite before any operation can read it.
        let mut overwritten: Vec<Destination> = Vec::new();
        let mut kept = Vec::new();
        for op in code.into_iter().rev() {
            match &op {
                Op::Store(to, _) if overwritten.iter().any(|place| place.is(to)) => continue,
                Op::Store(to, _) => overwritten.push(*to),
                Op::Load(_, from) => {
                    overwritten.retain(|place| !self.conflict((place, true), (from, false)));
                }
                Op::Call => overwritten.clear(),
                _ => {}
            }
            kept.push(op);
        }
        kept.reverse();
        kept
    }
}

/// Returns the names and code of three functions. Declares types before it makes each function.
fn program(compiler: &mut Compiler) -> Result<Vec<(&'static str, Vec<Op>)>, DeclareError> {
    let value =
        Record::union("Value").field("gc", "void *").field("n", "double").field("i", "long");
    compiler.define(Record::structure("TValue").field("value", value).field("tt", "short"))?;
    compiler.define(
        Record::structure("CallInfo").field("func", "TValue *").field("base", "TValue *"),
    )?;
    let base = compiler.place(0, "CallInfo.base")?;
    let n = compiler.place(1, "TValue.value.n")?;
    let i = compiler.place(1, "TValue.value.i")?;
    let tag = compiler.place(1, "TValue.tt")?;
    let slots = vec![
        Op::Load(0, base),
        Op::Constant(1, 7),
        Op::Store(n, 1),
        Op::Store(tag, 1),
        Op::Load(2, base), // Redundant: no store so far is to a `CallInfo`.
        Op::Load(3, i),    // Redundant: the first store wrote these bytes.
        Op::Call,
        Op::Load(4, base), // Not redundant: the call may have changed `base`.
        Op::Add(5, 2, 3),
        Op::Add(6, 4, 5),
        Op::Print(6),
    ];

    compiler.define(Record::structure("Vector").field("data", "double *").field("len", "long"))?;
    let len = compiler.place(2, "Vector.len")?;
    let element = compiler.place(3, "*double")?;
    let vector = vec![
        Op::Load(0, len),
        Op::Store(element, 0),
        Op::Load(1, len), // Redundant: the store is to a `double`.
        Op::Load(2, i),   // Not redundant: this is the first load of `i`.
        Op::Store(element, 1),
        Op::Load(3, i), // Not redundant: the double may be in a TValue's union.
        Op::Add(4, 2, 3),
        Op::Print(4),
    ];

    let words = Record::union("Message").field("word", "long").field("half", "int [2]");
    compiler.define(words)?;
    let word = compiler.place(4, "Message.word")?;
    let half = compiler.place(5, "Message.half[*]")?;
    let frame = compiler.place(0, "CallInfo.func")?;
    let message = vec![
        Op::Constant(0, 1),
        Op::Store(word, 0),
        Op::Load(1, frame), // Not a load of the message: the first store is dead.
        Op::Store(word, 1),
        Op::Load(2, half), // May read a part of `word`.
        Op::Store(word, 2),
        Op::Print(1),
    ];
    Ok(vec![("slots", slots), ("vector", vector), ("message", message)])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut compiler = Compiler::new();
    for (name, code) in program(&mut compiler)? {
        let optimized = compiler.optimize(&code);
        println!("{name}: {} operations, of which stay {}:", code.len(), optimized.len());
        optimized.iter().for_each(|op| println!("    {op}"));
    }
    let graph = compiler.oracle.graph();
    println!("The oracle grew to {} tags while it answered.", graph.tags().len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what code prints, and the final memory. Pointer `p` has the address `addresses[p]`.
    fn run(code: &[Op], addresses: &[usize]) -> (Vec<u64>, Vec<u8>) {
        let mut memory: Vec<u8> = (0..=255).collect();
        let mut registers = vec![0_u64; 1 + code.len()];
        let mut printed = Vec::new();
        for op in code {
            let range = |place: &Destination| {
                let start = addresses[place.pointer] + place.offset as usize;
                start..start + place.size as usize
            };
            match op {
                Op::Constant(to, value) => registers[*to] = *value,
                Op::Add(to, a, b) => registers[*to] = registers[*a].wrapping_add(registers[*b]),
                Op::Load(to, from) => {
                    let mut bytes = [0; 8];
                    bytes[..from.size as usize].copy_from_slice(&memory[range(from)]);
                    registers[*to] = u64::from_le_bytes(bytes);
                }
                Op::Store(to, from) => {
                    let bytes = registers[*from].to_le_bytes();
                    memory[range(to)].copy_from_slice(&bytes[..to.size as usize]);
                }
                Op::Call => memory.iter_mut().for_each(|byte| *byte = byte.wrapping_mul(3)),
                Op::Print(reg) => printed.push(registers[*reg]),
            }
        }
        (printed, memory)
    }

    fn loads_and_stores(code: &[Op]) -> (usize, usize) {
        let loads = code.iter().filter(|op| matches!(op, Op::Load(..))).count();
        (loads, code.iter().filter(|op| matches!(op, Op::Store(..))).count())
    }

    #[test]
    fn what_is_redundant_goes_and_what_is_not_stays() {
        let mut compiler = Compiler::new();
        let functions = program(&mut compiler).unwrap();
        // The TValue is at 32, the CallInfo at 0, the Vector at 64, and the Message at 96. The
        // double is in the TValue or outside all of them.
        for double in [32, 128] {
            let addresses = [0, 32, 64, double, 96, 96];
            for (name, code) in &functions {
                let optimized = compiler.optimize(code);
                assert_eq!(run(&optimized, &addresses), run(code, &addresses), "{name} {double}");
            }
        }
        let left: Vec<_> =
            functions.iter().map(|(_, code)| loads_and_stores(&compiler.optimize(code))).collect();
        // The numbers of loads and stores that are left, from (4, 2), (4, 2) and (2, 3).
        assert_eq!(left, [(2, 2), (3, 2), (2, 2)]);
    }

    fn random(state: &mut u64, below: usize) -> usize {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 11) as usize % below
    }

    /// The pointers of the random code alias only where the types allow it. Some rounds add types.
    #[test]
    fn random_code_does_the_same_after_as_before() {
        let mut compiler = Compiler::new();
        let inner =
            Record::union("Inner").field("i", "int").field("f", "float").field("s", "short [2]");
        compiler.define(inner).unwrap();
        // Pointer 0 points to an Inner; pointers 1, 2 and 3 to an int, a float and a short.
        let mut paths: Vec<(usize, &str)> = vec![(0, "Inner.i"), (0, "Inner.f"), (0, "Inner.s[1]")];
        paths.extend([(0, "Inner.s[0]"), (1, "*int"), (2, "*float"), (3, "*short")]);
        let arrivals = [
            (
                Record::structure("Outer")
                    .field("inner", "Inner")
                    .field("l", "long")
                    .field("tail", "int"),
                vec![(4, "Outer.inner.i"), (4, "Outer.inner.f"), (4, "Outer.l"), (4, "Outer.tail")],
            ),
            (
                Record::union("Wide").field("outer", "Outer").field("words", "long [3]"),
                vec![(5, "Wide.outer.l"), (5, "Wide.words[0]"), (5, "Wide.words[2]"), (6, "*long")],
            ),
            (
                Record::structure("Pair").field("a", "int").field("b", "int"),
                vec![(7, "Pair.a"), (7, "Pair.b"), (8, "*char")],
            ),
        ];
        // The Inner is the first member of the Outer, which is in the Wide. The long is in the
        // Outer. The Pair is elsewhere. The char is a byte of the Outer.
        let addresses = [64, 160, 168, 176, 64, 64, 72, 128, 80];
        let mut state = 0x9e37_79b9_7f4a_7c15;
        let (mut loads, mut stores) = (0, 0);
        let mut arrivals = arrivals.into_iter();
        for round in 0..3000 {
            if round % 500 == 0
                && let Some((record, more)) = arrivals.next()
            {
                compiler.define(record).unwrap();
                paths.extend(more);
            }
            // Move the int, the float or the short into the Inner. No two of them may be there,
            // because their tags say that they do not alias.
            let mut addresses = addresses;
            addresses[1 + round % 3] = 64;
            let mut code = vec![Op::Constant(0, state)];
            for reg in 1..24 {
                let (pointer, path) = paths[random(&mut state, paths.len())];
                let place = compiler.place(pointer, path).unwrap();
                code.push(match random(&mut state, 20) {
                    0..=8 => Op::Load(reg, place),
                    9..=17 => Op::Store(place, random(&mut state, reg)),
                    18 => Op::Add(reg, random(&mut state, reg), random(&mut state, reg)),
                    _ => Op::Call,
                });
            }
            code.extend((0..24).map(Op::Print));
            let optimized = compiler.optimize(&code);
            assert_eq!(
                run(&optimized, &addresses),
                run(&code, &addresses),
                "round {round}: {code:#?}"
            );
            let (before, after) = (loads_and_stores(&code), loads_and_stores(&optimized));
            loads += before.0 - after.0;
            stores += before.1 - after.1;
        }
        assert!(loads > 500 && stores > 500, "{loads} loads and {stores} stores went");
    }
}
