/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where `kepler stat` has its readings from: a running exporter, over its local socket, or its own
 * session. Both follow what this process starts as a tree (stat/process_trees.h) and answer with
 * the same JSON. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "config/config.h"
#include "stat/stat_reading.h"

struct stat_source;

/*
 * Where no exporter answers at local.socket, and @may_measure, the process measures by itself. 0,
 * or -errno with a diagnosis that says what to do.
 */
int stat_source_open(const struct config *config, bool may_measure, struct stat_source **ret,
		     struct diag *diag);
void stat_source_close(struct stat_source *source); /* NULL is fine */
/* Follows what this process starts from now on. 0, or -errno with a diagnosis. */
int stat_source_begin(struct stat_source *source, struct diag *diag);
void stat_source_end(struct stat_source *source);
/* Reads everything once more, if it measures by itself: once per monitor.interval. */
void stat_source_measure(struct stat_source *source);
/* Reads the meters once more: the energy used up to now. 0, or -errno with a diagnosis. */
int stat_source_read(struct stat_source *source, struct stat_reading *ret, struct diag *diag);
/* A descriptor that is readable if stat_source_drain() is due; -1: none. */
int stat_source_fd(const struct stat_source *source);
void stat_source_drain(struct stat_source *source);
