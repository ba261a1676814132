//! Tests the crates that read, write and change LLVM assembly.

mod agreement;
mod hostile;
mod instrument;
mod listing;
mod names;
mod nodes;
mod numbers;
mod rewrite;
mod rules;
mod slow;
mod spans;

use tbaa::{AliasRule, Oracle, TagId};
use tbaa_ir::Module;
use tbaa_tests::Rng;

fn read(text: &str) -> Module<'static> {
    tbaa_ir::read(text.as_bytes().to_vec()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the answers for all pairs of attached tags, as rows of `N` (no alias) and `M`.
fn grid(module: &Module<'_>) -> Vec<String> {
    let tags = module.attached_tags();
    let oracle = Oracle::new(module.graph(), AliasRule::Llvm);
    let letter = |a: TagId, b: TagId| if oracle.may_alias(a, b) { 'M' } else { 'N' };
    tags.iter().map(|&a| tags.iter().map(|&b| letter(a, b)).collect()).collect()
}

/// Returns a module with `metadata`, and with a store for each of `tags`, which are node numbers.
fn module_of(tags: &[u32], metadata: &str) -> Module<'static> {
    read(&text_of(tags, metadata))
}

fn text_of(tags: &[u32], metadata: &str) -> String {
    let stores: String =
        tags.iter().map(|tag| format!("  store i8 0, ptr %p, !tbaa !{tag}\n")).collect();
    format!("define void @f(ptr %p) {{\n{stores}  ret void\n}}\n{metadata}")
}
