//! Tests access classes (sets of tags with equal answers) after LLVM's passes: random programs are
//! inlined, merged, hoisted and linked. Accesses name their classes by scopes. For two accesses,
//! our LLVM plugin must answer as rule `union` or `union-strict` does for their source accesses.
//!
//! `TBAA_PAIRS` is the number of pairs, `TBAA_SEED` the first seed.

mod tools;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tbaa::{AliasRule, Graph, Oracle, TagId};
use tbaa_lower::AccessClasses;
use tbaa_tests::Rng;
use tbaa_tests::llvm::{Evaluated, aa_eval};
use tbaa_tests::universe::{self, Taste};
use tools::{folder, number, plugin, printed};
/// The classes of one access. Two nonempty sets are NoAlias if each class of one is NoAlias with
/// each class of the other.
type Set = BTreeSet<u32>;

/// A random graph, its access classes, and the answers of an alias rule for the classes.
struct World {
    domain: String,
    /// The rows for each module. A row lists a class and the lower-numbered classes it may alias.
    rows: [Vec<String>; 2],
    /// For each pair of classes, whether tags of theirs may alias by the alias rule.
    rule: Vec<Vec<bool>>,
    /// For each pair of classes, whether they may alias by the rows of the second module.
    told: Vec<Vec<bool>>,
    /// The number of classes in the first module's rows.
    early: u32,
}

impl World {
    fn new(rng: &mut Rng, seed: u64) -> World {
        let (graph, tags): (Graph, Vec<TagId>) =
            universe::random(rng, seed.is_multiple_of(2), Taste::Wild).graph();
        let rules = if seed.is_multiple_of(3) { AliasRule::UnionStrict } else { AliasRule::Union };
        let oracle = Oracle::new(graph, rules);
        let mut classes = AccessClasses::new(&seed.to_string());
        let split = 1 + rng.below(tags.len());
        classes.add(&oracle, tags[..split].iter().copied()).unwrap();
        let early: Vec<String> = classes.rows().collect();
        classes.add(&oracle, tags[split..].iter().copied()).unwrap();
        let rows: Vec<String> = classes.rows().collect();
        let mut rule = vec![vec![false; rows.len()]; rows.len()];
        for &x in &tags {
            for &y in &tags {
                let [a, b] = [x, y].map(|tag| classes.of(tag).unwrap() as usize);
                rule[a][b] |= oracle.may_alias(x, y);
            }
        }
        let told = related(&rows);
        let domain = classes.domain().to_owned();
        World { domain, early: early.len() as u32, rows: [early, rows], rule, told }
    }
}

/// Returns a symmetric matrix: whether two classes may alias by the rows.
fn related(rows: &[String]) -> Vec<Vec<bool>> {
    let mut told = vec![vec![false; rows.len()]; rows.len()];
    for (class, row) in rows.iter().enumerate() {
        for other in row.split(' ').map(|part| part.parse::<usize>().unwrap()) {
            (told[class][other], told[other][class]) = (true, true);
        }
    }
    told
}

fn apart(may: &[Vec<bool>], a: &Set, b: &Set) -> bool {
    let pairs = a.iter().flat_map(|&x| b.iter().map(move |&y| (x as usize, y as usize)));
    !a.is_empty() && !b.is_empty() && pairs.into_iter().all(|(x, y)| !may[x][y])
}

/// A program in two modules. Address number N is accessed as `%kN_`.
#[derive(Default)]
struct Program {
    modules: [String; 2],
    /// For each address, the class sets of the accesses to it in the source.
    places: Vec<Vec<Set>>,
    /// The addresses that the branches of an `if` access by different classes, with these classes.
    twins: BTreeMap<usize, [Set; 2]>,
    /// The number of the scope list of each class set.
    lists: BTreeMap<Set, usize>,
}

struct Writer<'p, 'r> {
    program: &'p mut Program,
    rng: &'r mut Rng,
    text: String,
    /// The number of classes that the function may use. `used` contains those that it uses.
    classes: u32,
    used: Set,
    /// The addresses that the next instructions may use.
    own: Vec<usize>,
    /// The number of the address that a `select` of two addresses returns.
    selects: HashMap<(usize, usize), usize>,
    values: usize,
    labels: usize,
}

impl Writer<'_, '_> {
    fn class(&mut self) -> Set {
        Set::from([self.rng.below(self.classes)])
    }

