// SPDX-License-Identifier: Apache-2.0
#include "kepler-model/model_api.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "kepler-model/api_metrics.h"
#include "kepler-model/api_request.h"
#include "net/http_url.h"
#include "repository/model_json.h"
#include "repository/model_report.h"

#define TEXT_TYPE  "text/plain; charset=utf-8"
#define JSON_TYPE  "application/json"
#define FILES_PATH "/api/v2/files/"
#define LIST_MAX   1000 /* models of one answer */
#define LIST_USUAL 100

static void answer_text(struct http_response *response, int status, const char *text)
{
	*response = (struct http_response){
		.status = status, .content_type = TEXT_TYPE, .body = text, .len = strlen(text)
	};
}

/* ---- bodies ---- */

/* NULL: no memory. */
static struct served_body *text_body(int status, const char *text)
{
	char *line = NULL;
	int len = asprintf(&line, "%s\n", text);

	return len < 0 ? NULL : served_body_new(status, TEXT_TYPE, line, (size_t)len, NULL);
}

/* Takes @json over, which may be NULL. */
static struct served_body *json_body(json_t *json)
{
	char *text =
		json ? json_dumps(json, JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(12))
		     : NULL;

	json_decref(json);
	return served_body_new(200, JSON_TYPE, text, text ? strlen(text) : 0, NULL);
}

/* Of the second API: a request that no model fits is a good one. */
static int v2_status_of(int result)
{
	if (result == -ENOENT)
		return 404;
	return result == -EINVAL ? 400 : 503;
}

/* Status of an answer that says what was wrong with a request. */
static int status_of(int result)
{
	return result == -EINVAL || result == -ENOENT ? 400 : 503;
}

/* ---- common to all requests ---- */

/* Gives @body's reference to the answer. */
static void answer(struct model_api *api, enum api_kind kind, const struct http_request *request,
		   struct http_response *response, struct served_body *body)
{
	if (!body) {
		answer_text(response, 503, "503: out of memory\n");
		response->retry_after_s = 1;
	} else {
		served_body_answer(body, request, response);
	}
	if (response->status == 200 || response->status == 304)
		api->answered[kind]++;
	else
		api->refused[kind]++;
	served_body_unref(body);
}

typedef struct served_body *make_answer(struct model_api *api, const struct http_request *request);

/* Answers under the lock what @make makes, to clients that are admitted. */
static void answer_with(struct model_api *api, enum api_kind kind, make_answer *make,
			const struct http_request *request, struct http_response *response)
{
	(void)pthread_mutex_lock(&api->lock);
	if (!access_tokens_admit(&api->tokens, request->authorization)) {
		answer_text(response, 401,
			    "401: this server wants a token: Authorization: Bearer TOKEN\n");
		api->unauthorized++;
	} else {
		answer(api, kind, request, response, make(api, request));
	}
	(void)pthread_mutex_unlock(&api->lock);
}

static void limit_choice(const struct model_api *api, struct choice_request *choice)
{
	if (api->max_error > 0 && !(choice->max_error > 0 && choice->max_error < api->max_error))
		choice->max_error = api->max_error;
	choice->no_pickles = choice->no_pickles || api->refuses_pickles;
}

/* ---- POST /model ---- */

static struct served_body *model_of(struct model_api *api, const struct api_request *request,
				    struct diag *diag, int *ret_status)
{
	struct choice choice = { 0 };
	struct served_body *body;
	int r = choice_make(api->edition->repository, &request->choice, &choice, diag);

	*ret_status = status_of(r);
	if (r < 0)
		return NULL;
	body = request->weights ? edition_weights(api->edition, choice.entry, diag)
				: edition_file(api->edition, choice.entry, FILE_ARCHIVE, diag);
	*ret_status = 503;
	return body;
}

static struct served_body *make_model(struct model_api *api, const struct http_request *request)
{
	struct api_request asked;
	struct diag diag = { "out of memory" };
	struct served_body *body =
		edition_find_answer(api->edition, request->body, request->body_len);
	int status = 400;

