// SPDX-License-Identifier: Apache-2.0
#include "model-server/model_api.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "model-server/api_metrics.h"
#include "model-server/api_request.h"
#include "modelling/daemon.h"
#include "net/http_url.h"
#include "repository/entry_filter.h"
#include "repository/model_json.h"
#include "repository/model_report.h"

#define TEXT_TYPE         "text/plain; charset=utf-8"
#define JSON_TYPE         "application/json"
#define FILES_PATH        "/api/v2/files/"
#define LIST_MAX          1000 /* models of one answer */
#define LIST_USUAL        100
#define WORK_OF_A_TURN_NS (5 * NSEC_PER_MSEC)
#define WAIT_MAX_NS       (10 * NSEC_PER_SEC) /* of a request, for a turn that has time left */

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

/* The status in the second API: a request that no model fits is still a valid request. */
static int v2_status_of(int result)
{
	if (result == -ENOENT)
		return 404;
	return result == -EINVAL ? 400 : 503;
}

/* ---- common to all requests ---- */

/* Gives @body's reference to the answer. */
static void answer(struct model_api *api, enum api_kind kind, const struct http_request *request,
		   struct http_response *response, struct served_body *body)
{
	if (body)
		served_body_answer(body, request, response);
	else
		daemon_answer_text(response, 503, "503: too much is being sent; try again\n");
	if (response->status == 503)
		response->retry_after_s = 1;
	(void)pthread_mutex_lock(&api->lock);
	if (response->status == 200 || response->status == 304)
		api->answered[kind]++;
	else
		api->refused[kind]++;
	(void)pthread_mutex_unlock(&api->lock);
	served_body_unref(body);
}

/* The settings, and the edition that was current when the request came. */
struct api_view {
	const struct model_api *api;
	struct edition *edition;
};

typedef struct served_body *make_answer(const struct api_view *view,
					const struct http_request *request);

static struct edition *current_edition(struct model_api *api)
{
	struct edition *edition;

	(void)pthread_mutex_lock(&api->lock);
	edition = edition_ref(api->edition);
	(void)pthread_mutex_unlock(&api->lock);
	return edition;
}

/*
 * Returns true if this turn of the server's loop has no time left. The request then waits for a
 * later turn, so that small requests, such as probes, are answered between large ones.
 */
static bool turn_is_over(struct model_api *api, const struct http_request *request)
{
	if (api->turn != request->turn) {
		api->turn = request->turn;
		api->work_ns = 0;
	}
	return api->work_ns >= WORK_OF_A_TURN_NS;
}

/* Answers with the text that @make writes. No lock is held meanwhile. */
static void answer_with(struct model_api *api, enum api_kind kind, make_answer *make,
			const struct http_request *request, struct http_response *response)
{
	struct api_view view = { .api = api };
	uint64_t began_ns;

	if (turn_is_over(api, request))
		return; /* HTTP_ASK_AGAIN */
	view.edition = current_edition(api);
	began_ns = clock_ns(CLOCK_MONOTONIC);
	edition_make_room(view.edition);
	answer(api, kind, request, response, make(&view, request));
	edition_unref(view.edition);
	api->work_ns += clock_ns(CLOCK_MONOTONIC) - began_ns;
}

static void limit_choice(const struct api_view *view, struct choice_request *choice)
{
	const struct model_api *api = view->api;

	if (api->max_error > 0 && !(choice->max_error > 0 && choice->max_error < api->max_error))
		choice->max_error = api->max_error;
	choice->no_pickles = choice->no_pickles || api->refuses_pickles;
}

/* ---- POST /model ---- */

/* The model that fits, or a refusal that the caller owns; neither: no memory. */
static struct edition_answer choose(const struct api_view *view, const struct http_request *request)
{
	struct edition_answer answer = { .entry = NULL };
	struct api_request asked;
	struct choice choice = { 0 };
	struct diag diag = { "out of memory" };
	int r = api_request_read(request->body, request->body_len, &asked, &diag);

	if (r == 0) {
		limit_choice(view, &asked.choice);
		asked.choice.upstream_only = true;
		r = choice_make(view->edition->repository, &asked.choice, &choice, &diag);
		answer.weights = asked.weights;
		api_request_release(&asked);
	}
	if (r == 0)
		answer.entry = choice.entry;
	else if (r != -ENOMEM)
		answer.refusal = text_body(400, diag.text);
	return answer;
}

static struct served_body *body_of(const struct api_view *view, const struct edition_answer *answer)
{
	struct diag diag = { "out of memory" };
	struct served_body *body;