    /// Returns the attachment `, !alias.scope !N` of a class set.
    fn list(&mut self, set: &Set) -> String {
        self.used.extend(set);
        let next = self.program.lists.len();
        let number = *self.program.lists.entry(set.clone()).or_insert(next);
        format!(", !alias.scope !{}", 100_000 + number)
    }

    fn place(&mut self) -> usize {
        self.program.places.push(Vec::new());
        self.program.places.len() - 1
    }

    fn access(&mut self, place: usize, set: &Set, store: Option<&str>) {
        self.program.places[place].push(set.clone());
        let list = self.list(set);
        match store {
            Some(value) => self.text += &format!("  store i64 {value}, ptr %k{place}_{list}\n"),
            None => {
                self.values += 1;
                let value = self.values;
                self.text += &format!(
                    "  %v{value} = load i64, ptr %k{place}_{list}\n  call void @use(i64 {place}, i64 %v{value})\n"
                );
            }
        }
    }

    fn address(&mut self, place: usize) {
        let (base, offset) = (self.rng.below(3_u64), 16 * (place + 1));
        self.text += &format!("  %k{place}_ = getelementptr i8, ptr %p{base}, i64 {offset}\n");
    }

    fn either(&mut self) -> Option<String> {
        self.rng.one_in(2).then(|| self.rng.below(1000_u64).to_string())
    }

    fn step(&mut self) {
        let place = *self.rng.pick(&self.own);
        let set = self.class();
        match self.rng.below(8_u64) {
            // Memory is reused with another type: one address, and any class.
            0 => {
                let store = self.either();
                self.access(place, &set, store.as_deref());
            }
            // A `select` chooses one of two addresses. The access has a class for each of the two.
            1 => {
                let other = *self.rng.pick(&self.own);
                let both: Set = &set | &self.class();
                let new = match self.selects.get(&(place, other)) {
                    Some(&known) => known,
                    None if place == other => place,
                    None => {
                        let new = self.place();
                        self.text +=
                            &format!("  %k{new}_ = select i1 %c, ptr %k{place}_, ptr %k{other}_\n");
                        self.selects.insert((place, other), new);
                        new
                    }
                };
                let store = self.either();
                // LLVM may replace this access by accesses to the two addresses.
                for at in [place, other] {
                    self.program.places[at].push(both.clone());
                }
                self.access(new, &both, store.as_deref());
            }
            // A `memmove` has one class for its source and one for its destination.
            2 => {
                let other = *self.rng.pick(&self.own);
                let both: Set = &set | &self.class();
                let list = self.list(&both);
                for at in [place, other] {
                    self.program.places[at].push(both.clone());
                }
                self.text += &format!(
                    "  call void @llvm.memmove.p0.p0.i64(ptr align 8 %k{place}_, ptr align 8 %k{other}_, i64 8, i1 false){list}\n"
                );
            }
            // Both branches of an `if` access one address.
            3 | 4 => {
                let (new, sets) = (self.place(), [self.class(), self.class()]);
                self.address(new);
                let store = self.either();
                self.labels += 1;
                let label = self.labels;
                self.text += &format!("  br i1 %c, label %t{label}, label %e{label}\n");
                for (way, set) in ["t", "e"].iter().zip(&sets) {
                    self.text += &format!("{way}{label}:\n");
                    self.access(new, set, store.as_deref());
                    self.text += &format!("  br label %j{label}\n");
                }
                self.text += &format!("j{label}:\n");
                if sets[0] != sets[1] {
                    self.program.twins.insert(new, sets);
                }
            }
            _ => {
                let new = self.place();
                self.address(new);
                self.own.push(new);
                let store = self.either();
                self.access(new, &set, store.as_deref());
            }
        }
    }

    fn loops(&mut self) {
        self.labels += 1;
        let label = self.labels;
        let known = self.own.len();
        self.text += &format!(
            "  br label %b{label}\nb{label}:\n  br label %l{label}\nl{label}:\n  %i{label} = phi i64 [ 0, %b{label} ], [ %n{label}, %x{label} ]\n"
        );
        for _ in 0..1 + self.rng.below(5_u64) {
            self.step();
        }
        self.text += &format!(
            "  br label %x{label}\nx{label}:\n  %n{label} = add i64 %i{label}, 1\n  %m{label} = icmp ult i64 %n{label}, %n\n  br i1 %m{label}, label %l{label}, label %y{label}\ny{label}:\n"
        );
        // Later instructions do not use the addresses that the loop computes. They may use its
        // selects, because the loop runs at least once.
        self.own.truncate(known.max(1));
    }
}

