/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of an exporter, as far as the objects of its DaemonSet show them: the arguments and
 * the environment of its container, then its configuration file, then the defaults
 * (options/layers.h). Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

struct exporter_settings {
	char source[24]; /* the value of kube.pods: "auto" */
	char settle[24]; /* of metrics.settle: "auto", "60s" */
	bool pushes;     /* by OTLP or remote write */
	/* Some may come from where a doctor does not look, as a Secret: others may be set. */
	bool are_partial;
};

/*
 * @file: the text of the configuration file, NULL: there is none, or it is not known. 0, or what
 * config_load_text() says of a file that it does not take; *ret is as without a file then, and
 * partial.
 */
int exporter_settings_read(const json_t *container, const char *file, size_t len,
			   struct exporter_settings *ret, struct diag *diag);

/* Where the configuration file of a container is; texts are borrowed from its pod. */
struct settings_place {
	const char *config_map; /* its name; NULL: it is in no ConfigMap */
	const char *key;        /* in it */
	bool is_elsewhere;      /* in another volume, as a Secret */
};

struct settings_place exporter_settings_place(const json_t *pod_spec, const json_t *container);
