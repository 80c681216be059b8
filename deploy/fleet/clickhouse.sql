-- SPDX-License-Identifier: Apache-2.0
-- Metrics of a fleet in ClickHouse, from the files of kepler run --file.path=…/metrics.csv (docs/files.md), as metrics/NODE/metrics.csv*
-- in the server's folder for user files; chdb reads them from the present folder. A file that is read twice changes nothing: a
-- ReplacingMergeTree keeps one of equal points, and FINAL sees one.

CREATE TABLE IF NOT EXISTS kepler_points
(
    node LowCardinality(String),
    name LowCardinality(String),
    labels String CODEC(ZSTD(1)),
    time DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    value Float64 CODEC(Gorilla, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (name, node, labels, time);

INSERT INTO kepler_points
SELECT extract(_path, '([^/]+)/[^/]+$') AS node, name, labels, parseDateTime64BestEffort(time, 3, 'UTC'), value
FROM file('metrics/*/metrics.csv*', 'CSVWithNames', 'time String, name String, labels String, value Nullable(Float64)')
WHERE value IS NOT NULL;

-- As `increases` of history.sql: a counter that falls has begun again at 0, and the first point of a series has no increase.
CREATE VIEW IF NOT EXISTS kepler_increases AS
SELECT node, name, labels, time, if(value >= before, value - before, value) AS increase
FROM
(
    SELECT node, name, labels, time, value, lagInFrame(toNullable(value)) OVER series AS before
    FROM kepler_points FINAL
    WINDOW series AS (PARTITION BY node, name, labels ORDER BY time ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
)
WHERE before IS NOT NULL;

-- As `qualities` and `totals` of history.sql: a source that measured and estimated on one day counts as an estimate.
CREATE VIEW IF NOT EXISTS kepler_qualities AS
SELECT node, toDate(time) AS day, JSONExtractString(labels, 'source') AS source,
       if(countIf(JSONExtractString(labels, 'quality') = 'estimated') > 0, 'estimated', 'measured') AS quality
FROM kepler_points
WHERE name = 'kepler_zone_info' AND JSONExtractString(labels, 'in_total') = 'true'
GROUP BY node, day, source;

CREATE VIEW IF NOT EXISTS kepler_totals AS
SELECT i.node AS node, i.name AS name, i.labels AS labels, i.day AS day, i.increase AS increase,
       if(q.quality = '', 'unknown', q.quality) AS quality
FROM (SELECT *, toDate(time) AS day, JSONExtractString(labels, 'source') AS source FROM kepler_increases
      WHERE name IN ('kepler_container_joules_total', 'kepler_node_joules_total')) AS i
LEFT JOIN kepler_qualities AS q ON i.node = q.node AND i.day = q.day AND i.source = q.source;

CREATE VIEW IF NOT EXISTS kepler_energy_by_day AS
SELECT day, node, JSONExtractString(labels, 'container_namespace') AS namespace, quality, sum(increase) / 3.6e6 AS kwh
FROM kepler_totals WHERE name = 'kepler_container_joules_total'
GROUP BY day, node, namespace, quality;

CREATE VIEW IF NOT EXISTS kepler_energy_of_nodes AS
SELECT day, node, quality, sum(increase) / 3.6e6 AS kwh
FROM kepler_totals WHERE name = 'kepler_node_joules_total'
GROUP BY day, node, quality;