impl Program {
    fn new(rng: &mut Rng, world: &World) -> Program {
        let mut program = Program::default();
        let mut beneath: Vec<Set> = Vec::new();
        for function in 0..8 {
            // The first module contains the functions that the second one calls.
            let module = usize::from(function >= 4);
            let classes = if module == 0 { world.early } else { world.rows[1].len() as u32 };
            let (used, own) = (Set::new(), Vec::new());
            let mut writer = Writer {
                program: &mut program,
                rng: &mut *rng,
                text: String::new(),
                classes,
                used,
                own,
                selects: HashMap::new(),
                values: 0,
                labels: 0,
            };
            let bytes =
                if writer.rng.one_in(2) { " align 16 dereferenceable(1048576)" } else { "" };
            let (inline, steps) = if module == 0 { ("alwaysinline", 8) } else { ("noinline", 16) };
            writer.text += &format!(
                "define void @f{function}(ptr{bytes} %p0, ptr{bytes} %p1, ptr{bytes} %p2, i64 %n, i1 %c) {inline} {{\n"
            );
            let first = writer.place();
            writer.address(first);
            writer.own.push(first);
            for _ in 0..steps {
                match writer.rng.below(8_u64) {
                    0 => writer.loops(),
                    1 if module == 1 => {
                        let callee = writer.rng.below(4_usize);
                        let pointers = [0; 3].map(|_| writer.rng.below(3_u64));
                        // Inlining adds the scopes of the call to all accesses of the callee.
                        let list = match writer.rng.one_in(2) {
                            true => writer.list(&beneath[callee]),
                            false => String::new(),
                        };
                        let [p, q, r] = pointers;
                        writer.text += &format!(
                            "  call void @f{callee}(ptr %p{p}, ptr %p{q}, ptr %p{r}, i64 %n, i1 %c){list}\n"
                        );
                    }
                    _ => writer.step(),
                }
            }
            writer.text += "  ret void\n}\n";
            let (text, used) = (writer.text, writer.used);
            program.modules[module] += &text;
            beneath.push(used);
        }
        let parameters = "(ptr, ptr, ptr, i64, i1)";
        for function in 0..4 {
            program.modules[1] += &format!("declare void @f{function}{parameters}\n");
        }
        for module in &mut program.modules {
            *module += "declare void @use(i64, i64) nounwind willreturn memory(inaccessiblemem: readwrite)\n\
                 declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)\n";
        }
        program
    }

    /// Returns a module's text, with `!tbaa.relations` made from these rows.
    fn text(&self, module: usize, domain: &str, rows: &[String]) -> String {
        let mut text = self.modules[module].clone();
        let rows: String = rows.iter().map(|row| format!(", !\"{row}\"")).collect();
        text += &format!("!tbaa.relations = !{{!0}}\n!0 = !{{!\"{domain}\"{rows}}}\n");
        text += &format!("!1 = !{{!\"{domain}\"}}\n");
        let all: Set = self.lists.keys().flatten().copied().collect();
        for class in all {
            text += &format!("!{} = !{{!\"{domain}:{class}\", !1}}\n", 10 + class);
        }
        for (set, number) in &self.lists {
            let scopes: Vec<_> = set.iter().map(|class| format!("!{}", 10 + class)).collect();
            text += &format!("!{} = !{{{}}}\n", 100_000 + number, scopes.join(", "));
        }
        text
    }

    /// Links the modules and optimises them with the plugin.
    fn optimised(&self, world: &World, rows: [&[String]; 2], level: &str) -> PathBuf {
        let files = [0, 1].map(|module| {
            let file = folder("passes").join(format!("{module}.ll"));
            fs::write(&file, self.text(module, &world.domain, rows[module])).unwrap();
            file
        });
        let [linked, made] = ["linked.bc", "made.ll"].map(|name| folder("passes").join(name));
        printed(Command::new("llvm-link-22").arg("-o").arg(&linked).args(files));
        let args = [level, "-S", "-load-pass-plugin", &plugin(), "-o", made.to_str().unwrap()];
        printed(Command::new("opt-22").args(args).arg(&linked));
        made
    }
}

