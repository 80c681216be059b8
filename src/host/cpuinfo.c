// SPDX-License-Identifier: Apache-2.0
/*
 * The file is blocks of "key : value" lines, one block a logical CPU. Model and flags are the first
 * block's; topology is the set of (physical id, core id) pairs over all blocks. An arm64 kernel
 * gives numbers instead of names.
 */
#include "host/cpuinfo.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

#define CPUS_MAX 8192

/* One line, cut in two; not terminated. */
struct entry {
	const char *key;
	size_t key_len;
	const char *value;
	size_t value_len;
};

struct topology {
	uint64_t *ids; /* socket << 32 | core, one a CPU */
	size_t count;
	unsigned socket;
	bool has_socket, has_core;
};

static size_t trim_end(const char *text, size_t len)
{
	while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t' || text[len - 1] == '\r'))
		len--;
	return len;
}

static bool split_line(const char *line, size_t len, struct entry *ret)
{
	const char *colon = memchr(line, ':', len);
	const char *value;

	if (!colon)
		return false;
	value = colon + 1;
	while (value < line + len && (*value == ' ' || *value == '\t'))
		value++;
	*ret = (struct entry){ line, trim_end(line, (size_t)(colon - line)), value,
			       trim_end(value, (size_t)(line + len - value)) };
	return true;
}

static bool key_is(const struct entry *entry, const char *key)
{
	return entry->key_len == strlen(key) && memcmp(entry->key, key, entry->key_len) == 0;
}

static void copy_text(char *buf, size_t size, const struct entry *entry)
{
	(void)snprintf(buf, size, "%.*s", (int)(entry->value_len < size ? entry->value_len : size),
		       entry->value);
}

/* Decimal, or hexadecimal after 0x; false for anything else. */
static bool entry_number(const struct entry *entry, unsigned *ret)
{
	char text[24], *end;
	unsigned long value;

	if (entry->value_len == 0 || entry->value_len >= sizeof(text) || entry->value[0] < '0' ||
	    entry->value[0] > '9')
		return false;
	copy_text(text, sizeof(text), entry);
	errno = 0;
	value = strtoul(text, &end, 0);
	if (errno != 0 || *end != '\0' || value > UINT32_MAX)
		return false;
	*ret = (unsigned)value;
	return true;
}

static void set_number(unsigned *field, const struct entry *entry)
{
	unsigned value;

	if (entry_number(entry, &value))
		*field = value;
}

static bool has_word(const struct entry *entry, const char *word)
{
	const char *at = entry->value, *end = entry->value + entry->value_len;
	size_t len = strlen(word);

	while (at < end) {
		const char *space = memchr(at, ' ', (size_t)(end - at));
		size_t word_len = (size_t)((space ? space : end) - at);

		if (word_len == len && memcmp(at, word, len) == 0)
			return true;
		at += word_len + 1;
	}
	return false;
}

static const char *implementer_name(unsigned implementer)
{
	switch (implementer) { /* Arm Architecture Reference Manual, MIDR_EL1.Implementer */
	case 0x41:
		return "ARM";
	case 0x48:
		return "HiSilicon";
	case 0x4e:
		return "NVIDIA";
	case 0x50:
		return "APM";
	case 0x51:
		return "Qualcomm";
	case 0x61:
		return "Apple";
	case 0x6d:
		return "Microsoft";
	case 0xc0:
		return "Ampere";
	default:
		return "";
	}
}

/* Facts that are the same for all CPUs, from the first one. */
static void take_model(struct cpuinfo *info, const struct entry *entry)
{
	if (key_is(entry, "vendor_id"))
		copy_text(info->vendor, sizeof(info->vendor), entry);
	else if (key_is(entry, "model name"))
		copy_text(info->model, sizeof(info->model), entry);
	else if (key_is(entry, "cpu family") || key_is(entry, "CPU implementer"))
		set_number(&info->family, entry);
	else if (key_is(entry, "model") || key_is(entry, "CPU part"))
		set_number(&info->model_number, entry);
	else if (key_is(entry, "stepping") || key_is(entry, "CPU variant"))
		set_number(&info->stepping, entry);
	else if (key_is(entry, "flags")) {
		info->hypervisor = has_word(entry, "hypervisor");
		info->tdx_guest = has_word(entry, "tdx_guest");
	}
	if (key_is(entry, "CPU implementer"))
		(void)snprintf(info->vendor, sizeof(info->vendor), "%s",
			       implementer_name(info->family));
}

