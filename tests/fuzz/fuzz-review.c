// SPDX-License-Identifier: Apache-2.0
/*
 * An answer of an API server of any bytes, to a review of a token and of an access: it is refused,
 * or the owner is bounded, and fits into a question that is JSON again.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kube/review/review_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_question(const char *user)
{
	struct strbuf body = STRBUF_INIT;
	json_t *root;

	if (strlen(user) > REVIEW_USER_MAX)
		abort();
	review_access_body(user, "/metrics", "shop", &body);
	root = json_loadb(body.data, body.len, JSON_REJECT_DUPLICATES, NULL);
	if (!json_object_get(json_object_get(root, "spec"), "user") ||
	    !json_object_get(json_object_get(root, "spec"), "resourceAttributes"))
		abort();
	json_decref(root);
	strbuf_release(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const audiences[] = { "", "kepler" };
	bool allowed = false;

	for (size_t i = 0; i < 2; i++) {
		char *user = NULL;
		int r = review_token_read((const char *)data, size, audiences[i], &user);

		if (r < 0 && user)
			abort();
		if (user)
			check_question(user);
		free(user);
	}
	(void)review_access_read((const char *)data, size, &allowed);
	return 0;
}