/// One load or store of an optimised module.
struct Found {
    /// The instruction as LLVM prints it, without metadata.
    text: String,
    store: bool,
    /// The number of the address, if the pointer operand still has the name `%kN_`.
    place: Option<usize>,
    /// The classes. The set is empty if the access has no scope list.
    set: Set,
}

/// Returns the accesses of each function of an optimised module.
fn read(world: &World, text: &str) -> Vec<(String, Vec<Found>)> {
    let nodes: HashMap<&str, &str> = text
        .lines()
        .filter(|line| line.starts_with('!'))
        .filter_map(|line| line.split_once(" = "))
        .collect();
    let class = |scope: &str| -> Option<u32> {
        let name = nodes.get(scope)?.split('"').nth(1)?;
        name.strip_prefix(&world.domain)?.strip_prefix(':')?.parse().ok()
    };
    let set = |list: &str| -> Set {
        let inside = nodes[list].trim_start_matches("!{").trim_end_matches('}');
        inside.split(", ").map(|scope| class(scope).expect("a scope of ours")).collect()
    };
    let mut functions: Vec<(String, Vec<Found>)> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("define ") {
            let name = rest.split('@').nth(1).unwrap().split('(').next().unwrap();
            functions.push((name.to_owned(), Vec::new()));
        }
        let store = line.starts_with("  store ");
        if !store && !line.contains(" = load ") {
            continue;
        }
        let list = line.split("!alias.scope ").nth(1).map(|part| part.split(',').next().unwrap());
        let name = line.split(", ptr %k").nth(1).unwrap_or_default();
        let digits = name.split(|byte: char| !byte.is_ascii_digit()).next().unwrap();
        functions.last_mut().unwrap().1.push(Found {
            text: bare(line).to_owned(),
            store,
            place: digits.parse().ok(),
            set: list.map(set).unwrap_or_default(),
        });
    }
    functions
}

/// Returns an instruction without its metadata.
fn bare(instruction: &str) -> &str {
    instruction.split(", !").next().unwrap().trim()
}

#[derive(Default, Debug)]
struct Counts {
    pairs: u64,
    apart: u64,
    merged: u64,
    inlined: u64,
    /// Accesses without a scope list.
    dropped: u64,
}

