// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_offer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/macro.h"
#include "base/text/ascii.h"
#include "config/model_url.h"
#include "kube/json_bounded.h"
#include "net/http_url.h"

#define FILES_PATH "/api/v2/files/"

/* ---- the request ---- */

static bool has_argument(const char *query, const char *name)
{
	size_t len = strlen(name);

	while (*query) {
		if (strncmp(query, name, len) == 0 && query[len] == '=')
			return true;
		query += strcspn(query, "&");
		query += *query == '&';
	}
	return false;
}

static void add_argument(const char *query, const char *name, const char *value, struct strbuf *out)
{
	char escaped[2048];

	if (!*value || has_argument(query, name) ||
	    http_url_escape(value, escaped, sizeof(escaped)) < 0)
		return;
	strbuf_addf(out, "&%s=%s", name, escaped);
}

static void add_number(const char *query, const char *name, uint32_t value, struct strbuf *out)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%u", value);
	add_argument(query, name, value ? text : "", out);
}

static const char *output_name(enum model_output output)
{
	return output == MODEL_DYN_POWER ? "DynPower" : "AbsPower";
}

bool model_wish_output_is_fixed(const char *url)
{
	const char *query = url + model_url_path_end(url);

	return *query == '?' && has_argument(query + 1, "output");
}

void model_wish_url(const struct model_wish *wish, const char *url, struct strbuf *out)
{
	const char *query = url + model_url_path_end(url);

	query += *query == '?';
	model_url_join(url, "/api/v2/model?format=weights", out);
	if (*query)
		strbuf_addf(out, "&%s", query);
	add_argument(query, "output", output_name(wish->output), out);
	add_argument(query, "features", wish->features, out);
	add_argument(query, "processor", wish->machine.processor, out);
	add_number(query, "cores", wish->machine.cores, out);
	add_number(query, "chips", wish->machine.chips, out);
	add_number(query, "memory", wish->machine.memory_gb, out);
	add_number(query, "frequency", wish->machine.frequency_mhz, out);
}

static json_t *names_of(const char *list)
{
	json_t *names = json_array();

	while (*list) {
		size_t len = strcspn(list, ",");

		(void)json_array_append_new(names, json_stringn(list, len));
		list += len;
		list += *list == ',';
	}
	return names;
}

static void set_number(json_t *object, const char *key, uint32_t value)
{
	if (value)
		(void)json_object_set_new(object, key, json_integer(value));
}

void model_wish_body(const struct model_wish *wish, struct strbuf *out)
{
	json_t *root = json_object(), *machine = json_object();
	char *text;

	(void)json_object_set_new(root, "metrics", names_of(wish->features));
	(void)json_object_set_new(root, "output_type", json_string(output_name(wish->output)));
	(void)json_object_set_new(root, "source", json_string("rapl-sysfs"));
	(void)json_object_set_new(root, "weight", json_true());
	(void)json_object_set_new(machine, "processor", json_string(wish->machine.processor));
	set_number(machine, "cores", wish->machine.cores);
	set_number(machine, "chips", wish->machine.chips);
	set_number(machine, "memory", wish->machine.memory_gb);
	set_number(machine, "frequency", wish->machine.frequency_mhz);
	(void)json_object_set_new(root, "machine_spec", machine);
	text = json_dumps(root, JSON_COMPACT);
	strbuf_add_str(out, text ? text : "");
	free(text);
	json_decref(root);
}

/* ---- the answer ---- */

/* A file of the server's own, by a path that means the same to everything between. */
static bool is_path(const char *path)
{
	if (strncmp(path, FILES_PATH, strlen(FILES_PATH)) != 0 ||
	    strlen(path) >= MODEL_OFFER_PATH_MAX || strstr(path, "..") || strstr(path, "//"))
		return false;
	for (const char *c = path; *c; c++) {
		if (*c <= ' ' || *c > '~' || strchr("?#%\\\"<>", *c))
			return false;
	}
	return true;
}

