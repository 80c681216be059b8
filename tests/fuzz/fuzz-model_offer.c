// SPDX-License-Identifier: Apache-2.0
/* Answers of a model server, and the cache of a fetched model. */
#include <stdlib.h>
#include <string.h>

#include "estimate/model_cache.h"
#include "estimate/model_offer.h"

#define URL "http://models/lab.json"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1); /* no byte after it may be read */
	struct model_component component = { .name = "package" };
	struct trained_model model = { .components = &component, .component_count = 1 };
	struct fetched_model cached;
	struct model_offer offer;
	struct diag diag;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (model_offer_read(copy, size, &offer, &diag) == 0 &&
	    (strncmp(offer.path, "/api/v2/files/", 14) != 0 || !offer.size ||
	     offer.size > MODEL_FILE_MAX))
		abort();
	model_offer_complete(copy, size, &model);
	if (model_cache_parse(copy, size, URL, &cached, &diag) == 0) {
		if (!cached.len || strlen(cached.etag) >= MODEL_CACHE_ETAG_MAX)
			abort();
		fetched_model_release(&cached);
	}
	free(copy);
	return 0;
}
