-- SPDX-License-Identifier: Apache-2.0
-- Metrics of a fleet as Parquet by day, and energy from it. Run by DuckDB in the folder that has metrics/NODE/metrics.csv*, which
-- kepler run --file.path=…/metrics.csv --file.keep='kepler_*_joules_total' --file.keep=kepler_zone_info writes on each node
-- (docs/files.md).

-- Each run adds files: a file of a node that is read again, or in part, replaces nothing, and points are counted once (below).
COPY (
    SELECT regexp_extract(filename, '([^/]+)/[^/]+$', 1) AS node, time, name, labels, value, CAST(CAST(time AS DATE) AS VARCHAR) AS day
    FROM read_csv('metrics/*/metrics.csv*', filename = true, header = true,
                  columns = {'time': 'TIMESTAMP', 'name': 'VARCHAR', 'labels': 'VARCHAR', 'value': 'DOUBLE'})
    WHERE value IS NOT NULL
    ORDER BY node, name, labels, time
) TO 'history' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (day), APPEND);

-- What each counter rose by from one point to the next. One that falls has begun again at 0, as PromQL's increase() takes it. The
-- first point of a series has no increase: its energy before is in no row.
CREATE OR REPLACE VIEW increases AS
SELECT node, name, labels, day, time,
       CASE WHEN value >= lag(value) OVER series THEN value - lag(value) OVER series
            WHEN lag(value) OVER series IS NOT NULL THEN value END AS increase
FROM (SELECT DISTINCT node, name, labels, day, time, value FROM read_parquet('history/*/*.parquet', hive_partitioning = true))
WINDOW series AS (PARTITION BY node, name, labels ORDER BY time);

-- Whether the sources of a node measured or estimated on a day. A source that did both counts as an estimate.
CREATE OR REPLACE VIEW qualities AS
SELECT node, day, json_extract_string(labels, '$.source') AS source,
       if(bool_or(json_extract_string(labels, '$.quality') = 'estimated'), 'estimated', 'measured') AS quality
FROM read_parquet('history/*/*.parquet', hive_partitioning = true)
WHERE name = 'kepler_zone_info' AND json_extract_string(labels, '$.in_total') = 'true'
GROUP BY ALL;

-- The increases of totals with their quality: unknown where kepler_zone_info was not kept. The views below keep it as a column:
-- estimated energy is not added to measured energy.
CREATE OR REPLACE VIEW totals AS
SELECT i.node, i.name, i.labels, i.day, i.increase, coalesce(q.quality, 'unknown') AS quality
FROM (SELECT *, json_extract_string(labels, '$.source') AS source FROM increases
      WHERE name IN ('kepler_container_joules_total', 'kepler_node_joules_total')) i
LEFT JOIN qualities q USING (node, day, source);

-- Kilowatt-hours of each day by node and namespace, of all containers. A step over midnight counts for the day on which it ends.
CREATE OR REPLACE VIEW energy_by_day AS
SELECT day, node, json_extract_string(labels, '$.container_namespace') AS namespace, quality, sum(increase) / 3.6e6 AS kwh
FROM totals WHERE name = 'kepler_container_joules_total'
GROUP BY ALL;

-- What the nodes used, to compare: energy that is in no container is the difference.
CREATE OR REPLACE VIEW energy_of_nodes AS
SELECT day, node, quality, sum(increase) / 3.6e6 AS kwh FROM totals WHERE name = 'kepler_node_joules_total' GROUP BY ALL;
