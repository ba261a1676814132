//! Parts that all SVG pictures share.

use std::io::{Result, Write};

use crate::printable::printable;

/// Width of a character of the monospaced font at 11 pixels, in hundredths of a pixel.
const CHARACTER: usize = 665;

/// Returns the width of a text in pixels, at 11 pixels in the monospaced font.
pub(crate) fn width(text: &str) -> usize {
    (text.chars().count() * CHARACTER).div_ceil(100)
}

/// Returns a name escaped for XML and HTML, in text and attributes, without control characters.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// Returns a name as printable text of at most `most` characters. `most` must not be 0.
pub(crate) fn cut(name: &str, most: usize) -> String {
    let name = printable(name);
    if name.chars().nth(most).is_none() {
        return name;
    }
    name.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Writes a text at a position, with attributes such as ` fill="#222"`.
pub(crate) fn text(
    out: &mut dyn Write,
    (x, y): (usize, usize),
    attributes: &str,
    text: &str,
) -> Result<()> {
    write!(out, "<text x=\"{x}\" y=\"{y}\"{attributes}>{}</text>", escape(text))
}

/// Returns the height of a picture's title and of `lines` lines under it, in pixels.
pub(crate) const fn height_of_head(lines: usize) -> usize {
    30 + 16 * lines
}

/// Writes the start of a picture: its title and lines. The caller must write `</svg>` at the end.
pub(crate) fn write_head(
    (width, height): (usize, usize),
    title: &str,
    about: &[String],
    out: &mut dyn Write,
) -> Result<()> {
    let longest = about.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    // Assume that a character of the proportional font at 12 pixels is 7 pixels wide.
    let width = width.max(longest * 7 + 32).max(title.chars().count() * 7 + 32);
    let title = escape(title);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title about\">\n\
             <title id=\"title\">{title}</title>\n\
             <desc id=\"about\">{}</desc>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
             <g font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n\
             <text x=\"16\" y=\"22\" font-weight=\"bold\">{title}</text>",
        escape(&about.join(". "))
    )?;
    for (line, text) in about.iter().enumerate() {
        writeln!(out, "<text x=\"16\" y=\"{}\">{}</text>", 40 + 16 * line, escape(text))?;
    }
    writeln!(out, "</g>")
}

#[cfg(test)]
mod tests {
    use super::{cut, escape};

    #[test]
    fn a_name_is_never_markup() {
        assert_eq!(escape("<script>\n'\"&\u{ffff}"), "&lt;script&gt;\\n&#39;&quot;&amp;\u{fffd}");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("äbcd", 4), "äbcd");
    }
}
