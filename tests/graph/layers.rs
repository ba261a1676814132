//! Which module of the crate may use which: an arrow that is not in the table
//! fails, and so does a cycle between the files of a folder.
//!
//! Paths are read from the sources: `crate::`, `super::`, `self::` and those that
//! begin with a submodule's name, in `use` and elsewhere. A name that a module
//! only passes on (`pub use`) counts for the module that has it. Tests within
//! the sources do not count.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use tbaa::petgraph::algo::tarjan_scc;
use tbaa::petgraph::graph::DiGraph;

/// The modules of `src`, and those that each may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("builder", &["graph", "table"]),
    ("declare", &["builder", "graph", "nearest", "table", "text", "types"]),
    ("emit", &["diagnostic", "graph", "lower", "oracle", "source", "table", "wellformed"]),
    ("graph", &["table"]),
    ("instrument", &["graph", "source", "table", "text", "types"]),
    ("link", &["graph", "oracle", "table"]),
    (
        "lint",
        &[
            "diagnostic",
            "graph",
            "oracle",
            "source",
            "subject",
            "table",
            "text",
            "types",
            "wellformed",
        ],
    ),
    ("lower", &["builder", "declare", "graph", "oracle", "table", "wellformed"]),
    ("oracle", &["forest", "graph", "table", "wellformed"]),
    ("session", &["declare", "graph", "oracle"]),
    ("spec", &["builder", "declare", "graph", "nearest", "oracle", "source", "table"]),
    ("subject", &["diagnostic", "graph", "source", "text"]),
    ("text", &["graph", "source", "table"]),
    ("types", &["source", "table", "text"]),
    ("verify", &["diagnostic", "graph", "oracle", "subject", "table", "text", "wellformed"]),
    ("wellformed", &["diagnostic", "forest", "graph", "table"]),
];

/// A module by the names that lead to it; the crate itself is empty.
type Module = Vec<String>;

/// One path of a `use` or an expression, made absolute.
struct Use {
    path: Vec<String>,
    /// The name under which a `use` makes it known.
    name: Option<String>,
    /// Whether it is only passed on.
    public: bool,
}

/// Splits a source into words and signs; comments, strings and lifetimes are
/// left out, and `::` is one sign.
fn tokens(source: &str) -> Vec<String> {
    let chars: Vec<char> = source.chars().collect();
    let is_word = |at: usize| chars.get(at).is_some_and(|c| c.is_alphanumeric() || *c == '_');
    let starts = |at: usize, what: &str| {
        what.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c))
    };
    let (mut found, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        if starts(at, "//") {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
        } else if starts(at, "/*") {
            while at < chars.len() && !starts(at, "*/") {
                at += 1;
            }
            at += 2;
        } else if chars[at] == '"' {
            at += 1;
            while at < chars.len() && chars[at] != '"' {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if chars[at] == '\'' {
            // A character, or a lifetime.
            at += match (chars.get(at + 1), chars.get(at + 2)) {
                (Some('\\'), _) => 2 + chars[at + 3..].iter().position(|&c| c == '\'').unwrap() + 2,
                (_, Some('\'')) => 3,
                _ => 1,
            };
        } else if is_word(at) {
            let start = at;
            while is_word(at) {
                at += 1;
            }
            let word: String = chars[start..at].iter().collect();
            // A raw string ends with a quote and as many signs as it begins with.
            let hashes = chars[at..].iter().take_while(|&&c| c == '#').count();
            if matches!(word.as_str(), "r" | "br") && chars.get(at + hashes) == Some(&'"') {
                let end = format!("\"{}", "#".repeat(hashes));
                at += hashes + 1;
                while at < chars.len() && !starts(at, &end) {
                    at += 1;
                }
                at += end.len();
            } else {
                found.push(word);
            }
        } else if starts(at, "::") {
            found.push("::".to_owned());
            at += 2;
        } else {
            if !chars[at].is_whitespace() {
                found.push(chars[at].to_string());
            }
            at += 1;
        }
    }
    found
}

/// Leaves out `#[cfg(test)] mod name { ... }`.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        let is_marked =
            tokens[at..].iter().zip(mark).filter(|(a, b)| *a == b).count() == mark.len();
        if is_marked && tokens.get(at + 9).is_some_and(|token| token == "{") {
            let mut depth = 0;
            loop {
                match tokens[at].as_str() {
                    "{" => depth += 1,
                    "}" => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 && tokens[at - 1] == "}" {
                    break;
                }
            }
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Reads a path, and all branches of one in braces, from `at` on.
fn branches(tokens: &[String], at: &mut usize, path: &mut Vec<String>, found: &mut Vec<Use>) {
    let depth = path.len();
    loop {
        match tokens.get(*at).map(String::as_str) {
            Some("{") => {
                *at += 1;
                while tokens[*at] != "}" {
                    branches(tokens, at, path, found);
                    *at += usize::from(tokens[*at] == ",");
                }
                *at += 1;
                break;
            }
            Some(word) => {
                path.push(word.to_owned());
                *at += 1;
                if tokens.get(*at).is_some_and(|token| token == "::") {
                    *at += 1;
                    // `Vec::<u8>` is no path of modules.
                    if tokens.get(*at).is_some_and(|token| token != "<") {
                        continue;
                    }
                }
                let mut path = path.clone();
                if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
                    path.pop();
                }
                let mut name = path.last().cloned();
                if tokens.get(*at).is_some_and(|token| token == "as") {
                    name = tokens.get(*at + 1).cloned();
                    *at += 2;
                }
                found.push(Use { path, name, public: false });
                break;
            }
            None => break,
        }
    }
    path.truncate(depth);
}

/// What a module's source uses of the crate, as absolute paths.
fn uses(module: &Module, source: &str, is_module: &dyn Fn(&[String]) -> bool) -> Vec<Use> {
    let tokens = without_tests(tokens(source));
    let mut found = Vec::new();
    let mut at = 0;
    let mut statement = None;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "use" => {
                let public = at > 0 && matches!(tokens[at - 1].as_str(), "pub" | ")");
                statement = Some(public);
                at += 1;
                continue;
            }
            ";" => statement = None,
            _ => {}
        }
        let begins = at == 0 || !matches!(tokens[at - 1].as_str(), "::" | ".");
        let is_path = tokens.get(at + 1).is_some_and(|token| token == "::") && begins;
        if !is_path {
            at += 1;
            continue;
        }
        let mut read = Vec::new();
        branches(&tokens, &mut at, &mut Vec::new(), &mut read);
        for Use { path, name, .. } in read {
            let child: Vec<String> = module.iter().chain(&path[..1]).cloned().collect();
            let path = match path[0].as_str() {
                "crate" => path[1..].to_vec(),
                "self" => module.iter().chain(&path[1..]).cloned().collect(),
                "super" => {
                    let up = path.iter().take_while(|part| *part == "super").count();
                    module[..module.len() - up].iter().chain(&path[up..]).cloned().collect()
                }
                _ if is_module(&child) => module.iter().chain(&path).cloned().collect(),
                _ => continue,
            };
            let name = name.filter(|_| statement.is_some());
            found.push(Use { path, name, public: statement == Some(true) });
        }
    }
    found
}

