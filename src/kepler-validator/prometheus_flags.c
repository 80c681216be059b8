// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/prometheus_flags.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "net/http_url.h"

#define OWN(member) OPTION_MEMBER(struct prometheus_flags, member)

const struct option prometheus_flag_rows[PROMETHEUS_FLAG_COUNT] = {
	TEXT_FLAG("prometheus", OWN(url), "", "URL",
		  "URL of a Prometheus server, such as http://localhost:9090. Its scrapes of an "
		  "exporter are judged like the exporter's pages."),
	{ "prometheus.selector", NULL, OPTION_STRINGS,
	  OPTION_LIST(struct prometheus_flags, selectors, selector_count, EXPORTERS_MAX),
	  .default_text = "", .may_be_empty = true, .metavar = "MATCHERS", .only_flag = true,
	  .help = "Label matchers that select one target of Prometheus, such as "
		  "job=\"kepler\",instance=\"node1:28282\". Repeat the option for several." },
	TEXT_FLAG("prometheus.token-file", OWN(token_file), "", "FILE",
		  "File with a bearer token for Prometheus. It is sent only over https:// or to "
		  "this machine."),
	TEXT_FLAG("prometheus.user", OWN(user), "", "NAME",
		  "User name for HTTP Basic authentication."),
	TEXT_FLAG("prometheus.password-file", OWN(password_file), "", "FILE",
		  "File with the user's password."),
	TEXT_FLAG("prometheus.ca-file", OWN(ca_file), "", "FILE",
		  "CA certificates (PEM) for Prometheus. Empty: the system's CA certificates."),
};

int prometheus_flags_check(const struct prometheus_flags *flags, struct diag *diag)
{
	if (!*flags->url && (flags->selector_count > 0 || *flags->token_file || *flags->user ||
			     *flags->password_file || *flags->ca_file))
		return diag_set(diag, -EINVAL,
				"prometheus: must be given with the options prometheus.*");
	if (!*flags->url)
		return 0;
	if (http_url_has_user(flags->url))
		return diag_set(diag, -EINVAL,
				"prometheus: must not contain a user or password, since the "
				"report names the URL");
	if (strncmp(flags->url, "http://", 7) != 0 && strncmp(flags->url, "https://", 8) != 0)
		return diag_set(diag, -EINVAL,
				"prometheus: must begin with http:// or https://, not \"%s\"",
				flags->url);
	if ((*flags->user != '\0') != (*flags->password_file != '\0'))
		return diag_set(diag, -EINVAL,
				"prometheus.user: must be given together with "
				"prometheus.password-file");
	return 0;
}

static int open_one(const struct prometheus_flags *flags, const char *selector,
		    const struct exporter_options *common, struct observation *observation,
		    struct diag *diag)
{
	const struct prometheus_options prometheus = {
		.url = flags->url,
		.selector = selector,
		.token_file = flags->token_file,
		.user = flags->user,
		.password_file = flags->password_file,
		.ca_file = flags->ca_file,
		.timeout_ms = common->timeout_ms,
	};
	struct exporter_options options = *common;
	char name[SERIES_TEXT_MAX];

	if (observation->exporter_count == EXPORTERS_MAX)
		return diag_set(diag, -EINVAL, "prometheus.selector: more than %d exporters",
				EXPORTERS_MAX);
	(void)snprintf(name, sizeof(name), "%s{%s}", flags->url, selector);
	options.url = name;
	options.prometheus = &prometheus;
	int r = exporter_open(&options, &observation->exporters[observation->exporter_count], diag);
	if (r == 0)
		observation->exporter_count++;
	return r;
}

int prometheus_flags_open(const struct prometheus_flags *flags,
			  const struct exporter_options *common, struct observation *observation,
			  struct diag *diag)
{
	int r = 0;

	if (*flags->url && flags->selector_count == 0)
		return open_one(flags, "", common, observation, diag);
	for (size_t i = 0; i < flags->selector_count && r == 0; i++)
		r = open_one(flags, flags->selectors[i], common, observation, diag);
	return r;
}
