/* SPDX-License-Identifier: Apache-2.0 */
/* The values of the options --file.…, which file_exporter.c describes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FILE_GLOBS_MAX 32

enum file_format { FILE_AUTO, FILE_JSON, FILE_CSV };

struct file_options {
	char *path; /* "": off */
	enum file_format format;
	uint64_t interval_ns;
	uint32_t max_bytes; /* of one file */
	uint32_t max_files; /* older ones */
	char *keep[FILE_GLOBS_MAX];
	size_t keep_count;
};
