// SPDX-License-Identifier: Apache-2.0
#include "model-server/api_metrics.h"

#include "base/macro.h"
#include "options/version.h"

static void head(struct strbuf *out, const char *name, const char *type, const char *help)
{
	strbuf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_one(struct strbuf *out, const char *name, const char *type, const char *help,
		      uint64_t value)
{
	head(out, name, type, help);
	strbuf_addf(out, "%s %llu\n", name, (unsigned long long)value);
}

static void print_requests(const struct model_api *api, struct strbuf *out)
{
	static const char name[] = "kepler_model_server_requests_total";
	static const char *const kinds[API_KIND_COUNT] = {
		[API_MODEL] = "/model",
		[API_BEST] = "/best-models",
		[API_V2_MODELS] = "/api/v2/models",
		[API_V2_MODEL] = "/api/v2/model",
		[API_V2_FILE] = "/api/v2/files",
	};

	head(out, name, "counter", "Requests by page and success.");
	for (size_t i = 0; i < API_KIND_COUNT; i++) {
		strbuf_addf(out, "%s{page=\"%s\",result=\"answered\"} %llu\n", name, kinds[i],
			    (unsigned long long)api->answered[i]);
		strbuf_addf(out, "%s{page=\"%s\",result=\"refused\"} %llu\n", name, kinds[i],
			    (unsigned long long)api->refused[i]);
	}
}

static void print_reloads(const struct model_api *api, struct strbuf *out)
{
	static const char name[] = "kepler_model_server_reloads_total";

	head(out, name, "counter",
	     "Reads of the repository, and whether its models replaced the previous ones.");
	strbuf_addf(out, "%s{result=\"success\"} %llu\n%s{result=\"failure\"} %llu\n", name,
		    (unsigned long long)api->reloads, name,
		    (unsigned long long)api->failed_reloads);
}

static void print_http(const struct model_api *api, struct strbuf *out)
{
	static const char name[] = "kepler_model_server_http_responses_total";
	struct http_stats stats = { 0 };

	if (api->server)
		http_server_get_stats(api->server, &stats);
	head(out, name, "counter", "Responses by status class.");
	for (unsigned i = 2; i < ARRAY_SIZE(stats.requests); i++)
		strbuf_addf(out, "%s{class=\"%uxx\"} %llu\n", name, i,
			    (unsigned long long)stats.requests[i]);
	print_one(out, "kepler_model_server_sent_bytes_total", "counter",
		  "Bytes of response bodies sent.", stats.bytes_sent);
	print_one(out, "kepler_model_server_unauthorized_total", "counter",
		  "Requests without a valid token.", stats.unauthorized);
	print_one(out, "kepler_model_server_connections", "gauge", "Open connections.",
		  stats.connections);
}

void api_metrics_print(const struct model_api *api, struct strbuf *out)
{
	const struct edition *edition = api->edition;

	head(out, "kepler_model_server_build_info", "gauge",
	     "The version of the program, always 1.");
	strbuf_addf(out, "kepler_model_server_build_info{version=\"%s\"} 1\n", KEPLER_VERSION);
	print_one(out, "kepler_model_server_models", "gauge", "Models of the repository.",
		  edition->repository->entry_count);
	print_one(out, "kepler_model_server_pipelines", "gauge", "Pipelines of the repository.",
		  edition->repository->pipeline_count);
	print_one(out, "kepler_model_server_repository_problems", "gauge",
		  "Files of the repository that could not be read.",
		  edition->repository->problem_count);
	print_one(out, "kepler_model_server_kept_bytes", "gauge", "Bytes of files kept in memory.",
		  edition->kept_bytes);
	print_one(out, "kepler_model_server_response_bytes", "gauge",
		  "Bytes of all responses in memory, kept or being sent.", served_bodies_total());
	print_one(out, "kepler_model_server_answers_kept", "gauge",
		  "Model requests whose response is kept.", edition->kept_count);
	print_requests(api, out);
	print_reloads(api, out);
	print_http(api, out);
}
