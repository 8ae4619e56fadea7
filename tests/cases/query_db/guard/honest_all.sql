-- Ordinary queries that must pass on every database. A block is one statement; its first line names it.

-- everything
SELECT * FROM users
-- chosen columns and a condition
SELECT name, age FROM users WHERE age >= 18 AND city IS NOT NULL
-- words that are also names of functions
SELECT u.name, o.status AS position, o.total AS count FROM users u JOIN orders o ON o.user_id = u.id
-- a left join
SELECT u.name, o.total FROM users u LEFT JOIN orders o ON o.user_id = u.id ORDER BY u.name, o.total
-- a join with USING over a subselect
SELECT a.id, b.n FROM users a JOIN (SELECT id, COUNT(*) AS n FROM users GROUP BY id) b USING (id)
-- a cross join
SELECT a.name, b.name FROM users a CROSS JOIN users b WHERE a.id < b.id
-- a self join
SELECT a.name FROM users a, users b WHERE a.city = b.city AND a.id <> b.id
-- aggregates
SELECT COUNT(*), COUNT(DISTINCT city), SUM(age), AVG(age), MIN(age), MAX(age) FROM users
-- grouped with HAVING
SELECT city, COUNT(*) AS n FROM users GROUP BY city HAVING COUNT(*) > 1 ORDER BY n DESC
-- grouped by an expression
SELECT age / 10 AS decade, COUNT(*) FROM users GROUP BY age / 10
-- a conditional sum
SELECT SUM(CASE WHEN status = 'paid' THEN total ELSE 0 END) AS paid FROM orders
-- a case with a value
SELECT CASE city WHEN 'Oslo' THEN 'north' WHEN 'Rome' THEN 'south' ELSE 'elsewhere' END FROM users
-- a subselect in a condition
SELECT name FROM users WHERE id IN (SELECT user_id FROM orders WHERE total > 50)
-- a subselect that refers outside
SELECT name, (SELECT SUM(total) FROM orders o WHERE o.user_id = u.id) AS spent FROM users u
-- EXISTS
SELECT name FROM users u WHERE EXISTS (SELECT 1 FROM orders o WHERE o.user_id = u.id)
-- NOT EXISTS
SELECT name FROM users u WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.user_id = u.id)
-- a common table expression
WITH big AS (SELECT * FROM orders WHERE total > 10) SELECT COUNT(*) FROM big
-- several common table expressions
WITH a AS (SELECT id FROM users), b AS (SELECT user_id FROM orders) SELECT COUNT(*) FROM a JOIN b ON a.id = b.user_id
-- a common table expression with names of columns
WITH t(first_id, label) AS (SELECT id, name FROM users) SELECT label FROM t ORDER BY first_id
-- two common table expressions with names of columns
WITH t(a) AS (SELECT id FROM users), s(b, c) AS (SELECT id, user_id FROM orders) SELECT a, b FROM t JOIN s ON a = c
-- a recursive expression
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT SUM(i) FROM n
-- a union
SELECT name FROM users UNION SELECT city FROM users WHERE city IS NOT NULL
-- a union of all with an order
SELECT id FROM users UNION ALL SELECT id FROM orders ORDER BY id LIMIT 5
-- an intersection
SELECT id FROM users INTERSECT SELECT user_id FROM orders
-- a difference
SELECT id FROM users EXCEPT SELECT user_id FROM orders
-- a row number
SELECT name, ROW_NUMBER() OVER (ORDER BY age DESC) AS n FROM users
-- ranks
SELECT name, RANK() OVER (PARTITION BY city ORDER BY age) AS r, DENSE_RANK() OVER (ORDER BY age) AS d FROM users
-- a running sum
SELECT id, SUM(total) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS running FROM orders
-- the row before and the row after
SELECT id, LAG(total) OVER (ORDER BY id) AS before_it, LEAD(total, 1) OVER (ORDER BY id) AS after_it FROM orders
-- first and last of a window
SELECT FIRST_VALUE(total) OVER (ORDER BY id), LAST_VALUE(total) OVER (ORDER BY id) FROM orders
-- quarters
SELECT id, NTILE(4) OVER (ORDER BY total) AS quarter FROM orders
-- a named window
SELECT id, AVG(total) OVER w FROM orders WINDOW w AS (PARTITION BY user_id ORDER BY id)
-- share of a total
SELECT id, total / SUM(total) OVER () AS share FROM orders
-- texts
SELECT UPPER(name), LOWER(name), LENGTH(name), TRIM(name), REPLACE(name, 'a', 'b') FROM users
-- parts of texts
SELECT SUBSTR(name, 1, 2) FROM users
-- LIKE with an escape
SELECT name FROM users WHERE name LIKE 'A!%%' ESCAPE '!' OR name LIKE '%n'
-- texts with quotes and marks
SELECT name FROM users WHERE name = 'it''s; -- fine'
-- words of other statements in texts
SELECT 'DROP TABLE users; DELETE FROM x -- pg_read_file(' AS note
-- numbers
SELECT ABS(-1), ROUND(2.567, 2), 7 % 3, -total FROM orders
-- nothing and something
SELECT COALESCE(city, 'unknown'), NULLIF(age, 0) FROM users
-- a cast
SELECT CAST(age AS DECIMAL(10, 2)) FROM users
-- a cast to text
SELECT CAST(id AS CHAR(10)) FROM users
-- BETWEEN
SELECT name FROM users WHERE age BETWEEN 20 AND 40
-- IN with values
SELECT name FROM users WHERE city IN ('Oslo', 'Rome', 'pragma table', 'into outfile')
-- an order by position with a limit
SELECT name, age FROM users ORDER BY 2 DESC, 1 LIMIT 2 OFFSET 1
-- DISTINCT
SELECT DISTINCT city FROM users ORDER BY city
-- the date of today
SELECT CURRENT_DATE, CURRENT_TIMESTAMP
-- comments
SELECT /* the count */ COUNT(*) -- of all
FROM users
-- VALUES
VALUES (1, 'a'), (2, 'b')
-- EXPLAIN
EXPLAIN SELECT * FROM users WHERE id = 1
-- brackets around a statement's parts
SELECT (1 + 2) * (3 - (4)) AS n
-- names that contain words of SQL
SELECT update_time, delete_flag, into_stock, call_count, procedure_name FROM words
-- columns named as functions elsewhere
SELECT w.sleep, w.benchmark, w.version, w.date_in, w.http_status, w.lo_revenue FROM words w
-- the best of each group
SELECT * FROM (SELECT o.*, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY total DESC) AS n FROM orders o) t WHERE n = 1
-- share of those who bought
SELECT COUNT(DISTINCT o.user_id) * 1.0 / COUNT(DISTINCT u.id) FROM users u LEFT JOIN orders o ON o.user_id = u.id