/// Every module of the crate, with its source.
fn sources(folder: &Path, module: &Module, into: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut inner = module.clone();
        if path.is_dir() {
            inner.push(stem);
            sources(&path, &inner, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") && stem != "tests" {
            inner.extend((!matches!(stem.as_str(), "mod" | "lib")).then_some(stem));
            into.insert(inner, fs::read_to_string(&path).unwrap());
        }
    }
}

/// From which module to which others the crate's paths lead.
fn arrows() -> BTreeMap<Module, BTreeSet<Module>> {
    let mut all = BTreeMap::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &Module::new(), &mut all);
    let is_module = |path: &[String]| all.contains_key(path);
    let used: BTreeMap<Module, Vec<Use>> = all
        .iter()
        .map(|(module, source)| (module.clone(), uses(module, source, &is_module)))
        .collect();
    let passed_on: HashMap<(Module, String), Vec<String>> = used
        .iter()
        .flat_map(|(module, uses)| {
            uses.iter()
                .filter_map(|used| Some(((module.clone(), used.name.clone()?), used.path.clone())))
        })
        .collect();
    // The module that has what a path names.
    let home = |path: &[String]| -> Module {
        let mut path = path.to_vec();
        for _ in 0..16 {
            let len = (0..=path.len()).rev().find(|&len| is_module(&path[..len])).unwrap_or(0);
            let (module, rest) = path.split_at(len);
            let next =
                rest.first().and_then(|name| passed_on.get(&(module.to_vec(), name.clone())));
            match next {
                Some(next) => path = next.iter().chain(&rest[1..]).cloned().collect(),
                None => return module.to_vec(),
            }
        }
        // A trait and a macro may have one name: each looks passed on by the other.
        path[..path.len() - 1].to_vec()
    };
    let mut arrows: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, uses) in &used {
        for used in uses.iter().filter(|used| !used.public) {
            let target = home(&used.path);
            if target != *module {
                arrows.entry(module.clone()).or_default().insert(target);
            }
        }
    }
    arrows
}

#[test]
fn modules_use_what_they_may() {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, targets) in arrows() {
        for to in targets {
            if let (Some(from), Some(to)) = (from.first(), to.first())
                && from != to
            {
                found.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    let allowed: BTreeMap<String, BTreeSet<String>> = ARROWS
        .iter()
        .map(|(from, to)| ((*from).to_owned(), to.iter().map(|to| (*to).to_owned()).collect()))
        .collect();
    // An arrow that is gone must not come back unseen.
    pretty_assertions::assert_eq!(found, allowed, "arrows between modules (left: in the sources)");
}

#[test]
fn the_files_of_a_folder_form_no_circle() {
    let arrows = arrows();
    let folders: BTreeSet<Module> =
        arrows.keys().map(|from| from[..from.len().saturating_sub(1)].to_vec()).collect();
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for folder in folders {
        // What of the folder a module belongs to.
        let part = |module: &Module| -> Option<String> {
            let inside = module.strip_prefix(&folder[..])?;
            Some(inside.first().map_or("mod", String::as_str).to_owned())
        };
        let pairs: Vec<(String, String)> = arrows
            .iter()
            .flat_map(|(from, targets)| targets.iter().map(move |to| (from, to)))
            .filter_map(|(from, to)| Some((part(from)?, part(to)?)))
            .filter(|(from, to)| from != to)
            .collect();
        let parts: BTreeSet<&String> = pairs.iter().flat_map(|(from, to)| [from, to]).collect();
        let mut graph = DiGraph::new();
        let nodes: BTreeMap<&String, _> =
            parts.iter().map(|&part| (part, graph.add_node(part))).collect();
        for (from, to) in &pairs {
            graph.add_edge(nodes[from], nodes[to], ());
        }
        let mut cycles: Vec<Vec<String>> = tarjan_scc(&graph)
            .into_iter()
            .filter(|nodes| nodes.len() > 1)
            .map(|nodes| nodes.into_iter().map(|node| graph[node].clone()).collect())
            .collect();
        cycles.iter_mut().for_each(|cycle| cycle.sort_unstable());
        cycles.sort_unstable();
        found.extend(cycles.into_iter().map(|cycle| (folder.join("/"), cycle)));
    }
    pretty_assertions::assert_eq!(found, [], "cycles between the files of a folder");
}
