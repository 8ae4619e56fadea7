--- invoice_text
-- context: {"order": 44}
function run(context)
  local rows = must(query_db{sql = "SELECT i.line, p.name, i.quantity, i.unit_price FROM order_items i JOIN products p ON p.id = i.product_id WHERE i.order_id = $1 ORDER BY i.line", params = {context.order}}, "the lines")
  local page = transform_data{
    input = rows,
    template = [[
{% for r in rows -%}
{{ r.line }}. {{ r.name }}: {{ r.quantity }} at {{ r.unit_price|number(2) }}
{% endfor %}]],
    format = "text",
  }
  if type(page) ~= "string" then error(page.error) end
  context.page = page
  return context
end
--- greeting_constant
function run(context)
  local page = transform_data({title = "Summer sale", percent = 15}, "{{ title|upper }}: {{ percent }}% off\n", "text")
  if type(page) ~= "string" then
    error("greeting: " .. page.error)
  end
  context.page = page
  return context
end
--- opening_hours
function run(context)
  local page = transform_data{
    input = {
      days = {
        {name = "Monday", from = "09:00", to = "18:00"},
        {name = "Saturday", from = "10:00", to = "14:00"},
      },
      note = "closed on Sunday",
    },
    template = "{% for d in days %}{{ d.name }} {{ d.from }}-{{ d.to }}\n{% endfor %}({{ note }})",
    format = "text",
  }
  context.page = must(page, "the hours")
  return context
end
--- products_html_list
function run(context)
  local rows = query_db{table = "products", where = "active", columns = {"sku", "name", "price"}, order_by = "sku", limit = 8}
  if rows.error then error(rows.error) end
  local html = transform_data(rows, "<ul>{% for p in rows %}<li>{{ p.sku }} {{ p.name }} {{ p.price|number(2) }}</li>{% endfor %}</ul>", "html")
  if type(html) ~= "string" then error(html.error) end
  context.html = html
  return context
