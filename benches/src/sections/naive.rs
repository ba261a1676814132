//! The union rules against their definition, evaluated by listing paths.

use tbaa::{AliasRule, Oracle};

use super::Run;
use super::programs::name_of;
use crate::report::{figure, table, with_unit};
use crate::sample::{Contender, time};
use tbaa_tests::Rng;
use tbaa_tests::naive::Naive;
use tbaa_tests::universe::{self, Taste, Universe};

pub(super) fn measure(run: &mut Run<'_>) -> Result<(), String> {
    let mut rows = Vec::new();
    for sized in [false, true] {
        let format = if sized { tbaa::Format::New } else { tbaa::Format::Old };
        let mut rng = Rng(7);
        let count = run.pick(200, 10);
        let mut universes: Vec<_> =
            (0..count).map(|_| universe::random(&mut rng, sized, Taste::Wild)).collect();
        if !sized {
            // An old-format tag has no size.
            universes.iter_mut().flat_map(|u| &mut u.tags).for_each(|tag| tag.size = 0);
        }
        let graphs: Vec<_> = universes.iter().map(Universe::graph).collect();
        let naive: Vec<_> = universes.iter().map(Naive::new).collect();
        let ours: Vec<_> =
            graphs.iter().map(|(graph, _)| Oracle::new(graph, AliasRule::Union)).collect();

        let fast = || {
            let mut may = 0;
            for ((_, tags), ours) in graphs.iter().zip(&ours) {
                for &a in tags {
                    may += tags.iter().filter(|&&b| ours.may_alias(a, b)).count();
                }
            }
            may
        };
        let slow = || {
            let mut may = 0;
            for (((_, ids), universe), naive) in graphs.iter().zip(&universes).zip(&naive) {
                let tags = || ids.iter().zip(&universe.tags);
                for (id, a) in tags() {
                    // Equal tags are one, which always may alias itself.
                    may +=
                        tags().filter(|(other, b)| id == *other || naive.alias(a, b).union).count();
                }
            }
            may
        };
        assert_eq!(fast(), slow(), "the definition counts other pairs that may alias");
        let queries = universes.iter().map(|universe| universe.tags.len().pow(2)).sum();
        let race = run.sampler.race(
            "naive",
            name_of(format),
            vec![
                Contender::new("tbaa", queries, || time(fast).0),
                Contender::new("naive", queries, || time(slow).0),
            ],
        );
        rows.push(vec![
            name_of(format).to_owned(),
            figure(race.ns("tbaa")),
            figure(race.ns("naive")),
            with_unit(race.ratio("naive", "tbaa"), "x"),
        ]);
    }
    run.report.section(
        "The union rules and their definition",
        &table(&["format", "tbaa, ns", "naive, ns", "naive / tbaa"], &rows),
    );
    Ok(())
}
