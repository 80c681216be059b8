// SPDX-License-Identifier: Apache-2.0
/*
 * docs/metrics.md, from the same catalog that pages are made by: what it says of a metric is what a
 * scrape says.
 */
#include "export/catalog/catalog.h"
#include "export/catalog/catalog_labels.h"
#include "export/catalog/health_walk.h"
#include "export/row_labels.h"

#include <string.h>

static const char intro[] =
	"# Metrics\n\n"
	"<!-- Made from src/export/catalog/catalog.c and src/kepler/health_table.c: `ninja -C DIR "
	"docs-update`. Do not edit. -->\n\n"
	"This page lists all metrics. Kepler serves them at `/metrics`, as Prometheus text "
	"(0.0.4, or 1.0.0), OpenMetrics (1.0, or 2.0 if `version=2.0.0` is requested) or "
	"Prometheus protobuf, whichever "
	"`Accept` prefers, plain or as gzip. All values of one response belong to one interval. "
	"`--metrics.schema` chooses between the names of Kepler up to 0.9 (*classic*, the "
	"default), those since 0.10 (*current*), or *both*. `--metrics.created` adds each "
	"counter's `_created` to OpenMetrics 1.0; protobuf and OpenMetrics 2.0 always contain "
	"the start time of a counter or histogram, without a series for it. There `info` is a "
	"gauge, as in text.\n\n"
	"## What the values mean\n\n"
	"* Energy is in joules, exact to the microjoule. In each response, for each kind of "
	"zone, mode and source, at the levels process, container and namespace:\n"
	"  rows + retired + pending + unattributed = node. Pods and VMs add up in the same way "
	"to the energy of the containers that have a pod, or are VMs.\n"
	"* `<zone>` stands for `package`, `core`, `uncore`, `dram`, `psys`, `platform`, `gpu` or "
	"`other`. Zones overlap (`core` is part of `package`): do not add them up. A zone that "
	"the machine lacks has no series.\n"
	"* `kepler_node_joules_total`, `kepler_process_joules_total` and similar metrics are "
	"totals: the sum of the zones with `in_total=\"true\"` in `kepler_zone_info`, which "
	"contain no energy twice: `package`, `dram`, `gpu`, and `other`, which is the energy "
	"that a meter of the whole machine (`psys`, `platform`) counts in addition to these. "
	"Such a meter itself is in a total only if no part of it is measured. The same holds "
	"for estimates of the machine and of its parts. So no total is less than a zone in it. "
	"An estimate is in a total only if nothing is measured except GPUs, which it does not "
	"contain. Each `source` has its own total; when a meter takes over from an estimate, "
	"the estimate's total stops growing. The sums above hold for "
	"totals as well, over these zones. With the current schema alone, their rows have its "
	"names.\n"
	"* For present power use the watts of the total, for which no zone has to be chosen: "
	"`sum(kepler_node_watts)`, `sum by (container_namespace) (kepler_namespace_watts)`, "
	"`topk(10, kepler_process_watts)`. In each response, the watts of all processes, of all "
	"containers, and of all namespaces add up to `kepler_node_watts`, each together with "
	"`kepler_node_unattributed_watts`. For energy use `increase()` of the total's "
	"`_joules_total`. Never add up zones of different kinds: "
	"`sum({__name__=~\"kepler_node_(package|dram|psys|platform)_watts\"})` counts the energy "
	"of a package again in psys, and both again in the platform.\n"
	"* A counter of a process, container, pod, VM or namespace first shows 0, for the time "
	"of `--metrics.settle`, and then everything that it has counted: `increase()` ignores "
	"the first sample of a series. So the first scrapes of a new exporter show 0, for up to "
	"a minute; watts are never delayed.\n"
	"* `package` is the number in the zone's name, for a GPU its UUID; `path` is the place "
	"where the zone was found. The node, unattributed energy and the zones themselves have "
	"these labels. Processes, containers, pods, VMs and namespaces, retired and pending "
	"energy have one series per kind, the sum over all sockets, unless "
	"`--metrics.per-package` adds these labels (in parentheses below). Each socket's energy "
	"goes to the work on it either way. The power of a sum is shown while the power of all "
	"its sockets is known for the same time.\n"
	"* `mode` is `dynamic` (caused by work) or `idle` (drawn without any work). Idle series "
	"exist only if idle power is known or bounded (`kepler_zone_info`), and at process and "
	"container level only if it is shared (`--idle.share`, `--gpu.idle`).\n"
	"* `source` is a meter (`rapl-sysfs`) or a model (`trained_power_model`); "
	"`kepler_zone_info` has `measured` or `estimated`. An estimate never appears under the "
	"`kepler_*_cpu_*` names: those are measured only. On a machine without a meter the "
	"current schema has `kepler_platform_watts` and CPU time; the classic one attributes the "
	"estimate.\n"
	"* `container_id` is a container, a VM, a batch job, a systemd unit, `system_processes` "
	"or `kernel_processes`. `container_namespace` is the pod's namespace, or `unknown` while "
	"it is not known; for owners outside pods it is `system` or `kernel`. "
	"`container_id=\"\"` with `container_name=\"other\"` stands for owners of the namespace "
	"beyond the limit (`--monitor.max-containers`).\n"
	"* A pod's series continues when its containers restart; each container has its own "
	"series. When an owner's names change (or become known after 60 s), its series ends and "
	"another one begins at 0. A pod has the labels selected by `--kube.pod-labels`, as "
	"`label_…`; a process has `container_name` and `pod_name` if they differ from "
	"`container_id`.\n"
	"* A series with `pid=\"\"` and `command=\"other\"` holds its container's processes that "
	"have used too little for a separate series (`--metrics.process.min-joules`). Series "
	"that are no longer shown are in the *retired* families.\n"
	"* `kepler_*_bpf_cpu_time_ms_total` keep their classic names; `source` of these and of "
	"counters is the reader in use, `bpf` or `procfs`.\n"
	"* `<counter>` stands for `cpu_cycles`, `cpu_ref_cycles`, `cpu_instructions`, "
	"`cache_miss` (of the last level), `page_cache_hit`, `net_tx_irq`, `net_rx_irq`, "
	"`block_irq` (softirqs), `net_bytes` or `block_bytes`. Classic names have `bpf_` before "
	"an `<event>`, which is `page_cache_hit`, `net_tx_irq`, `net_rx_irq` or `block_irq`. A "
	"counter that the machine lacks has no series, and neither has any with "
	"`--metrics.counters=off`; a counter that becomes known after the node's first interval "
	"begins when its series have settled. Counts belong to the task, container or VM that "
	"caused them, as far as it is known; else they are unattributed. For each counter, at "
	"the levels process and container: rows + retired + pending + unattributed = node.\n"
	"* Label values are at most 256 bytes. Control bytes and invalid UTF-8 become U+FFFD; a "
	"container id with any of these gets a hash appended, so that two never become one. Two "
	"zones with the same labels get their number appended to `package`.\n"
	"* Under the current names, processes and containers show active (dynamic) energy, as in "
	"Kepler since 0.10. Counters keep `state=\"running\"` for as long as their series lives, "
	"so that `increase()` has one series up to its end; the watts show whether its owner is "
	"`running` or `terminated`. A container with only sleeping processes has not ended.\n\n";

