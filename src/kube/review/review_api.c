// SPDX-License-Identifier: Apache-2.0
#include "kube/review/review_api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "kube/kube_access.h"
#include "kube/kube_account.h"
#include "net/http_client.h"

struct review_api {
	char *kubeconfig, *context, *in_cluster_dir;
	int cancel_fd;
	struct kube_access access;
	struct http_client *client; /* NULL until there are credentials */
};

static int copy(const char *text, char **ret)
{
	*ret = text && *text ? strdup(text) : NULL;
	return text && *text && !*ret ? -ENOMEM : 0;
}

int review_api_new(const struct kube_options *options, int cancel_fd, struct review_api **ret,
		   struct diag *diag)
{
	struct review_api *api = calloc(1, sizeof(*api));
	int r;

	if (!api)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = http_client_load(diag);
	if (r < 0) {
		free(api);
		return r;
	}
	api->cancel_fd = cancel_fd;
	kube_access_init(&api->access);
	if (copy(options->kubeconfig, &api->kubeconfig) < 0 ||
	    copy(options->context, &api->context) < 0 ||
	    copy(options->in_cluster_dir, &api->in_cluster_dir) < 0) {
		review_api_free(api);
		return diag_set(diag, -ENOMEM, "out of memory");
	}
	*ret = api;
	return 0;
}

static void forget_credentials(struct review_api *api)
{
	http_client_free(TAKE_PTR(api->client));
	kube_access_release(&api->access);
}

void review_api_free(struct review_api *api)
{
	if (!api)
		return;
	forget_credentials(api);
	free(api->kubeconfig);
	free(api->context);
	free(api->in_cluster_dir);
	free(api);
}

static int find_credentials(struct review_api *api, struct diag *diag)
{
	struct http_client_options options = {
		.user_agent = "kepler",
		.environment_proxy = true,
		.cancel_fd = api->cancel_fd,
	};
	int r;

	if (api->client)
		return 0;
	r = kube_account_find(api->kubeconfig, api->context, api->in_cluster_dir, &api->access,
			      diag);
	if (r == 0 && !api->access.server)
		r = diag_set(diag, -EDESTADDRREQ,
			     "no API server: KUBERNETES_SERVICE_HOST is not set");
	options.ca_file = api->access.ca_file;
	options.client_cert_file = api->access.client_cert_file;
	options.client_key_file = api->access.client_key_file;
	options.tls_server_name = api->access.tls_server_name;
	options.proxy_url = api->access.proxy_url;
	if (r == 0)
		r = http_client_new(&options, &api->client, diag);
	if (r < 0)
		forget_credentials(api);
	return r;
}

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct strbuf *answer = userdata;

	strbuf_add(answer, bytes, len);
	return strbuf_error(answer);
}

/* The status of an answer: about this program, or about the question. */
static int judge_status(const struct review_api *api, const char *path, int status,
			struct diag *diag)
{
	if (status == 200 || status == 201)
		return 0;
	if (status == 400 || status == 422)
		return -EBADMSG;
	if (status == 401 || status == 403)
		return diag_set(diag, -EACCES,
				"%.200s%s: status %d: Kepler's own account may not ask; bind the "
				"ClusterRole system:auth-delegator to it",
				api->access.server, path, status);
	return diag_set(diag, -EPROTO, "%.200s%s: status %d", api->access.server, path, status);
}

static int send_question(struct review_api *api, const char *path, const char *body,
			 const char *token, struct strbuf *answer, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT;
	struct http_request_options request = {
		.bearer_token = token,
		.accept = "application/json",
		.method = HTTP_POST,
		.content = body,
		.connect_timeout_ms = REVIEW_CONNECT_MS,
		.timeout_ms = REVIEW_REQUEST_MS,
		.max_bytes = REVIEW_ANSWER_MAX,
	};
	struct http_reply reply = { 0 };
	int r;

	strbuf_addf(&url, "%s%s", api->access.server, path);
	if (strbuf_error(&url) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	request.url = url.data;
	r = http_client_get(api->client, &request, take_body, answer, &reply, diag);
	return r < 0 ? r : judge_status(api, path, reply.status, diag);
}

int review_api_post(struct review_api *api, const char *path, const char *body,
		    struct strbuf *answer, struct diag *diag)
{
	char *token = NULL;
	int r = find_credentials(api, diag);

	if (r == 0)
		r = kube_access_check_key(&api->access, diag);
	if (r == 0)
		r = kube_access_token(&api->access, &token, diag);
	if (r == 0)
		r = send_question(api, path, body, token, answer, diag);
	kube_token_free(token);
	if (r < 0 && r != -EBADMSG && r != -ECANCELED)
		forget_credentials(api);
	return r;
}
