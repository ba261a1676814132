//! A picture of a matrix, self-contained and of bounded size.

use std::io::{self, Write};

use crate::printable::printable;

/// The most cells in a row; with more tags than this, a cell stands for a
/// square block of pairs.
const MAX_CELLS: usize = 256;
/// The most tags whose names are written beside their rows.
const MAX_LABELS: usize = 128;
/// Shades between "no pair of the block aliases" and "every pair does".
const SHADES: usize = 8;
/// Characters of a name that are shown.
const LABEL: usize = 40;

/// Counts the answers, a block of pairs each.
pub(super) struct Picture {
    tags: usize,
    /// Tags on a side of a block.
    block: usize,
    /// Pairs that may alias in each block, row by row.
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

    /// Takes the next row of `M` and `N`.
    pub(super) fn row(&mut self, row: &[u8]) {
        let start = self.rows / self.block * self.cells();
        for (cell, answers) in row.chunks(self.block).enumerate() {
            let may = answers.iter().filter(|&&answer| answer == b'M').count();
            self.may[start + cell] += may as u64;
        }
        self.rows += 1;
    }

    /// The shade of a cell, `SHADES` for a block of pairs that all may alias.
    fn shade(&self, row: usize, column: usize) -> usize {
        let side = |cell: usize| self.block.min(self.tags - cell * self.block);
        let pairs = (side(row) * side(column)) as u64;
        let may = self.may[row * self.cells() + column];
        // Only a block without exception has one of the two pure shades.
        match may {
            0 => 0,
            _ if may == pairs => SHADES,
            _ => (may * SHADES as u64 / pairs).clamp(1, SHADES as u64 - 1) as usize,
        }
    }

    pub(super) fn write(
        &self,
        title: &str,
        names: &[String],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let cells = self.cells();
        let labels: Vec<_> = if self.tags <= MAX_LABELS {
            names.iter().map(|name| label(name)).collect()
        } else {
            Vec::new()
        };
        let size = match cells {
            0..=64 => 14,
            65..=128 => 12,
            _ => 4,
        };
        let longest = labels.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let (left, top) = (22 + longest * 7, 62 + longest * 7);
        let side = cells * size;
        let (width, height) = ((left + side + 16).max(480), top + side + 16);
        let title = escape(&printable(title.as_bytes()));
        let tags = self.tags;
        let about = match self.block {
            1 => format!("{tags} tags: dark cells are pairs that may alias, light ones never do"),
            block => format!(
                "{tags} tags, {block} by {block} pairs a cell: the darker, the more may alias"
            ),
        };
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title about\">\n\
             <title id=\"title\">Alias matrix of {title}</title>\n\
             <desc id=\"about\">{about}</desc>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <g font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n\
             <text x=\"16\" y=\"22\" font-weight=\"bold\">{title}</text>\n\
             <text x=\"16\" y=\"40\">{about}</text>\n\
             </g>\n\
             <g font-family=\"monospace\" font-size=\"11\" fill=\"#222\">"
        )?;
        for (index, name) in labels.iter().enumerate() {
            let (name, at) = (escape(name), index * size + size / 2 + 4);
            let (x, y) = (left - 6, top - 6);
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{}\" text-anchor=\"end\">{name}</text>\n\
                 <text transform=\"translate({} {y}) rotate(-90)\">{name}</text>",
                top + at,
                left + at
            )?;
        }
        writeln!(
            out,
            "</g>\n<g transform=\"translate({left} {top}) scale({size})\">\n\
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
        if cells <= MAX_LABELS {
            // Lines between the cells, for the eye to follow a row.
            write!(out, "<path transform=\"translate({left} {top})\" stroke=\"#fff\" d=\"")?;
            for at in (0..=cells).map(|line| line * size) {
                write!(out, "M0 {at}h{side}M{at} 0v{side}")?;
            }
            writeln!(out, "\"/>")?;
        }
        writeln!(out, "</svg>")
    }

    /// All cells of a shade, neighbours in a row as one rectangle.
    fn path(&self, shade: usize) -> String {
        let cells = self.cells();
        let mut path = String::new();
        for row in 0..cells {
            let mut column = 0;
            while column < cells {
                let start = column;
                while column < cells && self.shade(row, column) == shade {
                    column += 1;
                }
                if column > start {
                    let run = column - start;
                    path.push_str(&format!("M{start} {row}h{run}v1h-{run}z"));
                } else {
                    column += 1;
                }
            }
        }
        path
    }
}

/// From the pale grey of "never" to the dark blue of "may": a difference in
/// lightness, which takes no colour vision to see.
fn color(shade: usize) -> String {
    let mix = |from: usize, to: usize| (from * (SHADES - shade) + to * shade) / SHADES;
    format!("#{:02x}{:02x}{:02x}", mix(0xe6, 0x12), mix(0xe9, 0x4a), mix(0xef, 0x8c))
}

/// A name, cut to what fits beside a row.
fn label(name: &str) -> String {
    let name = printable(name.as_bytes());
    match name.char_indices().nth(LABEL) {
        Some((at, _)) => format!("{}...", &name[..at]),
        None => name,
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
        assert_eq!(picture.shade(0, 0), SHADES * 2 / 3);
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
        picture.write("t", &[], &mut out).unwrap();
        assert!(out.len() < 2 << 20, "{} bytes", out.len());
    }
}