end
--- tickets_grouped
function run(context)
  local rows = must(query_db{table = "tickets", columns = {"id", "priority", "subject"}, order_by = "id"}, "the tickets")
  local page = must(transform_data{
    input = rows,
    template = [[
{% for priority, group in rows|groupby("priority") %}
Priority {{ priority }}:
{% for t in group %}  #{{ t.id }} {{ t.subject|truncate(30) }}
{% endfor %}{% endfor %}]],
  }, "the page")
  return {page = page, tickets = #rows}
end
--- sums_in_template
function run(context)
  local rows = must(query_db{sql = "SELECT method, sum(amount_cents) AS cents FROM payments GROUP BY method ORDER BY method"}, "payments")
  local page = transform_data(rows, "{% for r in rows %}{{ r.method }}: {{ (r.cents / 100)|number(2) }}\n{% endfor %}total: {{ (rows|sum(attribute=\"cents\") / 100)|number(2) }}", "text")
  if type(page) ~= "string" then error(page.error) end
  context.page = page
  return context
end
--- dates_in_template
function run(context)
  local rows = query_db{sql = "SELECT id, placed_at FROM orders WHERE status = 'shipped' ORDER BY placed_at DESC LIMIT 5"}
  if rows.error then error(rows.error) end
  local page = transform_data{input = rows, template = '{% for o in items %}{{ o.id }} of {{ o.placed_at|date("%d.%m.%Y") }}; {% endfor %}'}
  if type(page) ~= "string" then error(page.error) end
  context.page = text.trim(page)
  return context
end
--- optional_note
function run(context)
  local page = transform_data({subject = "Delivery", lines = {"one", "two"}}, [[
Subject: {{ subject }}
{% for line in lines %}- {{ line }}
{% endfor %}{{ note|default("no note") }}]], "text")
  if type(page) ~= "string" then error(page.error) end
  return {page = page}
end
--- markdown_report
function run(context)
  local rows = must(query_db{sql = "SELECT g.name AS category, count(*) AS products, avg(p.price) AS mean FROM products p JOIN categories g ON g.id = p.category_id GROUP BY g.name ORDER BY g.name"}, "categories")
  local page = transform_data{
    input = {title = "Categories", rows = rows},
    template = "# {{ title }}\n\n| category | products | mean |\n|---|---|---|\n{% for r in rows %}| {{ r.category }} | {{ r.products }} | {{ r.mean|round(2) }} |\n{% endfor %}",
    format = "markdown",
  }
  context.page = must(page, "the report")
  return context
end
--- csv_columns
function run(context)
  local rows = query_db{table = "customers", columns = {"id", "email", "country"}, order_by = "id", limit = 5}
  if rows.error then error(rows.error) end
  local file = transform_data{input = rows, template = "email,country", format = "csv"}
  if type(file) ~= "string" then error(file.error) end
  context.lines = #text.lines(file)
  context.file = file
  return context
end
--- json_form
function run(context)
  local rows = must(query_db{table = "categories", order_by = "id"}, "categories")
  local page = must(transform_data(rows, nil, "json"), "the JSON")
  local back = json.decode(page)
  context.same = #back == #rows
  context.bytes = #page
  return context
end
--- json_by_template
function run(context)
  local document = transform_data{
    input = {name = "shop", open = true, tags = {"garden", "home"}},
    template = '{"name": {{ name|tojson }}, "open": {{ open|tojson }}, "tags": {{ tags|tojson }}}',
    format = "json",
  }
  if type(document) ~= "string" then
    error(document.error)
  end
  context.name = json.decode(document).name
  return context
end
--- numbered_by_loop
function run(context)
  local steps = {"pack", "label", "hand over"}
  local page = transform_data(steps, "{% for s in items %}{{ loop.index }}. {{ s|capitalize }}{% if not loop.last %}\n{% endif %}{% endfor %}")
  if type(page) ~= "string" then error(page.error) end
  context.page = page
  return context
end
--- conditions_in_template
function run(context)
  local rows = must(query_db{table = "products", columns = {"sku", "stock", "reorder_at"}, order_by = "sku"}, "products")
  local page = must(transform_data{
    input = rows,
    template = [[
{% for p in rows if p.stock < p.reorder_at %}{{ p.sku }} {% if p.stock == 0 %}SOLD OUT{% elif p.stock < 5 %}nearly{% else %}low{% endif %}
{% else %}all is well{% endfor %}]],
    format = "text",
  }, "the list")
  context.lines = text.lines(page)
  return context
end
--- namespace_sum
function run(context)
  local rows = must(query_db{sql = "SELECT quantity, unit_price FROM order_items WHERE order_id = 44 ORDER BY line"}, "lines")
  local page = must(transform_data{
    input = {rows = rows, currency = "EUR"},
    template = "{% set ns = namespace(total=0) %}{% for r in rows %}{% set ns.total = ns.total + r.quantity * r.unit_price %}{% endfor %}{{ ns.total|number(2) }} {{ currency }}",
  }, "the total")
  return {total = page}
end
--- sorted_in_template
function run(context)
  local rows = query_db{sql = "SELECT city, count(*) AS n FROM customers GROUP BY city"}
  if rows.error then error(rows.error) end
  local page = transform_data(rows, "{% for r in rows|sort(attribute='n', reverse=true) %}{{ r.city }} ({{ r.n }}){{ '' if loop.last else ', ' }}{% endfor %}", "text")
  if type(page) ~= "string" then error(page.error) end
  context.cities = page
  return context
end
--- printf_in_template
function run(context)
  local page = transform_data{
    input = {rows = {{name = "Kettle", price = 42.9}, {name = "Lamp", price = 79.5}}},
    template = "{% for r in rows %}{{ '%-10s %8.2f' % (r.name, r.price) }}\n{% endfor %}",
    format = "text",
  }
  if type(page) ~= "string" then error(page.error) end
  context.page = page
  return context
end
--- decimal_comma
function run(context)
  local rows = must(query_db{sql = "SELECT sku, price FROM products WHERE price >= 50 ORDER BY price"}, "prices")
  local page = must(transform_data(rows, [[
{% for r in rows %}{{ r.sku }};{{ r.price|number(2, thousands=".", decimal=",") }}
{% endfor %}]], "text"), "the prices")
  context.page = page
  return context
end
--- with_block
function run(context)
  local page = transform_data({shop = {name = "Shop", town = "Berlin"}, year = 2026}, "{% with s = shop %}{{ s.name }} in {{ s.town }}, {{ year }}{% endwith %}\n", "text")
  if type(page) ~= "string" then error(page.error) end
  context.footer = text.trim(page)
  return context
end
--- joined_names
function run(context)
  local rows = must(query_db{table = "categories", where = "parent_id IS NULL", columns = {"name"}, order_by = "name"}, "categories")
  local page = must(transform_data{input = rows, template = '{{ rows|map(attribute="name")|join(" and ") }}', format = "text"}, "names")
  context.names = page
  return context
end
--- unique_reasons
function run(context)
  local rows = must(query_db{table = "returns", columns = {"reason"}}, "returns")
  local reasons = list.pluck(rows, "reason")
  local page = transform_data(reasons, "{{ items|unique|sort|join(', ') }} ({{ items|length }} in all)")
  if type(page) ~= "string" then
    error(page.error)
  end
  context.page = page
  return context
end
--- pairs_of_table
function run(context)
  local settings = {currency = "EUR", language = "de", vat = 19}
  local page = transform_data{input = settings, template = "{% for key, value in input|items %}{{ key }}={{ value }}\n{% endfor %}", format = "text"}
  if type(page) ~= "string" then error(page.error) end
  context.lines = #text.lines(page)
  return context
end
--- plain_forms
function run(context)
  local rows = query_db{table = "orders", where = {status = "new"}, columns = {"id", "shipping"}, order_by = "id", limit = 3}
  if rows.error then error(rows.error) end
  local out = {}
  for _, format in ipairs{"text", "markdown", "html", "csv", "json"} do
    local page = transform_data{input = rows, format = format}
    out[format] = type(page) == "string" and #page or 0
  end
  context.sizes = out
  return context
end
--- batch_in_rows
function run(context)
  local page = transform_data({"a", "b", "c", "d", "e"}, "{% for row in items|batch(2) %}{{ row|join(' | ') }}\n{% endfor %}", "text")
  if type(page) ~= "string" then error(page.error) end
  context.rows = text.lines(page)
  return context
end
--- default_for_null
function run(context)
  local rows = must(query_db{table = "tickets", columns = {"id", "closed_on"}, order_by = "id", limit = 6}, "tickets")
  local page = must(transform_data(rows, '{% for t in rows %}{{ t.id }}:{{ t.closed_on|default("open", true) }} {% endfor %}', "text"), "page")
  context.page = text.trim(page)
  return context
end
--- tests_in_template
function run(context)
  local page = transform_data{
    input = {numbers = {1, 2, 3, 4}, name = "shop"},
    template = "{% for n in numbers %}{% if n is even %}{{ n }}{% else %}-{% endif %}{% endfor %}{% if name is defined and name is string %} {{ name }}{% endif %}",
    format = "text",
  }
  if type(page) ~= "string" then error(page.error) end
  context.page = page
  return context
end
--- letter_to_customer
-- context: {"id": 3}
local LETTER = [[
Dear {{ name }},

you joined us on {{ joined_on|date("%d %B %Y") }}.
{% if newsletter %}You get our newsletter.{% else %}You do not get our newsletter.{% endif %}
]]

function run(context)
  local rows = query_db{table = "customers", where = {id = context.id}}
  if rows.error then error(rows.error) end
  if #rows == 0 then return {letter = "", found = false} end
  local letter = transform_data(rows[1], LETTER, "text")
  if type(letter) ~= "string" then error(letter.error) end
  return {letter = letter, found = true}
end
--- stock_chart
function run(context)
  local rows = must(query_db{sql = "SELECT sku, stock / 5 AS bars FROM products ORDER BY sku LIMIT 6"}, "stock")
  local page = must(transform_data{
    input = rows,
    template = "{% for r in rows %}{{ r.sku }} {% for i in range(r.bars) %}*{% endfor %}\n{% endfor %}",
  }, "the chart")
  context.chart = page
  return context
end
--- template_by_parts
function run(context)
  local head = "<h2>{{ title }}</h2>\n"
  local body = "<p>{{ words|length }} words, the first is {{ words|first }}.</p>"
  local html = transform_data({title = "Words", words = {"spade", "rake"}}, head .. body, "html")
  if type(html) ~= "string" then error(html.error) end
  context.html = html
  return context
end
--- two_languages
-- context: {"language": "de"}
local TEMPLATES = {
  de = "Bestellung {{ number }}: {{ total|number(2, thousands='.', decimal=',') }} EUR",
  en = "Order {{ number }}: EUR {{ total|number(2) }}",
}

function run(context)
  local template = TEMPLATES[context.language] or TEMPLATES.en
  local page = transform_data({number = 44, total = 1234.5}, template, "text")
  if type(page) ~= "string" then error(page.error) end
  context.page = page
  return context
end
--- replaced_words
function run(context)
  local page = transform_data{
    input = {text = "old shop, old prices"},
    template = '{{ text|replace("old", "new")|title }}{# a comment is not written #}',
    format = "text",
  }
  context.page = must(page, "the text")
  return context
end
--- nested_lists
function run(context)
  local page = transform_data{
    input = {
      departments = {
        {name = "Home", shelves = {{code = "H1", items = 12}, {code = "H2", items = 7}}},
        {name = "Garden", shelves = {{code = "G1", items = 30}}},
      },
    },
    template = "{% for d in departments %}{{ d.name }}: {% for s in d.shelves %}{{ s.code }}={{ s.items }} {% endfor %}({{ d.shelves|sum(attribute='items') }})\n{% endfor %}",
    format = "text",
  }
  if type(page) ~= "string" then error(page.error) end
  context.page = page
  return context
end
--- extremes_of_list
function run(context)
  local prices = list.pluck(must(query_db{table = "products", columns = {"price"}, where = "active"}, "prices"), "price")
  local page = transform_data(prices, "from {{ items|min|number(2) }} to {{ items|max|number(2) }}, {{ items|length }} prices", "text")
  if type(page) ~= "string" then error(page.error) end
  context.page = page
  return context
end
--- links_in_html
function run(context)
  local rows = must(query_db{table = "products", columns = {"sku", "name"}, order_by = "sku", limit = 3}, "products")
  local html = must(transform_data{
    input = {rows = rows, base = "https://files.shop.example/p/"},
    template = '{% for p in rows %}<a href="{{ base }}{{ p.sku|lower|urlencode }}">{{ p.name }}</a>\n{% endfor %}',
    format = "html",
  }, "links")
  context.html = html
  return context
end
--- page_with_total_row
function run(context)
  local rows = must(query_db{sql = "SELECT status::text AS status, count(*) AS n FROM orders GROUP BY status ORDER BY status"}, "states")
  local page = transform_data({rows = rows, total = stats.sum(rows, "n")}, [[
<table>
{% for r in rows %}<tr class="{{ loop.cycle('odd', 'even') }}"><td>{{ r.status }}</td><td>{{ r.n }}</td></tr>
{% endfor %}<tr><td>sum</td><td>{{ total }}</td></tr>
</table>]], "html")
  if type(page) ~= "string" then error(page.error) end
  context.page = page
  return context
end
--- scalar_template
function run(context)
  local page = transform_data(1234.5, "{{ input|number(2) }} EUR", "text")
  if type(page) ~= "string" then error(page.error) end
  local other = transform_data("2026-03-01", "{{ input|date('%A') }}", "text")
  if type(other) ~= "string" then error(other.error) end
  context.lines = {page, other}
  return context
end
--- words_of_text
function run(context)
  local page = transform_data({text = "spade,rake,fern"}, "{% for w in text|split(',') %}[{{ w|trim }}]{% endfor %}\n", "text")
  if type(page) ~= "string" then
    return {failed = page.error}
  end
  return {page = text.trim(page)}
end
--- slices_of_list
function run(context)
  local page = transform_data({names = {"one", "two", "three", "four"}}, "{{ names[0] }} {{ names[1:3]|join('+') }} {{ names|last }} {{ names|reverse|join(' ') }}", "text")
  if type(page) ~= "string" then error(page.error) end
  context.page = page
  return context
end
