//! The sections of the report.

mod costs;
mod lowering;
mod optimiser;
mod programs;
mod shapes;

use std::path::PathBuf;

use crate::llvm::Llvm;
use crate::report::Report;
use crate::sample::Sampler;

pub(crate) struct Run<'l> {
    pub(crate) sampler: Sampler,
    pub(crate) llvm: Option<&'l Llvm>,
    /// The folder for cached texts and for files of the benchmarks.
    pub(crate) cache: PathBuf,
    pub(crate) quick: bool,
    pub(crate) report: Report,
}

/// Measures one subject, and adds its sections, summaries and targets to the report.
pub(crate) type Section = fn(&mut Run<'_>) -> Result<(), String>;

/// The functions by the names that `--only` accepts, in the order of the report.
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
    fn pick<T>(&self, whole: T, quick: T) -> T {
        if self.quick { quick } else { whole }
    }
}