static const char comparing[] =
	"## Comparing nodes\n\n"
	"Until a zone's idle power is learned, `idle_state` of `kepler_zone_info` is "
	"`provisional`: its idle energy is split off by a bound and may be too much or too little. "
	"While it is `off`, all energy is dynamic, idle power included. Such a node "
	"charges its workloads differently from one that has learned: do not compare the two. "
	"These rules keep only zones with an idle power that is known on all sockets, and was "
	"throughout the window (a minute more, for `--metrics.settle`):\n\n"
	"```yaml\n"
	"groups:\n"
	"  - name: kepler\n"
	"    rules:\n"
	"      - record: instance:kepler_zone_with_known_idle:info\n"
	"        expr: |\n"
	"          max by (cluster, job, instance, zone, source) "
	"(kepler_zone_info{idle_state=~\"learned|fixed|model\"})\n"
	"          unless on (cluster, job, instance, zone, source)\n"
	"            max_over_time(kepler_zone_info{idle_state!~\"learned|fixed|model\"}[6m])\n"
	"      - record: container:kepler_package_dynamic_watts:rate5m\n"
	"        expr: |\n"
	"          rate(kepler_container_package_joules_total{mode=\"dynamic\"}[5m])\n"
	"            * on (cluster, job, instance, source) group_left ()\n"
	"          instance:kepler_zone_with_known_idle:info{zone=\"package\"}\n"
	"```\n\n";

