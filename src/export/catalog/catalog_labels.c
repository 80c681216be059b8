// SPDX-License-Identifier: Apache-2.0
#include "export/catalog/catalog_labels.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#define ARCH "amd64"
#elif defined(__aarch64__)
#define ARCH "arm64"
#elif defined(__s390x__)
#define ARCH "s390x"
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define ARCH "ppc64le"
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH "riscv64"
#else
#define ARCH "other"
#endif

static bool same_labels(const struct zone *a, const struct zone *b)
{
	return a->kind == b->kind && strcmp(a->instance, b->instance) == 0 &&
	       strcmp(a->source, b->source) == 0;
}

void cursor_find_namesakes(struct cursor *cursor)
{
	const struct snapshot *snapshot = cursor->view->snapshot;

	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		uint32_t earlier = 0;

		while (earlier < z &&
		       !same_labels(&snapshot->zones[earlier].zone, &snapshot->zones[z].zone))
			earlier++;
		cursor->has_namesake[z] = earlier < z;
	}
}

/* Zones that have the labels of another get their number behind the package: "0#3". */
static const char *package_of(struct cursor *cursor)
{
	const struct zone *zone = &cursor->zone->zone;

	if (!cursor->has_namesake[cursor->zone_index])
		return zone->instance;
	(void)snprintf(cursor->package, sizeof(cursor->package), "%s#%u", zone->instance,
		       cursor->zone_index);
	return cursor->package;
}

/* As options call the zone: "package-0". A GPU has its UUID. */
static const char *hw_id_of(struct cursor *cursor)
{
	const struct zone *zone = &cursor->zone->zone;
	char id[ZONE_ID_MAX];

	if (zone_kind_info[zone->kind].is_device && zone->instance[0])
		return package_of(cursor);
	zone_id(zone, id);
	if (!cursor->has_namesake[cursor->zone_index])
		(void)snprintf(cursor->hw_id, sizeof(cursor->hw_id), "%s", id);
	else
		(void)snprintf(cursor->hw_id, sizeof(cursor->hw_id), "%s#%u", id,
			       cursor->zone_index);
	return cursor->hw_id;
}

/* A well-known value of the semantic conventions, where one fits. */
static const char *hw_type_of(enum zone_kind kind)
{
	switch (kind) {
	case ZONE_PACKAGE:
	case ZONE_CORE:
	case ZONE_UNCORE:
		return "cpu";
	case ZONE_DRAM:
		return "memory";
	case ZONE_GPU:
		return "gpu";
	case ZONE_PSYS:
	case ZONE_PLATFORM:
	case ZONE_OTHER:
	case ZONE_KIND_COUNT:
	default:
		return "other";
	}
}

static bool same_source(const struct zone *a, const struct zone *b)
{
	return strcmp(a->source, b->source) == 0;
}

static bool same_quality(const struct zone *a, const struct zone *b)
{
	return a->quality == b->quality;
}

static bool has_earlier_account(const struct cursor *cursor,
				bool (*same)(const struct zone *a, const struct zone *b))
{
	const struct snapshot *snapshot = cursor->view->snapshot;
	const struct zone *zone = &cursor->zone->zone;

	for (uint32_t i = 0; i < cursor->account_index; i++) {
		const struct zone *earlier =
			&snapshot->zones[snapshot->accounts[i].first_zone].zone;

		if (earlier->kind == zone->kind && same(earlier, zone))
			return true;
	}
	return false;
}

/*
 * Rows have the label of the zone if they distinguish the zones of a kind. Otherwise an account of
 * several zones has no such label, unless it would be mistaken for an earlier account without it:
 * then the label is needed under the current names, which have no source: the number of its first
 * zone, which the node's series of that zone has as well.
 */
static bool is_left_out(const struct cursor *cursor, enum point_label key)
{
	if (cursor->view->snapshot->by_zone)
		return false;
	if (key == POINT_ROW_GPU || key == POINT_ROW_GPU_UUID || key == POINT_ROW_HW_ID)
		return true;
	if (key == POINT_ROW_PACKAGE)
		return !has_earlier_account(cursor, same_source);
	return key == POINT_ROW_PATH && !has_earlier_account(cursor, same_quality);
}

