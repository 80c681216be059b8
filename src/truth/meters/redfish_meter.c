// SPDX-License-Identifier: Apache-2.0
/*
 * All meters of a service share one client. A power supply is a meter of its own, so that their sum
 * is that of meters of one kind.
 */
#include "truth/meters/redfish_meter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "net/http_client.h"
#include "truth/meter_list.h"
#include "truth/meters/redfish_answer.h"

#define ROOT       "/redfish/v1/"
#define CONNECT_MS 2000
#define TIMEOUT_MS 5000
#define ANSWER_MAX (1U << 20)
#define SECRET_MAX 4096
#define PERIOD_S   0.99 /* a second, and a step that was a little early */

struct service {
	struct http_client *http;
	char base[REDFISH_LINK_MAX]; /* "https://bmc:443" */
	char user[256], password[SECRET_MAX], token[SECRET_MAX];
	size_t users; /* meters, and the search */
};

struct resource {
	struct service *service;
	struct truth_link link;
	double asked_s;
	bool was_asked;
};

static void service_unref(struct service *service)
{
	if (--service->users > 0)
		return;
	http_client_free(service->http);
	explicit_bzero(service, sizeof(*service));
	free(service);
}

static void cleanup_service(struct service **service)
{
	if (*service)
		service_unref(*service);
}

static void cleanup_json(json_t **value)
{
	json_decref(*value);
}

static void release_resource(void *state)
{
	struct resource *resource = state;

	service_unref(resource->service);
	free(resource);
}

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct strbuf *page = userdata;

	strbuf_add(page, bytes, len);
	return strbuf_error(page);
}

static int get(struct service *service, const char *path, json_t **ret, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT;
	char url[2 * REDFISH_LINK_MAX];
	const struct http_request_options request = {
		.url = url,
		.accept = "application/json",
		.user = *service->user ? service->user : NULL,
		.password = *service->user ? service->password : NULL,
		.auth_token = *service->token ? service->token : NULL,
		.connect_timeout_ms = CONNECT_MS,
		.timeout_ms = TIMEOUT_MS,
		.max_bytes = ANSWER_MAX,
	};
	struct http_reply reply;

	(void)snprintf(url, sizeof(url), "%s%s", service->base, path);
	int r = http_client_get(service->http, &request, take_body, &page, &reply, diag);
	if (r < 0)
		return r;
	if (reply.status == 401 || reply.status == 403)
		return diag_set(diag, -EACCES, "%s: the service refuses the user or the token",
				url);
	if (reply.status != 200)
		return diag_set(diag, -EPROTO, "%s: the answer has the status %d", url,
				reply.status);
	*ret = truth_redfish_parse(page.data ? page.data : "", page.len);
	return *ret ? 0 : diag_set(diag, -EBADMSG, "%s: the answer is no JSON object", url);
}

static int read_resource(struct truth_meter *meter, double now_s, struct truth_value *ret,
			 struct diag *diag)
{
	CLEANUP(cleanup_json) json_t *object = NULL;
	struct resource *resource = meter->state;

	if (resource->was_asked && now_s - resource->asked_s < PERIOD_S)
		return 1;
	resource->was_asked = true;
	resource->asked_s = now_s;
	int r = get(resource->service, resource->link.path, &object, diag);
	if (r < 0)
		return r;
	if (!truth_redfish_watts(object, &ret->power))
		return diag_set(diag, -ENODATA, "%s: it has no power reading now", meter->path);
	return 0;
}

/* Adds the resource, if it has a power now. */
static int try_resource(struct service *service, const struct truth_link *link, struct truth *truth,
			struct diag *diag)
{
	CLEANUP(cleanup_json) json_t *object = NULL;
	char path[2 * REDFISH_LINK_MAX];
	double watts;
	int r = get(service, link->path, &object, diag);

	if (r < 0)
		return r;
	if (!truth_redfish_watts(object, &watts))
		return diag_set(diag, -ENODATA, "%s%s has no power", service->base, link->path);
	struct resource *resource = calloc(1, sizeof(*resource));
	if (!resource)
		return diag_set(diag, -ENOMEM, "out of memory");
	*resource = (struct resource){ .service = service, .link = *link };
	service->users++;
	const struct truth_meter like = {
		.read = read_resource,
		.is_power = true,
		.unit = 1,
		.state = resource,
		.release = release_resource,
	};
	(void)snprintf(path, sizeof(path), "%s%s", service->base, link->path);
	truth_add_meter(truth, "platform", path, &like);
	return 0;
}

/* Each supply that has power; 0 if one has. */
static int try_supplies(struct service *service, const json_t *chassis, struct truth *truth,
			struct diag *diag)
{
	CLEANUP(cleanup_json) json_t *subsystem = NULL;
	CLEANUP(cleanup_json) json_t *collection = NULL;
	struct truth_link link, members[REDFISH_MEMBERS_MAX];
	size_t before = truth->meter_count;

