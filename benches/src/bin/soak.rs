//! Adds types and tags to an oracle while several threads query published copies of it. Compares
//! the answers with those of an oracle that is built at the end.
//!
//! `cargo run --release -p tbaa-bench --bin soak -- [QUESTIONS [READERS]]`

#[path = "../heap.rs"]
#[allow(dead_code)]
mod heap;
use tbaa::{AliasRule, Format};
use tbaa_tests::soak::{self, Plan, QUESTIONS};

fn main() {
    let mut numbers = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let mut number = |default| match numbers.next() {
        None => default,
        Some(number) => number.expect("usage: soak [QUESTIONS [READERS]]"),
    };
    let (questions, readers) = (number(30_000_000), number(3));
    for rule in AliasRule::ALL {
        for format in [Format::Old, Format::New] {
            let structs = (questions / 6 / QUESTIONS / (readers + 1)).max(10);
            let plan = Plan { rule, format, structs, readers, seed: 1, held: heap::held };
            println!("rule {rule}, {format:?} format, {} threads", readers + 1);
            println!("{}", soak::run(&plan));
        }
    }
}
