// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/write_probe.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/param.h>

#include "base/macro.h"
#include "base/protobuf_writer.h"
#include "export/remote-write/snappy_block.h"
#include "export/remote-write/write_batch.h"
#include "export/remote-write/write_request.h"
#include "net/http_retry.h"
#include "net/http_url.h"

/* A message with the symbol that each must have; one of 1.0 has none. */
static const char symbol[] = { PROTOBUF_TAG(WRITE2_SYMBOL, PROTOBUF_BYTES), 0 };

static int judge(const char *url, const struct push_answer *answer, struct diag *diag)
{
	char text[160];

	if (http_retry_outcome(answer->status, HTTP_RETRY_ALL_5XX) == HTTP_ACCEPTED)
		return 0;
	push_answer_text(answer, text, sizeof(text));
	return diag_set(diag, -EPROTO, "%.*s: HTTP %d%s%s", http_url_site_len(url), url,
			answer->status, text[0] ? ": " : "", text);
}

static int send_nothing(struct push_target *receiver, const char *url, bool is_version_1,
			int *ret_status, struct diag *diag)
{
	const struct http_header version = write_request_version(is_version_1);
	struct push_message message = {
		.content_type = write_request_type(is_version_1),
		.content_encoding = "snappy",
		.headers = &version,
		.header_count = 1,
	};
	CLEANUP(push_answer_release) struct push_answer answer = { 0 };
	CLEANUP(strbuf_release) struct strbuf block = STRBUF_INIT;
	int r = snappy_block_literal(symbol, is_version_1 ? 0 : sizeof(symbol), &block);

	message.content = block.data;
	message.content_len = block.len;
	if (r == 0)
		r = push_target_send(receiver, &message, &answer, diag);
	*ret_status = answer.status;
	return r < 0 ? r : judge(url, &answer, diag);
}

int write_probe(const struct remote_write_options *options, const char *url, struct diag *diag)
{
	struct push_target_options target = options->target;
	bool is_version_1 = options->protocol == REMOTE_WRITE_1;
	struct push_target *receiver = NULL;
	int r, status;

	target.timeout_ns = MIN(target.timeout_ns, WRITE_PROBE_NS);
	r = push_target_open(&target, url, "kepler-doctor", -1, &receiver, diag);
	if (r < 0)
		return r;
	r = send_nothing(receiver, url, is_version_1, &status, diag);
	if (r < 0 && options->protocol == REMOTE_WRITE_AUTO && (status == 415 || status == 400))
		r = send_nothing(receiver, url, true, &status, diag);
	push_target_close(receiver);
	return r;
}
