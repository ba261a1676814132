//! Runs random functions without optimisation, and optimised with regions. Compares the results.
//!
//! All functions fulfil the promise of their tags: accesses that share a byte may alias.

use cranelift_codegen::ir::{
    AliasRegion, AliasRegionData, Function, InstBuilder, Opcode, Type, Value, types,
};
use cranelift_frontend::Variable;
use tbaa::{Access, AliasRule, Graph, Oracle, TagId};
use tbaa_cranelift::{Regions, Tags, check};
use tbaa_tests::universe::{self, Taste};
use tbaa_tests::{Rng, setting};

use crate::jit::{Emitter, build, insts, loads_left, run};

/// The number of 64-bit words of memory that a function accesses.
const WORDS: usize = 3;
/// The number of functions that are compiled into one module.
const BATCH: usize = 40;

#[derive(Clone, Copy, Debug)]
struct Touch {
    tag: Option<TagId>,
    at: i32,
    /// The number of bytes: 1, 2, 4 or 8.
    width: i32,
}

impl Touch {
    fn ty(&self) -> Type {
        Type::int_with_byte_size(self.width as u16).unwrap()
    }
}

#[derive(Debug)]
enum Step {
    Load(Touch),
    /// Stores the last loaded value if the flag is true, else a mix of all loaded values.
    Store(Touch, bool),
    AtomicLoad(Touch),
    AtomicStore(Touch),
    SequencePoint,
    Either(Vec<Step>, Vec<Step>),
    Twice(Vec<Step>),
}

/// Generates a program whose accesses fulfil their tags' promises.
struct Author<'a> {
    rng: &'a mut Rng,
    oracle: &'a Oracle<Graph>,
    tags: &'a [TagId],
    touches: Vec<Touch>,
}

impl Author<'_> {
    fn touch(&mut self) -> Option<Touch> {
        for _ in 0..12 {
            let width = [1, 2, 4, 8][self.rng.below(4_usize)];
            let at = 8 * self.rng.below(WORDS as u64) as i32
                + width * self.rng.below(8 / width as u64) as i32;
            let tag = (!self.rng.one_in(6)).then(|| *self.rng.pick(self.tags));
            let new = Touch { tag, at, width };
            let access = |touch: &Touch| of_bytes(self.oracle, touch.tag, touch.width as u64);
            let fits = self.touches.iter().all(|old| {
                let apart = old.at + old.width <= at || at + width <= old.at;
                apart || self.oracle.may_alias(access(old), access(&new))
            });
            if fits {
                self.touches.push(new);
                return Some(new);
            }
        }
        None
    }

    fn steps(&mut self, count: usize, depth: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for _ in 0..count {
            // Mostly repeat earlier accesses, because only redundant accesses can be removed.
            let again = (!self.touches.is_empty() && !self.rng.one_in(5))
                .then(|| *self.rng.pick(&self.touches));
            let Some(touch) = again.or_else(|| self.touch()) else { continue };
            steps.push(match self.rng.below(20) {
                0..8 => Step::Load(touch),
                8..15 => Step::Store(touch, self.rng.one_in(2)),
                15 => Step::AtomicLoad(touch),
                16 => Step::AtomicStore(touch),
                17 => Step::SequencePoint,
                18 if depth > 0 => Step::Either(self.steps(3, depth - 1), self.steps(3, depth - 1)),
                19 if depth > 0 => Step::Twice(self.steps(4, depth - 1)),
                _ => Step::Load(touch),
            });
        }
        steps
    }
}

struct Writer<'a, 'f> {
    emit: &'a mut Emitter<'f>,
    sum: Variable,
    last: Variable,
}

impl Writer<'_, '_> {
    fn narrow(&mut self, value: Value, touch: &Touch) -> Value {
        match touch.width {
            8 => value,
            _ => self.emit.builder.ins().ireduce(touch.ty(), value),
        }
    }

    fn note(&mut self, value: Value, touch: &Touch) {
        let builder = &mut self.emit.builder;
        let wide = if touch.width == 8 { value } else { builder.ins().uextend(types::I64, value) };
        let sum = builder.use_var(self.sum);
        let sum = builder.ins().rotl_imm_u(sum, 7);
        let sum = builder.ins().iadd(sum, wide);
        builder.def_var(self.sum, sum);
        builder.def_var(self.last, wide);
    }

