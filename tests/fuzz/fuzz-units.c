// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a rule of units (the first line), and as two readings of a pod's page and of an
 * answer of a Prometheus (the rest): a page in pieces says what it says whole.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "units/unit_answer.h"
#include "units/unit_page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_page(const struct unit_rule *rule, const char *text, size_t len, size_t piece,
		     uint64_t *ret_increase_micro)
{
	struct unit_page page = { .rule = NULL };
	struct unit_series series = { .count = 0 };
	struct diag diag = { "" };
	int r = 0;

	unit_page_begin(&page, rule);
	unit_series_begin(&series);
	for (size_t at = 0; at < len && r == 0; at += piece)
		r = unit_page_add(&page, text + at, piece < len - at ? piece : len - at);
	if (r == 0) {
		r = unit_page_end(&page, &series, &diag);
		if ((r < 0) != (diag.text[0] != '\0') || series.count > UNIT_SERIES_MAX)
			abort();
	}
	*ret_increase_micro = series.increase_micro;
	unit_page_release(&page);
	unit_series_release(&series);
	return r;
}

static void read_answer(const char *text, size_t len)
{
	uint64_t hash = unit_pod_hash("shop", "web-1");
	const struct unit_pods pods = { &hash, 1, 1 };
	struct unit_targets targets = { .count = 0 };

	for (int round = 0; round < 2; round++) {
		unit_targets_begin(&targets);
		(void)unit_answer_read(text, len, 0, &pods, &targets, NULL);
		if (targets.count > 1)
			abort();
	}
	unit_targets_release(&targets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unit_rule rule = { .metric = "requests_total" };
	char *text = malloc(size + 1), *rest;
	uint64_t whole, pieces;
	int r;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	rest = memchr(text, '\n', size);
	rest = rest ? rest : text + size;
	if (rest < text + size)
		*rest++ = '\0';
	if (unit_rule_parse(text, &rule, NULL) == 0 && !rule.metric[0])
		memcpy(rule.metric, "requests_total", sizeof("requests_total"));
	size -= (size_t)(rest - text);
	r = read_page(&rule, rest, size, size + 1, &whole);
	if (r != read_page(&rule, rest, size, 5, &pieces) || (r == 0 && whole != pieces))
		abort();
	read_answer(rest, size);
	free(text);
	return 0;
}
