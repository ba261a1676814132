//! The parts of the report.

mod costs;
mod lowering;
mod optimiser;
mod programs;
mod shapes;

use std::path::PathBuf;

use crate::llvm::Llvm;
use crate::report::Report;
use crate::sample::Sampler;

/// A run of the bench.
pub(crate) struct Run<'l> {
    pub(crate) sampler: Sampler,
    pub(crate) llvm: Option<&'l Llvm>,
    /// The folder for cached programs.
    pub(crate) cache: PathBuf,
    pub(crate) quick: bool,
    pub(crate) report: Report,
}

/// A part of the report, which adds its tables and targets.
pub(crate) type Section = fn(&mut Run<'_>) -> Result<(), String>;

/// The parts by name, in order.
pub(crate) const SECTIONS: [(&str, Section); 8] = [
    ("programs", programs::measure),
    ("shapes", shapes::measure),
    ("sizes", shapes::sizes),
    ("growth", costs::growing),
    ("memory", costs::memory),
    ("adversaries", costs::adversaries),
    ("lowering", lowering::measure),
    ("optimiser", optimiser::measure),
];

impl Run<'_> {
    /// The first value for a whole run, the second for a quick one.
    fn pick<T>(&self, whole: T, quick: T) -> T {
        if self.quick { quick } else { whole }
    }
}
