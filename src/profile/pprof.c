// SPDX-License-Identifier: Apache-2.0
/*
 * A location and a function per frame, with the frame's number plus one as their ids, because 0
 * stands for none. Inlined functions share one location with the function that contains them, which
 * has a line for each, the innermost first: such a location has a number above those. The table of
 * strings has the fixed ones, then the name of each frame, then path and build id of each module,
 * so that a string's number needs no search.
 */
#include "profile/pprof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/num.h"
#include "base/protobuf_writer.h"

#define FIELD(number)  PROTOBUF_TAG(number, PROTOBUF_BYTES)
#define NUMBER(number) PROTOBUF_TAG(number, PROTOBUF_VARINT)

/* Profile. */
#define PROFILE_SAMPLE_TYPE  FIELD(1)
#define PROFILE_SAMPLE       FIELD(2)
#define PROFILE_MAPPING      FIELD(3)
#define PROFILE_LOCATION     FIELD(4)
#define PROFILE_FUNCTION     FIELD(5)
#define PROFILE_STRING       FIELD(6)
#define PROFILE_TIME_NS      NUMBER(9)
#define PROFILE_DURATION_NS  NUMBER(10)
#define PROFILE_PERIOD_TYPE  FIELD(11)
#define PROFILE_PERIOD       NUMBER(12)
#define PROFILE_COMMENT      NUMBER(13)
#define PROFILE_DEFAULT_TYPE NUMBER(14)
/* ValueType; Sample; Mapping; Location; Line; Function. */
#define TYPE_NAME             NUMBER(1)
#define TYPE_UNIT             NUMBER(2)
#define SAMPLE_LOCATIONS      FIELD(1)
#define SAMPLE_VALUES         FIELD(2)
#define MAPPING_ID            NUMBER(1)
#define MAPPING_FILE          NUMBER(5)
#define MAPPING_BUILD_ID      NUMBER(6)
#define MAPPING_HAS_FUNCTIONS NUMBER(7)
#define LOCATION_ID           NUMBER(1)
#define LOCATION_MAPPING      NUMBER(2)
#define LOCATION_LINE         FIELD(4)
#define LINE_FUNCTION         NUMBER(1)
#define FUNCTION_ID           NUMBER(1)
#define FUNCTION_NAME         NUMBER(2)
#define FUNCTION_SYSTEM_NAME  NUMBER(3)

/* The first strings of the table; the first of all must be empty. */
enum fixed_string {
	STRING_EMPTY,
	STRING_SAMPLES,
	STRING_COUNT,
	STRING_CPU,
	STRING_NANOSECONDS,
	STRING_ENERGY,
	STRING_MICROJOULES,
	STRING_KERNEL,
	STRING_TITLE,
	STRING_QUALITY,
	FIXED_STRINGS,
};

static uint32_t name_string(uint32_t frame)
{
	return FIXED_STRINGS + frame;
}

static uint32_t path_string(const struct profile *profile, uint32_t module)
{
	return FIXED_STRINGS + profile->frame_count + 2 * (module - 1);
}

static uint32_t kernel_mapping(const struct profile *profile)
{
	return profile->module_count + 1;
}

/* A location with inlined functions: the innermost of them, and the location of its caller. */
struct chain {
	uint32_t frame, caller;
};

struct locations {
	uint32_t *of_node; /* [node_count]: up to the function that is not inlined */
	uint32_t first;    /* number of the first chain */
	struct chain *chains;
	uint32_t count, size;
	struct map by_chain;
};

static void locations_release(struct locations *locations)
{
	free(locations->of_node);
	free(locations->chains);
	map_release(&locations->by_chain);
}

static int find_chain(struct locations *locations, uint32_t frame, uint32_t caller, uint32_t *ret)
{
	const struct map_key key = { .hi = caller, .lo = frame };
	uint32_t at = map_find(&locations->by_chain, key);

	if (at == MAP_NONE) {
		at = locations->count;
		if (ARRAY_RESERVE(locations->chains, locations->size, at + 1) < 0 ||
		    map_put(&locations->by_chain, key, at) < 0)
			return -ENOMEM;
		locations->chains[locations->count++] = (struct chain){ frame, caller };
	}
	*ret = locations->first + at;
	return 0;
}

