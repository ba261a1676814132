//! The tables that make queries fast.
//!
//! `--cfg tbaa_self_check` compares each answer from a table with the rule's definition. The tests
//! check that answers depend neither on how the graph grew, nor on how many pairs are queried.

mod cases;
mod growth;
mod many;