    fn write(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Load(touch) => {
                    let value = self.emit.load(touch.ty(), touch.at, touch.tag);
                    self.note(value, touch);
                }
                Step::Store(touch, last) => {
                    let variable = if *last { self.last } else { self.sum };
                    let value = self.emit.builder.use_var(variable);
                    let value = self.narrow(value, touch);
                    self.emit.store(value, touch.at, touch.tag);
                }
                Step::AtomicLoad(touch) => {
                    let ty = touch.ty();
                    let builder = &mut self.emit.builder;
                    let at = builder.ins().iadd_imm_s(self.emit.memory, i64::from(touch.at));
                    let value = builder.ins().atomic_load(ty, self.emit.flags, at);
                    self.emit.tags.set_result(&builder.func.dfg, value, touch.tag);
                    self.note(value, touch);
                }
                Step::AtomicStore(touch) => {
                    let value = self.emit.builder.use_var(self.last);
                    let value = self.narrow(value, touch);
                    let builder = &mut self.emit.builder;
                    let at = builder.ins().iadd_imm_s(self.emit.memory, i64::from(touch.at));
                    let store = builder.ins().atomic_store(self.emit.flags, value, at);
                    self.emit.tags.set(store, touch.tag);
                }
                Step::SequencePoint => {
                    self.emit.builder.ins().sequence_point();
                }
                Step::Either(then, otherwise) => {
                    let blocks = [(); 3].map(|()| self.emit.block());
                    let sum = self.emit.builder.use_var(self.sum);
                    let bit = self.emit.builder.ins().band_imm_s(sum, 1);
                    self.emit.builder.ins().brif(bit, blocks[0], &[], blocks[1], &[]);
                    for (block, steps) in [(blocks[0], then), (blocks[1], otherwise)] {
                        self.emit.builder.switch_to_block(block);
                        self.write(steps);
                        self.emit.builder.ins().jump(blocks[2], &[]);
                    }
                    self.emit.builder.switch_to_block(blocks[2]);
                }
                Step::Twice(steps) => {
                    let count = self.emit.builder.declare_var(types::I64);
                    let two = self.emit.number(2);
                    self.emit.builder.def_var(count, two);
                    let [body, done] = [(); 2].map(|()| self.emit.block());
                    self.emit.builder.ins().jump(body, &[]);
                    self.emit.builder.switch_to_block(body);
                    self.write(steps);
                    let left = self.emit.builder.use_var(count);
                    let left = self.emit.builder.ins().iadd_imm_s(left, -1);
                    self.emit.builder.def_var(count, left);
                    self.emit.builder.ins().brif(left, body, &[], done, &[]);
                    self.emit.builder.switch_to_block(done);
                }
            }
        }
    }
}

fn function(steps: &[Step]) -> (Function, Tags) {
    build(|emit| {
        let [sum, last] = [(); 2].map(|()| emit.builder.declare_var(types::I64));
        let one = emit.number(1);
        emit.builder.def_var(sum, one);
        emit.builder.def_var(last, one);
        let mut writer = Writer { emit, sum, last };
        writer.write(steps);
        writer.emit.builder.use_var(sum)
    })
}

fn without_sequence_points(mut func: Function) -> Function {
    for inst in insts(&func).collect::<Vec<_>>() {
        if func.dfg.insts[inst].opcode() == Opcode::SequencePoint {
            func.layout.remove_inst(inst);
        }
    }
    func
}

fn each_tag_its_own_region(mut func: Function, tags: &Tags, all: &[TagId]) -> Function {
    for inst in insts(&func).collect::<Vec<_>>() {
        let Some(flags) = func.dfg.insts[inst].memflags_data(&func.dfg) else { continue };
        let Some(place) = tags.get(inst).and_then(|tag| all.iter().position(|&other| other == tag))
        else {
            continue;
        };
        let data = AliasRegionData { user_id: place as u32, description: "own".into() };
        let region = func.dfg.alias_regions.insert(data);
        let flags = func.dfg.mem_flags.insert(flags.with_alias_region(Some(region))).unwrap();
        *func.dfg.insts[inst].memflags_mut().unwrap() = flags;
    }
    func
}

/// Returns an access of `bytes` bytes; without a tag, an access to any memory.
fn of_bytes(oracle: &Oracle<Graph>, tag: Option<TagId>, bytes: u64) -> Access {
    tag.map_or(Access::default(), |tag| Access::of_bytes(oracle.graph(), tag, bytes))
}

