/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels and annotations of pods that the user asked for, as text for behind other labels:
 * ",label_app=\"shop\",label_app_kubernetes_io_part_of=\"store\"". Pure.
 *
 * Names: "label_", then the key with everything but [a-zA-Z0-9_] turned into "_". Values are chosen
 * by what made the pod: cut to POD_LABEL_VALUE_MAX bytes at a whole character, then escaped as
 * the Prometheus text format wants it; control bytes but newlines become blanks. The whole fits the
 * 1,023 bytes that a directory keeps: what does not fit any more is left out as a whole, in the
 * order that the user gave.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/strbuf.h"

#define POD_LABELS_MAX      16
#define POD_LABEL_VALUE_MAX 127
#define POD_LABELS_TEXT_MAX 1023

struct pod_label {
	char *key;  /* "app.kubernetes.io/name" */
	char *name; /* "label_app_kubernetes_io_name" */
};

struct pod_labels {
	struct pod_label items[POD_LABELS_MAX];
	size_t count;
};

/*
 * Reads "app,team" (NULL and "" are none). 0; -EINVAL with diag: no key, too many, or two keys that
 * would have one name; -ENOMEM.
 */
int pod_labels_parse(const char *text, struct pod_labels *ret, struct diag *diag);
void pod_labels_release(struct pod_labels *labels);
/*
 * Appends what a pod's metadata has of them: its label of that key, else its annotation. Returns
 * how many of these are not whole: cut, or left out.
 */
size_t pod_labels_write(const struct pod_labels *labels, const json_t *metadata,
			struct strbuf *out);