static const char *row_package_of(struct cursor *cursor)
{
	if (cursor->view->snapshot->by_zone)
		return package_of(cursor);
	(void)snprintf(cursor->package, sizeof(cursor->package), "#%u", cursor->zone_index);
	return cursor->package;
}

static const char *row_path_of(const struct cursor *cursor)
{
	const struct zone *zone = &cursor->zone->zone;

	return cursor->view->snapshot->by_zone ? zone->path : zone->source;
}

/*
 * "bpf-walk" and "bpf-iter" count the same thing in the same way: a change from one to the other
 * breaks no series.
 */
static const char *activity_source_of(struct cursor *cursor)
{
	const char *reader = cursor->view->snapshot->node.activity_reader;
	int len = strncmp(reader, "bpf", 3) == 0 ? 3 : 15;

	(void)snprintf(cursor->activity_source, sizeof(cursor->activity_source), "%.*s", len,
		       reader);
	return cursor->activity_source;
}

static const char *fact_of(const struct cursor *cursor, size_t key)
{
	const struct owner_names *facts = cursor->row->labels->facts;

	return facts ? facts->text[key] : "";
}

/* "" where it is not known; @which: the processor, its package or its core. */
static const char *cpu_number_of(struct cursor *cursor, size_t which)
{
	const struct snapshot_cpu *cpu = cursor->cpu;
	const uint32_t numbers[] = { cpu->processor, cpu->package, cpu->core };
	char *text = cursor->cpu_number[which];

	text[0] = '\0';
	if (numbers[which] != SNAPSHOT_CPU_UNKNOWN)
		(void)snprintf(text, sizeof(cursor->cpu_number[which]), "%u", numbers[which]);
	return text;
}

static const char *device_of(struct cursor *cursor)
{
	(void)snprintf(cursor->device, sizeof(cursor->device), "%u",
		       cursor->zone->zone.domain.number);
	return cursor->device;
}

static const char *node_quality_of(const struct snapshot *snapshot)
{
	bool measured = false, estimated = false;

	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		estimated |= snapshot->zones[z].zone.quality == QUALITY_ESTIMATED;
		measured |= snapshot->zones[z].zone.quality == QUALITY_MEASURED;
	}
	if (measured && estimated)
		return "both";
	if (measured)
		return "measured";
	return estimated ? "estimated" : "none";
}

#define NODE(field)  IN_SNAPSHOT_NODE, offsetof(struct snapshot_node, field), NULL
#define PATH         IN_ZONE, offsetof(struct snapshot_zone, zone.path), NULL
#define INSTANCE     IN_ZONE, offsetof(struct snapshot_zone, zone.instance), NULL
#define MODEL(field) IN_MODEL, offsetof(struct snapshot_model, field), NULL
#define FACT(key)    IN_FACTS, key, NULL
#define UNIT(key)    FROM_UNIT, key, NULL
#define CPU(number)  FROM_CPU, number, NULL
#define TEXT(text)   IN_TEXT, 0, text
#define FROM(what)   FROM_##what, 0, NULL

enum text_from {
	IN_SNAPSHOT_NODE,
	IN_ZONE,
	IN_MODEL,
	IN_FACTS, /* of the row's pod */
	IN_TEXT,
	FROM_ACTIVITY,
	FROM_CAVEAT,
	FROM_CPU,
	FROM_DEVICE,
	FROM_HW_ID,
	FROM_HW_TYPE,
	FROM_IDLE_STATE,
	FROM_IN_TOTAL,
	FROM_KIND,
	FROM_LEVEL,
	FROM_MODE,
	FROM_NODE,
	FROM_PACKAGE,
	FROM_QUALITY,
	FROM_REASON,
	FROM_ROW_PACKAGE,
	FROM_ROW_PATH,
	FROM_RULE,
	FROM_SCOPE,
	FROM_SOURCE,
	FROM_STATE,
	FROM_UNIT,
	FROM_VARIANT,
};

