//! The store: which nodes are one, and how graphs come about.

mod builder;
mod corners;
mod embedded;
mod groups;

mod round;
mod serial;
