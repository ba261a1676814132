//! Draws a matrix as a self-contained SVG picture of bounded size.

use std::io::{self, Write};
use std::ops::Range;

use super::order::Group;
use crate::svg::{cut, escape, height_of_head, width, write_head};

/// The largest number of cells in a row. With more tags, a cell stands for a block of pairs.
const MAX_CELLS: usize = 512;
/// The largest number of tags whose names are written beside their rows.
const MAX_LABELS: usize = 128;
/// The shade of a block in which all pairs may alias. Shade 0 means that none may. A shade between
/// them stands for about half as many MayAlias pairs as the next shade.
const SHADES: usize = 8;
/// Height of a line of text beside the matrix, in pixels.
const LINE: usize = 12;
/// The largest number of characters shown of a name.
const LABEL: usize = 40;

/// The number of MayAlias answers in each block of pairs.
pub(super) struct Picture {
    tags: usize,
    /// The number of tags along each side of a block.
    block: usize,
    /// The number of pairs that may alias in each block, row by row.
    may: Vec<u64>,
    rows: usize,
}

impl Picture {
    pub(super) fn new(tags: usize) -> Self {
        let block = tags.div_ceil(MAX_CELLS).max(1);
        let cells = tags.div_ceil(block);
        Picture { tags, block, may: vec![0; cells * cells], rows: 0 }
    }

    fn cells(&self) -> usize {
        self.tags.div_ceil(self.block)
    }

    /// Adds the next row, a string of `M` (MayAlias) and `N` (NoAlias).
    pub(super) fn row(&mut self, row: &[u8]) {
        let start = self.rows / self.block * self.cells();
        for (cell, answers) in row.chunks(self.block).enumerate() {
            let may = answers.iter().filter(|&&answer| answer == b'M').count();
            self.may[start + cell] += may as u64;
        }
        self.rows += 1;
    }

    /// Returns the shade of a cell, which is `SHADES` if all its pairs may alias.
    fn shade(&self, row: usize, column: usize) -> usize {
        let side = |cell: usize| self.block.min(self.tags - cell * self.block);
        let pairs = (side(row) * side(column)) as u64;
        let may = self.may[row * self.cells() + column];
        // The first and the last shade mean that all pairs of the block have the same answer.
        match may {
            0 => 0,
            _ if may == pairs => SHADES,
            _ => (SHADES - 1).saturating_sub((pairs / may).ilog2() as usize).max(1),
        }
    }

    pub(super) fn write(
        &self,
        title: &str,
        names: &[&str],
        groups: &[Group],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let axis = Axis::new(self, names, groups);
        let cells = self.cells();
        let size = self.cell_size();
        let tags = self.tags;
        let about = [match self.block {
            1 => format!("{tags} tags: dark cells are pairs that may alias, light ones never do"),
            block => format!(
                "{tags} tags, {block} by {block} pairs a cell: darkest where all may alias, \
                 each shade lighter half as many"
            ),
        }];
        let longest = axis.labels.iter().map(|label| width(&label.text)).max().unwrap_or(0);
        let (left, top) = (24 + longest, height_of_head(about.len()) + 16 + longest);
        let side = cells * size;
        let (width, height) = ((left + side + 16).max(480), top + side + 16);
        let title = format!("Alias matrix of {title}");
        write_head((width, height), &title, &about, out)?;
        axis.write((left, top), out)?;
        writeln!(
            out,
            "<g transform=\"translate({left} {top}) scale({size})\">\n\
             <rect width=\"{cells}\" height=\"{cells}\" fill=\"{}\"/>",
            color(0)
        )?;
        for shade in 1..=SHADES {
            let path = self.path(shade);
            if !path.is_empty() {
                writeln!(out, "<path fill=\"{}\" d=\"{path}\"/>", color(shade))?;
            }
        }
        writeln!(out, "</g>")?;
        axis.write_squares((left, top), out)?;
        if cells <= MAX_LABELS {
            // Draw lines between the cells, so that the eye can follow a row.
            write!(out, "<path transform=\"translate({left} {top})\" stroke=\"#fff\" d=\"")?;
            for at in (0..=cells).map(|line| line * size) {
                write!(out, "M0 {at}h{side}M{at} 0v{side}")?;
            }
            writeln!(out, "\"/>")?;
        }
        writeln!(out, "</svg>")
    }

    fn cell_size(&self) -> usize {
        match self.cells() {
            0..=64 => 14,
            65..=128 => 12,
            129..=256 => 4,
            _ => 2,
        }
    }

