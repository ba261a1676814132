//! The tables that make queries fast.
//!
//! `--cfg tbaa_self_check` compares each answer from a table with the rule's definition. Here,
//! answers must not depend on how the graph grew, or on how many are queried at once.

mod cases;
mod growth;
mod many;
