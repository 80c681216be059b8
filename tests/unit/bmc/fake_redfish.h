/* SPDX-License-Identifier: Apache-2.0 */
/* A Redfish service without a network: its resources as text, by path, in place of the client. */
#pragma once

#include "bmc/answer_object.h"
#include "bmc/redfish_client.h"
#include "tests/unit/unit.h"

#define WATT           1000000
#define V1             "/redfish/v1"
#define LINK(path)     "{\"@odata.id\":\"" V1 path "\"}"
#define FAKE_ORIGIN    "https://10.0.0.5"
#define FAKE_RESOURCES 64
#define FAKE_REQUESTS  1024 /* more is a search without an end */

static struct {
	struct {
		char path[REDFISH_PATH_MAX];
		char *text; /* NULL: there is none */
		int error;
	} resources[FAKE_RESOURCES];
	size_t count, requests;
} fake;

static inline void fake_reset(void)
{
	for (size_t i = 0; i < fake.count; i++)
		free(fake.resources[i].text);
	memset(&fake, 0, sizeof(fake));
}

static inline size_t fake_place(const char *path)
{
	size_t i = 0;

	while (i < fake.count && strcmp(fake.resources[i].path, path) != 0)
		i++;
	assert_true(i < FAKE_RESOURCES);
	if (i == fake.count)
		fake.count++;
	(void)snprintf(fake.resources[i].path, sizeof(fake.resources[i].path), "%s", path);
	return i;
}

/* @path without V1. */
static inline void fake_set(const char *path, const char *text)
{
	char whole[REDFISH_PATH_MAX];
	size_t i;

	(void)snprintf(whole, sizeof(whole), V1 "%s", path);
	i = fake_place(whole);
	free(fake.resources[i].text);
	fake.resources[i].text = text ? strdup(text) : NULL;
	fake.resources[i].error = 0;
}

static inline void fake_fail(const char *path, int error)
{
	char whole[REDFISH_PATH_MAX];

	(void)snprintf(whole, sizeof(whole), V1 "%s", path);
	fake.resources[fake_place(whole)].error = error;
}

int redfish_client_get(struct redfish_client *client, const struct redfish_path *path, json_t **ret,
		       struct diag *diag)
{
	(void)client;
	assert_true(fake.requests++ < FAKE_REQUESTS);
	for (size_t i = 0; i < fake.count; i++) {
		if (strcmp(fake.resources[i].path, path->text) != 0)
			continue;
		if (fake.resources[i].error || !fake.resources[i].text)
			break;
		*ret = answer_object(fake.resources[i].text, strlen(fake.resources[i].text));
		assert_non_null(*ret);
		return 0;
	}
	for (size_t i = 0; i < fake.count; i++) {
		if (strcmp(fake.resources[i].path, path->text) == 0 && fake.resources[i].error)
			return diag_set(diag, fake.resources[i].error, "cannot answer");
	}
	return diag_set(diag, -ENOENT, "no such resource");
}

int redfish_client_get_root(struct redfish_client *client, json_t **ret, struct diag *diag)
{
	struct redfish_path root;

	redfish_path_take(V1, &root);
	return redfish_client_get(client, &root, ret, diag);
}

void redfish_client_take_link(const struct redfish_client *client, const char *link,
			      struct redfish_path *ret)
{
	(void)client;
	redfish_path_take_from(FAKE_ORIGIN, link, ret);
}

bool redfish_client_ends_search(int r)
{
	return r == -EPERM || r == -ETIMEDOUT;
}