static const char head[] = "## Families\n\n"
			   "| name | type | labels | schema | meaning |\n"
			   "|---|---|---|---|---|\n";

static const char *type_of(const struct family *family)
{
	switch (family->type) {
	case FAMILY_COUNTER:
		return "counter";
	case FAMILY_HISTOGRAM:
		return "histogram";
	case FAMILY_INFO:
		return "info";
	case FAMILY_GAUGE:
	default:
		return "gauge";
	}
}

static const char *schema_of(const struct family *family)
{
	if (family->schemas == SCHEMA_BOTH)
		return "both";
	return family->schemas == SCHEMA_CLASSIC ? "classic" : "current";
}

/* Returns the separator between these labels and the family's own ones. */
static const char *add_row_labels(struct strbuf *out, const struct family *family)
{
	bool retired = family->of == OF_RETIRED || family->of == OF_RETIRED_DEVICES ||
		       family->of == OF_RETIRED_COUNTERS;
	bool current = family->schemas != SCHEMA_CLASSIC && family->of != OF_ROW_TOTALS &&
		       family_each(family) != EACH_COUNTER;

	if (family->of < OF_ROWS)
		return "";
	row_labels_describe(current ? NAMES_CURRENT : NAMES_CLASSIC, family->where.level, retired,
			    out);
	return ", ";
}

static void add_labels(struct strbuf *out, const struct family *family)
{
	const char *before = add_row_labels(out, family);

	for (const enum point_label *key = family->labels; key && *key != POINT_LABELS_END; key++) {
		bool optional = *key == POINT_ROW_PACKAGE || *key == POINT_ROW_PATH ||
				*key == POINT_ROW_GPU || *key == POINT_ROW_GPU_UUID;

		strbuf_addf(out, "%s%s%s%s", before, optional ? "(" : "", label_name(*key),
			    optional ? ")" : "");
		before = ", ";
	}
	if (family->type == FAMILY_HISTOGRAM)
		strbuf_addf(out, "%sle", before);
}

/* <counter> in it as code: else it were a tag. */
static void add_help(struct strbuf *out, const struct family *family)
{
	const char *hole = strstr(family->help, FAMILY_SIGNAL);
	int before = (int)(hole ? hole - family->help : (ptrdiff_t)strlen(family->help));

	strbuf_addf(out, "%.*s", before, family->help);
	if (hole)
		strbuf_addf(out, "`%s`%s", FAMILY_SIGNAL, hole + strlen(FAMILY_SIGNAL));
}

static void begin_row(struct strbuf *out, const struct family *family)
{
	strbuf_addf(out, "| `%s%s` | %s | ", family->name, family_suffix(family), type_of(family));
}

static void end_row(struct strbuf *out, const struct family *family)
{
	strbuf_addf(out, " | %s | ", schema_of(family));
	add_help(out, family);
	strbuf_add_str(out, " |\n");
}

static void add_health_labels(struct strbuf *out, const struct health_metric *metric)
{
	const char *before = "";

	for (const struct health_label *label = metric->labels; label && label->name; label++) {
		strbuf_addf(out, "%s%s", before, label->name);
		before = ", ";
	}
	if (metric->variants)
		strbuf_addf(out, "%s%s", before, metric->variant_label);
	if (metric->type == FAMILY_HISTOGRAM)
		strbuf_addf(out, "%sle", before);
}

static void add_part(struct strbuf *out, const struct health_part *part)
{
	for (size_t i = 0; i < part->metric_count; i++) {
		const struct family family = health_family(&part->metrics[i]);

		begin_row(out, &family);
		add_health_labels(out, &part->metrics[i]);
		end_row(out, &family);
	}
}

int metric_reference(const struct health_part *(*part)(size_t index), struct strbuf *out)
{
	const struct health_part *one;
	const struct family *family;

	strbuf_add_str(out, intro);
	strbuf_add_str(out, comparing);
	strbuf_add_str(out, head);
	for (size_t i = 0; (family = catalog_at(i)); i++) {
		begin_row(out, family);
		add_labels(out, family);
		end_row(out, family);
	}
	for (size_t i = 0; (one = part(i)); i++)
		add_part(out, one);
	return strbuf_error(out);
}
