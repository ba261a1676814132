//! Tests `Graph`: which nodes are equal, and how graphs are built, written and read.

mod builder;
mod corners;
mod embedded;
mod groups;

mod round;
mod serial;
