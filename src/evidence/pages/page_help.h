/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptions (HELP) of a page's metrics: two metrics of different units cannot have the same
 * one, so a power that is described as bytes is found. The unit is a word of the metric's name. The
 * first PAGE_HELP_MAX descriptions of a page are compared. Pure.
 */
#pragma once

#include <stddef.h>

#include "evidence/fault.h"

#define PAGE_HELP_MAX 512

enum page_help_unit { HELP_OTHER, HELP_ENERGY, HELP_POWER };

struct page_help {
	struct {
		uint64_t hash; /* of the text */
		enum page_help_unit unit;
		char metric[96];
	} items[PAGE_HELP_MAX];
	size_t count;
	uint64_t checked; /* of all pages: descriptions of energy and power */
	struct exporter_fault copied;
};

/* A new page begins. */
void page_help_begin(struct page_help *help);
void page_help_take(struct page_help *help, const char *metric, const char *text);
