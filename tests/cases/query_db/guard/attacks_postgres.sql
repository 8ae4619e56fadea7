-- Statements that must be refused before PostgreSQL runs them. A block is one statement; its first line says
-- what it tries. `[session]` marks those that the session must refuse by itself as well.

-- reads a file by attribute notation
SELECT ('/etc/passwd'::text).pg_read_file
-- reads a file by attribute notation of a scalar in FROM
SELECT a.pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS a
-- the same with the name in quotes
SELECT a."pg_read_file" FROM unnest(ARRAY['/etc/passwd']) AS a
-- the same with blanks around the dot
SELECT a . pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS a
-- the same with a comment after the dot
SELECT a./* x */pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS a
-- the same with a line comment after the dot
SELECT a.-- x
pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS a
-- the same in capitals
SELECT a.PG_READ_FILE FROM unnest(ARRAY['/etc/passwd']) AS a
-- the alias is named as a schema
SELECT pg_catalog.pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS pg_catalog
-- the alias is named as a table of the catalog
SELECT pg_class.pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS pg_class
-- in WHERE
SELECT 1 FROM unnest(ARRAY['/etc/passwd']) a WHERE a.pg_read_file <> ''
-- in ORDER BY
SELECT 1 FROM unnest(ARRAY['/etc/passwd']) a ORDER BY a.pg_read_file
-- in GROUP BY
SELECT count(*) FROM unnest(ARRAY['/etc/passwd']) a GROUP BY a.pg_read_file
-- in HAVING
SELECT 1 FROM unnest(ARRAY['/etc/passwd']) a GROUP BY a HAVING a.pg_read_file <> ''
-- in a join condition
SELECT 1 FROM users u JOIN unnest(ARRAY['/etc/passwd']) a ON a.pg_read_file <> u.name
-- in a lateral subquery
SELECT x FROM unnest(ARRAY['/etc/passwd']) a, LATERAL (SELECT a.pg_read_file AS x) t
-- in a common table expression
WITH f AS (SELECT ('/etc/passwd'::text).pg_read_file AS x) SELECT x FROM f
-- in a window
SELECT count(*) OVER (PARTITION BY a.pg_read_file) FROM unnest(ARRAY['/etc/passwd']) a
-- in an array subscript
SELECT (ARRAY[1,2])[a.pg_sleep] FROM unnest(ARRAY[1]) a
-- in LIMIT
SELECT 1 LIMIT (('1'::text).pg_read_file)::int
-- in VALUES
VALUES (('/etc/passwd'::text).pg_read_file)
-- in a subselect of IN
SELECT 1 WHERE 'a' IN (SELECT a.pg_read_file FROM unnest(ARRAY['/etc/passwd']) a)
-- in EXPLAIN ANALYZE
EXPLAIN ANALYZE SELECT ('/etc/passwd'::text).pg_read_file
-- chained notation
SELECT (('/etc/passwd'::text).pg_read_file).length
-- bytes of a file by notation
SELECT ('/etc/passwd'::text).pg_read_binary_file
-- a folder by notation
SELECT ('/etc'::text).pg_ls_dir
-- facts of a file by notation
SELECT ('/etc/passwd'::text).pg_stat_file
-- sleeps by notation
SELECT (2::float8).pg_sleep
-- sleeps by notation of an interval
SELECT ('2 seconds'::interval).pg_sleep_for
-- sleeps until a time by notation
SELECT ('tomorrow'::timestamptz).pg_sleep_until
-- ends another session by notation
SELECT (1::int).pg_cancel_backend
-- a setting by notation
SELECT ('data_directory'::text).current_setting
-- a sequence by notation
SELECT ('s'::regclass).nextval
-- the last number of a sequence by notation
SELECT ('s'::regclass).currval
-- an advisory lock by notation
SELECT (1::bigint).pg_advisory_lock
-- tries an advisory lock by notation
SELECT (1::bigint).pg_try_advisory_xact_lock
-- releases an advisory lock by notation
SELECT (1::bigint).pg_advisory_unlock
-- a large object by notation
SELECT (1::oid).lo_get
-- imports a large object by notation
SELECT ('/etc/passwd'::text).lo_import
-- creates a large object by notation
SELECT (0::oid).lo_create
-- a seed by notation
SELECT (0.5::float8).setseed
-- a statement given as text, by notation
SELECT ('SELECT to_tsvector(name) FROM users'::text).ts_stat
-- a function of the schema by notation
SELECT ('x'::text).outside
-- a function of the schema by notation, in quotes
SELECT ('x'::text)."outside"
-- a function of the schema by the notation of a row
SELECT u.outside_row FROM users u
-- a function of the schema with a default, by notation
SELECT ('x'::text).outside_default
-- reads a file
SELECT pg_read_file('/etc/passwd')
-- reads a file, blanks before the bracket
SELECT pg_read_file   ('/etc/passwd')
-- reads a file, a comment before the bracket
SELECT pg_read_file/**/('/etc/passwd')
-- reads a file, a nested comment before the bracket
SELECT pg_read_file/* /* */ */('/etc/passwd')
-- reads a file, a line break before the bracket
SELECT pg_read_file
('/etc/passwd')
-- reads a file, the name in quotes
SELECT "pg_read_file"('/etc/passwd')
-- reads a file, with its schema
SELECT pg_catalog.pg_read_file('/etc/passwd')
-- reads a file, with its schema in quotes
SELECT "pg_catalog"."pg_read_file"('/etc/passwd')
-- reads a file, with the database before the schema
SELECT test.pg_catalog.pg_read_file('/etc/passwd')
-- reads a file, the name by unicode escapes
SELECT U&"pg\005fread_file"('/etc/passwd')
-- reads a file, escapes with another sign
SELECT U&"pg!005fread_file" UESCAPE '!' ('/etc/passwd')
-- reads a file after a string that ends in a backslash
SELECT '\', pg_read_file('/etc/passwd') --'
-- reads a file after an escape string
SELECT E'\'', pg_read_file('/etc/passwd') --'
-- reads a file after a lower-case escape string
SELECT e'a\\', pg_read_file('/etc/passwd')
-- reads a file after a dollar-quoted string
SELECT $a$ $b$ $a$, pg_read_file('/etc/passwd'), $b$ $b$
-- reads a file after an empty dollar quote
SELECT $$'$$, pg_read_file('/etc/passwd')
-- reads a file after a comment that looks like a string
SELECT 1 /* ' */, pg_read_file('/etc/passwd') /* ' */
-- reads a file after a comment in a comment
SELECT 1 /* /* */ ' */, pg_read_file('/etc/passwd')
-- reads a file after a continued string
SELECT 'a'
'b', pg_read_file('/etc/passwd')
-- reads a file after a national string
SELECT N'a', pg_read_file('/etc/passwd')
-- reads a file after a bit string
SELECT B'01', pg_read_file('/etc/passwd')
-- reads a file with a named argument
SELECT pg_read_file(filename => '/etc/passwd')
-- reads a file with VARIADIC
SELECT pg_read_file(VARIADIC ARRAY['/etc/passwd'])
-- reads a file as a table
SELECT * FROM pg_read_file('/etc/passwd')
-- reads a file as one of several tables
SELECT * FROM ROWS FROM (pg_read_file('/etc/passwd'), generate_series(1, 2))
-- reads a file as a lateral table
SELECT * FROM users, LATERAL pg_read_file('/etc/passwd') f
-- reads a file as a table with a list of columns
SELECT * FROM pg_read_file('/etc/passwd') AS f(line)
-- after DISTINCT ON
SELECT DISTINCT ON (id) pg_read_file('/etc/passwd') FROM users
-- after an operator in its long form
SELECT 'a' OPERATOR(pg_catalog.||) pg_read_file('/etc/passwd')
-- under an operator of another schema
SELECT 1 OPERATOR(public.+) 2
-- in CASE
SELECT CASE WHEN true THEN pg_read_file('/etc/passwd') END
-- in COALESCE
SELECT COALESCE(NULL, pg_read_file('/etc/passwd'))
-- in FILTER
SELECT count(*) FILTER (WHERE pg_read_file('/etc/passwd') <> '') FROM users
-- in WITHIN GROUP
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY pg_read_file('/etc/passwd')) FROM users
-- in GROUPING SETS
SELECT 1 FROM users GROUP BY GROUPING SETS ((pg_read_file('/etc/passwd')))
-- in XMLELEMENT
SELECT XMLELEMENT(NAME a, pg_read_file('/etc/passwd'))
-- in TABLESAMPLE
SELECT * FROM users TABLESAMPLE bernoulli (100) REPEATABLE (length(pg_read_file('/etc/passwd')))
-- a sampling method that is not built in
SELECT * FROM users TABLESAMPLE outside (100)
-- in OFFSET
SELECT 1 OFFSET length(pg_read_file('/etc/passwd'))
-- in FETCH FIRST
SELECT 1 FETCH FIRST (length(pg_read_file('/etc/passwd'))) ROWS ONLY
-- in a frame of a window
SELECT sum(id) OVER (ROWS BETWEEN length(pg_read_file('/etc/passwd')) PRECEDING AND CURRENT ROW) FROM users
-- in a named window
SELECT sum(id) OVER w FROM users WINDOW w AS (ORDER BY pg_read_file('/etc/passwd'))
-- in a recursive expression
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + length(pg_read_file('/etc/passwd')) FROM r) SELECT * FROM r
-- in SEARCH of a recursive expression
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 2) SEARCH DEPTH FIRST BY n SET o SELECT pg_sleep(9) FROM r
-- a folder
SELECT * FROM pg_ls_dir('/')
-- the folder of logs
SELECT * FROM pg_ls_logdir()
-- the folder of the write-ahead log
SELECT * FROM pg_ls_waldir()
-- the folder of temporary files
SELECT * FROM pg_ls_tmpdir()
-- facts of a file
SELECT * FROM pg_stat_file('/etc/passwd')
-- where the log is
SELECT pg_current_logfile()
-- where a table lies
SELECT pg_relation_filepath('users')
-- sleeps
SELECT pg_sleep(9)
-- sleeps for a time
SELECT pg_sleep_for('9 seconds')
-- ends a session
SELECT pg_terminate_backend(1)
-- cancels a query
SELECT pg_cancel_backend(1)
-- reloads the configuration
SELECT pg_reload_conf()
-- turns the log
SELECT pg_rotate_logfile()
-- a lock
SELECT pg_advisory_lock(1)
-- a shared lock
SELECT pg_advisory_xact_lock_shared(1, 2)
-- wakes listeners
SELECT pg_notify('c', 'x')
-- a message into the log
SELECT pg_logical_emit_message(false, 'a', 'b')
-- a snapshot for others
SELECT pg_export_snapshot()
-- the number of a transaction
SELECT txid_current()
-- the number of a transaction, new name
SELECT pg_current_xact_id()
-- a setting
SELECT current_setting('data_directory')
-- changes a setting
SELECT set_config('statement_timeout', '0', false)
-- changes a setting in a subselect
SELECT 1 FROM (SELECT set_config('transaction_read_only', 'off', true)) t
-- a sequence
SELECT nextval('s')
-- sets a sequence
SELECT setval('s', 1)
-- the last number of any sequence
SELECT lastval()
-- a query given as text
SELECT query_to_xml('SELECT 1', true, true, '')
-- a table given as text
SELECT table_to_xml('users', true, true, '')
-- a schema given as text
SELECT schema_to_xml('public', true, true, '')
-- a whole database as text
SELECT database_to_xml(true, true, '')
-- a cursor given as text
SELECT cursor_to_xml('c', 1, true, true, '')
-- statistics of a query given as text
SELECT * FROM ts_stat('SELECT to_tsvector(name) FROM users')
-- rewrites by a query given as text
SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, ''b''::tsquery')
-- other sessions
SELECT * FROM pg_stat_get_activity(NULL)
-- the address of the server
SELECT inet_server_addr()
-- the port of the server
SELECT inet_server_port()
-- access rules of the server
SELECT * FROM pg_hba_file_rules()
-- settings by function
SELECT * FROM pg_show_all_settings()
-- configuration by function
SELECT * FROM pg_config()
-- a large object
SELECT lo_get(1)
-- writes a large object
SELECT lo_from_bytea(0, 'x')
-- exports a large object
SELECT lo_export(1, '/tmp/x')
-- a function of the schema
SELECT outside('x')
-- a function of the schema, in quotes
SELECT "outside"('x')
-- a function of the schema as a table
SELECT * FROM outside('x')
-- a function of the schema that hides a built-in one
SELECT lower(1.5::numeric)
-- a function of the schema whose name has capitals
SELECT "Lower"('x')
-- an aggregate of the schema
SELECT outside_sum(id) FROM users
-- an operator of the schema
SELECT 1 @#@ 2
-- an operator of the schema, without blanks
SELECT 1@#@2
-- a name of roles by a cast
SELECT 10::regrole
-- a name of roles by CAST
SELECT CAST(10 AS regrole)
-- a name of roles by a typed text
SELECT regrole 'postgres'
-- names of roles by an array of them
SELECT '{10}'::_regrole::text
-- whether a role is there, by what an access list takes
SELECT 'somebody=r/postgres'::aclitem
-- the same by an array
SELECT '{}'::_aclitem
-- passwords
SELECT * FROM pg_authid
-- passwords, in quotes and with schema
SELECT * FROM "pg_catalog"."pg_authid"
-- passwords by TABLE
TABLE pg_shadow
-- roles
SELECT rolname FROM pg_roles
-- addresses of other servers
SELECT * FROM pg_user_mappings
-- what other sessions do
SELECT * FROM pg_stat_activity
-- locks of others
SELECT * FROM pg_locks
-- settings
SELECT * FROM pg_settings
-- access rules
SELECT * FROM pg_hba_file_rules
-- samples of all values
SELECT * FROM pg_statistic
-- every setting by SHOW with quotes
SHOW "all"
-- every setting by SHOW
SHOW ALL
-- a file's place by SHOW
SHOW hba_file
-- a file's place by SHOW with quotes
SHOW "hba_file"
-- the data folder by SHOW
SHOW data_directory
-- the password of a standby by SHOW
SHOW primary_conninfo
-- a command by SHOW
SHOW archive_command
-- who is logged in by SHOW
SHOW SESSION AUTHORIZATION
-- a second statement
SELECT 1; SELECT 2
-- a second statement after a comment
SELECT 1 /* ; */ ; DROP TABLE users
-- writes in a common table expression
WITH x AS (DELETE FROM users RETURNING *) SELECT * FROM x
-- writes in a nested expression
SELECT * FROM (WITH x AS (INSERT INTO users VALUES (9) RETURNING *) SELECT * FROM x) t
-- updates in an expression
WITH x AS (UPDATE users SET name = 'x' RETURNING *) SELECT * FROM x
-- merges in an expression
WITH x AS (MERGE INTO users USING users u ON true WHEN MATCHED THEN DELETE) SELECT 1
-- makes a table of a query
SELECT * INTO stolen FROM users
-- makes a temporary table of a query
SELECT * INTO TEMP stolen FROM users
-- makes a table with AS [session]
CREATE TABLE stolen AS SELECT * FROM users
-- makes a view [session]
CREATE VIEW v AS SELECT 1
-- makes a function [session]
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'
-- locks rows
SELECT * FROM users FOR UPDATE
-- locks rows weakly
SELECT * FROM users FOR NO KEY UPDATE
-- shares locks of rows
SELECT * FROM users FOR KEY SHARE SKIP LOCKED
-- runs code
DO $$ BEGIN PERFORM pg_sleep(1); END $$
-- calls a procedure
CALL outside('x')
-- runs a program
COPY (SELECT 1) TO PROGRAM 'touch /tmp/x'
-- writes a file
COPY users TO '/tmp/users'
-- copies out
COPY users TO STDOUT
-- a setting by SET
SET statement_timeout = 0
-- a setting by SET LOCAL
SET LOCAL transaction_read_only = off
-- leaves the transaction
COMMIT
-- begins a transaction
BEGIN READ WRITE
-- forgets the session's rules
DISCARD ALL
-- resets a setting
RESET statement_timeout
-- prepares a statement
PREPARE p AS DELETE FROM users
-- runs a prepared statement
EXECUTE p
-- explains a prepared statement
EXPLAIN ANALYZE EXECUTE p
-- explains a write
EXPLAIN ANALYZE DELETE FROM users
-- explains a write with options
EXPLAIN (ANALYZE, BUFFERS) INSERT INTO users VALUES (9)
-- explains making a table
EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1
-- declares a cursor
DECLARE c CURSOR WITH HOLD FOR SELECT 1
-- listens
LISTEN c
-- notifies
NOTIFY c, 'x'
-- loads a library
LOAD 'dblink'
-- another role
SET ROLE postgres
-- locks a table
LOCK TABLE users
-- drops a table [session]
DROP TABLE users
-- empties a table [session]
TRUNCATE users
-- vacuums
VACUUM users
-- an extension [session]
CREATE EXTENSION dblink
-- comments on a table [session]
COMMENT ON TABLE users IS 'x'
-- grants [session]
GRANT ALL ON users TO PUBLIC
-- a long text out of a number
SELECT repeat('a', 500000000)
-- a long text out of an exponent
SELECT repeat('a', 5e8::int)
-- a long text out of a product
SELECT lpad('a', 10000 * 10000)
-- a long text out of a power
SELECT rpad('a', power(10, 8)::int)
-- a long text out of a column that is a number
SELECT repeat('a', n) FROM (SELECT 500000000 AS n) t
-- a placeholder in place of a function
SELECT :pg_sleep(9)
-- a large array out of a number
SELECT array_fill(1, ARRAY[100000000])
-- a large array out of a product
SELECT array_fill(1, ARRAY[10000, 10000])