    /// Returns a path of all cells with one shade. Neighbours in a row form one rectangle.
    fn path(&self, shade: usize) -> String {
        let (cells, mut path) = (self.cells(), String::new());
        for row in 0..cells {
            let columns: Vec<usize> =
                (0..cells).filter(|&at| self.shade(row, at) == shade).collect();
            for columns in columns.chunk_by(|a, b| a + 1 == *b) {
                let (start, run) = (columns[0], columns.len());
                path += &format!("M{start} {row}h{run}v1h-{run}z");
            }
        }
        path
    }
}

/// Returns the colour of a shade, from pale grey for 0 to dark blue for `SHADES`.
fn color(shade: usize) -> String {
    let mix = |from: usize, to: usize| (from * (SHADES - shade) + to * shade) / SHADES;
    format!("#{:02x}{:02x}{:02x}", mix(0xe6, 0x12), mix(0xe9, 0x4a), mix(0xef, 0x8c))
}

/// The labels of rows and columns: for each tag or, above `MAX_LABELS` tags, for each long group.
struct Axis {
    labels: Vec<Label>,
    /// The pixels of each labelled group's rows; empty if each tag has a label.
    ranges: Vec<Range<usize>>,
}

struct Label {
    text: String,
    /// The centre of the labelled range, in pixels.
    at: usize,
}

impl Axis {
    fn new(picture: &Picture, names: &[&str], groups: &[Group]) -> Axis {
        let size = picture.cell_size();
        if picture.tags <= MAX_LABELS {
            let middles = (0..).map(|row| row * size + size / 2);
            let labels = names.iter().zip(middles);
            let labels = labels.map(|(name, at)| Label { text: cut(name, LABEL), at }).collect();
            return Axis { labels, ranges: vec![] };
        }
        let (mut labels, mut ranges, mut row) = (Vec::new(), Vec::new(), 0);
        let pixel = |row: usize| row * size / picture.block;
        for Group { name, rows } in groups {
            let (start, end) = (pixel(row), pixel(row + rows));
            if end - start >= LINE {
                let text = format!("{} ({rows})", cut(name, LABEL - 8));
                labels.push(Label { text, at: (start + end) / 2 });
                ranges.push(start..end);
            }
            row += rows;
        }
        Axis { labels, ranges }
    }

    fn write(&self, (left, top): (usize, usize), out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "<g font-family=\"monospace\" font-size=\"11\" fill=\"#222\">")?;
        for Label { text, at } in &self.labels {
            let (text, at) = (escape(text), at + 4);
            let ((x, y), (u, v)) = ((left - 8, top + at), (left + at, top - 8));
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{text}</text>\n\
                 <text transform=\"translate({u} {v}) rotate(-90)\">{text}</text>"
            )?;
        }
        writeln!(out, "</g>")?;
        if !self.ranges.is_empty() {
            write!(out, "<path transform=\"translate({left} {top})\" stroke=\"#5f6368\" d=\"")?;
            for at in self.ranges.iter().flat_map(|range| [range.start, range.end]) {
                write!(out, "M-6 {at}h6M{at} -6v6")?;
            }
            writeln!(out, "\"/>")?;
        }
        Ok(())
    }

    /// Writes a square around the pairs within each range.
    fn write_squares(&self, (left, top): (usize, usize), out: &mut dyn Write) -> io::Result<()> {
        if self.ranges.is_empty() {
            return Ok(());
        }
        write!(
            out,
            "<path transform=\"translate({left} {top})\" fill=\"none\" stroke=\"#a5adba\" d=\""
        )?;
        for Range { start, end } in &self.ranges {
            let side = end - start;
            write!(out, "M{start} {start}h{side}v{side}h-{side}z")?;
        }
        writeln!(out, "\"/>")
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_CELLS, Picture, SHADES};

    #[test]
    fn a_block_is_pure_only_without_exception() {
        let tags = 2 * MAX_CELLS + 1;
        let mut picture = Picture::new(tags);
        assert_eq!(picture.block, 3);
        let mut row = vec![b'N'; tags];
        picture.row(&row);
        row.fill(b'M');
        picture.row(&row);
        picture.row(&row);
        assert_eq!(picture.shade(0, 0), SHADES - 1, "6 of 9");
        assert_eq!(picture.shade(1, 0), 0);
        (3..tags).for_each(|_| picture.row(&row));
        assert_eq!(picture.shade(1, 0), SHADES);
        let last = picture.cells() - 1;
        assert_eq!(picture.shade(last, last), SHADES, "the last block is what is left");
    }

    #[test]
    fn size_is_bounded() {
        let tags = 5000;
        let mut picture = Picture::new(tags);
        let row: Vec<u8> = (0..tags).map(|i| if i / 20 % 2 == 0 { b'M' } else { b'N' }).collect();
        (0..tags).for_each(|_| picture.row(&row));
        let mut out = Vec::new();
        picture.write("t", &[], &[], &mut out).unwrap();
        assert!(out.len() < 2 << 20, "{} bytes", out.len());
    }
}
