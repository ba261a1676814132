//! The oracle: the rules compared with their definitions, and the tables behind queries.

mod engines;
mod small;
mod tables;
mod union;
mod words;