	if (!answer->entry)
		return answer->refusal ? served_body_ref(answer->refusal) : NULL;
	body = answer->weights ? edition_weights(view->edition, answer->entry, &diag)
			       : edition_file(view->edition, answer->entry, FILE_ARCHIVE, &diag);
	return body ? body : text_body(503, diag.text);
}

static struct served_body *make_model(const struct api_view *view,
				      const struct http_request *request)
{
	struct edition_answer answer;
	struct served_body *body;

	if (edition_find_answer(view->edition, request->body, request->body_len, &answer))
		return body_of(view, &answer);
	answer = choose(view, request);
	if (answer.entry || answer.refusal)
		edition_keep_answer(view->edition, request->body, request->body_len, &answer);
	body = body_of(view, &answer);
	served_body_unref(answer.refusal);
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
static json_t *best_by_group(const struct api_view *view, const struct choice_request *request,
			     struct diag *diag)
{
	CLEANUP_FREE struct choice *best = NULL;
	size_t count = 0;
	int r = choice_make_by_group(view->edition->repository, request, &best, &count, diag);
	json_t *groups = r == 0 ? json_object() : NULL;

	for (size_t i = 0; i < count; i++)
		(void)json_object_set_new(groups, best[i].entry->group,
					  json_string(best[i].entry->name));
	return groups;
}

static struct served_body *make_best(const struct api_view *view,
				     const struct http_request *request)
{
	struct api_request asked;
	struct diag diag = { "" };
	bool any_output = false;
	json_t *best = json_object();
	int r = api_request_best(argument_of, without_const(request), &asked, &any_output, &diag);

	limit_choice(view, &asked.choice);
	asked.choice.upstream_only =
		true; /* an estimator of upstream's asks for the archive next */
	asked.choice.files = FILE_ARCHIVE;
	for (int i = 0; r == 0 && i < MODEL_OUTPUT_COUNT; i++) {
		json_t *groups;

		if (!any_output && i != (int)asked.choice.output)
			continue;
		asked.choice.output = (enum model_output)i;
		groups = best_by_group(view, &asked.choice, &diag);
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
		     enum model_file file, const struct file_facts *facts)
{
	char path[REPOSITORY_PATH_MAX], url[REPOSITORY_PATH_MAX + sizeof(FILES_PATH)];
	json_t *json = json_object();

	if (repository_path(edition->repository, entry, file, path, sizeof(path)) == 0) {
		(void)snprintf(url, sizeof(url), FILES_PATH "%s", path);
		(void)json_object_set_new(json, "url", json_string(url));
	}
	(void)json_object_set_new(json, "format",
				  json_string(file == FILE_ARCHIVE ? "archive" : "weights"));
	(void)json_object_set_new(json, "size", json_integer((json_int_t)facts->size));
	(void)json_object_set_new(json, "sha256", json_string(facts->sha256));
	if (facts->signature[0])
		(void)json_object_set_new(json, "signature", json_string(facts->signature));
	(void)json_object_set_new(report, "file", json);
}

/* NULL with a diagnosis, and the status that it is answered with. */
static struct served_body *describe_choice(const struct api_view *view,
					   const struct api_request *asked, struct diag *diag,
					   int *ret_status)
{
	struct edition *edition = view->edition;
	struct choice choice;
	struct file_facts facts;
	enum model_file form;
	json_t *report;
	int r = choice_make(edition->repository, &asked->choice, &choice, diag);

	*ret_status = v2_status_of(r);
	if (r < 0)
		return NULL;
	form = choice.entry->files & FILE_WEIGHTS && asked->choice.files != FILE_ARCHIVE
		       ? FILE_WEIGHTS
		       : FILE_ARCHIVE;
	r = edition_describe(edition, choice.entry, form, &facts, diag);
	*ret_status = 503;
	report = r == 0 ? json_object() : NULL;
	if (!report)
		return NULL;
	(void)json_object_set_new(report, "model", model_report(edition->repository, choice.entry));
	(void)json_object_set_new(report, "match", choice_report(&choice));
	set_file(report, edition, choice.entry, form, &facts);
	return json_body(report);
}

static struct served_body *make_v2_model(const struct api_view *view,
					 const struct http_request *request)
{
	struct api_request asked;
	struct diag diag = { "out of memory" };
	struct served_body *body = NULL;
	int status = 400;

	if (api_request_query(argument_of, without_const(request), &asked, &diag) == 0) {
		limit_choice(view, &asked.choice);
		body = describe_choice(view, &asked, &diag, &status);
	}
	return body ? body : text_body(status, diag.text);
}

static void handle_v2_model(void *userdata, const struct http_request *request,
			    struct http_response *response)
{
	answer_with(userdata, API_V2_MODEL, make_v2_model, request, response);
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

static json_t *list_models(const struct api_view *view, const struct http_request *request,
			   const struct choice_request *asked, struct diag *diag)
{
	const struct repository *repository = view->edition->repository;
	size_t limit = count_argument(request, "limit", LIST_USUAL), found = 0;
	size_t offset = count_argument(request, "offset", 0);
	bool any_output = !http_request_argument(request, "output");
	struct entry_filter filter;
	json_t *report, *models;

	if (entry_filter_parse(asked->filter, &filter, diag) < 0)
		return NULL;
	report = json_object();
	models = json_array();
	limit = limit < LIST_MAX ? limit : LIST_MAX;
	for (size_t i = 0; i < repository->entry_count; i++) {
		const struct model_entry *entry = &repository->entries[i];

		if (choice_lists(asked, any_output, repository, entry) &&
		    entry_filter_passes(&filter, entry) && found++ >= offset &&
		    json_array_size(models) < limit)
			(void)json_array_append_new(models, model_report(repository, entry));
	}
	(void)json_object_set_new(report, "models", models);
	(void)json_object_set_new(report, "total", json_integer((json_int_t)found));
	(void)json_object_set_new(report, "offset", json_integer((json_int_t)offset));
	return report;
}

static struct served_body *make_v2_models(const struct api_view *view,
					  const struct http_request *request)
{
	struct api_request asked;
	struct diag diag = { "" };
	json_t *report = NULL;

	if (api_request_query(argument_of, without_const(request), &asked, &diag) == 0)
		report = list_models(view, request, &asked.choice, &diag);
	return report ? json_body(report) : text_body(400, diag.text);
}

static void handle_v2_models(void *userdata, const struct http_request *request,
			     struct http_response *response)
{
	answer_with(userdata, API_V2_MODELS, make_v2_models, request, response);
}

static struct served_body *make_v2_file(const struct api_view *view,
					const struct http_request *request)
{
	char path[REPOSITORY_PATH_MAX];
	const struct model_entry *entry = NULL;
	struct served_body *body = NULL;
	struct diag diag = { "out of memory" };
	enum model_file file;

	if (http_url_unescape(request->path + strlen(FILES_PATH), path, sizeof(path)) == 0)
		entry = repository_find(view->edition->repository, path, &file);
	if (!entry || (view->api->refuses_pickles && model_entry_is_pickled(entry)))
		return text_body(404, "404: there is no such file; /api/v2/models lists them");
	body = edition_file(view->edition, entry, file, &diag);
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

	(void)request;
	(void)pthread_mutex_lock(&api->lock);
	api_metrics_print(api, &page);
	(void)pthread_mutex_unlock(&api->lock);
	daemon_answer_page(response, 200, API_METRICS_TYPE, &page);
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
		daemon_answer_text(response, 200, "ready\n");
		return;
	}
	daemon_answer_text(response, 503, "not ready: the repository has no model\n");
	response->retry_after_s = 10;
}

void model_api_routes(struct model_api *api, struct http_route routes[MODEL_API_ROUTES])
{
	const struct http_route all[MODEL_API_ROUTES] = {
		{ "/model", handle_model, api, .spare = true, .post_max = MODEL_API_REQUEST_MAX,
		  .hold_ns = WAIT_MAX_NS },
		{ "/best-models", handle_best, api, .spare = true, .hold_ns = WAIT_MAX_NS },
		{ "/api/v2/models", handle_v2_models, api, .spare = true, .hold_ns = WAIT_MAX_NS },
		{ "/api/v2/model", handle_v2_model, api, .spare = true, .hold_ns = WAIT_MAX_NS },
		{ FILES_PATH, handle_v2_file, api, .spare = true, .prefix = true,
		  .hold_ns = WAIT_MAX_NS },
		{ "/metrics", handle_metrics, api, .spare = true },
		{ "/healthz", daemon_handle_healthz, api, .spare = true, .is_open = true },
		{ "/readyz", handle_readyz, api, .spare = true, .is_open = true },
	};

	memcpy(routes, all, sizeof(all));
}

void model_api_replace(struct model_api *api, struct edition *edition)
{
	struct edition *old;

	(void)pthread_mutex_lock(&api->lock);
	old = api->edition;
	api->edition = edition;
	api->reloads++;
	(void)pthread_mutex_unlock(&api->lock);
	edition_unref(old);
}

void model_api_note_failure(struct model_api *api)
{
	(void)pthread_mutex_lock(&api->lock);
	api->failed_reloads++;
	(void)pthread_mutex_unlock(&api->lock);
}
