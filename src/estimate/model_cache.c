// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_cache.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "estimate/model_offer.h"

#define HEADER    "kepler-model-cache 2 "
#define HEAD_MAX  8192
#define CACHE_MAX ((size_t)HEAD_MAX + MODEL_OFFER_MAX + MODEL_FILE_MAX)

void fetched_model_release(struct fetched_model *model)
{
	free(model->offer);
	free(model->text);
	*model = (struct fetched_model){ 0 };
}

bool model_cache_is_etag(const char *etag, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (etag[i] <= ' ' || etag[i] > '~')
			return false;
	}
	return len > 0 && len < MODEL_CACHE_ETAG_MAX;
}

static unsigned long sum_of(const char *data, size_t len)
{
	return crc32_z(crc32_z(0, NULL, 0), (const unsigned char *)data, len);
}

/* The rest of the file. */
struct rest {
	const char *at, *end;
};

/* The rest of the line behind @key, or NULL where the next line has another one. */
static const char *take_line(struct rest *rest, const char *key, size_t *ret_len)
{
	size_t key_len = strlen(key), left = (size_t)(rest->end - rest->at);
	const char *newline = memchr(rest->at, '\n', left < HEAD_MAX ? left : HEAD_MAX);
	const char *value = rest->at + key_len;

	if (!newline || (size_t)(newline - rest->at) < key_len ||
	    memcmp(rest->at, key, key_len) != 0)
		return NULL;
	*ret_len = (size_t)(newline - value);
	rest->at = newline + 1;
	return value;
}

static const char *const outputs[MODEL_OUTPUT_COUNT] = {
	[MODEL_ABS_POWER] = "AbsPower",
	[MODEL_DYN_POWER] = "DynPower",
};

static bool take_output(struct rest *rest, enum model_output *ret)
{
	size_t len = 0;
	const char *value = take_line(rest, "output ", &len);

	for (unsigned i = 0; value && i < MODEL_OUTPUT_COUNT; i++) {
		if (strlen(outputs[i]) == len && memcmp(value, outputs[i], len) == 0) {
			*ret = (enum model_output)i;
			return true;
		}
	}
	return false;
}

static bool take_lengths(struct rest *rest, uint64_t *ret_offer, uint64_t *ret_model)
{
	size_t len = 0;
	const char *value = take_line(rest, "lengths ", &len);
	const char *blank = value ? memchr(value, ' ', len) : NULL;

	return blank && parse_u64(value, (size_t)(blank - value), ret_offer) == 0 &&
	       parse_u64(blank + 1, len - (size_t)(blank + 1 - value), ret_model) == 0 &&
	       *ret_offer <= MODEL_OFFER_MAX && *ret_model > 0 && *ret_model <= MODEL_FILE_MAX;
}

static char *copy_of(const char *data, size_t len)
{
	char *copy = malloc(len + 1);

	if (copy) {
		memcpy(copy, data, len);
		copy[len] = '\0';
	}
	return copy;
}

static int take_contents(struct rest *rest, uint64_t offer, uint64_t model,
			 struct fetched_model *ret)
{
	struct fetched_model fetched = *ret;

	fetched.offer_len = (size_t)offer;
	fetched.len = (size_t)model;
	fetched.offer = offer ? copy_of(rest->at, (size_t)offer) : NULL;
	fetched.text = copy_of(rest->at + offer, (size_t)model);
	if (!fetched.text || (offer && !fetched.offer)) {
		fetched_model_release(&fetched);
		return -ENOMEM;
	}
	*ret = fetched;
	return 0;
}

int model_cache_parse(const char *data, size_t size, const char *url, struct fetched_model *ret,
		      struct diag *diag)
{
	struct rest rest = { data, data + size };
	struct fetched_model model = { 0 };
	uint64_t offer = 0, text = 0;
	const char *value;
	char sum[16] = "";
	size_t len = 0;
	int r;

	value = take_line(&rest, HEADER, &len);
	if (!value)
		return diag_set(diag, -EBADMSG, "it does not begin like a cache file");
	if (len != strlen(url) || memcmp(value, url, len) != 0)
		return diag_set(diag, -ENOENT, "it is of another URL");
	value = take_line(&rest, "etag ", &len);
	if (!value || (len && !model_cache_is_etag(value, len)))
		return diag_set(diag, -EBADMSG, "its second line is not an etag");
	memcpy(model.etag, value, len);
	if (!take_output(&rest, &model.output))
		return diag_set(diag, -EBADMSG, "its third line is not an output");
	if (!take_lengths(&rest, &offer, &text))
		return diag_set(diag, -EBADMSG, "its fourth line does not contain lengths");
	value = take_line(&rest, "crc32 ", &len);
	if (!value || len != 8 || (uint64_t)(rest.end - rest.at) != offer + text)
		return diag_set(diag, -EBADMSG, "it is cut");
	(void)snprintf(sum, sizeof(sum), "%08lx", sum_of(rest.at, (size_t)(offer + text)));
	if (memcmp(value, sum, 8) != 0)
		return diag_set(diag, -EBADMSG, "it was modified: its checksum does not match");
	r = take_contents(&rest, offer, text, &model);
	if (r < 0)
		return diag_set(diag, r, "out of memory");
	*ret = model;
	return 0;
}

static int path_of(const char *dir, char path[PATH_MAX], struct diag *diag)
{
	int r = path_join(path, PATH_MAX, dir, MODEL_CACHE_NAME);

	return r < 0 ? diag_set(diag, r, "%.100s: is too long", dir) : 0;
}

int model_cache_load(const char *dir, const char *url, struct fetched_model *ret, struct diag *diag)
{
	CLEANUP_FREE char *data = NULL;
	char path[PATH_MAX], why[DIAG_TEXT_MAX];
	size_t len = 0;
	int r = path_of(dir, path, diag);

	if (r < 0)
		return r;
	r = read_file_alloc(path, CACHE_MAX, &data, &len);
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	r = model_cache_parse(data, len, url, ret, diag);
	if (r < 0) {
		(void)snprintf(why, sizeof(why), "%.200s", diag->text);
		return diag_set(diag, r, "%s: %s", path, why);
	}
	return 0;
}

int model_cache_save(const char *dir, const char *url, const struct fetched_model *model,
		     struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf file = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf content = STRBUF_INIT;
	char path[PATH_MAX];
	int r = path_of(dir, path, diag);

	if (r < 0)
		return r;
	if (model->offer)
		strbuf_add(&content, model->offer, model->offer_len);
	strbuf_add(&content, model->text, model->len);
	strbuf_addf(&file, HEADER "%s\netag %s\noutput %s\nlengths %zu %zu\n", url, model->etag,
		    outputs[model->output], model->offer ? model->offer_len : 0, model->len);
	if (strbuf_error(&content) == 0) {
		strbuf_addf(&file, "crc32 %08lx\n", sum_of(content.data, content.len));
		strbuf_add(&file, content.data, content.len);
	}
	r = strbuf_error(&content) < 0 ? -ENOMEM : strbuf_error(&file);
	if (r == 0)
		r = write_file_atomic(path, file.data, file.len, 0644);
	return r < 0 ? diag_set(diag, r, "%s: cannot be written: %s", path, strerrordesc_np(-r))
		     : 0;
}
