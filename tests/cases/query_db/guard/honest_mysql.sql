-- Ordinary queries that must pass on MariaDB. A block is one statement; its first line names it.

-- names in backticks
SELECT `u`.`name` FROM `users` AS `u`
-- dates as text
SELECT DATE_FORMAT(created_at, '%Y-%m') AS month, SUM(total) FROM orders GROUP BY DATE_FORMAT(created_at, '%Y-%m')
-- parts of dates
SELECT YEAR(created_at), MONTH(created_at), DAY(created_at), WEEKDAY(created_at), EXTRACT(HOUR FROM created_at) FROM orders
-- dates reckoned
SELECT DATE_ADD(created_at, INTERVAL 1 DAY), DATE_SUB(created_at, INTERVAL 1 MONTH), created_at + INTERVAL 2 HOUR FROM orders
-- differences of dates
SELECT DATEDIFF(NOW(), created_at), TIMESTAMPDIFF(MINUTE, created_at, NOW()), TIMEDIFF(NOW(), created_at) FROM orders
-- seconds
SELECT UNIX_TIMESTAMP(created_at), FROM_UNIXTIME(0), LAST_DAY(created_at), MAKEDATE(2026, 40) FROM orders
-- texts as dates
SELECT STR_TO_DATE('31.01.2026', '%d.%m.%Y'), CURDATE(), CURTIME(), UTC_TIMESTAMP()
-- texts gathered
SELECT GROUP_CONCAT(DISTINCT name ORDER BY name SEPARATOR ', ') FROM users
-- texts
SELECT CONCAT(name, ' ', city), CONCAT_WS(', ', name, city), LEFT(name, 2), RIGHT(name, 2), LOCATE('n', name), INSTR(name, 'n') FROM users
-- parts of texts
SELECT SUBSTRING(name FROM 1 FOR 2), MID(name, 1, 2), SUBSTRING_INDEX(name, ' ', 1), CHAR_LENGTH(name), REVERSE(name) FROM users
-- trimmed texts
SELECT TRIM(LEADING 'x' FROM name), LTRIM(name), RTRIM(name) FROM users
-- padded texts
SELECT LPAD(id, 8, '0'), RPAD(name, 20, '.'), REPEAT('*', 5), SPACE(3), REPEAT('*', COUNT(*)), REPEAT('=', LEAST(age, 80)) FROM users GROUP BY id
-- patterns
SELECT name FROM users WHERE name REGEXP '^A' OR name RLIKE 'n$'
-- patterns replaced
SELECT REGEXP_REPLACE(name, '[aeiou]', ''), REGEXP_SUBSTR(name, '.n') FROM users
-- IF and IFNULL
SELECT IF(age > 30, 'old', 'young'), IFNULL(city, '-'), ISNULL(city) FROM users
-- the place in a list
SELECT FIELD(city, 'Oslo', 'Rome'), ELT(1, 'a', 'b'), FIND_IN_SET('b', 'a,b') FROM users
-- an order of one's own
SELECT name FROM users ORDER BY FIELD(city, 'Rome', 'Oslo'), name
-- JSON
SELECT JSON_EXTRACT(data, '$.a'), JSON_UNQUOTE(JSON_EXTRACT(data, '$.b')), JSON_VALUE(data, '$.a') FROM orders
-- JSON of parts
SELECT JSON_OBJECT('id', id, 'name', name), JSON_ARRAY(id, age) FROM users
-- JSON gathered
SELECT JSON_ARRAYAGG(name) FROM users
-- JSON that contains
SELECT id FROM orders WHERE JSON_CONTAINS(data, '1', '$.a') OR JSON_LENGTH(data) > 1
-- JSON as a table
SELECT t.a FROM orders, JSON_TABLE(data, '$' COLUMNS (a INT PATH '$.a', NESTED PATH '$.c[*]' COLUMNS (c INT PATH '$'))) t
-- JSON as a table with numbers of rows
SELECT t.n FROM JSON_TABLE('[1,2]', '$[*]' COLUMNS (n FOR ORDINALITY, v INT PATH '$')) AS t
-- casts
SELECT CAST(id AS CHAR), CAST('5' AS SIGNED), CAST('5' AS UNSIGNED), CONVERT(total, CHAR(10)), CONVERT(total, DECIMAL(10, 2)) FROM orders
-- a charset
SELECT CONVERT(name USING utf8mb4), name COLLATE utf8mb4_bin FROM users
-- a rollup
SELECT city, COUNT(*) FROM users GROUP BY city WITH ROLLUP
-- statistics
SELECT STD(total), STDDEV(total), VARIANCE(total) FROM orders
-- a median
SELECT DISTINCT MEDIAN(total) OVER (PARTITION BY user_id) FROM orders
-- an ordered aggregate
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY total) OVER (PARTITION BY user_id) FROM orders
-- numbers
SELECT CEIL(total), FLOOR(total), TRUNCATE(total, 1), MOD(id, 2), id DIV 2, POW(2, 3), SQRT(4), FORMAT(total, 2) FROM orders
-- greatest and least
SELECT GREATEST(id, age), LEAST(id, age) FROM users
-- digests
SELECT MD5(name), SHA1(name), SHA2(name, 256), HEX(name), TO_BASE64(name), CRC32(name) FROM users
-- chance
SELECT RAND() < 2, UUID() <> ''
-- the same or both nothing
SELECT name FROM users WHERE city <=> NULL
-- signs of C
SELECT name FROM users WHERE age > 20 && age < 40 || !(id = 1)
-- texts in double quotes
SELECT name FROM users WHERE name = "Ann" OR name = "it's"
-- escaped texts
SELECT 'it\'s', 'a\\b', "say \"x\""
-- a charset of a text
SELECT _utf8mb4'grün', N'x', X'4142', b'101'
-- a comment with a hash
SELECT COUNT(*) # all of them
FROM users
-- two minus signs
SELECT 5--1
-- a straight join
SELECT STRAIGHT_JOIN u.name FROM users u JOIN orders o ON o.user_id = u.id
-- hints of indexes
SELECT name FROM users USE INDEX (PRIMARY) WHERE id = 1
-- forced indexes
SELECT name FROM users FORCE INDEX FOR ORDER BY (PRIMARY) ORDER BY id
-- a limit with an offset first
SELECT name FROM users LIMIT 1, 2
-- found rows
SELECT SQL_CALC_FOUND_ROWS name FROM users LIMIT 1
-- tables
SHOW TABLES
-- columns
SHOW FULL COLUMNS FROM users
-- how a table was made
SHOW CREATE TABLE users
-- indexes
SHOW INDEX FROM users
-- a table described
DESCRIBE users
-- tables of the schema
SELECT table_name, table_rows FROM information_schema.tables WHERE table_schema = DATABASE()
-- columns of the schema
SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'users'
-- a query explained
EXPLAIN FORMAT=JSON SELECT * FROM users
-- the version
SELECT VERSION(), DATABASE(), USER(), CURRENT_USER
-- a recursive expression with days
WITH RECURSIVE d AS (SELECT DATE('2026-01-01') AS day UNION ALL SELECT day + INTERVAL 1 DAY FROM d WHERE day < '2026-01-07') SELECT day FROM d
-- rows compared
SELECT * FROM users WHERE (id, name) IN ((1, 'Ann'), (2, 'Ben'))
-- a point on the earth
SELECT ST_AsText(POINT(1, 2)), ST_Distance(POINT(0, 0), POINT(3, 4))
-- an address
SELECT INET_ATON('10.0.0.1'), INET_NTOA(167772161)
-- yes and no
SELECT name FROM users WHERE age IS NOT NULL IS TRUE XOR FALSE
-- a binary comparison
SELECT name FROM users WHERE BINARY name = 'Ann'
-- the soundex
SELECT name FROM users WHERE SOUNDEX(name) = SOUNDEX('An') OR name SOUNDS LIKE 'An'
