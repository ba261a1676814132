//! Tests rules `union` and `union-strict` by their laws, case by case, and at their limits.

mod corners;
mod laws;
mod limits;
