//! Tests of whole modules: linting and linking; and the fuzz targets.

mod addresses;
mod fuzz;
mod hostile;
mod limits;
mod link;
mod lint;
mod spelling;
mod stack;