static bool is_inlined(const struct profile *profile, uint32_t node)
{
	return node != PROFILE_ROOT &&
	       profile->frames[profile->nodes[node].frame].kind == FRAME_INLINED;
}

/* Parents come before their children. 0 or -ENOMEM. */
static int find_locations(const struct profile *profile, struct locations *ret)
{
	int r = 0;

	ret->first = profile->frame_count + 1;
	map_init(&ret->by_chain, profile->node_count);
	ret->of_node = calloc(profile->node_count, sizeof(*ret->of_node));
	if (!ret->of_node)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < profile->node_count; i++) {
		const struct profile_node *node = &profile->nodes[i];

		ret->of_node[i] = node->frame + 1;
		if (is_inlined(profile, i))
			r = find_chain(ret, node->frame, ret->of_node[node->parent],
				       &ret->of_node[i]);
	}
	return r;
}

static void add_type(struct strbuf *out, char field, enum fixed_string name, enum fixed_string unit)
{
	size_t begin = protobuf_begin_field(out, field);

	protobuf_add_varint(out, TYPE_NAME, name);
	protobuf_add_varint(out, TYPE_UNIT, unit);
	protobuf_end(out, begin);
}

static bool is_sample(const struct profile_node *node)
{
	return node->samples || node->cpu_ns || node->energy_uj[RUN_NOW];
}

/* The innermost location is the first; returns how many. */
static size_t stack_of(const struct profile *profile, const struct locations *locations,
		       uint32_t node, uint32_t ret[static PROFILE_DEPTH_MAX])
{
	size_t depth = 0;

	while (node != PROFILE_ROOT && depth < PROFILE_DEPTH_MAX) {
		ret[depth++] = locations->of_node[node];
		while (is_inlined(profile, node))
			node = profile->nodes[node].parent;
		if (node != PROFILE_ROOT)
			node = profile->nodes[node].parent;
	}
	if (!depth)
		ret[depth++] = locations->of_node[PROFILE_ROOT];
	return depth;
}

static void add_sample(const struct profile *profile, const struct locations *locations,
		       uint32_t number, struct strbuf *out)
{
	const struct profile_node *node = &profile->nodes[number];
	const uint64_t values[] = { node->samples, node->cpu_ns, node->energy_uj[RUN_NOW] };
	char bytes[ARRAY_SIZE(values) * PROTOBUF_VARINT_MAX], *end = bytes;
	uint32_t ids[PROFILE_DEPTH_MAX];
	size_t depth = stack_of(profile, locations, number, ids);
	size_t begin = protobuf_begin_field(out, PROFILE_SAMPLE);

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		end = protobuf_put_varint(end, values[i]);
	protobuf_add_packed(out, SAMPLE_LOCATIONS, ids, depth);
	protobuf_add_bytes(out, SAMPLE_VALUES, bytes, (size_t)(end - bytes));
	protobuf_end(out, begin);
}

static void add_mapping(struct strbuf *out, uint32_t id, uint32_t path, uint32_t build_id)
{
	size_t begin = protobuf_begin_field(out, PROFILE_MAPPING);

	protobuf_add_varint(out, MAPPING_ID, id);
	protobuf_add_varint(out, MAPPING_FILE, path);
	protobuf_add_varint(out, MAPPING_BUILD_ID, build_id);
	protobuf_add_varint(out, MAPPING_HAS_FUNCTIONS, true);
	protobuf_end(out, begin);
}

static void add_line(struct strbuf *out, uint32_t function)
{
	size_t line = protobuf_begin_field(out, LOCATION_LINE);

	protobuf_add_varint(out, LINE_FUNCTION, function);
	protobuf_end(out, line);
}

/* @location: of a frame or of a chain, with a line for each function of that. */
static void add_location(const struct profile *profile, const struct locations *locations,
			 uint32_t location, struct strbuf *out)
{
	size_t begin = protobuf_begin_field(out, PROFILE_LOCATION);
	uint32_t base = location;
	const struct profile_frame *frame;

	while (base >= locations->first)
		base = locations->chains[base - locations->first].caller;
	frame = &profile->frames[base - 1];
	protobuf_add_varint(out, LOCATION_ID, location);
	protobuf_add_varint(out, LOCATION_MAPPING,
			    frame->kind == FRAME_KERNEL ? kernel_mapping(profile) : frame->module);
	while (location >= locations->first) {
		const struct chain *chain = &locations->chains[location - locations->first];

		add_line(out, chain->frame + 1);
		location = chain->caller;
	}
	add_line(out, base);
	protobuf_end(out, begin);
}

