/* SPDX-License-Identifier: Apache-2.0 */
/* The source external: files into which other programs write. */
#pragma once

#include <stddef.h>

struct meter_ops;
extern const struct meter_ops external_meter;

#define EXTERNAL_FILES_MAX 8
struct external_options {
	char *files[EXTERNAL_FILES_MAX]; /* meter/external/external_text.h; borrowed */
	size_t file_count;
};
