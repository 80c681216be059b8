-- SPDX-License-Identifier: Apache-2.0
-- Rows for kepler-model train-from-data from the points of many nodes, made by DuckDB: what `kepler-model extract` makes of one.
-- Run where history/ is (history.sql); on the nodes, --file.keep must have kepler_node_*_joules_total, kepler_container_*_total
-- and kepler_zone_info. Only energy of sources that measured all the time makes rows: a model is not trained on estimates.
--
-- A step is the time from one point of the node to the next. Energy that falls has no row, another counter that falls has begun at
-- 0, a longer step than five usual ones has no row, more than 2,000 W a package have none: the rules of docs/collecting.md. Left to
-- extract: points of one snapshot at different times, several sources of one component, the same series from two scrapes.

CREATE OR REPLACE VIEW measured AS
SELECT node, json_extract_string(labels, '$.source') AS source FROM read_parquet('history/*/*.parquet', hive_partitioning = true)
WHERE name = 'kepler_zone_info' AND json_extract_string(labels, '$.zone') = 'package'
GROUP BY ALL HAVING bool_and(json_extract_string(labels, '$.quality') = 'measured');

CREATE OR REPLACE VIEW counters AS
SELECT node, epoch(time) AS second, name, value,
       value - lag(value) OVER series AS rise, epoch(time) - lag(epoch(time)) OVER series AS seconds
FROM (SELECT DISTINCT node, name, labels, time, value FROM read_parquet('history/*/*.parquet', hive_partitioning = true))
WHERE name IN ('kepler_container_bpf_cpu_time_ms_total', 'kepler_container_cpu_cycles_total',
               'kepler_container_cpu_instructions_total', 'kepler_container_cache_miss_total',
               'kepler_container_bpf_page_cache_hit_total')
   OR (name = 'kepler_node_package_joules_total'
       AND (node, json_extract_string(labels, '$.source')) IN (SELECT (node, source) FROM measured))
WINDOW series AS (PARTITION BY node, name, labels ORDER BY time);

CREATE OR REPLACE VIEW steps AS
SELECT node, second AS timestamp, max(seconds) FILTER (name = 'kepler_node_package_joules_total') AS seconds,
       bool_or(name = 'kepler_node_package_joules_total' AND rise < 0) AS fell,
       bool_or(name = 'kepler_node_package_joules_total' AND rise > 2000 * seconds) AS implausible,
       sum(rise) FILTER (name = 'kepler_node_package_joules_total') AS joules,
       sum(if(rise < 0, value, rise)) FILTER (name = 'kepler_container_bpf_cpu_time_ms_total') AS bpf_cpu_time_ms,
       sum(if(rise < 0, value, rise)) FILTER (name = 'kepler_container_cpu_cycles_total') AS cpu_cycles,
       sum(if(rise < 0, value, rise)) FILTER (name = 'kepler_container_cpu_instructions_total') AS cpu_instructions,
       sum(if(rise < 0, value, rise)) FILTER (name = 'kepler_container_cache_miss_total') AS cache_miss,
       sum(if(rise < 0, value, rise)) FILTER (name = 'kepler_container_bpf_page_cache_hit_total') AS bpf_page_cache_hit
FROM counters GROUP BY node, second;

COPY (
    SELECT node, timestamp, bpf_cpu_time_ms / seconds AS bpf_cpu_time_ms, cpu_cycles / seconds AS cpu_cycles,
           cpu_instructions / seconds AS cpu_instructions, cache_miss / seconds AS cache_miss,
           bpf_page_cache_hit / seconds AS bpf_page_cache_hit, joules / seconds AS package_power
    FROM steps
    WHERE NOT fell AND NOT implausible
      AND seconds <= 5 * (SELECT median(seconds) FROM steps s WHERE s.node = steps.node)
    ORDER BY node, timestamp
) TO 'rows.csv' (HEADER);
COPY (SELECT * FROM read_csv('rows.csv')) TO 'rows.parquet' (FORMAT parquet, COMPRESSION zstd);
