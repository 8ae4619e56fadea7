-- Statements that must be refused before MariaDB or MySQL runs them. A block is one statement; its first line
-- says what it tries. `[session]` marks those that the session must refuse by itself as well.

-- reads a file
SELECT LOAD_FILE('/etc/passwd')
-- reads a file, lower case
SELECT load_file('/etc/passwd')
-- reads a file, a blank before the bracket
SELECT LOAD_FILE ('/etc/passwd')
-- reads a file, a comment before the bracket
SELECT LOAD_FILE/**/('/etc/passwd')
-- reads a file, a line comment before the bracket
SELECT LOAD_FILE-- x
('/etc/passwd')
-- reads a file, a hash comment before the bracket
SELECT LOAD_FILE# x
('/etc/passwd')
-- reads a file, the name in backticks
SELECT `LOAD_FILE`('/etc/passwd')
-- reads a file in an executable comment
SELECT 1 /*! , LOAD_FILE('/etc/passwd') */
-- reads a file in an executable comment with a version
SELECT 1 /*!50000 , LOAD_FILE('/etc/passwd') */
-- reads a file in a comment of MariaDB
SELECT 1 /*M! , LOAD_FILE('/etc/passwd') */
-- the name in an executable comment
SELECT /*!LOAD_FILE*/('/etc/passwd')
-- a comment that opens in a string for others
SELECT '/*', LOAD_FILE('/etc/passwd'), '*/'
-- after a string with an escaped quote
SELECT 'a\'', LOAD_FILE('/etc/passwd') -- '
-- after a string in double quotes with an escape
SELECT "a\"", LOAD_FILE('/etc/passwd') -- "
-- after a string with doubled quotes
SELECT 'a''', LOAD_FILE('/etc/passwd')
-- after two minus signs that are no comment
SELECT 1--1, LOAD_FILE('/etc/passwd')
-- reads a file given in hex
SELECT LOAD_FILE(0x2f6574632f706173737764)
-- reads a file given by CHAR
SELECT LOAD_FILE(CHAR(47,101,116,99))
-- reads a file with a charset
SELECT LOAD_FILE(_utf8'/etc/passwd')
-- in WHERE
SELECT 1 FROM users WHERE LOAD_FILE('/etc/passwd') IS NOT NULL
-- in ORDER BY
SELECT 1 FROM users ORDER BY LOAD_FILE('/etc/passwd')
-- in GROUP BY
SELECT 1 FROM users GROUP BY LOAD_FILE('/etc/passwd')
-- in HAVING
SELECT 1 FROM users HAVING LOAD_FILE('/etc/passwd') <> ''
-- in LIMIT of a subselect
SELECT (SELECT LOAD_FILE('/etc/passwd') LIMIT 1)
-- in ON
SELECT 1 FROM users a JOIN users b ON LOAD_FILE('/etc/passwd') <> ''
-- in a common table expression
WITH f AS (SELECT LOAD_FILE('/etc/passwd') AS x) SELECT x FROM f
-- in a window
SELECT COUNT(*) OVER (ORDER BY LOAD_FILE('/etc/passwd')) FROM users
-- in CASE
SELECT CASE WHEN 1 THEN LOAD_FILE('/etc/passwd') END
-- in INTERVAL
SELECT NOW() + INTERVAL LENGTH(LOAD_FILE('/etc/passwd')) DAY
-- in VALUES
VALUES (LOAD_FILE('/etc/passwd'))
-- in EXPLAIN
EXPLAIN SELECT LOAD_FILE('/etc/passwd')
-- in GROUP_CONCAT
SELECT GROUP_CONCAT(name ORDER BY LOAD_FILE('/etc/passwd')) FROM users
-- in a row
SELECT ROW(1, LOAD_FILE('/etc/passwd')) = ROW(1, 2)
-- in JSON_TABLE
SELECT * FROM JSON_TABLE(LOAD_FILE('/etc/passwd'), '$' COLUMNS (a INT PATH '$')) t
-- sleeps
SELECT SLEEP(9)
-- sleeps, mixed case
SELECT sLeEp(9)
-- sleeps for each row
SELECT SLEEP(1) FROM users
-- sleeps in backticks
SELECT `sleep`(9)
-- sleeps with a schema
SELECT mysql.sleep(9)
-- sleeps where it is read as an alias
SELECT 1 sleep(9)
-- a name that folds to sleep
SELECT ſleep(9)
-- computes for long
SELECT BENCHMARK(1000000000, MD5('x'))
-- a lock
SELECT GET_LOCK('a', 1)
-- releases a lock
SELECT RELEASE_LOCK('a')
-- releases all locks
SELECT RELEASE_ALL_LOCKS()
-- looks at a lock
SELECT IS_FREE_LOCK('a')
-- whose lock it is
SELECT IS_USED_LOCK('a')
-- waits for another server
SELECT MASTER_POS_WAIT('a', 1, 9)
-- waits for a transaction
SELECT MASTER_GTID_WAIT('0-1-1', 9)
-- the last inserted id, set
SELECT LAST_INSERT_ID(5)
-- its own connection
SELECT CONNECTION_ID()
-- a program through a plug-in
SELECT sys_exec('id')
-- a program's output through a plug-in
SELECT sys_eval('id')
-- a function of the schema
SELECT outside('x')
-- a function of the schema in backticks
SELECT `outside`('x')
-- a function of the schema with its schema
SELECT test.outside('x')
-- a function of a schema named as a built-in one
SELECT test.count(1)
-- a function of the schema with the name of a built-in one
SELECT count (*) FROM users
-- a function of the schema with the name of a built-in one, by a comment
SELECT now/**/()
-- an unknown function
SELECT frobnicate(1)
-- a sequence
SELECT NEXTVAL(s)
-- a sequence in standard words
SELECT NEXT VALUE FOR s
-- the last number of a sequence
SELECT LASTVAL(s)
-- the last number of a sequence in standard words
SELECT PREVIOUS VALUE FOR s
-- sets a sequence
SELECT SETVAL(s, 1)
-- a sequence in the words of Oracle
SELECT s.nextval()
-- writes a file
SELECT 'x' INTO OUTFILE '/tmp/x'
-- writes a file of bytes
SELECT 'x' INTO DUMPFILE '/tmp/x'
-- writes a file after FROM
SELECT * FROM users INTO OUTFILE '/tmp/x'
-- writes a file in an executable comment
SELECT * FROM users /*! INTO OUTFILE '/tmp/x' */
-- puts into a variable
SELECT 1 INTO @x
-- puts into a local variable
SELECT 1 INTO x
-- sets a variable
SELECT @x := 1
-- sets a variable with a blank
SELECT @ x := 1
-- reads a variable
SELECT @x
-- a variable in backticks
SELECT @`x`
-- a variable in quotes
SELECT @'x'
-- a setting of the server
SELECT @@datadir
-- a setting of the server, by scope
SELECT @@global.secure_file_priv
-- a setting in backticks
SELECT @@`datadir`
-- passwords
SELECT * FROM mysql.user
-- passwords in backticks
SELECT * FROM `mysql`.`user`
-- passwords with blanks
SELECT * FROM mysql . user
-- passwords with a comment
SELECT * FROM mysql/**/.user
-- passwords, capitals
SELECT * FROM MYSQL.user
-- passwords by TABLE
TABLE mysql.user
-- what other sessions do
SELECT * FROM information_schema.processlist
-- what other sessions do, in backticks
SELECT * FROM `information_schema`.`PROCESSLIST`
-- rights of users
SELECT * FROM information_schema.user_privileges
-- settings of the server
SELECT * FROM information_schema.global_variables
-- plug-ins of the server
SELECT * FROM information_schema.plugins
-- the server's own tables
SELECT * FROM performance_schema.threads
-- the server's views
SELECT * FROM sys.session
-- runs a procedure over the rows
SELECT * FROM users PROCEDURE ANALYSE()
-- runs a procedure over the rows with numbers
SELECT * FROM users PROCEDURE analyse(10, 2000)
-- a second statement
SELECT 1; SELECT 2
-- a second statement after a comment
SELECT 1 /* x */ ; DROP TABLE users
-- another delimiter
DELIMITER //
-- reads by HANDLER
HANDLER users OPEN
-- reads by HANDLER, next
HANDLER users READ FIRST
-- computes and forgets
DO SLEEP(9)
-- computes and forgets a lock
DO GET_LOCK('a', 1)
-- runs a text
EXECUTE IMMEDIATE 'DROP TABLE users'
-- prepares a text
PREPARE p FROM 'DROP TABLE users'
-- runs a prepared statement
EXECUTE p
-- a setting for one statement
SET STATEMENT max_statement_time = 0 FOR SELECT 1
-- a setting for one statement, mode
SET STATEMENT sql_mode = 'ANSI_QUOTES' FOR SELECT "a"
-- a setting
SET SESSION max_statement_time = 0
-- a setting of all
SET GLOBAL general_log = 1
-- a password
SET PASSWORD = PASSWORD('x')
-- another schema
USE mysql
-- ends a session
KILL 1
-- ends a query
KILL QUERY 1
-- calls a procedure
CALL outside('x')
-- calls code without a name
BEGIN NOT ATOMIC SELECT 1; END
-- leaves the transaction
COMMIT
-- begins a transaction
START TRANSACTION READ WRITE
-- a two-phase transaction
XA START 'a'
-- a table [session]
CREATE TABLE stolen (id INT)
-- a table of a query [session]
CREATE TABLE stolen SELECT * FROM users
-- a temporary table
CREATE TEMPORARY TABLE stolen SELECT * FROM users
-- an insert [session]
INSERT INTO users (id) VALUES (9)
-- an insert with SET [session]
INSERT INTO users SET id = 9
-- a replace [session]
REPLACE INTO users (id) VALUES (1)
-- an update [session]
UPDATE users SET name = 'x'
-- a delete [session]
DELETE FROM users
-- a delete of several tables
DELETE a FROM users a JOIN users b
-- a delete in a common table expression
WITH x AS (SELECT 1) DELETE FROM users
-- drops a table
DROP TABLE users
-- empties a table
TRUNCATE TABLE users
-- renames a table
RENAME TABLE users TO gone
-- locks tables
LOCK TABLES users WRITE
-- flushes
FLUSH TABLES WITH READ LOCK
-- loads a file
LOAD DATA INFILE '/etc/passwd' INTO TABLE users
-- loads a file of the client
LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE users
-- loads a library
INSTALL SONAME 'x'
-- a function of a library
CREATE FUNCTION sys_exec RETURNS INT SONAME 'x.so'
-- a user
CREATE USER x
-- rights
GRANT ALL ON *.* TO x
-- analyses a query, which runs it
ANALYZE FORMAT=JSON SELECT SLEEP(9)
-- analyses a table
ANALYZE TABLE users
-- repairs a table
REPAIR TABLE users
-- checks a table
CHECK TABLE users
-- explains another session
EXPLAIN FOR CONNECTION 1
-- explains a write
EXPLAIN DELETE FROM users
-- shows what others do
SHOW PROCESSLIST
-- shows what others do in full
SHOW FULL PROCESSLIST
-- shows rights
SHOW GRANTS
-- shows settings
SHOW VARIABLES LIKE 'datadir'
-- shows the state
SHOW STATUS
-- shows the engine
SHOW ENGINE INNODB STATUS
-- shows the log
SHOW BINARY LOGS
-- shows another server
SHOW SLAVE STATUS
-- shows users' code
SHOW CREATE FUNCTION outside
-- shows accounts
SHOW CREATE USER root
-- shows tables of accounts
SHOW TABLES FROM mysql
-- shows columns of accounts
SHOW COLUMNS FROM user FROM mysql
-- describes accounts
DESCRIBE mysql.user
-- helps
HELP 'sleep'
-- locks rows
SELECT * FROM users FOR UPDATE
-- locks rows and skips
SELECT * FROM users FOR UPDATE SKIP LOCKED
-- shares locks of rows
SELECT * FROM users LOCK IN SHARE MODE
-- shares locks of rows, new words
SELECT * FROM users FOR SHARE
-- a long text out of a number
SELECT REPEAT('a', 100000000)
-- a long text out of a number, in hex
SELECT REPEAT('a', 0x5f5e100)
-- a long text out of an exponent
SELECT REPEAT('a', 1e8)
-- a long text out of a text
SELECT REPEAT('a', '100000000')
-- a long text out of a product
SELECT REPEAT('a', 10000 * 10000)
-- a long text out of a shift
SELECT REPEAT('a', 1 << 27)
-- a long text out of a power
SELECT REPEAT('a', POW(10, 8))
-- a long text out of a clock
SELECT REPEAT('a', UNIX_TIMESTAMP())
-- a long text out of a subselect
SELECT REPEAT('a', (SELECT 100000000))
-- a long text out of a column that is a number
SELECT REPEAT('a', n) FROM (SELECT 100000000 AS n) t
-- many blanks
SELECT SPACE(100000000)
-- a padded text
SELECT LPAD('a', 100000000, 'b')
-- a padded text to the right
SELECT RPAD('a', 100000000, 'b')
-- half an hour in one function
SELECT INSTR(REPEAT('a', 16000000), CONCAT(REPEAT('a', 8000000), 'b'))
-- a placeholder in place of a function
SELECT :sleep(9)
-- a long text out of a column that is a number in hex
SELECT REPEAT('a', n) FROM (SELECT 0x5f5e100 AS n) t
-- a counter of the server
SELECT UUID_SHORT()
