/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of SPECpower_ssj2008 results as CSV: one row per measured level of load, with the columns
 * node_type, processor, cores, chips, memory (GiB), frequency (MHz), bpf_cpu_time_ms and
 * platform_power (W), in any order; other columns are ignored.
 */
#pragma once

#include "tools/builtin-models/platform_types.h"

#define SPECPOWER_FILE_MAX  (64U * 1024 * 1024) /* bytes */
#define SPECPOWER_TYPES_MAX 2000U               /* a fit takes time by their third power */

/*
 * 0, or with a diagnosis (FILE:LINE: what is wrong) -EINVAL, -EFBIG, -ENOMEM. @ret only on success,
 * finished.
 */
int specpower_csv_parse(const char *name, const char *text, size_t size, struct platform_types *ret,
			struct diag *diag);
/* The same of a file; also errors of reading it. */
int specpower_csv_read(const char *path, struct platform_types *ret, struct diag *diag);
