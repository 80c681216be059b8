// SPDX-License-Identifier: Apache-2.0
/*
 * The first line is a list of labels as a user asks for it, the rest a pod's metadata: what is
 * written of it fits its room, and the ledger, which reads such lists again, takes all of it. And
 * any bytes as such a list: what the ledger takes it takes again, and fits.
 */
#include <stdint.h>

#include "attribution/label_text.h"
#include "base/macro.h"
#include "kube/json_bounded.h"
#include "kube/pod_labels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_list(const char *text)
{
	char once[POD_LABELS_TEXT_MAX + 1], again[sizeof(once)];

	label_list_text(once, sizeof(once), text);
	label_list_text(again, sizeof(again), once);
	if (strcmp(once, again) != 0 || strpbrk(once, "\n\t\x7f"))
		abort();
}

static void try_pod(const char *wanted, const json_t *metadata)
{
	char taken[POD_LABELS_TEXT_MAX + 1];
	struct strbuf out = STRBUF_INIT;
	struct pod_labels labels;

	if (pod_labels_parse(wanted, &labels, NULL) < 0)
		return;
	if (pod_labels_write(&labels, metadata, &out) > labels.count)
		abort();
	label_list_text(taken, sizeof(taken), out.data);
	if (!strbuf_error(&out) && strcmp(taken, out.data ? out.data : "") != 0)
		abort();
	strbuf_release(&out);
	pod_labels_release(&labels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = malloc(size + 1);
	char *line;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	try_list(text);
	line = strchr(text, '\n');
	if (line) {
		json_t *metadata = json_parse_bounded(line + 1, strlen(line + 1));

		*line = '\0';
		try_pod(text, metadata);
		json_decref(metadata);
	}
	return 0;
}
