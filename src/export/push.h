/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exporters that push snapshots, as a table. An exporter foo is a file foo_exporter.c, a row of
 * push_exporters[], and a member of struct push_options, which holds the values of its options.
 * Everything else follows from its struct exporter_ops: documentation of the options, privileges,
 * writable files, metrics.
 */
#pragma once

#include "export/exporter.h"
#include "export/push_options.h"

/* NULL ends it. */
extern const struct exporter_ops *const push_exporters[];

/* Options of the @index-th exporter, relative to struct push_options; NULL after the last. */
const struct option_section *push_options_at(size_t index);
/* Bits of enum need, of all exporters that are wanted. */
unsigned push_needs(const struct push_options *options);
/*
 * The @index-th directory that exporters write to, "" if it is not wanted; NULL after the last.
 */
const char *push_folder_at(const struct push_options *options, size_t index);
/* The same of the files that they read. */
const char *push_file_at(const struct push_options *options, size_t index);
