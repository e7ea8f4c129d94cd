-- results.sql - adds a result in warpbook's form for each kernel without one. Verdicts, ratios and sentences depend
-- on the kernel's number, so that a class of any size has all of them without a grading.
CREATE TEMP TABLE drawn AS
  SELECT id AS kernel, lab, (id * 7919) % 100 AS v, (id * 104729) % 1000 / 1000.0 AS r FROM kernels
  WHERE id NOT IN (SELECT kernel FROM attempts);
CREATE TEMP TABLE words (lo INTEGER, hi INTEGER, verdict TEXT, marks REAL, why TEXT);
INSERT INTO words VALUES
  (0, 44, 'pass', 100, ''),
  (45, 49, 'close', 100, ''),
  (50, 67, 'slow', 55, 'case flat: kernel.cu:9: `in` is read in 8.0 times the sectors that hold it'),
  (68, 79, 'wrong', 0, 'case 33 x 65: in the output, element 2048 (row 31, column 32) is NaN, right is 0.7243; 65 of 2145 elements differ: all elements from row 31, column 32 on (the tail) were never written'),
  (80, 84, 'wrong', 0, 'case 1 x 1: in the output, element 0 is </pre><script>document.title="ran"</script>, right is 1'),
  (85, 88, 'unsafe', 0, 'seen on the simulated GPU: case 64 x 64: kernel.cu:12: race between threads of a block (kernel k, block (0,0,0), thread (32,0,0))'),
  (89, 91, 'build', 0, 'it does not compile' || char(10) || 'kernel.cu:3: error: expected a ";"' || char(10) || '  int x = <b>1</b> // "><img src=y onerror=alert(2)>'),
  (92, 93, 'crash', 0, 'case 32 x 32: misaligned address'),
  (94, 95, 'timeout', 0, 'case square: it did not end within 10 s'),
  (96, 97, 'suspect', 0, 'case flat: faster than the memory of this GPU allows'),
  (98, 99, 'correct', 50, 'case flat: speed could not be judged: the machine is too noisy');
CREATE TEMP TABLE chosen AS
  SELECT d.*, w.verdict, w.marks, w.why,
    CASE w.verdict WHEN 'pass' THEN 0.86 + d.r * 0.3 WHEN 'close' THEN 0.845 + d.r * 0.01
      WHEN 'slow' THEN 0.1 + d.r * 0.7 WHEN 'suspect' THEN 1.6 END AS ratio
  FROM drawn d JOIN words w ON d.v BETWEEN w.lo AND w.hi;
INSERT INTO attempts (kernel, number, device, began, seconds, outcome, why, log)
  SELECT kernel, 1, 'sim', '2026-11-01T12:00:00Z', 5, 'graded', '', 'logs/' || lab || '/' || kernel || '.1.txt' FROM chosen;
INSERT INTO verdicts
  SELECT a.id, c.verdict, c.marks, c.ratio, c.why, '', CASE WHEN c.kernel % 41 = 0 THEN 'interference' ELSE '' END,
    'Scripted GPU', 'GPU-0', '', '1', '1', '0', 'full', 'feedc0de5eed0001', '0', '0'
  FROM chosen c JOIN attempts a ON a.kernel = c.kernel;
INSERT INTO figures
  SELECT a.id, f.name, f.value FROM chosen c JOIN attempts a ON a.kernel = c.kernel JOIN
    (SELECT 0 AS timed, 'wall_s' AS name, '5.00' AS value UNION ALL SELECT 0, 'sandbox', 'seccomp+landlock'
     UNION ALL SELECT 0, 'printed', '<b>hello</b>' || char(10) || 'x' UNION ALL SELECT 1, 'case.1.label', 'flat'
     UNION ALL SELECT 1, 'case.1.kind', 'timed' UNION ALL SELECT 1, 'case.1.bar', '0.7500'
     UNION ALL SELECT 1, 'case.1.gbps', '2345.6' UNION ALL SELECT 1, 'case.1.blocks', '15'
     UNION ALL SELECT 1, 'case.1.clock', 'events' UNION ALL SELECT 1, 'case.1.pairs', '1') f
  WHERE f.timed = 0 OR c.ratio IS NOT NULL;
INSERT INTO figures SELECT a.id, 'case.1.' || n.name, printf('%.5f', c.ratio * n.times) FROM chosen c
  JOIN attempts a ON a.kernel = c.kernel JOIN (SELECT 'ratio' AS name, 1 AS times UNION ALL SELECT 'ratio_lo', 0.99
    UNION ALL SELECT 'ratio_hi', 1.01) n WHERE c.ratio IS NOT NULL;