impl Program {
    /// Checks that each access has no classes, or at least those of one source access to the same
    /// address. For an address in `twins`, checks for each branch that some access has no classes,
    /// or at least those of the branch.
    fn keeps_classes(
        &self,
        functions: &[(String, Vec<Found>)],
        counts: &mut Counts,
    ) -> Result<(), String> {
        for (function, accesses) in functions {
            let mut sets: BTreeMap<usize, Vec<&Set>> = BTreeMap::new();
            for access in accesses {
                counts.inlined += u64::from(access.text.contains(".i"));
                counts.dropped += u64::from(access.set.is_empty());
                let Some(place) = access.place else { continue };
                let kept = |set: &Set| access.set.is_empty() || set.is_subset(&access.set);
                if !self.places[place].iter().any(kept) {
                    return Err(format!("@{function}: `{}` has {:?}", access.text, access.set));
                }
                sets.entry(place).or_default().push(&access.set);
            }
            for (place, found) in sets {
                let Some([a, b]) = self.twins.get(&place) else { continue };
                let has =
                    |set: &Set| found.iter().any(|found| found.is_empty() || set.is_subset(found));
                counts.merged +=
                    found.iter().filter(|found| a.is_subset(found) && b.is_subset(found)).count()
                        as u64;
                if !has(a) || !has(b) {
                    return Err(format!(
                        "@{function}: %k{place}_ has {found:?}, not {a:?} and {b:?}"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Compares the plugin's answers on the optimised module `made` with those of the alias rule.
fn compare(
    world: &World,
    made: &Path,
    functions: &[(String, Vec<Found>)],
    counts: &mut Counts,
) -> Result<(), String> {
    let plugin = plugin();
    let print = ["-print-no-aliases", "-load-pass-plugin", &plugin];
    let found = aa_eval("opt-22", &print, "tbaa-classes", made).expect("opt-22");
    let mut lines: HashMap<&str, Vec<(&str, &str)>> = HashMap::new();
    for Evaluated { function, pair: [a, b], .. } in &found {
        lines.entry(function).or_default().push((a, b));
    }
    for (function, accesses) in functions {
        let mut by_text: HashMap<&str, Vec<&Set>> = HashMap::new();
        accesses
            .iter()
            .for_each(|access| by_text.entry(&access.text).or_default().push(&access.set));
        let lines = lines.get(function.as_str()).map_or(&[][..], |line| line);
        for (a, b) in lines {
            let mut pairs = by_text[a].iter().flat_map(|x| by_text[b].iter().map(move |y| (x, y)));
            if !pairs.any(|(x, y)| apart(&world.rule, x, y)) {
                return Err(format!("@{function}: `{a}` and `{b}` may alias by the rule"));
            }
        }
        let (mut pairs, mut told) = (0, 0);
        for (at, a) in accesses.iter().enumerate() {
            for b in accesses[..at].iter().filter(|b| a.store || b.store) {
                pairs += 1;
                told += u64::from(apart(&world.told, &a.set, &b.set));
            }
        }
        if told != lines.len() as u64 {
            return Err(format!(
                "@{function}: {} pairs are apart, {told} by the rows",
                lines.len()
            ));
        }
        counts.pairs += pairs;
        counts.apart += told;
    }
    Ok(())
}

#[test]
fn after_llvm_s_passes_classes_answer_as_the_source_rule() {
    let Some(()) = tools::find(&["opt-22", "llvm-link-22", "llvm-config-22"]) else { return };
    let wanted = number("TBAA_PAIRS", 60_000);
    let (mut seed, mut counts) = (number("TBAA_SEED", 1), Counts::default());
    let (mut rows_lied, mut rows_seen, mut merges_lied) = (0, 0, 0);
    while counts.pairs < wanted {
        seed += 1;
        let mut rng = Rng(seed);
        let world = World::new(&mut rng, seed);
        let program = Program::new(&mut rng, &world);
        let level = if seed % 4 < 3 { "-O2" } else { "-O3" };
        let made = program.optimised(&world, [&world.rows[0], &world.rows[1]], level);
        let text = fs::read_to_string(&made).unwrap();
        let functions = read(&world, &text);
        let right = program.keeps_classes(&functions, &mut counts);
        let right = right.and_then(|()| compare(&world, &made, &functions, &mut counts));
        right.unwrap_or_else(|error| panic!("seed {seed}: {error}"));

        // Check that the test would notice wrong rows: by these, no class may alias another.
        if rows_seen < 4
            && let Some(lie) = lying(&world)
        {
            rows_seen += 1;
            let made = program.optimised(&world, [&[], &lie], level);
            let text = fs::read_to_string(&made).unwrap();
            let functions = read(&world, &text);
            rows_lied +=
                u64::from(compare(&world, &made, &functions, &mut Counts::default()).is_err());
        }
        // Check that the test would notice a merged access with the classes of only one branch.
        let merged = functions
            .iter()
            .position(|(_, accesses)| accesses.iter().any(|access| program.is_merged(access)));
        if let Some(at) = merged {
            let mut functions = functions;
            let accesses = &mut functions[at].1;
            let lie = accesses.iter().position(|access| program.is_merged(access)).unwrap();
            let place = accesses[lie].place;
            let one = program.twins[&place.unwrap()][0].clone();
            accesses
                .iter_mut()
                .filter(|access| access.place == place)
                .for_each(|access| access.set = one.clone());
            let found = program.keeps_classes(&functions, &mut Counts::default());
            assert!(found.is_err(), "seed {seed}: %k{place:?} lies");
            merges_lied += 1;
        }
    }
    println!("{counts:?}");
    println!("lies noticed: {rows_lied} of {rows_seen} rows, {merges_lied} merged accesses");
    assert!(counts.apart > counts.pairs / 50 && counts.merged > 0 && counts.inlined > 0);
    assert!(rows_lied > 0 && merges_lied > 0);
}

impl Program {
    fn is_merged(&self, access: &Found) -> bool {
        let twins = access.place.and_then(|place| self.twins.get(&place));
        twins.is_some_and(|[a, b]| a.is_subset(&access.set) && b.is_subset(&access.set) && a != b)
    }
}

/// Returns rows by which no class may alias another; `None` if those of `world` are the same.
fn lying(world: &World) -> Option<Vec<String>> {
    let rows: Vec<String> = (0..world.rows[1].len()).map(|class| class.to_string()).collect();
    (rows != world.rows[1]).then_some(rows)
}
