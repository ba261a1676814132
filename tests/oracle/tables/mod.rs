//! The tables behind queries.
//!
//! `--cfg tbaa_self_check` compares every answer from a table with the rule's definition. Here the
//! answers must also be independent of how the graph grew, and of how many are queried at once.

mod cases;
mod growth;
mod many;
