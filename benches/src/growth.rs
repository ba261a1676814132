//! Measures the cost of adding types and tags while queries run.

use std::time::{Duration, Instant};

use tbaa::{AliasRule, Graph, Oracle, TagId, TypeKind};

use crate::llvm::LlvmModule;
use crate::sample::{median, time};

/// The median time in nanoseconds to add one struct type and a tag of it, and to make one query.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    /// The graph alone: no oracle is updated, and no query runs.
    pub(crate) graph: f64,
    pub(crate) oracle: f64,
    /// LLVM, without a query; `None` if LLVM is not measured.
    pub(crate) llvm: Option<f64>,
}

/// Measures the times of a [`Cost`] on old-format graphs from `make`, each for about `budget`.
pub(crate) fn cost(
    make: impl Fn() -> Graph,
    llvm: Option<&mut LlvmModule<'_>>,
    fields: usize,
    budget: Duration,
) -> Cost {
    let mut graph = make();
    let only_graph = repeat(budget, |number| time(|| add(&mut graph, number, fields)).0);
    let mut growing: Oracle = Oracle::new(make(), AliasRule::Llvm);
    let other = growing.graph().tags().next().expect("a tag");
    let oracle = repeat(budget, |number| {
        let step = || {
            let tag = growing.update(|graph| add(graph, number, fields));
            growing.may_alias(tag, other)
        };
        time(step).0
    });
    let llvm = llvm.map(|llvm| repeat(budget, |number| time(|| llvm.grow(number, fields)).0));
    Cost { graph: only_graph, oracle, llvm }
}

fn add(graph: &mut Graph, number: usize, fields: usize) -> TagId {
    let scalar = graph.types().find(|&ty| graph.ty(ty).kind() == TypeKind::Scalar);
    let scalar = scalar.expect("a scalar");
    let list: Vec<_> = (0..fields as u64).map(|at| (scalar, 8 * at)).collect();
    let mut b = graph.builder();
    let ty = b.struct_type(format!("grown.{number}"), &list).expect("a struct");
    b.struct_tag(ty, scalar, 8).expect("a tag")
}

/// Calls `step` 5 to 20,000 times, until `budget` has passed. Returns its median in nanoseconds.
fn repeat(budget: Duration, mut step: impl FnMut(usize) -> Duration) -> f64 {
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < 5 || start.elapsed() < budget && times.len() < 20_000 {
        times.push(step(times.len()).as_nanos() as f64);
    }
    median(times).unwrap_or(0.0)
}
