//! Adds small faults to texts.

use crate::Rng;

/// Bytes that matter to a reader of `.ll` text.
const TELLING: &[u8] = b"!{}()[]<>\"\\;:,=@%*\n\r\t 0123456789i-\0\xff";

/// Makes up to four random edits, each of at most 30 bytes.
pub fn bytes(rng: &mut Rng, text: &mut Vec<u8>) {
    for _ in 0..1 + rng.below(4) {
        if text.is_empty() {
            return;
        }
        let (at, from) = (rng.below(text.len()), rng.below(text.len()));
        let end = text.len().min(from + 1 + rng.below(30));
        match rng.below(8) {
            0 => text[at] = *rng.pick(TELLING),
            1 => text.insert(at, *rng.pick(TELLING)),
            2 => text[at] = rng.next() as u8,
            3 => text[at] = text[from],
            4 => drop(text.remove(at)),
            5 => drop(text.drain(from..end)),
            6 => {
                let part = text[from..end].to_vec();
                text.splice(at..at, part);
            }
            // Usually changes a digit, so that a reference names a wrong node, or forms a cycle.
            _ => {
                let digit = text[at..].iter().position(u8::is_ascii_digit);
                text[at + digit.unwrap_or(0)] = b'0' + rng.below(10_u8);
            }
        }
    }
}

/// Valid and invalid texts of operands, separated by `|`.
const OPERANDS: &str = "null|!\"s\"|!{}|!0|!1|!5|!9|!99|!{!0, i64 0}|!{!0, 0}|i64 0|i64 8|i64 -8|i64 00|i32 4|i1 true|\
    i1 1|i128 8|i64 u0x8|i8 300|ptr null|ptr @f|double 1.0|float 2.5|i64 undef|!DIFile(filename: \"a\", directory: \"\")|\
    0|-8|8|0x8|1.5|u0x8|true|x|i64|i0 0|i64 true|i64 0x8|i64 0 8|i64 %p|%p|@f|ptr @g|double 1|float 0.1|undef|void|\
    distinct !{}|!x|i64 i64|!!0|! 0|!\"s\" !0|";

const TOKENS: &str =
    "!|{|}|,|=|;|null|distinct|i1|i32|i64|0|1|-8|x|\"s\"|!\"s\"|!{}|!0|!1|!5|!99|i64 0|\n";

