// SPDX-License-Identifier: Apache-2.0
/*
 * Kinds of memory of v2 that are not parts of others: the kernel's
 * Documentation/admin-guide/cgroup-v2.rst. Amounts are bounded, so that sums fit 64 bits.
 */
#include "workload/numa_stat.h"

#include <stddef.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"

#define AMOUNT_MAX (1ULL << 48) /* more than any node has */

static const char *const kinds[] = { "anon ",
				     "file ",
				     "kernel_stack ",
				     "pagetables ",
				     "sec_pagetables ",
				     "slab_reclaimable ",
				     "slab_unreclaimable " };

static size_t digits_at(const char *text)
{
	return strspn(text, "0123456789");
}

/* Takes "NODE=AMOUNT" behind an N; NULL where it is not that. */
static const char *parse_node(const char *at, uint64_t *ret_node, uint64_t *ret_amount)
{
	size_t len = digits_at(at);

	if (parse_u64(at, len, ret_node) < 0 || at[len] != '=')
		return NULL;
	at += len + 1;
	len = digits_at(at);
	return parse_u64(at, len, ret_amount) < 0 || *ret_amount > AMOUNT_MAX ? NULL : at + len;
}

/* Adds the amounts of a line behind its name. */
static void add_line(const char *at, uint64_t nodes[NUMA_NODES_MAX], uint64_t *sum)
{
	uint64_t node, amount;

	while (*at == ' ')
		at++;
	while (*at == 'N') {
		at = parse_node(at + 1, &node, &amount);
		if (!at)
			return;
		*sum += amount;
		if (node < NUMA_NODES_MAX)
			nodes[node] += amount;
		while (*at == ' ')
			at++;
	}
}

/* Where amounts begin in a line that counts, or NULL. */
static const char *find_amounts(const char *line, bool is_v2)
{
	if (!is_v2)
		return strncmp(line, "total=", 6) == 0 ? line + 6 + digits_at(line + 6) : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(kinds[i]);

		if (strncmp(line, kinds[i], len) == 0)
			return line + len;
	}
	return NULL;
}

bool numa_stat_parse(const char *text, bool is_v2, uint64_t nodes[NUMA_NODES_MAX],
		     uint64_t *ret_sum)
{
	memset(nodes, 0, NUMA_NODES_MAX * sizeof(*nodes));
	*ret_sum = 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *amounts;

		line += *line == '\n';
		amounts = find_amounts(line, is_v2);
		if (amounts)
			add_line(amounts, nodes, ret_sum);
	}
	return *ret_sum > 0;
}