static const struct {
	const char *name;
	/* An array of char at @offset, a fact by its key, a fixed text, or what text_of() knows. */
	enum text_from from;
	size_t offset;
	const char *text;
} labels[POINT_LABEL_COUNT] = {
	[POINT_ACTIVITY_SOURCE] = { "source", FROM(ACTIVITY) },
	[POINT_ARCH] = { "arch", TEXT(ARCH) },
	[POINT_BRANCH] = { "branch", NODE(branch) },
	[POINT_CAVEAT] = { "caveat", FROM(CAVEAT) },
	[POINT_CODE] = { "code", FROM(VARIANT) },
	[POINT_COMPONENTS_SOURCE] = { "components_power_source", NODE(components_source) },
	[POINT_CORE_ID] = { "core_id", CPU(2) },
	[POINT_CPU_ARCHITECTURE] = { "cpu_architecture", NODE(cpu_architecture) },
	[POINT_CPU_MODEL] = { "model_name", NODE(cpu_model) },
	[POINT_CPU_VENDOR] = { "vendor_id", NODE(cpu_vendor) },
	[POINT_CUT_REASON] = { "reason", FROM(VARIANT) },
	[POINT_GPU] = { "gpu", FROM(DEVICE) },
	[POINT_GPU_UUID] = { "gpu_uuid", INSTANCE },
	[POINT_HOST_CPUS_SOURCE] = { "host_cpus_source", NODE(vm_host_cpus_source) },
	[POINT_HW_ID] = { "hw.id", FROM(HW_ID) },
	[POINT_HW_TYPE] = { "hw.type", FROM(HW_TYPE) },
	[POINT_IDLE_STATE] = { "idle_state", FROM(IDLE_STATE) },
	[POINT_IN_TOTAL] = { "in_total", FROM(IN_TOTAL) },
	[POINT_KEPLER_LEVEL] = { "kepler.level", FROM(LEVEL) },
	[POINT_KEPLER_MODE] = { "kepler.mode", FROM(MODE) },
	[POINT_KEPLER_QUALITY] = { "kepler.quality", FROM(QUALITY) },
	[POINT_KEPLER_REASON] = { "kepler.reason", FROM(REASON) },
	[POINT_KEPLER_SCOPE] = { "kepler.scope", FROM(SCOPE) },
	[POINT_KEPLER_SOURCE] = { "kepler.source", FROM(SOURCE) },
	[POINT_KEPLER_UNIT] = { "kepler.unit", UNIT(LABEL_KEY_COUNT) },
	[POINT_KEPLER_ZONE] = { "kepler.zone", FROM(KIND) },
	[POINT_KERNEL] = { "kernel", NODE(kernel) },
	[POINT_LEVEL] = { "level", FROM(LEVEL) },
	[POINT_MODE] = { "mode", FROM(MODE) },
	[POINT_MODEL] = { "model", MODEL(name) },
	[POINT_MODEL_FEATURES] = { "features", MODEL(features) },
	[POINT_MODEL_MACHINE] = { "machine", MODEL(machine) },
	[POINT_MODEL_OUTPUT] = { "output", MODEL(output) },
	[POINT_NODE_NAME] = { "node_name", NODE(node_name) },
	[POINT_NODE_QUALITY] = { "quality", FROM(NODE) },
	[POINT_OS] = { "os", TEXT("linux") },
	[POINT_OS_SOURCE] = { "source", TEXT("os") },
	[POINT_PACKAGE] = { "package", FROM(PACKAGE) },
	[POINT_PATH] = { "path", PATH },
	[POINT_PHYSICAL_ID] = { "physical_id", CPU(1) },
	[POINT_PLATFORM_SOURCE] = { "platform_power_source", NODE(platform_source) },
	[POINT_PROCESSOR] = { "processor", CPU(0) },
	[POINT_QOS_CLASS] = { "qos_class", FACT(LABEL_QOS_CLASS) },
	[POINT_QUALITY] = { "quality", FROM(QUALITY) },
	[POINT_REASON] = { "reason", FROM(REASON) },
	[POINT_REVISION] = { "revision", NODE(revision) },
	[POINT_ROW_GPU] = { "gpu", FROM(DEVICE) },
	[POINT_ROW_GPU_UUID] = { "gpu_uuid", INSTANCE },
	[POINT_ROW_HW_ID] = { "hw.id", FROM(HW_ID) },
	[POINT_ROW_PACKAGE] = { "package", FROM(ROW_PACKAGE) },
	[POINT_ROW_PATH] = { "path", FROM(ROW_PATH) },
	[POINT_SCOPE] = { "scope", FROM(SCOPE) },
	[POINT_SIGNAL] = { "signal", FROM(RULE) },
	[POINT_SOURCE] = { "source", FROM(SOURCE) },
	[POINT_SOURCE_ID] = { "source_id", PATH },
	[POINT_STATE] = { "state", FROM(STATE) },
	[POINT_UNIT] = { "unit", UNIT(LABEL_KEY_COUNT) },
	[POINT_UNIT_NAMESPACE] = { "k8s.namespace.name", UNIT(LABEL_NAMESPACE) },
	[POINT_UNIT_POD] = { "k8s.pod.name", UNIT(LABEL_POD_NAME) },
	[POINT_UNIT_POD_UID] = { "k8s.pod.uid", UNIT(LABEL_POD_ID) },
	[POINT_VERSION] = { "version", NODE(version) },
	[POINT_ZONE] = { "zone", FROM(KIND) },
};

