/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels and annotations of pods that the user asked for, as pairs beyond an owner's names:
 * label_app "shop", label_app_kubernetes_io_part_of "store". Pure.
 *
 * Names: "label_", then the key with everything but [a-zA-Z0-9_] turned into "_". Values are chosen
 * by the author of the pod: they are cut to POD_LABEL_VALUE_MAX bytes at a whole character, and
 * control bytes except newlines become blanks. Nothing is escaped. A pair that does not fit
 * (OWNER_EXTRA_BYTES) is left out as a whole; pairs are added in the order of the option.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/diag.h"
#include "energy/owner_names.h"

#define POD_LABELS_MAX      OWNER_EXTRA_MAX
#define POD_LABEL_VALUE_MAX OWNER_NAME_MAX

struct pod_label {
	char *key;  /* "app.kubernetes.io/name" */
	char *name; /* "label_app_kubernetes_io_name" */
};

struct pod_labels {
	struct pod_label items[POD_LABELS_MAX];
	size_t count;
};

/*
 * Reads "app,team" (NULL and "": no labels). 0; -EINVAL with diag: no key, too many, or two keys
 * that would have one name; -ENOMEM.
 */
int pod_labels_parse(const char *text, struct pod_labels *ret, struct diag *diag);
void pod_labels_release(struct pod_labels *labels);
/* The labels of one pod, in the order of the option. Points into itself: it must not be copied. */
struct pod_label_values {
	struct label items[POD_LABELS_MAX]; /* names belong to the struct pod_labels */
	size_t count;
	size_t lost; /* not whole: cut, or left out */
	char text[POD_LABELS_MAX][POD_LABEL_VALUE_MAX + 1];
};

/* Reads them from a pod's metadata: its label of that key, else its annotation. */
void pod_labels_read(const struct pod_labels *labels, const json_t *metadata,
		     struct pod_label_values *ret);
