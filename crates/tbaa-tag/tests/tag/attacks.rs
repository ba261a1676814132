//! Runs programs that access the same memory as several types. The comments `right: OPTIONS` and
//! `wrong: OPTIONS` at the top of a program say whether tags with these options keep its output.

use tbaa_tests::llvm::Llvm;

use crate::places::options;
use crate::{WITHOUT_TAGS, files, run, tagged};

#[test]
fn attacks_are_right_or_known() {
    let Some(llvm) = Llvm::get() else { return };
    let mut counts = [0; 2];
    for file in files("attacks", "c").into_iter().chain(files("attacks", "ll")) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let source = std::fs::read_to_string(&file).unwrap();
        let plain = match name.ends_with(".c") {
            true => llvm.clang(&file, &WITHOUT_TAGS),
            false => source.clone().into_bytes(),
        };
        let expected = run(name, &plain, "-O0");
        assert_eq!(run(name, &plain, "-O3"), expected, "{name} without tags");
        let mut is_tried = false;
        for line in source.lines().take_while(|line| line.starts_with([';', '/'])) {
            let line = line.trim_start_matches([';', '/', ' ']);
            let Some((verdict @ ("right" | "wrong"), words)) = line.split_once(':') else {
                continue;
            };
            let printed = run(name, &tagged(&plain, &options(words)), "-O3");
            let is_right = printed == expected;
            assert_eq!(is_right, verdict == "right", "{name}{words}: {printed}for {expected}");
            counts[usize::from(is_right)] += 1;
            is_tried = true;
        }
        assert!(is_tried, "{name} says neither right nor wrong");
    }
    assert!(counts.iter().all(|&count| count > 4), "{counts:?}");
}
