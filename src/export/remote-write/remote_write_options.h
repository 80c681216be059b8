/* SPDX-License-Identifier: Apache-2.0 */
/* The values of the options --remote-write.…, which remote_write.c describes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "net/push_target.h"

#define REMOTE_WRITE_URLS_MAX   4
#define REMOTE_WRITE_LABELS_MAX 16
#define REMOTE_WRITE_GLOBS_MAX  32

enum remote_write_protocol { REMOTE_WRITE_AUTO, REMOTE_WRITE_1, REMOTE_WRITE_2 };

struct remote_write_options {
	char *urls[REMOTE_WRITE_URLS_MAX];
	size_t url_count; /* 0: off */
	uint64_t interval_ns;
	char *labels[REMOTE_WRITE_LABELS_MAX]; /* "NAME=VALUE" */
	size_t label_count;
	char *keep[REMOTE_WRITE_GLOBS_MAX], *drop[REMOTE_WRITE_GLOBS_MAX];
	size_t keep_count, drop_count;
	enum remote_write_protocol protocol;
	char *queue_dir; /* "": in memory */
	uint32_t queue_bytes;
	uint64_t queue_age_ns;
	struct push_target_options target; /* of all URLs */
};
