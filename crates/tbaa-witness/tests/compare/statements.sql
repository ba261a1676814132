-- Joins, windows, triggers, JSON, full text, R*Tree, many small statements in a transaction.
.mode list
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
CREATE TABLE u(a INTEGER, d TEXT);
CREATE INDEX t_b ON t(b);
CREATE TRIGGER added AFTER INSERT ON t WHEN new.a % 100 = 0 BEGIN INSERT INTO u VALUES(new.a, new.b); END;
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
INSERT INTO t SELECT i, 'text ' || (i * 7919 % 30011), i * 0.5 FROM n;
COMMIT;
SELECT count(*), sum(c), max(b) FROM t;
SELECT count(*) FROM t JOIN u ON t.a = u.a + 1;
SELECT sum(r) FROM (SELECT row_number() OVER (PARTITION BY a % 10 ORDER BY c DESC) AS r FROM t);
SELECT sum(json_extract(json_object('x', a, 'y', json_array(b, c)), '$.y[1]')) FROM t WHERE a < 5000;
UPDATE t SET c = c + 1 WHERE b LIKE 'text 1%';
DELETE FROM t WHERE a % 3 = 0;
SELECT count(*), sum(c) FROM t ORDER BY 1;
CREATE VIRTUAL TABLE f USING fts5(body);
INSERT INTO f SELECT b || ' and ' || (a % 50) FROM t WHERE a < 6000;
SELECT count(*) FROM f WHERE f MATCH '7 OR 11';
CREATE VIRTUAL TABLE r USING rtree(id, x0, x1, y0, y1);
INSERT INTO r SELECT a, a % 100, a % 100 + 2, a % 77, a % 77 + 3 FROM t WHERE a < 8000;
SELECT count(*) FROM r WHERE x0 < 50 AND y1 > 20;
SELECT group_concat(b, ',') IS NOT NULL FROM (SELECT b FROM t ORDER BY c LIMIT 2000);
VACUUM;
SELECT count(*) FROM sqlite_master;
