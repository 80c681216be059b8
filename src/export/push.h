/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exporters that push snapshots, as a table. An exporter foo is a file foo_exporter.c, a row of
 * push_exporters[], and a member of struct push_options, which holds the values of its options.
 * Everything else follows from its struct exporter_ops: documentation of the options, privileges,
 * writable files, metrics.
 */
#pragma once

#include "base/macro.h"
#include "export/exporter.h"

struct push_options {
};

/* Rows over an exporter's options, which are @member of struct push_options. */
#define PUSH_OPTIONS(rows, member)                                                                 \
	{                                                                                          \
		rows, ARRAY_SIZE(rows), offsetof(struct push_options, member)                      \
	}

/* NULL ends it. */
extern const struct exporter_ops *const push_exporters[];

/* Options of the @index-th exporter, relative to struct push_options; NULL after the last. */
const struct option_section *push_options_at(size_t index);
/* Bits of enum need, of all exporters that are wanted. */
unsigned push_needs(const struct push_options *options);
/* The directory of the @index-th exporter, "" if it does not write any; NULL after the last. */
const char *push_folder_at(const struct push_options *options, size_t index);