/* Labels whose text is an array of char. */
static const char *struct_of(const struct cursor *cursor, enum text_from from)
{
	if (from == IN_SNAPSHOT_NODE)
		return (const char *)&cursor->view->snapshot->node;
	return (const char *)cursor->zone;
}

/* A zone without one has no series with this label. */
static const char *model_text(const struct cursor *cursor, size_t offset)
{
	uint32_t number = cursor->zone->model;

	if (number == 0 || number > SNAPSHOT_MODELS)
		return "";
	return (const char *)&cursor->view->snapshot->node.models[number - 1] + offset;
}

/* Its name, or the name of its pod. */
static const char *unit_text(const struct snapshot_unit *unit, size_t key)
{
	return key == LABEL_KEY_COUNT ? unit->name : unit->labels->names->text[key];
}

static const char *text_of(struct cursor *cursor, enum point_label key)
{
	const struct snapshot_zone *zone = cursor->zone;

	switch (labels[key].from) {
	case IN_SNAPSHOT_NODE:
	case IN_ZONE:
		return struct_of(cursor, labels[key].from) + labels[key].offset;
	case IN_MODEL:
		return model_text(cursor, labels[key].offset);
	case IN_FACTS:
		return fact_of(cursor, labels[key].offset);
	case IN_TEXT:
		return labels[key].text;
	case FROM_ACTIVITY:
		return activity_source_of(cursor);
	case FROM_CAVEAT:
		return zone_caveat_name(zone->caveat);
	case FROM_CPU:
		return cpu_number_of(cursor, labels[key].offset);
	case FROM_DEVICE:
		return device_of(cursor);
	case FROM_HW_ID:
		return hw_id_of(cursor);
	case FROM_HW_TYPE:
		return hw_type_of(zone->zone.kind);
	case FROM_IDLE_STATE:
		return idle_state_name(zone->idle_state);
	case FROM_IN_TOTAL:
		return zone->total != TOTAL_NONE ? "true" : "false";
	case FROM_KIND:
		return zone_kind_name(zone->zone.kind);
	case FROM_LEVEL:
		return level_info[cursor->level].name;
	case FROM_MODE:
		return energy_mode_name(cursor->mode);
	case FROM_NODE:
		return node_quality_of(cursor->view->snapshot);
	case FROM_PACKAGE:
		return package_of(cursor);
	case FROM_QUALITY:
		return zone_quality_name(zone->zone.quality);
	case FROM_REASON:
		return unattributed_reason_name(cursor->reason);
	case FROM_ROW_PACKAGE:
		return row_package_of(cursor);
	case FROM_ROW_PATH:
		return row_path_of(cursor);
	case FROM_RULE:
		return share_rule_name(zone->rule);
	case FROM_SCOPE:
		return zone_scope_name(zone->zone.scope);
	case FROM_SOURCE:
		return zone->zone.source;
	case FROM_STATE:
		return cursor->ended ? "terminated" : "running";
	case FROM_UNIT:
		return unit_text(cursor->unit, labels[key].offset);
	case FROM_VARIANT:
	default:
		return cursor->variant->text;
	}
}

const char *label_name(enum point_label key)
{
	return labels[key].name;
}

size_t cursor_labels(struct cursor *cursor, const enum point_label *keys,
		     struct label_pair ret[POINT_LABELS_MAX])
{
	size_t count = 0;

	for (; keys && *keys != POINT_LABELS_END; keys++) {
		if (!is_left_out(cursor, *keys))
			ret[count++] =
				(struct label_pair){ labels[*keys].name, text_of(cursor, *keys) };
	}
	return count;
}