	if (body)
		return body;
	if (api_request_read(request->body, request->body_len, &asked, &diag) == 0) {
		limit_choice(api, &asked.choice);
		asked.choice.upstream_only = true;
		body = model_of(api, &asked, &diag, &status);
		api_request_release(&asked);
	}
	if (!body)
		body = text_body(status, diag.text);
	if (body && body->status != 503)
		edition_keep_answer(api->edition, request->body, request->body_len, body);
	return body;
}

static void handle_model(void *userdata, const struct http_request *request,
			 struct http_response *response)
{
	answer_with(userdata, API_MODEL, make_model, request, response);
}

/* ---- GET /best-models ---- */

static const char *argument_of(void *userdata, const char *name)
{
	return http_request_argument(userdata, name);
}

/* The argument function only reads, but its type is for any state. */
static void *without_const(const struct http_request *request)
{
	return (void *)(uintptr_t)request;
}

/* The best of each feature group, as {GROUP: NAME}; NULL with a diagnosis. */
static json_t *best_by_group(const struct model_api *api, struct choice_request *request,
			     struct diag *diag)
{
	const struct repository *repository = api->edition->repository;
	const char *wanted = request->group;
	json_t *groups = json_object();

	for (size_t i = 0; i < repository->entry_count; i++) {
		const struct model_entry *entry = &repository->entries[i];
		struct choice choice;
		int r;

		if (entry->output != request->output || json_object_get(groups, entry->group) ||
		    (*wanted && strcmp(wanted, entry->group) != 0))
			continue;
		request->group = entry->group;
		r = choice_make(repository, request, &choice, diag);
		if (r == -EINVAL) {
			json_decref(groups);
			return NULL;
		}
		if (r == 0)
			(void)json_object_set_new(groups, entry->group,
						  json_string(choice.entry->name));
	}
	request->group = wanted;
	return groups;
}

static struct served_body *make_best(struct model_api *api, const struct http_request *request)
{
	struct api_request asked;
	struct diag diag = { "" };
	bool any_output = false;
	json_t *best = json_object();
	int r = api_request_best(argument_of, without_const(request), &asked, &any_output, &diag);

	limit_choice(api, &asked.choice);
	for (int i = 0; r == 0 && i < MODEL_OUTPUT_COUNT; i++) {
		json_t *groups;

		if (!any_output && i != (int)asked.choice.output)
			continue;
		asked.choice.output = (enum model_output)i;
		groups = best_by_group(api, &asked.choice, &diag);
		r = groups ? json_object_set_new(best, model_output_name((enum model_output)i),
						 groups)
			   : -EINVAL;
	}
	if (r == 0)
		return json_body(best);
	json_decref(best);
	return text_body(400, diag.text);
}

static void handle_best(void *userdata, const struct http_request *request,
			struct http_response *response)
{
	answer_with(userdata, API_BEST, make_best, request, response);
}

/* ---- the second API ---- */

static void set_file(json_t *report, const struct edition *edition, const struct model_entry *entry,
		     enum model_file file, const struct served_body *body)
{
	char path[REPOSITORY_PATH_MAX], url[REPOSITORY_PATH_MAX + sizeof(FILES_PATH)];
	json_t *json = json_object();

	if (repository_path(edition->repository, entry, file, path, sizeof(path)) == 0) {
		(void)snprintf(url, sizeof(url), FILES_PATH "%s", path);
		(void)json_object_set_new(json, "url", json_string(url));
	}
	(void)json_object_set_new(json, "format",
				  json_string(file == FILE_ARCHIVE ? "archive" : "weights"));
	(void)json_object_set_new(json, "size", json_integer((json_int_t)body->len));
	(void)json_object_set_new(json, "sha256", json_string(body->sha256));
	if (body->signature)
		(void)json_object_set_new(json, "signature", json_string(body->signature));
	(void)json_object_set_new(report, "file", json);
}

/* NULL with a diagnosis, and the status that it is answered with. */
static struct served_body *describe_choice(struct model_api *api, const struct api_request *asked,
					   struct diag *diag, int *ret_status)
{
	struct edition *edition = api->edition;
	struct choice choice;
	struct served_body *file;
	enum model_file form;
	json_t *report;
	int r = choice_make(edition->repository, &asked->choice, &choice, diag);

