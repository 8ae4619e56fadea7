-- Statements that must be refused before SQLite runs them. A block is one statement; its first line says what
-- it tries. `[session]` marks those that the session must refuse by itself as well.

-- loads code
SELECT load_extension('x')
-- loads code, capitals
SELECT LOAD_EXTENSION('x')
-- loads code, the name in quotes
SELECT "load_extension"('x')
-- loads code, the name in brackets
SELECT [load_extension]('x')
-- loads code, the name in backticks
SELECT `load_extension`('x')
-- loads code, the name as a text
SELECT 'load_extension'('x')
-- loads code, a blank before the bracket
SELECT load_extension ('x')
-- loads code, a comment before the bracket
SELECT load_extension/**/('x')
-- loads code, a line comment before the bracket
SELECT load_extension-- x
('x')
-- loads code with an entry point
SELECT load_extension('x', 'y')
-- loads code in WHERE
SELECT 1 FROM users WHERE load_extension('x')
-- loads code in ORDER BY
SELECT 1 FROM users ORDER BY load_extension('x')
-- loads code in a common table expression
WITH f AS (SELECT load_extension('x')) SELECT * FROM f
-- loads code in a list of a common table expression
WITH f(a) AS (SELECT load_extension('x')) SELECT * FROM f
-- loads code in a window
SELECT count(*) OVER (ORDER BY load_extension('x')) FROM users
-- loads code in FILTER
SELECT count(*) FILTER (WHERE load_extension('x')) FROM users
-- loads code in LIMIT
SELECT 1 LIMIT load_extension('x')
-- loads code in VALUES
VALUES (load_extension('x'))
-- loads code in CASE
SELECT CASE WHEN 1 THEN load_extension('x') END
-- loads code in a text after a backslash
SELECT '\', load_extension('x') --'
-- loads code after a doubled quote
SELECT 'a''', load_extension('x')
-- loads code after a comment that does not nest
SELECT 1 /* /* */, load_extension('x') --*/
-- loads code after a name in brackets
SELECT [a'b], load_extension('x') FROM users --'
-- loads code after a name in quotes
SELECT "a'b", load_extension('x') --'
-- loads code after a blob
SELECT x'00', load_extension('x')
-- reads a file
SELECT readfile('/etc/passwd')
-- writes a file
SELECT writefile('/tmp/x', 'y')
-- edits a file
SELECT edit('x', 'vi')
-- lists a folder
SELECT * FROM fsdir('/')
-- reads an archive
SELECT * FROM zipfile('/tmp/x.zip')
-- a tokenizer by address
SELECT fts3_tokenizer('x', x'00')
-- a tokenizer's address
SELECT fts3_tokenizer('simple')
-- many zeros
SELECT zeroblob(1000000000)
-- many zeros in hex
SELECT hex(zeroblob(500000000))
-- many random bytes
SELECT randomblob(1000000000)
-- raw pages
SELECT * FROM sqlite_dbpage
-- raw pages in quotes
SELECT * FROM "sqlite_dbpage"
-- raw pages as a text
SELECT * FROM 'sqlite_dbpage'
-- raw pages with a schema
SELECT * FROM main.sqlite_dbpage
-- raw pages with a schema in quotes
SELECT * FROM "main"."sqlite_dbpage"
-- statements under way
SELECT * FROM sqlite_stmt
-- how it was built
SELECT sqlite_compileoption_get(1)
-- what it was built with
SELECT sqlite_compileoption_used('THREADSAFE')
-- the log
SELECT sqlite_log(1, 'x')
-- the source
SELECT sqlite_source_id()
-- files by a table
SELECT * FROM pragma_database_list
-- files by a function
SELECT * FROM pragma_database_list()
-- files by a name in quotes
SELECT * FROM "pragma_database_list"
-- files by a name in brackets
SELECT * FROM [pragma_database_list]
-- files by a name in backticks
SELECT * FROM `pragma_database_list`
-- files by a text
SELECT * FROM 'pragma_database_list'
-- files by a text in capitals
SELECT * FROM 'PRAGMA_DATABASE_LIST'
-- files by a text in a join
SELECT * FROM users JOIN 'pragma_database_list'
-- files by a text after a comma
SELECT * FROM users, 'pragma_database_list'
-- files by a text in brackets
SELECT * FROM ('pragma_database_list')
-- files by a text with a schema
SELECT * FROM main.'pragma_database_list'
-- files with a schema
SELECT * FROM main.pragma_database_list
-- files with a schema in quotes
SELECT * FROM "main"."pragma_database_list"
-- files in a subselect
SELECT (SELECT file FROM pragma_database_list LIMIT 1)
-- files in IN
SELECT 1 WHERE 'x' IN (SELECT file FROM pragma_database_list)
-- files in EXISTS
SELECT EXISTS (SELECT 1 FROM pragma_database_list)
-- files in a table of IN
SELECT 1 WHERE 'x' IN pragma_database_list
-- files in a comment before
SELECT * FROM/**/pragma_database_list
-- functions of the engine
SELECT * FROM pragma_function_list
-- modules of the engine
SELECT * FROM pragma_module_list
-- pragmas of the engine
SELECT * FROM pragma_pragma_list
-- options of the engine
SELECT * FROM pragma_compile_options
-- the journal's mode
SELECT * FROM pragma_journal_mode
-- changes the version of the file
SELECT * FROM pragma_user_version
-- checks all of the file
SELECT * FROM pragma_integrity_check
-- optimizes
SELECT * FROM pragma_optimize
-- another file
ATTACH DATABASE '/tmp/x.db' AS x
-- another file by an expression
ATTACH 'x' || '.db' AS x
-- leaves a file
DETACH DATABASE main
-- a pragma
PRAGMA database_list
-- a pragma that writes [session]
PRAGMA user_version = 5
-- a pragma that opens the file for writing
PRAGMA query_only = off
-- a pragma of memory
PRAGMA hard_heap_limit = 0
-- a pragma by schema
PRAGMA main.table_info(users)
-- trusts the schema
PRAGMA trusted_schema = on
-- a second statement
SELECT 1; SELECT 2
-- a second statement after a comment
SELECT 1 /* ; */; DROP TABLE users
-- a table [session]
CREATE TABLE stolen (id)
-- a table of a query [session]
CREATE TABLE stolen AS SELECT * FROM users
-- a temporary table
CREATE TEMP TABLE stolen AS SELECT 1
-- a view
CREATE TEMP VIEW v AS SELECT 1
-- a trigger [session]
CREATE TRIGGER t AFTER INSERT ON users BEGIN SELECT 1; END
-- a virtual table [session]
CREATE VIRTUAL TABLE f USING fts5(a)
-- a virtual table over a file
CREATE VIRTUAL TABLE temp.f USING csv(filename='/etc/passwd')
-- an insert [session]
INSERT INTO users (id) VALUES (9)
-- an insert of defaults [session]
INSERT INTO users DEFAULT VALUES
-- a replace [session]
REPLACE INTO users (id) VALUES (1)
-- an insert or replace [session]
INSERT OR REPLACE INTO users (id) VALUES (1)
-- an update [session]
UPDATE users SET name = 'x'
-- a delete [session]
DELETE FROM users
-- a delete in a common table expression
WITH x AS (SELECT 1) DELETE FROM users
-- an insert after a common table expression
WITH x AS (SELECT 1) INSERT INTO users SELECT 9, 'x', 1, 'y'
-- an update after a common table expression
WITH x AS (SELECT 1) UPDATE users SET name = 'x'
-- drops a table [session]
DROP TABLE users
-- changes a table [session]
ALTER TABLE users ADD COLUMN x
-- an index [session]
CREATE INDEX i ON users (id)
-- indexes anew
REINDEX
-- collects statistics [session]
ANALYZE
-- writes the file anew [session]
VACUUM
-- writes another file
VACUUM INTO '/tmp/x.db'
-- begins a transaction
BEGIN IMMEDIATE
-- leaves a transaction
COMMIT
-- a savepoint
SAVEPOINT a
-- explains a write
EXPLAIN DELETE FROM users
-- explains the plan of a write
EXPLAIN QUERY PLAN UPDATE users SET name = 'x'
-- explains a pragma
EXPLAIN PRAGMA query_only = off
-- a placeholder by a sign
SELECT @x
-- a placeholder by another sign
SELECT $x
-- a placeholder in place of a function
SELECT :load_extension('x')
-- an unknown function
SELECT frobnicate(1)
-- an unknown table with arguments
SELECT * FROM frobnicate(1)
-- a long series out of a number
SELECT * FROM generate_series(1, 1000000000)
-- a string that is not closed
SELECT 'a
-- a comment that is not closed
SELECT 1 /* a
-- a name that is not closed
SELECT [a