	if (!truth_redfish_link(chassis, "PowerSubsystem", &link))
		return -ENODATA;
	int r = get(service, link.path, &subsystem, diag);
	if (r == 0 && !truth_redfish_link(subsystem, "PowerSupplies", &link))
		return -ENODATA;
	if (r == 0)
		r = get(service, link.path, &collection, diag);
	size_t count = r == 0 ? truth_redfish_members(collection, members) : 0;
	for (size_t i = 0; i < count; i++) {
		CLEANUP(cleanup_json) json_t *supply = NULL;

		if (get(service, members[i].path, &supply, diag) == 0 &&
		    truth_redfish_link(supply, "Metrics", &link))
			(void)try_resource(service, &link, truth, diag); /* absent, or off */
	}
	return r < 0 ? r : truth->meter_count > before ? 0 : -ENODATA;
}

static int search_chassis(struct service *service, const char *path, struct truth *truth,
			  struct diag *diag)
{
	static const char *const resources[] = { "EnvironmentMetrics", "Power" };
	CLEANUP(cleanup_json) json_t *chassis = NULL;
	struct truth_link link;
	int r = get(service, path, &chassis, diag);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(resources); i++)
		if (truth_redfish_link(chassis, resources[i], &link) &&
		    try_resource(service, &link, truth, diag) == 0)
			return 0;
	return try_supplies(service, chassis, truth, diag);
}

/* The only chassis with power. */
static int search_all(struct service *service, struct truth *truth, struct diag *diag)
{
	CLEANUP(cleanup_json) json_t *root = NULL;
	CLEANUP(cleanup_json) json_t *collection = NULL;
	struct truth_link link, members[REDFISH_MEMBERS_MAX];
	const char *found = NULL;
	int r = get(service, ROOT, &root, diag);

	if (r == 0 && !truth_redfish_link(root, "Chassis", &link))
		return diag_set(diag, -ENODATA, "%s: the service has no chassis", service->base);
	if (r == 0)
		r = get(service, link.path, &collection, diag);
	size_t count = r == 0 ? truth_redfish_members(collection, members) : 0;
	for (size_t i = 0; i < count; i++) {
		if (search_chassis(service, members[i].path, truth, diag) < 0)
			continue;
		if (found)
			return diag_set(diag, -EXDEV,
					"%s: %s and %s both have power: name the one of this "
					"machine, --truth.redfish-url=%s%s",
					service->base, found, members[i].path, service->base,
					found);
		found = members[i].path;
	}
	if (r == 0 && !found && !diag->text[0])
		return diag_set(diag, -ENODATA, "%s: no chassis has power", service->base);
	return r < 0 ? r : found ? 0 : -ENODATA;
}

/* The first line of a file with a secret; "" for "". */
static int read_secret(const char *path, char *ret, size_t size, struct diag *diag)
{
	*ret = '\0';
	if (!*path)
		return 0;
	ssize_t len = read_file_nowait_at(AT_FDCWD, path, ret, size);
	if (len < 0)
		return diag_set(diag, (int)len, "%s cannot be read: %s", path, strerror((int)-len));
	ret[strcspn(ret, "\r\n")] = '\0';
	return *ret ? 0 : diag_set(diag, -EINVAL, "%s is empty", path);
}

/* Where the path of an URL begins; its end if it has none. */
static size_t path_of(const char *url)
{
	const char *host = strstr(url, "://");
	const char *path = host ? strchr(host + 3, '/') : NULL;

	return path ? (size_t)(path - url) : strlen(url);
}

int truth_search_redfish(const struct truth_redfish *options, struct truth *truth,
			 struct diag *diag)
{
	const struct http_client_options http = {
		.ca_file = *options->ca_file ? options->ca_file : NULL,
		.user_agent = "kepler-validator",
		.cancel_fd = -1,
		.insecure = options->insecure,
	};
	CLEANUP(cleanup_service) struct service *service = calloc(1, sizeof(*service));
	size_t base_len = path_of(options->url);
	const char *path = options->url + base_len;

	if (!service)
		return diag_set(diag, -ENOMEM, "out of memory");
	service->users = 1;
	if (base_len >= sizeof(service->base) || strlen(path) >= REDFISH_LINK_MAX)
		return diag_set(diag, -EINVAL, "truth.redfish-url: it is too long");
	(void)snprintf(service->base, sizeof(service->base), "%.*s", (int)base_len, options->url);
	(void)snprintf(service->user, sizeof(service->user), "%s", options->user);
	int r = read_secret(options->password_file, service->password, sizeof(service->password),
			    diag);
	if (r == 0)
		r = read_secret(options->token_file, service->token, sizeof(service->token), diag);
	if (r == 0)
		r = http_client_new(&http, &service->http, diag);
	if (r < 0)
		return r;
	/* The root and its collections name no chassis. */
	if (strstr(path, "/Chassis/") && path[strlen(path) - 1] != '/')
		r = search_chassis(service, path, truth, diag);
	else
		r = search_all(service, truth, diag);
	if (r < 0 && !diag->text[0])
		return diag_set(diag, r, "%s: the chassis has no power", options->url);
	return r;
}