static bool is_sha256(const char *text)
{
	return strlen(text) == MODEL_PROOF_SHA256_LEN &&
	       strspn(text, "0123456789abcdef") == MODEL_PROOF_SHA256_LEN;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static int read_file(const json_t *file, struct model_offer *ret, struct diag *diag)
{
	const char *path = text_of(file, "url"), *sum = text_of(file, "sha256");
	const char *signature = text_of(file, "signature");
	json_int_t size = json_integer_value(json_object_get(file, "size"));

	if (!json_is_object(file))
		return diag_set(diag, -EPROTO, "the answer has no \"file\"");
	if (!is_path(path))
		return diag_set(diag, -EPROTO, "file.url: must be a path below %s, not \"%.80s\"",
				FILES_PATH, path);
	if (!is_sha256(sum))
		return diag_set(diag, -EPROTO, "file.sha256: must have 64 hexadecimal digits");
	if (size <= 0 || size > (json_int_t)MODEL_FILE_MAX)
		return diag_set(diag, -EPROTO, "file.size: must be from 1 to %u, not %lld",
				MODEL_FILE_MAX, (long long)size);
	if (strlen(signature) >= MODEL_SIGNATURE_MAX)
		return diag_set(diag, -EPROTO, "file.signature: is too long");
	*ret = (struct model_offer){ .size = (uint64_t)size };
	(void)snprintf(ret->path, sizeof(ret->path), "%s", path);
	(void)snprintf(ret->sha256, sizeof(ret->sha256), "%s", sum);
	(void)snprintf(ret->signature, sizeof(ret->signature), "%s", signature);
	return 0;
}

int model_offer_read(const char *text, size_t len, struct model_offer *ret, struct diag *diag)
{
	json_t *root = json_parse_bounded(text, len);
	int r = root ? read_file(json_object_get(root, "file"), ret, diag)
		     : diag_set(diag, -EPROTO, "the answer is no JSON");

	json_decref(root);
	return r;
}

/* NAN: none that an error can be. */
static double error_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	double number = json_is_number(value) ? json_number_value(value) : (double)NAN;

	return isfinite(number) && number >= 0 && number <= MODEL_WATTS_MAX ? number : (double)NAN;
}

static void complete_errors(const json_t *components, struct trained_model *model)
{
	for (size_t i = 0; i < model->component_count; i++) {
		struct model_error *error = &model->components[i].error;
		const json_t *said = json_object_get(components, model->components[i].name);

		if (isnan(error->mae_w))
			error->mae_w = error_of(said, "mae_watts");
		if (isnan(error->mape_percent))
			error->mape_percent = error_of(said, "mape_percent");
	}
}

static uint32_t whole_of(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 && value <= 1000000 ? (uint32_t)value : 0;
}

static void complete_machine(const json_t *said, struct machine_spec *machine)
{
	const char *processor = text_of(said, "processor");

	if (machine->cores || machine->processor[0])
		return;
	for (size_t i = 0; processor[i] && i + 1 < sizeof(machine->processor); i++)
		machine->processor[i] = ascii_is_alnum(processor[i]) ? processor[i] : '_';
	machine->cores = whole_of(said, "cores");
	machine->chips = whole_of(said, "chips");
	machine->memory_gb = whole_of(said, "memory");
	machine->frequency_mhz = whole_of(said, "frequency");
}

void model_offer_complete(const char *text, size_t len, struct trained_model *model)
{
	json_t *root = json_parse_bounded(text, len);
	const json_t *said = json_object_get(root, "model");

	if (strcmp(text_of(said, "output_type"), "DynPower") == 0)
		model->output = MODEL_DYN_POWER;
	complete_errors(json_object_get(json_object_get(said, "error"), "components"), model);
	complete_machine(json_object_get(said, "machine_spec"), &model->machine);
	json_decref(root);
}