/// Makes up to two random edits to lines of metadata: to operands, tokens or whole lines. One call
/// in 16 also calls [`bytes`].
pub fn metadata(rng: &mut Rng, mut lines: Vec<String>) -> String {
    let pool: Vec<&str> = OPERANDS.split('|').collect();
    for _ in 0..1 + rng.below(2) {
        let (at, other) = (rng.below(lines.len()), rng.below(lines.len()));
        match rng.below(16) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[other].clone()),
            2..=4 => lines.swap(at, other),
            5 => lines[at] = in_tokens(rng, &lines[at]),
            6 => lines[at] = lines[at].replacen("= ", "= distinct ", 1),
            _ => {
                let Some((head, mut operands)) = operands(&lines[at]) else { continue };
                let place = rng.below(operands.len() + 1);
                let from = rng.one_in(3).then(|| rng.below(operands.len() + 1));
                let new = from.and_then(|from| operands.get(from).cloned());
                let new = new.unwrap_or_else(|| rng.pick::<&str>(&pool).to_string());
                change(rng, &mut operands, 0, place, new);
                lines[at] = node(rng, head, &operands);
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    let mut text = lines.join("\n") + "\n";
    if rng.one_in(16) {
        let mut damaged = text.into_bytes();
        bytes(rng, &mut damaged);
        text = String::from_utf8_lossy(&damaged).into_owned() + "\n";
    }
    text
}

/// Inserts `new` at index `place`, or removes or replaces the operand there, or swaps that operand
/// with one at index `first` or later. `place` is at least `first`.
fn change(rng: &mut Rng, operands: &mut Vec<String>, first: usize, place: usize, new: String) {
    match rng.below(4) {
        0 => operands.insert(place, new),
        _ if place == operands.len() => operands.push(new),
        1 => drop(operands.remove(place)),
        2 => {
            let other = first + rng.below(operands.len() - first);
            operands.swap(place, other);
        }
        _ => operands[place] = new,
    }
}

/// An offset of more than 64 bits. LLVM calculates with it. This library rejects it, because no
/// memory object is that large.
pub const WIDE: &str = "i128 36893488147419103232";

/// Unusual operands for tags and types. LLVM crashes on some of them.
const ODD: [&str; 9] =
    ["i1 true", "!\"string\"", "i64 -8", "i128 8", WIDE, "ptr null", "double 1.0", "!{}", "null"];

/// Makes up to four edits to operands of nodes; `lines[i]` defines node `!i`. If `is_gentle`, no
/// node becomes empty, and tags keep their first operand, without which LLVM's reader crashes.
pub fn nodes(rng: &mut Rng, lines: &mut [String], is_gentle: bool) {
    for _ in 0..rng.below(4) + usize::from(is_gentle) {
        let which = rng.below(lines.len());
        if !is_gentle && rng.one_in(20) {
            lines[which] = format!("!{which} = !{{}}");
        }
        let other = format!("!{}", rng.below(lines.len()));
        let Some((head, mut operands)) = operands(&lines[which]) else { continue };
        let is_tag = operands.len() > 1 && operands[..2].iter().all(|of| of.starts_with('!'));
        let first = usize::from(is_gentle && is_tag);
        let at = first + rng.below(operands.len() + 1 - first);
        let is_int = operands.get(at).is_some_and(|operand| operand.starts_with("i64"));
        let new = match rng.below(16) {
            // An `i64` operand often stays an `i64`, so that fewer nodes are malformed at once.
            _ if is_int && rng.one_in(2) => format!("i64 {}", 4 * rng.below(6)),
            0..=2 => other,
            3 => format!("!{which}"),
            4 => format!("i64 {}", rng.below(24)),
            5 => format!("i32 {}", 4 * rng.below(3)),
            6 => operands.get(at).cloned().unwrap_or(other),
            _ => rng.pick(&ODD[..if is_gentle { 2 } else { ODD.len() }]).to_string(),
        };
        match is_gentle && operands.len() == 1 {
            true => operands[0] = new,
            false => change(rng, &mut operands, first, at, new),
        }
        lines[which] = node(rng, head, &operands);
    }
}

/// Returns the line with one token deleted, doubled, swapped, inserted or replaced.
fn in_tokens(rng: &mut Rng, line: &str) -> String {
    let pool: Vec<&str> = TOKENS.split('|').collect();
    let mut all: Vec<&str> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let is_word = |byte: char| byte.is_ascii_alphanumeric() || "_.$-".contains(byte);
        let len = match rest.as_bytes()[0] {
            b'"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            _ => rest.find(|rest| !is_word(rest)).unwrap_or(rest.len()).max(1),
        };
        all.push(&rest[..len]);
        rest = &rest[len..];
    }
    let (at, other) = (rng.below(all.len().max(1)), rng.below(all.len().max(1)));
    match rng.below(5) {
        _ if all.is_empty() => {}
        0 => _ = all.remove(at),
        1 => all.insert(at, all[at]),
        2 => all.swap(at, other),
        3 => all.insert(at, *rng.pick::<&str>(&pool)),
        _ => all[at] = *rng.pick::<&str>(&pool),
    }
    all.concat()
}

/// Returns the operands of a node's line and the text before them; `None` for other lines.
fn operands(line: &str) -> Option<(&str, Vec<String>)> {
    let (head, rest) = line.split_once('{').filter(|(head, _)| head.contains("= "))?;
    let list = rest.trim_end_matches('}').split(", ").filter(|part| !part.is_empty());
    Some((head, list.map(str::to_owned).collect()))
}

/// Returns a node's line: `head` and `operands`. In one call of 8 the node becomes `distinct`.
fn node(rng: &mut Rng, head: &str, operands: &[String]) -> String {
    let distinct = if rng.one_in(8) && !head.contains("distinct") { "distinct " } else { "" };
    let (number, rest) = head.split_once("= ").unwrap();
    format!("{number}= {distinct}{rest}{{{}}}", operands.join(", "))
}
