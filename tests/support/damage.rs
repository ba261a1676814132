//! Texts with small faults.

use crate::Rng;

/// Bytes that mean something to readers.
const TELLING: &[u8] = b"!{}()[]<>\"\\;:,=@%*\n\r\t 0123456789i-\0\xff";

/// Changes, adds, copies or removes up to four bytes or parts.
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
            // Another number: references to the wrong node, and cycles.
            _ => {
                let digit = text[at..].iter().position(u8::is_ascii_digit);
                text[at + digit.unwrap_or(0)] = b'0' + rng.below(10_u8);
            }
        }
    }
}

/// Texts to put in an operand's place, valid and invalid ones.
const OPERANDS: &str = "null|!\"s\"|!{}|!0|!1|!5|!9|!99|!{!0, i64 0}|!{!0, 0}|i64 0|i64 8|i64 -8|i64 00|i32 4|i1 true|\
    i1 1|i128 8|i64 u0x8|i8 300|ptr null|ptr @f|double 1.0|float 2.5|i64 undef|!DIFile(filename: \"a\", directory: \"\")|\
    0|-8|8|0x8|1.5|u0x8|true|x|i64|i0 0|i64 true|i64 0x8|i64 0 8|i64 %p|%p|@f|ptr @g|double 1|float 0.1|undef|void|\
    distinct !{}|!x|i64 i64|!!0|! 0|!\"s\" !0|";

/// Texts to put in a token's place.
const TOKENS: &str =
    "!|{|}|,|=|;|null|distinct|i1|i32|i64|0|1|-8|x|\"s\"|!\"s\"|!{}|!0|!1|!5|!99|i64 0|\n";

/// Makes a few mistakes in the lines of a text of metadata: in operands, in tokens, in lines,
/// and seldom in bytes.
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
                let new = if rng.one_in(3) {
                    operands.get(rng.below(operands.len() + 1)).cloned()
                } else {
                    None
                };
                let new = new.unwrap_or_else(|| rng.pick::<&str>(&pool).to_string());
                match rng.below(4) {
                    0 => operands.insert(place, new),
                    1 if place < operands.len() => drop(operands.remove(place)),
                    2 if place < operands.len() => {
                        let other = rng.below(operands.len());
                        operands.swap(place, other);
                    }
                    _ if place < operands.len() => operands[place] = new,
                    _ => operands.push(new),
                }
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

/// Deletes, doubles, exchanges or replaces a token of a line.
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
        let (token, after) = rest.split_at(len);
        all.push(token);
        rest = after;
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
pub fn operands(line: &str) -> Option<(&str, Vec<String>)> {
    let (head, rest) = line.split_once('{').filter(|(head, _)| head.contains("= "))?;
    let rest = rest.trim_end_matches('}');
    let list = rest.split(", ").filter(|part| !part.is_empty()).map(str::to_owned).collect();
    Some((head, list))
}

/// The line of a node with other operands, and now and then distinct.
pub fn node(rng: &mut Rng, head: &str, operands: &[String]) -> String {
    let distinct = if rng.one_in(8) && !head.contains("distinct") { "distinct " } else { "" };
    let (number, rest) = head.split_once("= ").unwrap();
    format!("{number}= {distinct}{rest}{{{}}}", operands.join(", "))
}