	*ret_status = v2_status_of(r);
	if (r < 0)
		return NULL;
	form = choice.entry->files & FILE_WEIGHTS && asked->choice.files != FILE_ARCHIVE
		       ? FILE_WEIGHTS
		       : FILE_ARCHIVE;
	file = edition_file(edition, choice.entry, form, diag);
	report = file ? json_object() : NULL;
	if (!report) {
		served_body_unref(file);
		return NULL;
	}
	(void)json_object_set_new(report, "model", model_report(edition->repository, choice.entry));
	(void)json_object_set_new(report, "match", choice_report(&choice));
	set_file(report, edition, choice.entry, form, file);
	served_body_unref(file);
	return json_body(report);
}

static struct served_body *make_v2_model(struct model_api *api, const struct http_request *request)
{
	struct api_request asked;
	struct diag diag = { "out of memory" };
	struct served_body *body = NULL;
	int status = 400;

	if (api_request_query(argument_of, without_const(request), &asked, &diag) == 0) {
		limit_choice(api, &asked.choice);
		body = describe_choice(api, &asked, &diag, &status);
	}
	return body ? body : text_body(status, diag.text);
}

static void handle_v2_model(void *userdata, const struct http_request *request,
			    struct http_response *response)
{
	answer_with(userdata, API_V2_MODEL, make_v2_model, request, response);
}

static bool is_listed(const struct choice_request *asked, bool any_output,
		      const struct repository *repository, const struct model_entry *entry)
{
	return (any_output || entry->output == asked->output) &&
	       (!*asked->source ||
		strcmp(choice_source(asked->source), choice_source(entry->source)) == 0) &&
	       (!*asked->group || strcmp(asked->group, entry->group) == 0) &&
	       (!*asked->trainer || strcmp(asked->trainer, entry->trainer) == 0) &&
	       (!*asked->pipeline ||
		strcmp(asked->pipeline, repository->pipelines[entry->pipeline].name) == 0);
}

/* The number of a query's argument, or @usual. */
static size_t count_argument(const struct http_request *request, const char *name, size_t usual)
{
	const char *text = http_request_argument(request, name);
	uint64_t number;

	return text && parse_u64(text, strlen(text), &number) == 0 && number < SIZE_MAX
		       ? (size_t)number
		       : usual;
}

static json_t *list_models(struct model_api *api, const struct http_request *request,
			   const struct choice_request *asked, struct diag *diag)
{
	const struct repository *repository = api->edition->repository;
	size_t limit = count_argument(request, "limit", LIST_USUAL), found = 0;
	size_t offset = count_argument(request, "offset", 0);
	bool any_output = !http_request_argument(request, "output");
	json_t *report = json_object(), *models = json_array();

	limit = limit < LIST_MAX ? limit : LIST_MAX;
	for (size_t i = 0; i < repository->entry_count; i++) {
		const struct model_entry *entry = &repository->entries[i];
		int r = is_listed(asked, any_output, repository, entry)
				? choice_passes_filter(entry, asked->filter, diag)
				: 0;

		if (r < 0) {
			json_decref(models);
			json_decref(report);
			return NULL;
		}
		if (r && found++ >= offset && json_array_size(models) < limit)
			(void)json_array_append_new(models, model_report(repository, entry));
	}
	(void)json_object_set_new(report, "models", models);
	(void)json_object_set_new(report, "total", json_integer((json_int_t)found));
	(void)json_object_set_new(report, "offset", json_integer((json_int_t)offset));
	return report;
}

static struct served_body *make_v2_models(struct model_api *api, const struct http_request *request)
{
	struct api_request asked;
	struct diag diag = { "" };
	json_t *report = NULL;

	if (api_request_query(argument_of, without_const(request), &asked, &diag) == 0)
		report = list_models(api, request, &asked.choice, &diag);
	return report ? json_body(report) : text_body(400, diag.text);
}

static void handle_v2_models(void *userdata, const struct http_request *request,
			     struct http_response *response)
{
	answer_with(userdata, API_V2_MODELS, make_v2_models, request, response);
}

