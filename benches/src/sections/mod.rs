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

/// A run of the benchmarks.
pub(crate) struct Run<'l> {
    pub(crate) sampler: Sampler,
    pub(crate) llvm: Option<&'l Llvm>,
    /// The folder for cached programs.
    pub(crate) cache: PathBuf,
    pub(crate) quick: bool,
    pub(crate) report: Report,
}

/// A function that measures one part of the report, and adds its tables and targets.
pub(crate) type Section = fn(&mut Run<'_>) -> Result<(), String>;

/// The parts by name, in the order of the report.
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
    /// Returns `whole` in a whole run, and `quick` in a quick one.
    fn pick<T>(&self, whole: T, quick: T) -> T {
        if self.quick { quick } else { whole }
    }
}
