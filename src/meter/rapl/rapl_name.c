// SPDX-License-Identifier: Apache-2.0
/*
 * Zones are known by name, never by index: intel-rapl:1 is psys on one machine and package-1 on the
 * next, and both move when a socket goes offline and returns.
 */
#include "meter/rapl/rapl_name.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"

struct known_name {
	const char *text;
	enum zone_kind kind;
	bool numbered; /* may be followed by "-N" and more */
};

static const struct known_name known_names[] = {
	{ "package", ZONE_PACKAGE, true }, { "psys", ZONE_PSYS, true },
	{ "core", ZONE_CORE, false },      { "uncore", ZONE_UNCORE, false },
	{ "dram", ZONE_DRAM, false },
};

/*
 * "0", "1-die-0": a digit first, then digits, lower case letters and dashes, and short enough for a
 * label.
 */
static bool is_package_label(const char *text, size_t len)
{
	if (len == 0 || len >= ZONE_PACKAGE_MAX || text[0] < '0' || text[0] > '9')
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && c != '-')
			return false;
	}
	return true;
}

static bool parse_as(const struct known_name *known, const char *text, size_t len,
		     struct rapl_name *ret)
{
	size_t word = strlen(known->text);
	struct rapl_name name = { .kind = known->kind, .has_package = known->numbered };

	if (len < word || memcmp(text, known->text, word) != 0)
		return false;
	if (len == word) { /* a psys without a number is the only one */
		if (known->kind == ZONE_PACKAGE)
			return false;
		if (known->numbered)
			name.package[0] = '0';
		*ret = name;
		return true;
	}
	if (!known->numbered || text[word] != '-' ||
	    !is_package_label(text + word + 1, len - word - 1))
		return false;
	memcpy(name.package, text + word + 1, len - word - 1);
	*ret = name;
	return true;
}

bool rapl_name_parse(const char *text, size_t len, struct rapl_name *ret)
{
	if (len > 0 && text[len - 1] == '\n')
		len--;
	for (size_t i = 0; i < ARRAY_SIZE(known_names); i++) {
		if (parse_as(&known_names[i], text, len, ret))
			return true;
	}
	return false;
}

void rapl_zone_instance(enum zone_kind kind, const struct cpu_place *place, bool is_by_die,
			char ret[ZONE_INSTANCE_MAX])
{
	int len = snprintf(ret, ZONE_INSTANCE_MAX, "%u", place->package);

	if (is_by_die && kind != ZONE_PSYS)
		(void)snprintf(ret + len, ZONE_INSTANCE_MAX - (size_t)len, "-die-%u", place->die);
}

bool rapl_dir_is_mmio(const char *name)
{
	static const char prefix[] = "intel-rapl-mmio";

	return strncmp(name, prefix, sizeof(prefix) - 1) == 0;
}

bool rapl_dir_parent(const char *name, char *buf, size_t size)
{
	const char *first = strchr(name, ':');
	const char *last = strrchr(name, ':');
	size_t len;

	if (!first || first == last)
		return false;
	len = (size_t)(last - name);
	if (len >= size)
		return false;
	memcpy(buf, name, len);
	buf[len] = '\0';
	return true;
}
