/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration of another Kepler as keys and values. It is YAML, where a key is the path to the
 * value ("exporter.stdout.enabled"); or a Kubernetes manifest: the data of each ConfigMap are read,
 * with text under a name that ends in ".yaml" or ".yml" as YAML; or lines KEY=VALUE.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define IMPORT_KEY_MAX    128
#define IMPORT_VALUES_MAX 64   /* of a list; a longer one is nested for us */
#define IMPORT_NODES_MAX  5000 /* of a file */

struct import_setting {
	const char *source; /* the file, and in a manifest the ConfigMap's entry that is a file */
	size_t line, column;
	const char *key;
	const char *const *values; /* of a list, or the one value */
	size_t count;              /* 0: an empty list */
	bool is_list;
	bool is_nested; /* neither values nor a list of them: there are no values */
};

struct import_sink {
	void (*take)(void *userdata, const struct import_setting *setting);
	void *userdata;
};

/*
 * Passes on each setting of text[0..len). 0; -EINVAL with a diagnosis: it is neither of these, or
 * too large. -ENOMEM.
 */
int import_source_read(const char *name, const char *text, size_t len,
		       const struct import_sink *sink, struct diag *diag);
