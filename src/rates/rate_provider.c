// SPDX-License-Identifier: Apache-2.0
#include "rates/rate_provider.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct rate_provider providers[] = {
	{ .host = "electricitymap.org",
	  .name = "electricity-maps",
	  .path = "carbonIntensity",
	  .kind = "average",
	  .factor = 1,
	  .key_header = "auth-token" },
	{ .host = "electricitymaps.com",
	  .name = "electricity-maps",
	  .path = "carbonIntensity",
	  .kind = "average",
	  .factor = 1,
	  .key_header = "auth-token" },
	{ .host = "watttime.org",
	  .name = "watttime",
	  .path = "data.0.value",
	  .kind = "marginal",
	  .factor = 0.45359237,
	  .login_url = "https://api.watttime.org/login",
	  .login_path = "token" },
	{ .resource = "/api/v1/query?",
	  .name = "prometheus",
	  .path = "data.result.0.value.1",
	  .kind = "",
	  .factor = 1 },
	{ .name = "url", .kind = "", .factor = 1 },
};

static bool is_of(const struct rate_provider *provider, const char *host, size_t len)
{
	size_t end = provider->host ? strlen(provider->host) : 0;

	if (provider->resource && !strstr(host + len, provider->resource))
		return false;
	return !end || (len >= end && strncasecmp(host + len - end, provider->host, end) == 0 &&
			(len == end || host[len - end - 1] == '.'));
}

const struct rate_provider *rate_provider_of(const char *url)
{
	const struct rate_provider *provider = providers;
	const char *host = strstr(url, "://");

	host = host ? host + 3 : url;
	while (!is_of(provider, host, strcspn(host, ":/?#")))
		provider++; /* the last one is for all others */
	return provider;
}
