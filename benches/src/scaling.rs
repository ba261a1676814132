//! Measures the memory of types, fields and tags, and the cost of the [`Adversary`] graphs.

use std::time::{Duration, Instant};

use tbaa::{AliasRule, Format, Graph, Oracle};

use crate::heap::growth;
use crate::llvm::{Llvm, LlvmModule};
use crate::queries::{Pairs, ask};
use crate::sample::{median, time};
use crate::synthetic::{Adversary, Maker};

/// The memory of one tag, field or type, in bytes, without names.
#[derive(Clone, Copy)]
pub(crate) struct Bytes {
    pub(crate) tag_in_graph: f64,
    pub(crate) tag_in_oracle: f64,
    pub(crate) field: f64,
    pub(crate) ty: f64,
}

/// Measures the memory of `structs` structs of one name, each with [`FIELDS`] tagged fields.
pub(crate) fn bytes(format: Format, structs: usize) -> Bytes {
    // The memory of `Maker`, which makes the graph, is not counted.
    let graph = |fields, tagged: bool| {
        growth(|| {
            let mut maker = types(format, structs, fields);
            if tagged {
                add_tags(&mut maker);
            }
            maker.graph.shrink_to_fit();
            maker.graph
        })
    };
    let [few, many] = [FIELDS, 2 * FIELDS].map(|fields| graph(fields, false).0 / structs as f64);
    let field = (many - few) / FIELDS as f64;
    let (of_all, graph) = graph(FIELDS, true);
    let of_tags = of_all - few * structs as f64;
    let (of_oracle, _oracle) = growth(|| Oracle::new(&graph, AliasRule::Llvm));
    let tags = graph.tag_count() as f64;
    Bytes {
        tag_in_graph: of_tags / tags,
        tag_in_oracle: of_oracle / tags,
        field,
        ty: few - field * FIELDS as f64,
    }
}

pub(crate) fn llvm_bytes(llvm: &Llvm, format: Format, structs: usize) -> Bytes {
    let held = |graph: &Graph| {
        let text = ended(tbaa_ir::write(graph));
        let before = llvm.heap();
        let parsed = llvm.parse(&text).expect("a graph's text");
        let held = llvm.heap() - before;
        drop(parsed);
        held
    };
    let few = types(format, structs, FIELDS);
    let many = types(format, structs, 2 * FIELDS);
    let (of_few, of_many) = (held(&few.graph), held(&many.graph));
    let field = (of_many - of_few) / (structs * FIELDS) as f64;
    let mut maker = few;
    add_tags(&mut maker);
    Bytes {
        tag_in_graph: (held(&maker.graph) - of_few) / maker.graph.tag_count() as f64,
        tag_in_oracle: 0.0,
        field,
        ty: of_few / structs as f64 - field * FIELDS as f64,
    }
}

/// The number of fields of a struct whose fields have tags.
const FIELDS: usize = 8;

fn types(format: Format, structs: usize, fields: usize) -> Maker {
    let mut maker = Maker::new(format);
    for number in 0..structs {
        maker.plain("s", fields, number);
    }
    maker
}

/// Adds a tag for each field of each struct that has [`FIELDS`] fields.
fn add_tags(maker: &mut Maker) {
    let structs: Vec<_> =
        maker.graph.types().filter(|&ty| maker.graph.ty(ty).fields().count() == FIELDS).collect();
    for ty in structs {
        for field in 0..FIELDS {
            maker.field_tag(ty, field);
        }
    }
}

/// Appends the zero byte that LLVM's parser needs at the end of a text.
pub(crate) fn ended(text: impl Into<Vec<u8>>) -> Vec<u8> {
    let mut text = text.into();
    text.push(0);
    text
}

/// The cost of an [`Adversary`] graph of size `n`: time to build, time of a query, and memory.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) n: usize,
    pub(crate) graph_ms: f64,
    pub(crate) oracle_ms: f64,
    pub(crate) query_ns: f64,
    pub(crate) bytes: f64,
}

impl Cost {
    pub(crate) fn build_ms(&self) -> f64 {
        self.graph_ms + self.oracle_ms
    }
}

pub(crate) fn cost(adversary: Adversary, format: Format, rule: AliasRule, n: usize) -> Cost {
    let (of_graph, (graph_time, graph)) = growth(|| time(|| adversary.graph(format, n)));
    let (of_oracle, (oracle_time, ours)) = growth(|| time(|| Oracle::new(&graph, rule)));
    let tags: Vec<_> = graph.tags().collect();
    let pairs = Pairs::random(&tags, true);
    let mut times = Vec::new();
    // A query on an adversarial graph may be slow, so measuring ends after about 200 ms.
    let start = Instant::now();
    for pairs in pairs.tags().chunks(4).take(1_024) {
        if start.elapsed() < Duration::from_millis(200) || times.is_empty() {
            times.push(time(|| ask(&ours, pairs)).0.as_nanos() as f64 / pairs.len() as f64);
        }
    }
    Cost {
        n,
        graph_ms: graph_time.as_secs_f64() * 1e3,
        oracle_ms: oracle_time.as_secs_f64() * 1e3,
        query_ns: median(times).unwrap_or(0.0),
        bytes: of_graph + of_oracle,
    }
}

/// Parses a graph with LLVM. The tags are in the graph's order.
pub(crate) fn in_llvm<'l>(llvm: Option<&'l Llvm>, graph: &Graph) -> Option<LlvmModule<'l>> {
    llvm?.parse(&ended(tbaa_ir::write(graph)))
}
