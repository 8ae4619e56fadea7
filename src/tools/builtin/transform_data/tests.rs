use super::escape::{csv_field, html, markdown, neutral};
use super::meter::FilterMeter;
use super::settings::TransformDataSettings;

#[test]
fn only_text_that_begins_like_a_formula_and_is_no_number_is_neutralised() {
    for formula in
        ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", "-", "+", "-inf", "=NaN"]
    {
        assert_eq!(neutral(formula), format!("'{formula}"), "{formula}");
    }
    for harmless in ["", "-5", "+3.25", "-1e9", "a=b", " =1", "'=1", "name@example.com"] {
        assert_eq!(neutral(harmless), harmless);
    }
}

#[test]
fn fields_are_quoted_where_they_have_to_be() {
    assert_eq!(csv_field("plain"), "plain");
    assert_eq!(csv_field("a,b"), "\"a,b\"");
    assert_eq!(csv_field("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
}

#[test]
fn markup_is_escaped() {
    assert_eq!(
        html("<a href=\"x\" title='y'>&</a>"),
        "&lt;a href=&quot;x&quot; title=&#x27;y&#x27;&gt;&amp;&lt;/a&gt;"
    );
    assert_eq!(markdown("*a* [x](y) <b> |"), "\\*a\\* \\[x\\](y) \\<b> \\|");
}

#[test]
fn a_meter_stops_at_its_caps_with_both_numbers() {
    let meter = FilterMeter::new(1, 10);
    meter.charge(10).unwrap();
    assert!(meter.charge(1).is_err());
    meter.emit(10).unwrap();
    assert!(meter.emit(1).unwrap_err().to_string().contains("10 bytes"));
}

#[test]
fn settings_refuse_zeros_and_unknown_keys() {
    let settings: TransformDataSettings = toml::from_str("output_bytes_max = \"1KiB\"\nfuel = 9").unwrap();
    assert_eq!((settings.output_bytes_max, settings.fuel), (1024, 9));
    assert!(settings.check().is_ok());
    assert!(toml::from_str::<TransformDataSettings>("template_dir = \"x\"").is_err());
    assert!(TransformDataSettings { fuel: 0, ..settings }.check().unwrap_err().message().contains("fuel"));
}
