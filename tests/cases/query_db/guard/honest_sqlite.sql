-- Ordinary queries that must pass on SQLite. A block is one statement; its first line names it.

-- names in every kind of quotes
SELECT "u"."name", `u`.`age`, [u].[city] FROM "users" AS "u"
-- tables with a schema
SELECT name FROM main.users
-- dates
SELECT date('now'), time('now'), datetime('now', '-1 day'), julianday('now'), unixepoch() > 0
-- dates as text
SELECT strftime('%Y-%m', created_at) AS month, SUM(total) FROM orders GROUP BY strftime('%Y-%m', created_at)
-- dates reckoned
SELECT date(created_at, 'start of month', '+1 month', '-1 day') FROM orders
-- texts gathered
SELECT group_concat(name, ', ') FROM users
-- texts gathered in order
SELECT group_concat(name, ', ' ORDER BY name) FROM users
-- texts
SELECT substr(name, 1, 2), instr(name, 'n'), ltrim(name), rtrim(name), name || '!' FROM users
-- formatted texts
SELECT printf('%05d', id), format('%.2f', 1.5), hex(name), quote(name), unicode(name), char(65, 66) FROM users
-- IIF and IFNULL
SELECT iif(age > 30, 'old', 'young'), ifnull(city, '-') FROM users
-- types
SELECT typeof(id), typeof(name), typeof(NULL) FROM users
-- GLOB
SELECT name FROM users WHERE name GLOB 'A*'
-- JSON by arrows
SELECT data -> 'a', data ->> '$.a' FROM orders
-- JSON
SELECT json_extract(data, '$.a'), json_type(data), json_valid(data), json_array_length('[1,2]') FROM orders
-- JSON of parts
SELECT json_object('id', id, 'name', name), json_array(id, age) FROM users
-- JSON gathered
SELECT json_group_array(name), json_group_object(id, name) FROM users
-- JSON taken apart
SELECT e.key, e.value FROM orders, json_each(data) AS e
-- JSON as a tree
SELECT t.fullkey, t.atom FROM orders, json_tree(orders.data) t WHERE t.atom IS NOT NULL
-- JSON taken apart in a condition
SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM json_each(data) WHERE value = 1)
-- filtered aggregates
SELECT count(*) FILTER (WHERE age > 30), total(age) FROM users
-- smallest and largest of a row
SELECT max(id, age), min(id, age) FROM users
-- numbers
SELECT round(1.25, 1), abs(-2), sign(-2), 7 % 3, 1 << 4, ~1
-- chance
SELECT abs(random()) >= 0
-- columns of a table
SELECT name, type FROM pragma_table_info('users')
-- tables
SELECT name FROM pragma_table_list WHERE schema = 'main'
-- the schema
SELECT name, sql FROM sqlite_schema WHERE type = 'table'
-- the schema by its old name
SELECT name FROM sqlite_master
-- indexes
SELECT * FROM pragma_index_list('users')
-- foreign keys
SELECT * FROM pragma_foreign_key_list('orders')
-- a limit with an offset first
SELECT name FROM users LIMIT 1, 2
-- the same or both nothing
SELECT name FROM users WHERE city IS 'Oslo' OR city IS NOT DISTINCT FROM NULL
-- a window with a frame of groups
SELECT id, count(*) OVER (ORDER BY user_id GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders
-- a window that leaves out
SELECT id, sum(total) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM orders
-- a materialized expression
WITH t AS NOT MATERIALIZED (SELECT * FROM users) SELECT count(*) FROM t
-- a materialized expression with names
WITH t(a, b) AS MATERIALIZED (SELECT id, name FROM users) SELECT b FROM t
-- rows compared
SELECT * FROM users WHERE (id, name) = (1, 'Ann')
-- an order with nothing last
SELECT name FROM users ORDER BY city NULLS LAST, name COLLATE NOCASE
-- the plan of a query
EXPLAIN QUERY PLAN SELECT * FROM users WHERE id = 1
-- the row's number
SELECT rowid, name FROM users
-- the version
SELECT sqlite_version()
-- a cast
SELECT CAST('12' AS INTEGER), CAST(1 AS TEXT), CAST(age AS REAL), CAST(name AS VARCHAR(20)) FROM users
-- a blob
SELECT x'0102', length(x'0102')
-- a hint for the planner
SELECT name FROM users WHERE likely(age > 1) AND +id > 0
-- a table that is in an index
SELECT name FROM users NOT INDEXED WHERE id = 1
-- search in texts
SELECT note, bm25(notes), snippet(notes, 0, '<b>', '</b>', '…', 8), highlight(notes, 0, '<', '>') FROM notes WHERE notes MATCH 'hello'
-- days in a row
WITH RECURSIVE d(day) AS (SELECT date('2026-01-01') UNION ALL SELECT date(day, '+1 day') FROM d WHERE day < '2026-01-07') SELECT day FROM d
-- a fallback for what is wrong
SELECT nullif(age, 0), coalesce(city, name, '-'), likelihood(age > 1, 0.5) FROM users
-- texts with other marks in them
SELECT name FROM users WHERE name LIKE 'pragma_%' OR name = 'load_extension(1)'
