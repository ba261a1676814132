//! The tables behind queries.
//!
//! `--cfg tbaa_self_check` compares every answer from a table with the rule's definition.
//! Here the answers must also not depend on how the graph grew, nor on how many
//! are asked for at once.

mod accepted;
mod cases;
mod growth;
mod many;
