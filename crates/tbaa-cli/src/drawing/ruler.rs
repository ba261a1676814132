//! Divides an object's bytes into columns, each from one edge of a span to the next.

use super::{Lane, Mark, Span};

/// The largest number of columns kept on each side of an access if others are left out.
const AROUND: usize = 1;
/// The number of columns above which some are left out. A drawing as text may have a lower limit.
pub(super) const COLUMNS: usize = 12;

pub(super) struct Ruler {
    /// The offsets at which columns begin, ascending; then, unless `open`, the end of the last one.
    points: Vec<u64>,
    /// For each column, true if it is a gap. A gap stands for neighbouring columns left out.
    gaps: Vec<bool>,
    /// True if a span has no end. Then the last column has none.
    open: bool,
}

impl Ruler {
    /// Returns the columns of some lanes. If there are more than `most`, leaves some out.
    pub(super) fn of(lanes: &[Lane], most: usize) -> Ruler {
        let spans = || lanes.iter().flat_map(|lane| &lane.spans);
        let mut points: Vec<u64> =
            spans().flat_map(|span| [Some(span.start), span.end]).flatten().collect();
        points.push(0);
        points.sort_unstable();
        points.dedup();
        let open = spans().any(|span| span.end.is_none());
        if points.len() == 1 && !open {
            points.push(1);
        }
        let columns = points.len() - usize::from(!open);
        let ruler = Ruler { gaps: vec![false; columns], points, open };
        if columns <= most { ruler } else { ruler.with_gaps(lanes, most) }
    }

    /// Keeps the first column, and those near an access as far as `most` allows. Others form gaps.
    fn with_gaps(self, lanes: &[Lane], most: usize) -> Ruler {
        let columns = self.gaps.len();
        let mut kept = vec![false; columns];
        kept[0] = true;
        let marked = lanes.iter().filter(|lane| lane.mark != Mark::Fields);
        // Reserve four columns, for the first column and three gaps.
        let mut room = most.saturating_sub(4);
        for span in marked.flat_map(|lane| &lane.spans) {
            let (first, last) = self.columns(span);
            let around = first.saturating_sub(AROUND)..(last + AROUND).min(columns);
            for keep in kept[around].iter_mut().filter(|keep| !**keep).take(room) {
                room -= 1;
                *keep = true;
            }
        }
        let (mut points, mut gaps) = (Vec::new(), Vec::new());
        for (at, &keep) in kept.iter().enumerate() {
            // Neighbouring columns that are left out form one gap.
            if keep || gaps.last() != Some(&true) {
                points.push(self.points[at]);
                gaps.push(!keep);
            }
        }
        if !self.open {
            points.extend(self.points.last());
        }
        Ruler { points, gaps, open: self.open }
    }

    pub(super) fn len(&self) -> usize {
        self.gaps.len()
    }

    /// Returns the offset at which a column begins. Index `len()` gives the end of the last column.
    pub(super) fn offset(&self, column: usize) -> Option<u64> {
        self.points.get(column).copied()
    }

    pub(super) fn is_gap(&self, column: usize) -> bool {
        self.gaps.get(column).is_some_and(|&gap| gap)
    }

    /// Returns the columns except gaps, with their offsets; then `len()` with the last end, if any.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, u64)> {
        self.points.iter().copied().enumerate().filter(|&(column, _)| !self.is_gap(column))
    }

    /// Returns the column that a span fills; `None` if the span fills several columns.
    pub(super) fn only_column(&self, span: &Span) -> Option<usize> {
        let (first, last) = self.columns(span);
        (first + 1 == last).then_some(first)
    }

    /// Returns whether a span lies inside a gap.
    pub(super) fn hides(&self, span: &Span) -> bool {
        self.only_column(span).is_some_and(|column| self.is_gap(column))
    }

    /// Returns the number of bytes of a column; `None` if the column has no end.
    pub(super) fn bytes(&self, column: usize) -> Option<u64> {
        Some(self.points.get(column + 1)? - self.points[column])
    }

    /// Returns the first column of a span, and the one after its last. The range is not empty.
    pub(super) fn columns(&self, span: &Span) -> (usize, usize) {
        let first = self.points.partition_point(|&point| point <= span.start) - 1;
        let first = first.min(self.len() - 1);
        let last = match span.end {
            None => self.len(),
            Some(end) => self.points.partition_point(|&point| point < end).min(self.len()),
        };
        (first, last.max(first + 1))
    }
}

/// Returns the positions at which columns begin, and the end of the last column. `width` returns a
/// column's least width from its index and bytes (`None` for a gap), `label` the width of a label.
pub(super) fn edges(
    start: usize,
    (ruler, lanes): (&Ruler, &[Lane]),
    width: impl Fn(usize, Option<Option<u64>>) -> usize,
    label: impl Fn(&str) -> usize,
) -> Vec<usize> {
    let bytes = |column| (!ruler.is_gap(column)).then(|| ruler.bytes(column));
    let mut widths: Vec<usize> = (0..ruler.len()).map(|it| width(it, bytes(it))).collect();
    for span in lanes.iter().flat_map(|lane| &lane.spans) {
        if let Some(column) = ruler.only_column(span).filter(|&column| !ruler.is_gap(column)) {
            widths[column] = widths[column].max(label(&span.label));
        }
    }
    let ends = widths.iter().scan(start, |end, width| {
        *end += width;
        Some(*end)
    });
    std::iter::once(start).chain(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(mark: Mark, spans: impl IntoIterator<Item = (u64, Option<u64>)>) -> Lane {
        let span = |(start, end)| Span { start, end, label: String::new() };
        let spans = spans.into_iter().map(span).collect();
        Lane { mark, title: String::new(), spans, note: String::new() }
    }

    #[test]
    fn every_edge_has_a_column() {
        let lanes = [lane(Mark::Fields, [(0, Some(4)), (4, Some(8))]), lane(Mark::A, [(4, None)])];
        let ruler = Ruler::of(&lanes, COLUMNS);
        assert_eq!((ruler.len(), ruler.offset(2), ruler.offset(3)), (3, Some(8), None));
        assert_eq!(ruler.columns(&lanes[0].spans[1]), (1, 2));
        assert_eq!(ruler.columns(&lanes[1].spans[0]), (1, 3));
    }

    #[test]
    fn what_is_far_from_both_is_left_out() {
        let fields = (0..1000).map(|at| (4 * at, Some(4 * at + 4)));
        let lanes = [lane(Mark::Fields, fields), lane(Mark::B, [(800, Some(808))])];
        let ruler = Ruler::of(&lanes, COLUMNS);
        let offsets: Vec<_> = (0..=ruler.len()).map(|at| ruler.offset(at).unwrap()).collect();
        assert_eq!(offsets, [0, 4, 796, 800, 804, 808, 812, 4000]);
        assert!(ruler.is_gap(1) && ruler.is_gap(6) && !ruler.is_gap(3));
        assert_eq!(ruler.columns(&lanes[0].spans[500]), (6, 7));
        assert_eq!(ruler.columns(&lanes[1].spans[0]), (3, 5));
    }
}