/// Checks that no accesses in two regions may alias. Returns the number of ordered pairs checked.
fn parted(oracle: &Oracle<Graph>, func: &Function, tags: &Tags) -> usize {
    let mut accesses: Vec<(AliasRegion, Access)> = Vec::new();
    for inst in insts(func) {
        let data = &func.dfg.insts[inst];
        let Some(region) = data.alias_region(&func.dfg) else { continue };
        let value = match data.opcode().can_store() {
            true => func.dfg.inst_args(inst)[0],
            false => func.dfg.first_result(inst),
        };
        let bytes = func.dfg.value_type(value).bytes();
        accesses.push((region, of_bytes(oracle, tags.get(inst), bytes.into())));
    }
    let mut parted = 0;
    for (a, of_a) in &accesses {
        for (b, of_b) in &accesses {
            if a != b {
                assert!(!oracle.may_alias(*of_a, *of_b), "{of_a:?} {of_b:?}\n{}", func.display());
                parted += 1;
            }
        }
    }
    parted
}

#[test]
fn random_functions_run_alike_with_regions() {
    let functions = setting("TBAA_CRANELIFT_FUNCTIONS", 480);
    let mut rng = Rng(setting("TBAA_SEED", 26) as u64);
    let mut memory = [0; WORDS];
    memory.fill_with(|| rng.next());
    let (mut more, mut fewer) = (0, 0);
    let (mut bare, mut own, mut pairs, mut points, mut several) = (0, 0, 0, 0, 0);
    for batch in 0..functions.div_ceil(BATCH) {
        // A batch has one random graph. Every second function uses the same `Regions`.
        let rules = [AliasRule::Union, AliasRule::UnionStrict, AliasRule::Llvm][batch % 3];
        let taste = if batch % 4 == 0 { Taste::Wild } else { Taste::Tame };
        let universe = universe::random(&mut rng, batch % 5 != 0, taste);
        let (graph, mut ids) = universe.graph();
        ids.sort_unstable();
        ids.dedup();
        let oracle = Oracle::new(graph, rules);
        let mut shared = Regions::new(&oracle);
        if batch % 2 == 0 {
            shared.extend(&oracle, ids.iter().copied()).unwrap();
        }
        let mut plain = Vec::new();
        let mut tagged = Vec::new();
        for number in 0..BATCH {
            let count = 6 + rng.below(26_usize);
            let (tags, touches) = (&*ids, Vec::new());
            let mut author = Author { rng: &mut rng, oracle: &oracle, tags, touches };
            let steps = author.steps(count, 2);
            let (func, tags) = function(&steps);
            let mut with = func.clone();
            let mut fresh = Regions::new(&oracle);
            let regions = if number % 2 == 0 { &mut shared } else { &mut fresh };
            let applied = regions.apply(&oracle, &mut with, &tags).unwrap();
            let errors = check(&oracle, &with, &tags);
            assert!(
                errors.iter().all(|error| !error.rule.is_error()),
                "{}\n{errors:?}",
                with.display()
            );
            pairs += parted(&oracle, &with, &tags);
            points += applied.sequence_points;
            several += usize::from(applied.regions > 1);
            tagged.push([
                with.clone(),
                without_sequence_points(with),
                each_tag_its_own_region(func.clone(), &tags, &ids),
            ]);
            plain.push((func, tags));
        }
        for ((func, _), [with, ..]) in plain.iter().zip(&tagged) {
            let (none, some) = (loads_left(func), loads_left(with));
            more += usize::from(some > none);
            fewer += none.saturating_sub(some);
        }
        let meant = run(false, plain.iter().map(|(func, _)| func.clone()), memory);
        let results: [_; 3] =
            [0, 1, 2].map(|kind| run(true, tagged.iter().map(|all| all[kind].clone()), memory));
        for (at, [with, no_points, own_regions]) in tagged.iter().enumerate() {
            let tags = &plain[at].1;
            assert_eq!(results[0][at], meant[at], "batch {batch}, {at}:\n{}", with.display());
            // The check finds each miscompiled function.
            for (kind, func, count) in [(1, no_points, &mut bare), (2, own_regions, &mut own)] {
                if results[kind][at] != meant[at] {
                    *count += 1;
                    let found = check(&oracle, func, tags);
                    assert!(found.iter().any(|found| found.rule.is_error()), "{}", func.display());
                }
            }
        }
    }
    println!(
        "{several} functions of several regions, {points} sequence points, {pairs} pairs of accesses parted; wrong: {bare} without sequence points, {own} with a region for each tag"
    );
    println!("{fewer} loads fewer than without regions; {more} functions with more");
    assert!(more * 50 < functions && fewer > more, "{more} functions have more loads");
    assert!(several * 4 > functions && points > functions / 8 && pairs > functions);
    assert!(bare > 0, "no function needs its sequence points");
    assert!(own > 0, "no function shows that regions matter");
}