static void add_function(uint32_t number, struct strbuf *out)
{
	size_t begin = protobuf_begin_field(out, PROFILE_FUNCTION);

	protobuf_add_varint(out, FUNCTION_ID, number + 1);
	protobuf_add_varint(out, FUNCTION_NAME, name_string(number));
	protobuf_add_varint(out, FUNCTION_SYSTEM_NAME, name_string(number));
	protobuf_end(out, begin);
}

static void add_string(struct strbuf *out, const char *text)
{
	protobuf_add_bytes(out, PROFILE_STRING, text ? text : "", text ? strlen(text) : 0);
}

static void add_strings(const struct profile *profile, const struct profile_about *about,
			struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf quality = STRBUF_INIT;

	strbuf_addf(&quality, "energy is %s", about->quality);
	out->failed |= quality.failed;
	const char *const fixed[FIXED_STRINGS] = {
		[STRING_SAMPLES] = "samples",
		[STRING_COUNT] = "count",
		[STRING_CPU] = "cpu",
		[STRING_NANOSECONDS] = "nanoseconds",
		[STRING_ENERGY] = "energy",
		[STRING_MICROJOULES] = "microjoules",
		[STRING_KERNEL] = "[kernel.kallsyms]",
		[STRING_TITLE] = about->title,
		[STRING_QUALITY] = quality.data,
	};

	for (size_t i = 0; i < FIXED_STRINGS; i++)
		add_string(out, fixed[i]);
	for (uint32_t i = 0; i < profile->frame_count; i++)
		add_string(out, profile->frames[i].name);
	for (uint32_t i = 0; i < profile->module_count; i++) {
		add_string(out, profile->modules[i].path);
		add_string(out, profile->modules[i].build_id);
	}
}

void pprof_write(const struct profile *profile, const struct profile_about *about,
		 struct strbuf *out)
{
	CLEANUP(locations_release) struct locations locations = { .count = 0 };

	if (find_locations(profile, &locations) < 0) {
		out->failed = true;
		return;
	}
	add_type(out, PROFILE_SAMPLE_TYPE, STRING_SAMPLES, STRING_COUNT);
	add_type(out, PROFILE_SAMPLE_TYPE, STRING_CPU, STRING_NANOSECONDS);
	add_type(out, PROFILE_SAMPLE_TYPE, STRING_ENERGY, STRING_MICROJOULES);
	for (uint32_t i = 0; i < profile->node_count; i++) {
		if (is_sample(&profile->nodes[i]))
			add_sample(profile, &locations, i, out);
	}
	for (uint32_t module = 1; module <= profile->module_count; module++)
		add_mapping(out, module, path_string(profile, module),
			    path_string(profile, module) + 1);
	add_mapping(out, kernel_mapping(profile), STRING_KERNEL, STRING_EMPTY);
	for (uint32_t i = 0; i < profile->frame_count; i++)
		add_function(i, out);
	for (uint32_t i = 0; i < profile->frame_count + locations.count; i++)
		add_location(profile, &locations, i + 1, out);
	add_strings(profile, about, out);
	protobuf_add_varint(out, PROFILE_TIME_NS, (uint64_t)about->began_unix_ns);
	protobuf_add_varint(out, PROFILE_DURATION_NS, (uint64_t)(about->elapsed_s * 1e9));
	add_type(out, PROFILE_PERIOD_TYPE, STRING_CPU, STRING_NANOSECONDS);
	protobuf_add_varint(out, PROFILE_PERIOD, NSEC_PER_SEC / about->frequency_hz);
	protobuf_add_varint(out, PROFILE_COMMENT, STRING_TITLE);
	protobuf_add_varint(out, PROFILE_COMMENT, STRING_QUALITY);
	protobuf_add_varint(out, PROFILE_DEFAULT_TYPE, STRING_ENERGY);
}
