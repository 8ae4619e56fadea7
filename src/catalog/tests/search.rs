use super::super::search::{named_in, search};
use super::*;

fn tool(name: &str, description: &str, parameters: &[&str]) -> ToolSpec {
    let mut text = format!(
        "name = {name:?}\ndescription = {description:?}\neffect = \"read\"\nkind = \"builtin\"\n[params]\ntype = \"object\"\n"
    );
    for parameter in parameters {
        text.push_str(&format!("[params.properties.{parameter}]\ntype = \"string\"\n"));
    }
    text.push_str("[result]\ntype = \"string\"\n");
    read_manifest(&text, "tool.toml").unwrap()
}

fn catalog() -> Catalog {
    [
        tool("send_invoice", "Sends an invoice to a customer.", &["customer", "amount"]),
        tool("list_invoices", "Lists the invoices of a month.", &["month"]),
        tool("get_weather", "Tells the weather of a city.", &["city"]),
        tool("b_echo", "Says it again.", &[]),
        tool("a_echo", "Says it again.", &[]),
    ]
    .into_iter()
    .collect()
}

fn names(words: &str) -> Vec<String> {
    search(&catalog(), words).into_iter().map(|found| found.spec.name.clone()).collect()
}

#[test]
fn the_tool_that_shares_the_rarest_words_comes_first() {
    assert_eq!(names("list all invoices of March"), ["list_invoices", "send_invoice"]);
    assert_eq!(names("mail the invoice to the customer, sending it"), ["send_invoice", "list_invoices"]);
    assert_eq!(names("What is the weather in these cities?"), ["get_weather"]);
    assert_eq!(names("the of and"), Vec::<String>::new());
    assert_eq!(names("zebra"), Vec::<String>::new());
}

#[test]
fn endings_and_ways_of_writing_names_do_not_matter() {
    for words in ["listInvoices", "LIST_INVOICE", "listing invoices", "invoices listed"] {
        assert_eq!(names(words).first().map(String::as_str), Some("list_invoices"), "{words}");
    }
    assert_eq!(names("customers")[0], "send_invoice");
}

#[test]
fn equals_are_ordered_by_name_and_the_order_does_not_depend_on_the_catalog() {
    assert_eq!(names("say again"), ["a_echo", "b_echo"]);
    let mut backwards: Vec<ToolSpec> = catalog().iter().map(|spec| (**spec).clone()).collect();
    backwards.reverse();
    let backwards: Catalog = backwards.into_iter().collect();
    for words in ["say again", "invoice of the month", "city customer"] {
        let other: Vec<String> =
            search(&backwards, words).into_iter().map(|found| found.spec.name.clone()).collect();
        assert_eq!(other, names(words));
    }
}

#[test]
fn a_name_counts_only_as_a_word_of_its_own() {
    let catalog = catalog();
    let named = |text: &str| named_in(&catalog, text).into_iter().collect::<Vec<_>>();
    assert_eq!(named("use list_invoices, then (get_weather)"), ["get_weather", "list_invoices"]);
    assert_eq!(named("list_invoices_2 and xget_weather"), Vec::<&str>::new());
    assert_eq!(named("{\"tool\":\"a_echo\"}"), ["a_echo"]);
    assert!(named_in(&Catalog::default(), "a_echo").is_empty());
}