/* True if what follows is of another CPU. s390x calls them so, behind lines of all of them. */
static bool begins_cpu(const struct entry *entry)
{
	return key_is(entry, "processor") || key_is(entry, "cpu number");
}

static void take_topology(struct topology *topology, const struct entry *entry)
{
	unsigned core;

	if (begins_cpu(entry)) {
		topology->socket = 0;
	} else if (key_is(entry, "physical id")) {
		topology->has_socket |= entry_number(entry, &topology->socket);
	} else if (key_is(entry, "core id") && topology->count < CPUS_MAX &&
		   entry_number(entry, &core)) {
		topology->ids[topology->count++] = (uint64_t)topology->socket << 32 | core;
		topology->has_core = true;
	}
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void count_topology(struct topology *topology, struct cpuinfo *info)
{
	uint64_t *ids = topology->ids;

	if (!topology->has_socket || !topology->has_core)
		return;
	qsort(ids, topology->count, sizeof(*ids), compare_ids);
	for (size_t i = 0; i < topology->count; i++) {
		info->cores += i == 0 || ids[i] != ids[i - 1];
		info->sockets += i == 0 || ids[i] >> 32 != ids[i - 1] >> 32;
	}
}

int cpuinfo_parse(const char *text, struct cpuinfo *ret)
{
	CLEANUP_FREE uint64_t *ids = calloc(CPUS_MAX, sizeof(*ids));
	struct topology topology = { .ids = ids };
	struct cpuinfo info = { 0 };

	if (!ids)
		return -ENOMEM;
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		struct entry entry;

		if (split_line(line, len, &entry)) {
			info.cpus += begins_cpu(&entry);
			if (info.cpus <= 1)
				take_model(&info, &entry);
			take_topology(&topology, &entry);
		}
		line += len + (line[len] == '\n');
	}
	count_topology(&topology, &info);
	*ret = info;
	return 0;
}

struct cpu_list {
	struct cpuinfo_cpu *cpus;
	size_t count, size;
	bool is_full; /* lines are of a CPU for which there was no room */
};

static int begin_cpu(struct cpu_list *list, const struct entry *entry)
{
	struct cpuinfo_cpu cpu = { CPU_NUMBER_NONE, CPU_NUMBER_NONE, CPU_NUMBER_NONE };

	list->is_full = list->count == CPUS_MAX;
	if (list->is_full)
		return 0;
	if (ARRAY_RESERVE(list->cpus, list->size, list->count + 1) < 0)
		return -ENOMEM;
	set_number(&cpu.processor, entry);
	list->cpus[list->count++] = cpu;
	return 0;
}

/* Into the last one of the list. 0 or -ENOMEM. */
static int take_cpu(struct cpu_list *list, const struct entry *entry)
{
	if (begins_cpu(entry))
		return begin_cpu(list, entry);
	if (list->count > 0 && !list->is_full) {
		struct cpuinfo_cpu *cpu = &list->cpus[list->count - 1];

		if (key_is(entry, "physical id"))
			set_number(&cpu->package, entry);
		else if (key_is(entry, "core id"))
			set_number(&cpu->core, entry);
	}
	return 0;
}

int cpuinfo_list(const char *text, struct cpuinfo_cpu **ret, size_t *ret_count)
{
	struct cpu_list list = { 0 };

	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		struct entry entry;

		if (split_line(line, len, &entry) && take_cpu(&list, &entry) < 0) {
			free(list.cpus);
			return -ENOMEM;
		}
		line += len + (line[len] == '\n');
	}
	*ret = list.cpus;
	*ret_count = list.count;
	return 0;
}
