//! Whatever is shortened is short, and whole by its parts.

use serde_json::json;

use super::*;

const BYTES_MAX: usize = ANSWER_BYTES_MIN as usize;

fn read_on(path: &str, offset: usize) -> Json {
    json!({ "run": "0192b1c4-0000-7000-8000-000000000000", "path": path, "offset": offset })
}

/// Puts a value together from its pages alone.
fn whole(document: &Json, path: &str) -> Json {
    let value = document.pointer(path).unwrap_or_else(|| panic!("nothing at {path}"));
    let (mut offset, mut parts) = (0, Vec::new());
    let kind = loop {
        let page = page(value, path, offset, BYTES_MAX, &read_on).unwrap();
        assert!(json_bytes(&page) <= BYTES_MAX, "{path} {offset}: {}", json_bytes(&page));
        let mut part = page["part"].clone();
        let listed = page["shortened"].as_array().into_iter().flatten();
        let listed: Vec<&str> = listed.map(|inner| inner.as_str().unwrap()).collect();
        // What stands inside another shortened value is read with that.
        let is_inside = |inner: &str| listed.iter().any(|outer| inner.starts_with(&format!("{outer}/")));
        for inner in listed.iter().copied().filter(|inner| !is_inside(inner)) {
            let below = inner.strip_prefix(path).unwrap();
            let below = match (page["type"].as_str().unwrap(), below[1..].split_once('/')) {
                // Items of a page count from its offset.
                ("array", Some((index, rest))) => {
                    format!("/{}/{rest}", index.parse::<usize>().unwrap() - offset)
                }
                ("array", None) => format!("/{}", below[1..].parse::<usize>().unwrap() - offset),
                _ => below.to_owned(),
            };
            *part.pointer_mut(&below).unwrap() = whole(document, inner);
        }
        parts.push(part);
        match page["next"].as_u64() {
            Some(next) => {
                assert!(next as usize > offset, "{path} stands still at {offset}");
                offset = next as usize;
            }
            None => break page["type"].as_str().unwrap().to_owned(),
        }
    };
    let text = || parts.iter().map(|part| part.as_str().unwrap()).collect::<String>();
    match kind.as_str() {
        "array" => parts.iter().flat_map(|part| part.as_array().unwrap().clone()).collect(),
        "object" => Json::Object(parts.iter().flat_map(|part| part.as_object().unwrap().clone()).collect()),
        "string" => text().into(),
        "json" => serde_json::from_str(&text()).unwrap(),
        _ => parts.pop().unwrap(),
    }
}

fn deep(levels: usize) -> Json {
    (0..levels).fold(json!("x".repeat(30_000)), |inner, level| match level % 2 {
        0 => json!([1, inner, { "shortened": true, "head": [] }]),
        _ => json!({ "a/b~c": inner, "other": "y".repeat(2_000) }),
    })
}

#[test]
fn any_value_is_short_in_an_answer_and_whole_by_its_pages() {
    let rows: Vec<Json> =
        (0..5_000).map(|id| json!({ "id": id, "name": format!("row {id} \u{20ac}\"\n") })).collect();
    let many: Map<String, Json> = (0..3_000).map(|id| (format!("key {id}"), json!(id))).collect();
    let long_names: Map<String, Json> =
        (0..40).map(|id| (format!("{}{id}", "k\u{1}/".repeat(400)), json!([id]))).collect();
    for (name, value) in [
        ("rows", json!(rows)),
        ("two lists", json!({ "rows": rows, "others": rows, "count": 5_000 })),
        ("many members", json!(many)),
        ("names too long for a path", json!(long_names)),
        ("one long name", json!({ "n".repeat(100_000): 1 })),
        ("text", json!("\u{1}\"\\\u{20ac}\u{1f5fc}line\n".repeat(20_000))),
        ("one item too long", json!(["x".repeat(60_000), 1, ["y".repeat(60_000)]])),
        (
            "many long members",
            json!((0..200).map(|id| (id.to_string(), json!("z".repeat(2_000)))).collect::<Map<_, _>>()),
        ),
        ("deep", deep(40)),
        ("very deep", deep(110)),
        ("data like a part", json!(vec![json!({ "shortened": true, "read_on": "no" }); 4_000])),
    ] {
        let document = json!({ "run_id": "x", "status": "succeeded", "result": value, "usage": {} });
        let short = shortened(document.clone(), BYTES_MAX, &read_on);
        assert!(json_bytes(&short) <= BYTES_MAX, "{name}: {}", json_bytes(&short));
        assert_eq!(short["status"], "succeeded", "{name}");
        assert!(!short["shortened"].as_array().unwrap().is_empty(), "{name}");
        // A list that is little more than a list in it shows what comes before that.
        let shows = if name.ends_with("deep") { BYTES_MAX / 16 } else { BYTES_MAX / 4 };
        assert!(json_bytes(&short) > shows, "{name} shows {} bytes only", json_bytes(&short));
        assert!(whole(&document, "/result") == value, "{name}");
    }
}

#[test]
fn a_shortened_list_has_its_size_its_shape_and_the_way_on() {
    let rows: Vec<Json> = (0..5_000).map(|id| json!({ "id": id, "name": "n".repeat(300) })).collect();
    let short = shortened(json!({ "result": { "rows": rows } }), 40 * 1024, &read_on);
    let part = &short["result"]["rows"];
    assert_eq!((&part["type"], &part["items"]), (&json!("array"), &json!(5_000)));
    assert_eq!(part["bytes"], json_bytes(&rows));
    assert!(part["shape"].as_str().unwrap().contains("id: integer"), "{part}");
    let head = part["head"].as_array().unwrap();
    assert!(head.len() > 80, "{}", head.len());
    assert_eq!(part["read_on"]["offset"], head.len());
    assert_eq!(part["read_on"]["path"], "/result/rows");
    assert_eq!(short["shortened"], json!(["/result/rows"]));
}

#[test]
fn what_is_short_stays_as_it_is_and_offsets_are_checked() {
    let answer = json!({ "result": [1, 2, 3], "shortened": "a member" });
    assert_eq!(shortened(answer.clone(), BYTES_MAX, &read_on), answer);
    let of = |value: Json, offset| page(&value, "/result", offset, BYTES_MAX, &read_on);
    assert_eq!(of(json!([1, 2, 3]), 3).unwrap()["part"], json!([]));
    for (value, offset) in
        [(json!([1]), 2), (json!({}), 1), (json!("ab"), 3), (json!("\u{20ac}"), 1), (json!(7), 1)]
    {
        assert_eq!(of(value, offset).unwrap_err().code(), ErrorCode::BadRequest);
    }
    assert_eq!(of(json!(7), 0).unwrap()["part"], 7);
}
