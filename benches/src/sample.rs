//! Measures contenders side by side. Contenders are pieces of code that do the same job.
//!
//! A shared machine changes its speed from one second to the next, so times from different seconds
//! are not comparable. Therefore every sample runs all contenders once, one after the other, and
//! ratios are computed within a sample. Criterion measures the ratio of the first two contenders,
//! and decides how many samples to take. [`Race`] collects the times of all contenders.

use std::path::Path;
use std::time::{Duration, Instant};

use criterion::measurement::{Measurement, ValueFormatter};
use criterion::{Criterion, SamplingMode, Throughput};

/// Code to measure: each call of `run` does the work once, and returns the time that counts.
pub(crate) struct Contender<'a> {
    name: String,
    /// The number of operations in one call, such as queries or bytes.
    operations: f64,
    run: Box<dyn FnMut() -> Duration + 'a>,
}

impl<'a> Contender<'a> {
    pub(crate) fn new(
        name: impl Into<String>,
        operations: usize,
        run: impl FnMut() -> Duration + 'a,
    ) -> Self {
        Contender { name: name.into(), operations: operations as f64, run: Box::new(run) }
    }
}

pub(crate) fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = std::hint::black_box(work());
    (start.elapsed(), result)
}

/// The times in nanoseconds per operation: in each sample, one for each of `names`.
pub(crate) struct Race {
    names: Vec<String>,
    samples: Vec<Vec<f64>>,
}

impl Race {
    /// Returns the contender's median time in nanoseconds per operation, if it ran.
    pub(crate) fn ns(&self, name: &str) -> Option<f64> {
        let at = self.at(name)?;
        median(self.samples.iter().map(|sample| sample[at]).collect())
    }

    /// Returns the median ratio of `above`'s time to `below`'s; `None` if either did not run.
    pub(crate) fn ratio(&self, above: &str, below: &str) -> Option<f64> {
        let (above, below) = (self.at(above)?, self.at(below)?);
        median(self.samples.iter().map(|sample| sample[above] / sample[below]).collect())
    }

    fn at(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }
}

pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().checked_sub(1)? / 2)?, values[values.len() / 2]);
    Some(f64::midpoint(*low, high))
}

/// Runs races, in which contenders are measured side by side.
pub(crate) struct Sampler {
    criterion: Criterion<Ratio>,
    pub(crate) quick: bool,
}

impl Sampler {
    /// Returns a sampler. Criterion stores ratios in `folder`, to compare them with the next run.
    pub(crate) fn new(folder: &Path, quick: bool) -> Sampler {
        let (warm_up, measurement) = if quick { (1, 1) } else { (100, 600) };
        let criterion = Criterion::default()
            .with_measurement(Ratio)
            .without_plots()
            .output_directory(folder)
            .sample_size(if quick { 10 } else { 21 })
            .nresamples(2_000)
            .warm_up_time(Duration::from_millis(warm_up))
            .measurement_time(Duration::from_millis(measurement));
        Sampler { criterion, quick }
    }

    /// Measures the contenders. Criterion prints the second one's time, divided by the first's.
    pub(crate) fn race(
        &mut self,
        group: &str,
        id: &str,
        mut contenders: Vec<Contender<'_>>,
    ) -> Race {
        let names: Vec<_> = contenders.iter().map(|c| c.name.clone()).collect();
        let what = format!("{id}: {} / {}", names.get(1).map_or("", |second| second), names[0]);
        let mut race = Race { names, samples: Vec::new() };
        let mut group = self.criterion.benchmark_group(group);
        group.sampling_mode(SamplingMode::Flat);
        group.bench_function(what, |bencher| {
            bencher.iter_custom(|samples| {
                let ratios = (0..samples).map(|_| {
                    let mut sample = Vec::with_capacity(contenders.len());
                    for contender in &mut contenders {
                        // If the clock shows no time, the run counts as one nanosecond.
                        let took = (contender.run)().as_nanos().max(1);
                        sample.push(took as f64 / contender.operations);
                    }
                    let ratio = sample.get(1).map_or(1.0, |second| second / sample[0]);
                    race.samples.push(sample);
                    ratio
                });
                ratios.sum()
            });
        });
        group.finish();
        race
    }
}

/// The quantity that criterion measures here: a ratio of two times.
struct Ratio;

impl Measurement for Ratio {
    type Intermediate = Instant;
    type Value = f64;

    // Criterion calls neither `start` nor `end`, because `race` measures with `iter_custom`.
    fn start(&self) -> Instant {
        Instant::now()
    }

    fn end(&self, start: Instant) -> f64 {
        start.elapsed().as_secs_f64()
    }

    fn add(&self, a: &f64, b: &f64) -> f64 {
        a + b
    }

    fn zero(&self) -> f64 {
        0.0
    }

    fn to_f64(&self, value: &f64) -> f64 {
        *value
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &Times
    }
}

struct Times;

impl ValueFormatter for Times {
    fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
        "times"
    }

    fn scale_throughputs(&self, _: f64, _: &Throughput, _: &mut [f64]) -> &'static str {
        "times"
    }

    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "times"
    }
}
