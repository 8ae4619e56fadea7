-- Ordinary queries that must pass on PostgreSQL. A block is one statement; its first line names it.

-- casts with signs
SELECT total::numeric(10, 2), id::text, '2026-01-01'::date, ARRAY[1, 2]::int[], '5'::varchar(3) FROM orders
-- casts of typed texts
SELECT date '2026-01-01', timestamp '2026-01-01 10:00', interval '1 day', numeric '1.5'
-- a month
SELECT date_trunc('month', created_at), SUM(total) FROM orders GROUP BY 1 ORDER BY 1
-- parts of dates
SELECT EXTRACT(YEAR FROM created_at), date_part('dow', created_at), EXTRACT(EPOCH FROM created_at) FROM orders
-- ages
SELECT age(created_at), now() - created_at, created_at + interval '1 day' FROM orders
-- dates as text
SELECT to_char(created_at, 'YYYY-MM-DD'), to_char(total, 'FM999,990.00') FROM orders
-- texts as dates
SELECT to_date('2026-01-31', 'YYYY-MM-DD'), to_timestamp('2026-01-31', 'YYYY-MM-DD')
-- time zones
SELECT created_at AT TIME ZONE 'UTC', timezone('Europe/Oslo', now()) FROM orders
-- made dates
SELECT make_date(2026, 1, 31), make_interval(days => 3), justify_days(interval '40 days')
-- days in a row
SELECT d::date, COUNT(o.id) FROM generate_series('2026-01-01'::date, '2026-01-07'::date, interval '1 day') AS d LEFT JOIN orders o ON o.created_at::date = d::date GROUP BY 1
-- a series with a name of its column
SELECT g.n * 2 FROM generate_series(1, 3) AS g(n)
-- a series with a name without AS
SELECT n FROM generate_series(1, 3) g(n)
-- JSON by arrows
SELECT data -> 'a', data ->> 'a', data #> '{a,b}', data #>> '{a,b}' FROM orders
-- JSON that contains
SELECT id FROM orders WHERE data::jsonb @> '{"a": 1}' AND data::jsonb ?| ARRAY['a', 'b']
-- JSON of parts
SELECT jsonb_build_object('id', id, 'name', name), to_jsonb(u) FROM users u
-- JSON gathered
SELECT json_agg(name ORDER BY name), jsonb_object_agg(id, name) FROM users
-- JSON taken apart
SELECT e.key, e.value FROM orders, LATERAL jsonb_each(data::jsonb) AS e
-- JSON taken apart with types
SELECT r.a, r.b FROM orders, jsonb_to_record(data::jsonb) AS r(a int, b text)
-- paths in JSON
SELECT jsonb_path_query_array(data::jsonb, '$.*'), jsonb_typeof(data::jsonb) FROM orders
-- texts gathered
SELECT string_agg(name, ', ' ORDER BY name) FROM users
-- texts
SELECT initcap(name), left(name, 2), right(name, 2), position('n' IN name), overlay(name PLACING 'x' FROM 1 FOR 1) FROM users
-- parts of texts
SELECT substring(name FROM 1 FOR 2), split_part(name, ' ', 1), trim(BOTH ' ' FROM name) FROM users
-- patterns
SELECT name FROM users WHERE name ~* '^a' OR name ILIKE 'b%' OR name SIMILAR TO '(A|B)%'
-- patterns replaced
SELECT regexp_replace(name, '[aeiou]', '', 'g'), regexp_matches(name, '(.)n') FROM users
-- padded texts
SELECT lpad(id::text, 8, '0'), rpad(name, 20), repeat('*', 5), repeat('-', length(name)), repeat('=', least(age, 80)) FROM users
-- formatted texts
SELECT format('%s is %s', name, age), concat(name, ' ', city), concat_ws(', ', name, city), name || '!' FROM users
-- filtered aggregates
SELECT COUNT(*) FILTER (WHERE age > 30), SUM(age) FILTER (WHERE city = 'Oslo') FROM users
-- ordered aggregates
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total), mode() WITHIN GROUP (ORDER BY status) FROM orders
-- statistics
SELECT stddev(total), variance(total), corr(total, id), regr_slope(total, id) FROM orders
-- the first of each
SELECT DISTINCT ON (user_id) user_id, total FROM orders ORDER BY user_id, total DESC
-- DISTINCT ON before a function
SELECT DISTINCT ON (user_id) round(total) FROM orders
-- lateral
SELECT u.name, t.total FROM users u CROSS JOIN LATERAL (SELECT total FROM orders o WHERE o.user_id = u.id ORDER BY total DESC LIMIT 1) t
-- arrays
SELECT ARRAY[1, 2, 3], array_length(ARRAY[1, 2], 1), unnest(ARRAY['a', 'b']), 2 = ANY (ARRAY[1, 2]), (ARRAY[1, 2])[1]
-- arrays gathered
SELECT array_agg(id ORDER BY id), array_to_string(array_agg(name), ',') FROM users
-- an array of a subselect
SELECT ARRAY(SELECT id FROM users ORDER BY id)
-- rows numbered
SELECT * FROM unnest(ARRAY['a', 'b']) WITH ORDINALITY AS t(item, place)
-- grouping sets
SELECT city, COUNT(*), GROUPING(city) FROM users GROUP BY GROUPING SETS ((city), ())
-- a rollup
SELECT city, age, COUNT(*) FROM users GROUP BY ROLLUP (city, age)
-- a cube
SELECT city, age, COUNT(*) FROM users GROUP BY CUBE (city, age)
-- a table of values
SELECT v.a, v.b FROM (VALUES (1, 'x'), (2, 'y')) AS v(a, b)
-- a table of values without AS
SELECT v.a FROM (VALUES (1), (2)) v(a)
-- a row and its column
SELECT (u).name, (u.*)::text FROM users u
-- a row of a subselect
SELECT (t).id FROM (SELECT u AS t FROM users u) x
-- rows compared
SELECT * FROM users WHERE (id, name) = (1, 'Ann') OR ROW(id, age) > ROW(2, 20)
-- ranges
SELECT int4range(1, 5) @> 3, daterange('2026-01-01', '2026-02-01') && daterange('2026-01-15', '2026-03-01')
-- overlapping times
SELECT (DATE '2026-01-01', DATE '2026-02-01') OVERLAPS (DATE '2026-01-15', DATE '2026-03-01')
-- search in texts
SELECT name FROM users WHERE to_tsvector('simple', name) @@ plainto_tsquery('simple', 'ann')
-- a recursive expression
WITH RECURSIVE t AS (SELECT id, name, 1 AS depth FROM users WHERE id = 1 UNION ALL SELECT u.id, u.name, t.depth + 1 FROM users u JOIN t ON u.id = t.id + 1) SELECT * FROM t
-- a materialized expression
WITH t AS MATERIALIZED (SELECT * FROM users) SELECT COUNT(*) FROM t
-- a sample
SELECT * FROM users TABLESAMPLE BERNOULLI (100)
-- fetched rows
SELECT * FROM users ORDER BY id OFFSET 1 ROWS FETCH FIRST 2 ROWS ONLY
-- names in quotes and with schema
SELECT "u"."name" FROM "users" AS "u"
-- the catalog
SELECT c.relname, n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v')
-- columns of tables
SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema
-- sizes of tables
SELECT relname, pg_size_pretty(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'
-- descriptions
SELECT obj_description('users'::regclass), col_description('users'::regclass, 1), format_type(23, NULL)
-- use of tables
SELECT relname, n_live_tup FROM pg_catalog.pg_stat_user_tables
-- an operator in its long form
SELECT name FROM users WHERE name OPERATOR(pg_catalog.~) '^A'
-- a collation
SELECT name FROM users ORDER BY name COLLATE "C"
-- the collation of a value
SELECT COLLATION FOR (name) FROM users
-- XML
SELECT XMLELEMENT(NAME user, XMLATTRIBUTES(id AS id), name), XMLFOREST(name, age) FROM users
-- digests
SELECT md5(name), encode(sha256(name::bytea), 'hex') FROM users
-- ids and chance
SELECT gen_random_uuid(), random() < 2
-- numbers
SELECT ceil(total), floor(total), trunc(total, 1), mod(id, 2), power(2, 3), sqrt(4), width_bucket(total, 0, 100, 5) FROM orders
-- escape strings
SELECT E'a\tb\'c', $$it's$$, $x$ $$ $x$
-- a query explained
EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM users
-- a setting that tells how dates are written
SHOW datestyle
-- the zone
SHOW TIME ZONE
-- the version
SELECT version(), current_database(), current_user
-- operators without blanks
SELECT id FROM orders WHERE total>=1 AND total<>2 AND -total<-0.5 AND id=+1 OR NOT(id<=0)
-- a table
TABLE users
-- greatest and least
SELECT greatest(id, age), least(id, age) FROM users
-- JSON rows
SELECT row_to_json(t) FROM (SELECT id, name FROM users) t
-- a type asked
SELECT pg_typeof(total)::text FROM orders
