// SPDX-License-Identifier: Apache-2.0
#include "fake_directory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/http_client.h"
#include "workload/name_directory.h"

struct fake_directory fake_directory;
struct fake_answer fake_answer;

void fake_reset(void)
{
	fake_directory = (struct fake_directory){ .room = FAKE_MAX, .wanted_fd = -1 };
	fake_answer = (struct fake_answer){ .status = 200, .body = "[]" };
}

static struct fake_container *find(const char *id)
{
	for (size_t i = 0; i < fake_directory.count; i++) {
		if (strcmp(fake_directory.containers[i].id, id) == 0)
			return &fake_directory.containers[i];
	}
	return NULL;
}

const struct fake_container *fake_find(const char *id)
{
	return find(id);
}

static void copy(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%s", from ? from : "");
}

int directory_put(struct directory *directory, enum directory_source source,
		  const struct container_names *names)
{
	struct fake_container *slot = find(names->names.text[LABEL_CONTAINER_ID]);

	(void)directory;
	if (source != DIRECTORY_RUNTIME)
		abort();
	fake_directory.puts++;
	if (!slot && fake_directory.count >= fake_directory.room)
		return -ENOSPC;
	if (!slot)
		slot = &fake_directory.containers[fake_directory.count++];
	copy(slot->id, sizeof(slot->id), names->names.text[LABEL_CONTAINER_ID]);
	copy(slot->name, sizeof(slot->name), names->names.text[LABEL_CONTAINER_NAME]);
	copy(slot->pod, sizeof(slot->pod), names->names.text[LABEL_POD_NAME]);
	copy(slot->space, sizeof(slot->space), names->names.text[LABEL_NAMESPACE]);
	copy(slot->uid, sizeof(slot->uid), names->names.text[LABEL_POD_ID]);
	slot->cpu_request_milli = names->cpu_request_milli;
	slot->cpu_limit_milli = names->cpu_limit_milli;
	return 0;
}

void directory_remove(struct directory *directory, enum directory_source source,
		      const char *container_id, uint64_t now_ns)
{
	struct fake_container *slot = find(container_id);

	(void)directory;
	(void)source;
	(void)now_ns;
	if (!slot)
		abort();
	fake_directory.removes++;
	*slot = fake_directory.containers[--fake_directory.count];
}

void directory_set_reachable(struct directory *directory, enum directory_source source, bool yes)
{
	(void)directory;
	(void)source;
	fake_directory.reachable = yes;
}

int directory_wanted_fd(struct directory *directory, enum directory_source source)
{
	(void)directory;
	(void)source;
	return fake_directory.wanted_fd;
}

int http_client_new(const struct http_client_options *options, struct http_client **ret,
		    struct diag *diag)
{
	(void)diag;
	fake_answer.clients++;
	copy(fake_answer.socket, sizeof(fake_answer.socket), options->unix_socket);
	*ret = malloc(1);
	return *ret ? 0 : -ENOMEM;
}

void http_client_free(struct http_client *client)
{
	free(client);
}

int http_client_get(struct http_client *client, const struct http_request_options *request,
		    http_body_fn *body, void *userdata, struct http_reply *ret, struct diag *diag)
{
	size_t len = strlen(fake_answer.body), first = len / 2;
	int r;

	(void)client;
	fake_answer.requests++;
	if (request->timeout_ms == 0 || request->max_bytes == 0 || request->connect_timeout_ms == 0)
		abort(); /* nothing may wait or grow without a limit */
	if (fake_answer.error)
		return diag_set(diag, fake_answer.error, "made-up failure");
	r = body(userdata, fake_answer.body, first);
	if (r == 0)
		r = body(userdata, fake_answer.body + first, len - first);
	*ret = (struct http_reply){ .status = fake_answer.status, .body_bytes = len };
	return r;
}
