//! The tables that make queries fast.
//!
//! `--cfg tbaa_self_check` compares every answer from a table with the rule's definition. These
//! tests check that answers do not depend on how the graph grew, or on how many are queried at
//! once.

mod cases;
mod growth;
mod many;