static struct served_body *make_v2_file(struct model_api *api, const struct http_request *request)
{
	char path[REPOSITORY_PATH_MAX];
	const struct model_entry *entry = NULL;
	struct served_body *body = NULL;
	struct diag diag = { "out of memory" };
	enum model_file file;

	if (http_url_unescape(request->path + strlen(FILES_PATH), path, sizeof(path)) == 0)
		entry = repository_find(api->edition->repository, path, &file);
	if (!entry || (api->refuses_pickles && model_entry_is_pickled(entry)))
		return text_body(404, "404: there is no such file; /api/v2/models lists them");
	body = edition_file(api->edition, entry, file, &diag);
	return body ? body : text_body(503, diag.text);
}

static void handle_v2_file(void *userdata, const struct http_request *request,
			   struct http_response *response)
{
	answer_with(userdata, API_V2_FILE, make_v2_file, request, response);
}

/* ---- the server itself ---- */

static void handle_metrics(void *userdata, const struct http_request *request,
			   struct http_response *response)
{
	struct model_api *api = userdata;
	struct strbuf page = STRBUF_INIT;

	(void)pthread_mutex_lock(&api->lock);
	if (!access_tokens_admit(&api->tokens, request->authorization)) {
		answer_text(response, 401, "401: this server wants a token\n");
		api->unauthorized++;
	} else {
		api_metrics_print(api, &page);
		*response = (struct http_response){
			.status = 200,
			.content_type = API_METRICS_TYPE,
			.body = page.data,
			.len = page.len,
			.release = free,
			.owner = page.data,
		};
	}
	(void)pthread_mutex_unlock(&api->lock);
	if (response->status == 200 && strbuf_error(&page) < 0) {
		strbuf_release(&page);
		answer_text(response, 503, "503: out of memory\n");
	}
}

static void handle_healthz(void *userdata, const struct http_request *request,
			   struct http_response *response)
{
	(void)userdata;
	(void)request;
	answer_text(response, 200, "ok\n");
}

static void handle_readyz(void *userdata, const struct http_request *request,
			  struct http_response *response)
{
	struct model_api *api = userdata;
	bool any;

	(void)request;
	(void)pthread_mutex_lock(&api->lock);
	any = api->edition->repository->entry_count > 0;
	(void)pthread_mutex_unlock(&api->lock);
	if (any) {
		answer_text(response, 200, "ready\n");
		return;
	}
	answer_text(response, 503, "not ready: the repository has no model\n");
	response->retry_after_s = 10;
}

void model_api_routes(struct model_api *api, struct http_route routes[MODEL_API_ROUTES])
{
	const struct http_route all[MODEL_API_ROUTES] = {
		{ "/model", handle_model, api, .spare = true, .post_max = MODEL_API_REQUEST_MAX },
		{ "/best-models", handle_best, api, .spare = true },
		{ "/api/v2/models", handle_v2_models, api, .spare = true },
		{ "/api/v2/model", handle_v2_model, api, .spare = true },
		{ FILES_PATH, handle_v2_file, api, .spare = true, .prefix = true },
		{ "/metrics", handle_metrics, api, .spare = true },
		{ "/healthz", handle_healthz, api, .spare = true },
		{ "/readyz", handle_readyz, api, .spare = true },
	};

	memcpy(routes, all, sizeof(all));
}

void model_api_replace(struct model_api *api, struct edition *edition, struct access_tokens *tokens)
{
	struct edition *old;
	struct access_tokens old_tokens;

	(void)pthread_mutex_lock(&api->lock);
	old = api->edition;
	old_tokens = api->tokens;
	api->edition = edition;
	api->tokens = *tokens;
	api->reloads++;
	(void)pthread_mutex_unlock(&api->lock);
	*tokens = (struct access_tokens){ 0 };
	edition_free(old);
	access_tokens_release(&old_tokens);
}

void model_api_note_failure(struct model_api *api)
{
	(void)pthread_mutex_lock(&api->lock);
	api->failed_reloads++;
	(void)pthread_mutex_unlock(&api->lock);
}
