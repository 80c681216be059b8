// SPDX-License-Identifier: Apache-2.0
/* A watch of any bytes: the same events whether its bytes come one by one or all at once. */
#include <stdint.h>

#include "base/macro.h"
#include "kube/pods/pod_json.h"
#include "kube/watch.h"

#define LINE_MAX_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int hear(void *userdata, const struct watch_event *event)
{
	static const struct pod_labels none;
	struct strbuf *heard = userdata;
	struct pod pod;

	strbuf_addf(heard, "%d %d ", (int)event->type, event->code);
	strbuf_add_str(heard, event->resource_version);
	if (event->object && pod_json_read(event->object, &none, &pod) == 0) {
		strbuf_add_str(heard, pod.uid);
		pod_release(&pod);
	}
	return 0;
}

static void run(const uint8_t *data, size_t size, size_t step, struct strbuf *heard)
{
	struct watch watch;

	watch_init(&watch, LINE_MAX_BYTES, hear, heard);
	for (size_t at = 0; at < size; at += step)
		(void)watch_feed(&watch, (const char *)data + at,
				 size - at < step ? size - at : step);
	(void)watch_end(&watch);
	watch_release(&watch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf whole = STRBUF_INIT, parts = STRBUF_INIT;

	run(data, size, size ? size : 1, &whole);
	run(data, size, 7, &parts);
	if (whole.len != parts.len || (whole.len && memcmp(whole.data, parts.data, whole.len) != 0))
		abort();
	strbuf_release(&whole);
	strbuf_release(&parts);
	return 0;
}
