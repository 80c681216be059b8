// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_cache.h"

#include <unistd.h>

#include "base/file.h"
#include "tests/unit/unit.h"

#define URL "http://models/lab.json"

static char offer[] = "{\"file\":{}}", text[] = "{\"format\":\"kepler-model\"}\n";

static char *write_cache(const char *etag, bool with_offer, size_t *ret_len)
{
	char dir[] = "/tmp/kepler-cache-XXXXXX", path[128];
	struct fetched_model model = {
		.output = with_offer ? MODEL_ABS_POWER : MODEL_DYN_POWER,
		.offer = with_offer ? offer : NULL,
		.offer_len = with_offer ? strlen(offer) : 0,
		.text = text,
		.len = strlen(text),
	};
	struct diag diag = { "" };
	char *data = NULL;

	(void)snprintf(model.etag, sizeof(model.etag), "%s", etag);
	assert_non_null(mkdtemp(dir));
	assert_int_equal(model_cache_save(dir, URL, &model, &diag), 0);
	(void)snprintf(path, sizeof(path), "%s/%s", dir, MODEL_CACHE_NAME);
	assert_int_equal(read_file_alloc(path, 65536, &data, ret_len), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
	return data;
}

static void what_is_kept_comes_back(void **state)
{
	static const struct {
		const char *etag;
		bool with_offer;
	} cases[] = { { "\"abc\"", true }, { "", true }, { "W/\"1\"", false } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fetched_model model;
		struct diag diag = { "" };
		size_t len = 0;
		CLEANUP_FREE char *data = write_cache(cases[i].etag, cases[i].with_offer, &len);

		assert_int_equal(model_cache_parse(data, len, URL, &model, &diag), 0);
		assert_string_equal(model.etag, cases[i].etag);
		assert_string_equal(model.text, text);
		assert_int_equal(model.offer != NULL, cases[i].with_offer);
		assert_int_equal(model.output == MODEL_ABS_POWER, cases[i].with_offer);
		if (model.offer)
			assert_string_equal(model.offer, offer);
		fetched_model_release(&model);
	}
}

static void each_cut_and_each_changed_byte_is_noticed(void **state)
{
	struct fetched_model model;
	struct diag diag = { "" };
	size_t len = 0;
	CLEANUP_FREE char *data = write_cache("\"abc\"", true, &len);
	const size_t etag_begins = strlen("kepler-model-cache 2 " URL "\netag ");

	for (size_t cut = 0; cut < len; cut++)
		assert_true(model_cache_parse(data, cut, URL, &model, &diag) < 0);
	for (size_t i = 0; i < len; i++) {
		if (i >= etag_begins && i < etag_begins + strlen("\"abc\""))
			continue; /* another tag only costs one request */
		data[i] ^= 1;
		assert_true(model_cache_parse(data, len, URL, &model, &diag) < 0);
		data[i] ^= 1;
	}
	assert_int_equal(model_cache_parse(data, len, "http://models/other.json", &model, &diag),
			 -ENOENT);
}

static void tags_can_be_sent_again(void **state)
{
	char longer[MODEL_CACHE_ETAG_MAX + 1];

	memset(longer, 'a', sizeof(longer));
	assert_true(model_cache_is_etag("\"a\"", 3));
	assert_true(model_cache_is_etag(longer, MODEL_CACHE_ETAG_MAX - 1));
	assert_false(model_cache_is_etag(longer, MODEL_CACHE_ETAG_MAX));
	assert_false(model_cache_is_etag("", 0));
	assert_false(model_cache_is_etag("a\r\nb", 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_comes_back),
		cmocka_unit_test(each_cut_and_each_changed_byte_is_noticed),
		cmocka_unit_test(tags_can_be_sent_again),
	};

	return unit_run(tests);
}
