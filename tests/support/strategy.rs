//! Universes as a strategy of proptest: generated from numbers of which smaller
//! ones give plainer types, so that a failing universe shrinks.

use super::universe::{Field, Tag, Type, Universe, concrete_paths};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

/// A scalar: its parent among the roots and scalars before it, its size, and
/// whether an old-format node leaves out the offset.
type ScalarPlan = (Index, u8, bool);
/// A field: its type, where it begins, its elements, and how its extent departs
/// from theirs.
type FieldPlan = (Index, u8, u64, u8);
/// An aggregate: its fields, its parent, and what its size departs by.
type AggregatePlan = (Vec<FieldPlan>, Index, i64);
/// A tag: its base type, the field and element of each step down, what is odd
/// about it, and another type.
type TagPlan = (Index, Vec<(Index, Index)>, u8, Index);

/// Any universe of a few hundred paths per type: unions, arrays, odd offsets and
/// sizes, several roots, malformed tags; in either format.
/// `across`: a type may hold types of other roots.
pub fn universes(across: bool) -> impl Strategy<Value = Universe> {
    let scalar = (any::<Index>(), 0..7_u8, any::<bool>());
    let field = (any::<Index>(), 0..14_u8, 1..6_u64, 0..12_u8);
    let aggregate = (vec(field, 1..5), any::<Index>(), -6..10_i64);
    let step = (any::<Index>(), any::<Index>());
    let tag = (any::<Index>(), vec(step, 0..6), 0..24_u8, any::<Index>());
    let parts =
        (any::<bool>(), 1..3_usize, vec(scalar, 1..5), vec(aggregate, 0..6), vec(tag, 1..12));
    parts.prop_map(move |(sized, roots, scalars, aggregates, tags)| {
        let mut u = Universe::new(sized);
        (0..roots).for_each(|number| _ = u.root(&format!("root{number}")));
        scalars.iter().for_each(|plan| add_scalar(&mut u, plan));
        aggregates.iter().for_each(|plan| add_aggregate(&mut u, plan, roots, across));
        tags.iter().for_each(|plan| add_tag(&mut u, plan, roots));
        u
    })
}

fn add_scalar(u: &mut Universe, &(parent, size, brief): &ScalarPlan) {
    let parent = parent.index(u.types.len());
    let name = format!("s{}", u.types.len());
    let scalar = u.scalar(&name, parent, [4, 1, 8, 2, 3, 0, 4][usize::from(size)]);
    u.types[scalar].brief = brief && !u.sized;
}

/// The root above a type; above an old-format aggregate, that of its first field.
fn root_of(u: &Universe, mut ty: usize) -> usize {
    while let Some(up) = u.types[ty].parent.or(u.types[ty].fields.first().map(|field| field.ty)) {
        ty = up;
    }
    ty
}

fn add_aggregate(
    u: &mut Universe,
    (plans, parent, odd): &AggregatePlan,
    roots: usize,
    across: bool,
) {
    let mut fields: Vec<Field> = Vec::new();
    let mut end = 0;
    for &(ty, place, count, odd) in plans {
        let mut ty = roots + ty.index(u.types.len() - roots);
        if let Some(first) = fields.first().map(|field| field.ty)
            && !across
            && root_of(u, ty) != root_of(u, first)
        {
            ty = first;
        }
        let size = u.types[ty].size;
        let extent = match odd {
            0..=7 => size * count,
            8 => 0,
            9 => (size * count).saturating_sub(1),
            10 => (size * count).saturating_sub(3),
            _ => size * count + 1,
        };
        let offset: u64 = match place {
            0..=4 => end,
            5 | 6 => end + u64::from(place - 4),
            7 | 8 => 0,
            _ => u64::from(place - 8),
        };
        end = end.max(offset + extent.max(u64::from(!u.sized)));
        fields.push(Field { ty, offset, extent });
    }
    fields.sort_by_key(|field| field.offset);
    let size = if (1..=4).contains(odd) { end + odd.unsigned_abs() } else { end };
    let size = if *odd < 0 { size.saturating_sub(odd.unsigned_abs()) } else { size };
    let mut parent = parent.index(u.types.len());
    if !across && root_of(u, parent) != root_of(u, fields[0].ty) {
        parent = root_of(u, fields[0].ty);
    }
    let parent = u.sized.then_some(parent);
    let name = format!("S{}", u.types.len());
    u.types.push(Type { name, parent, size, fields, root: false, brief: false });
    if concrete_paths(u, u.types.len() - 1) > 300 {
        u.types.pop();
    }
}

fn add_tag(u: &mut Universe, (base, steps, odd, other): &TagPlan, roots: usize) {
    let base = roots + base.index(u.types.len() - roots);
    let (mut access, mut offset, mut displaced) = (base, 0, 0);
    for (field, element) in steps {
        let fields = &u.types[access].fields;
        if fields.is_empty() {
            break;
        }
        let Field { ty, offset: at, extent } = fields[field.index(fields.len())];
        let size = u.types[ty].size;
        let elements = if size == 0 { 1 } else { extent.div_ceil(size).max(1) };
        offset += at;
        displaced += at + size * element.index(elements as usize) as u64;
        access = ty;
    }
    let size = match odd {
        12 => 0,
        13 => u64::MAX,
        14 => 1,
        15 => 2 * u.types[access].size,
        16 => 7,
        _ => u.types[access].size,
    };
    match odd {
        17 | 18 => offset = displaced,
        19 => offset += 1,
        20 => access = other.index(u.types.len()),
        21 => access = u.types[access].parent.unwrap_or(access),
        _ => {}
    }
    u.tags.push(Tag { base, access, offset, size });
}

/// How universes are drawn: the same ones for the same seed.
pub fn runner(cases: usize, seed: usize) -> TestRunner {
    let config = Config { cases: cases as u32, failure_persistence: None, ..Config::default() };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&(seed as u64).to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Checks universes, and panics with the smallest one found that fails; its
/// metadata belongs into a file under `specs/regressions`.
pub fn check(
    universes: impl Strategy<Value = Universe>,
    cases: usize,
    seed: usize,
    test: impl Fn(&Universe) -> Result<(), String>,
) {
    let run = |u: Universe| test(&u).map_err(TestCaseError::fail);
    match runner(cases, seed).run(&universes, run) {
        Ok(()) => {}
        Err(TestError::Fail(why, u)) => {
            let text = tbaa_ir::write(&u.graph().0);
            panic!(
                "seed {seed}: {why}\n{u:?}\nKeep it as a file under specs/regressions:\n\n{text}"
            );
        }
        Err(error) => panic!("seed {seed}: {error}"),
    }
}
