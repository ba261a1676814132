//! Tests `tbaa report`: the structure of the page, and its rendering if a browser is installed.

use std::process::Command;

use crate::support::{run, stdin};

fn data(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

/// Decodes a triangle of letters, as the page's script does. Commas separate the rows. A row is
/// runs of a capital letter and a count in base 36; a letter without a count fills the row.
fn triangle(text: &str, side: usize) -> Vec<Vec<char>> {
    let row = |(row, mut rest): (usize, &str)| {
        let mut letters = Vec::new();
        while let Some(letter) = rest.chars().next() {
            let end = rest[1..].find(|c: char| c.is_ascii_uppercase());
            let end = end.map_or(rest.len(), |at| at + 1);
            let left = side - row - 1 - letters.len();
            let count = usize::from_str_radix(&rest[1..end], 36).unwrap_or(left);
            letters.extend(std::iter::repeat_n(letter, count));
            rest = &rest[end..];
        }
        letters
    };
    text.split(',').enumerate().map(row).collect()
}

#[test]
fn the_answers_on_the_page_are_those_of_the_commands() {
    for input in ["shapes.ll", "fill.ll", "union.ron", "../../../../specs/ravi.ron"] {
        let page = run(&["report", input]);
        assert_eq!(page.code, 0, "{}", page.errors);
        let documents = data(&page.text);
        let one = &documents[0];
        let tags = one["tags"].as_array().unwrap().iter();
        let labels: Vec<&str> = tags.map(|tag| tag["label"].as_str().unwrap()).collect();
        for (which, rules) in ["llvm", "union", "union-strict"].into_iter().enumerate() {
            let matrix = run(&["matrix", input, "--rules", rules, "--format", "json"]).text;
            let matrix: serde_json::Value = serde_json::from_str(&matrix).unwrap();
            let tags = matrix["tags"].as_array().unwrap();
            let place = |label: &&str| tags.iter().position(|tag| tag == label).unwrap();
            let order: Vec<usize> = labels.iter().map(place).collect();
            let [answers, reasons] = ["answers", "reasons"]
                .map(|what| triangle(one["answers"][what][which].as_str().unwrap(), labels.len()));
            for (a, b) in (0..labels.len()).flat_map(|a| (a + 1..labels.len()).map(move |b| (a, b)))
            {
                let row = matrix["rows"][order[a]].as_str().unwrap();
                let expected = row.as_bytes()[order[b]] as char;
                let pair = [labels[a], labels[b]];
                assert_eq!(answers[a][b - a - 1], expected, "{input}, {rules}: {pair:?}");
                // Only some reasons are compared, because each one needs a run of `tbaa explain`.
                if (a + b) % 7 == 0 {
                    let why = run(&["explain", input, labels[a], labels[b], "--rules", rules]).text;
                    let clause = reasons[a][b - a - 1] as usize - 'A' as usize;
                    let clause = one["answers"]["clauses"][clause].as_str().unwrap();
                    assert!(why.contains(&format!("rule {rules}: {clause}")), "{clause}: {why}");
                }
            }
        }
    }
}

#[test]
fn the_page_loads_nothing_and_is_accessible() {
    let page = run(&["report", "shapes.ll", "suspicious.ll", "union.ron"]).text;
    // SVG's namespace is not loaded, and `url(#` refers to an element of the same picture.
    let page = page.replace("http://www.w3.org/2000/svg", "").replace("url(#", "");
    for loaded in ["http:", "https:", "src=", "@import", "url(", "<link", "eval(", "innerHTML"] {
        assert!(!page.contains(loaded), "{loaded}");
    }
    for part in [
        "<html lang=", "name=\"viewport\"", "prefers-color-scheme: dark", "<main",
        "<nav aria-label=",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Every id that the script names exists.
    let ids: Vec<&str> =
        page.split("id=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0).collect();
    for named in page.split("byId(\"").skip(1).chain(page.split("fill(\"").skip(1)) {
        let id = named.split_once('"').unwrap().0;
        assert!(ids.contains(&id), "{id}");
    }
    let documents = data(&page);
    assert_eq!(documents.as_array().unwrap().len(), 3);
    assert!(!documents[1]["findings"].as_array().unwrap().is_empty());
    let spans = &documents[1]["findings"][0]["text"];
    assert!(!spans[1].as_str().unwrap().is_empty(), "{spans}");
}

#[test]
fn the_page_says_what_keeps_a_load() {
    let blocks: serde_json::Value =
        serde_json::from_str(&run(&["blocks", "fill.ll", "--format", "json"]).text).unwrap();
    let one = &data(&run(&["report", "fill.ll"]).text)[0];
    assert_eq!(one["kept_loads"], blocks["loads"].as_array().unwrap().len());
    assert!(one["kept_loads"].as_u64().unwrap() > 0);
    let [rows, known] = [one, &blocks].map(|of| of["loads"].as_array().unwrap());
    for (row, known) in rows.iter().zip(known) {
        assert_eq!((&row["load"], &row["blockers"]), (&known["load"], &known["blockers"]));
        assert_eq!(row["more"], 0);
    }
    // The page shows the source lines, because fill.c is available.
    let lines = one["loads"][0]["lines"].as_array().unwrap();
    let is_reload = |line: &serde_json::Value| {
        line["reloads"] == 1 && line["text"].as_str().unwrap().contains("i < v->len")
    };
    assert!(lines.iter().any(is_reload), "{lines:?}");
    assert!(lines.iter().any(|line| line["blocks"] == 1), "{lines:?}");
}

/// Returns a module with `types` struct types. Each has four tags, and each tag has a store.
fn large(types: usize) -> String {
    let mut text = String::from("define void @f(ptr %p) {\n");
    for at in 0..types {
        for field in 0..4 {
            text += &format!("  store i32 0, ptr %p, align 4, !tbaa !{}\n", 10 + 10 * at + field);
        }
    }
    text += "  ret void\n}\n!0 = !{!\"root\"}\n!1 = !{!\"char\", !0, i64 0}\n!2 = !{!\"int\", !1, i64 0}\n";
    for at in 0..types {
        let number = 10 + 10 * at + 9;
        let name = format!("a struct with a name that is long enough, number {at}");
        text +=
            &format!("!{number} = !{{!\"{name}\", !2, i64 0, !2, i64 4, !2, i64 8, !2, i64 12}}\n");
        for field in 0..4 {
            text += &format!("!{} = !{{!{number}, !2, i64 {}}}\n", number - 9 + field, 4 * field);
        }
    }
    text
}

#[test]
fn a_large_module_has_a_small_page() {
    let page = stdin(&["report", "-"], large(8000).as_bytes()).text;
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let documents = data(&page);
    let left_out = documents[0]["left_out"].to_string();
    assert!(left_out.contains("tags: the ") && left_out.contains("of 32000"), "{left_out}");
    assert!(left_out.contains("types: "), "{left_out}");
    assert_eq!(page, stdin(&["report", "-"], large(8000).as_bytes()).text);
}

const HOSTILE: &str = "define void @\"</script><script>alert(1)//\"(ptr %p) {\n  store i32 1, ptr %p, !tbaa !0\n  ret void\n}\n\
    !0 = !{!1, !2, i64 0}\n!1 = !{!\"</script><img src=x onerror=alert(1)>{{script}}\", !2, i64 0, !2, i64 4}\n\
    !2 = !{!\"<!--<script>\\0A\\E2\\80\\A8\", !3, i64 0}\n!3 = !{!\"root\"}\n";

#[test]
fn no_name_ends_the_script() {
    let plain = run(&["report", "shapes.ll"]).text;
    let page = stdin(&["report", "-"], HOSTILE.as_bytes()).text;
    for tag in ["<script", "</script", "<!--", "<img"] {
        assert_eq!(page.matches(tag).count(), plain.matches(tag).count(), "{tag}");
    }
    let types = data(&page)[0]["types"].to_string();
    assert!(types.contains("</script><img src=x onerror=alert(1)>{{script}}"), "{types}");
}

/// Lets headless Chromium, if it is installed, run the page's script, which must fill the page.
#[test]
fn a_browser_draws_the_page() {
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let known = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let Some(browser) = browsers.into_iter().find(|name| known(name)) else {
        eprintln!("no Chromium is installed; the page is not shown to it");
        return;
    };
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, input, shown) in [
        ("shapes", run(&["report", "shapes.ll", "union.ron"]).text, "S+0 (int)"),
        ("hostile", stdin(&["report", "-"], HOSTILE.as_bytes()).text, "onerror=alert"),
        ("empty", run(&["report", "empty.ll"]).text, "There are no tags."),
    ] {
        let file = dir.join(format!("browser-{name}.html"));
        // If the page's script fails, this one changes the title.
        let watch = "<script>addEventListener('error', (e) => { document.title = 'failed: ' + e.message; });</script></head>";
        std::fs::write(&file, input.replacen("</head>", watch, 1)).unwrap();
        let flags = "--headless --no-sandbox --disable-gpu --window-size=390,844 --dump-dom";
        let data = format!("--user-data-dir={}", dir.join("chromium").display());
        let page = format!("file://{}", file.display());
        let mut browser = Command::new(browser);
        let out = browser.args(flags.split(' ')).args([data, page]).output().unwrap();
        let dom = String::from_utf8_lossy(&out.stdout);
        assert!(dom.contains("<title>TBAA of "), "{name}: {}", &dom[..dom.len().min(2000)]);
        assert!(!dom.contains("<img"), "{name}: a name became markup");
        let (_, body) = dom.split_once("<main").unwrap();
        let (body, _) = body.split_once("</main>").unwrap();
        assert!(body.contains(shown) && body.contains("found</span>"), "{name}: {body}");
    }
}
