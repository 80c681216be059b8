// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_web.h"

#include <stdio.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "config/own_names.h"
#include "service/privileges.h"

/* "127.0.0.1:28282, unix:/run/kepler.sock" */
static void list_addresses(const struct config *config, struct strbuf *out)
{
	for (size_t i = 0; i < config->web.listen_count; i++)
		strbuf_addf(out, "%s%s", i ? ", " : "", config->web.listen[i]);
}

static void examine_names(struct findings *findings, const struct config *config,
			  struct name_finder *finder)
{
	CLEANUP_FREE struct http_own_names *own = calloc(1, sizeof(*own));
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;
	const char *name;

	if (!own)
		return;
	own_names_collect(config, own);
	while ((name = name_finder_next(finder)))
		(void)http_own_names_add_found(own, name);
	http_own_names_describe(own, &names);
	for (size_t i = 0; i < config->web.allowed_hosts_count; i++)
		strbuf_addf(&names, "%s%s", names.len ? ", " : "", config->web.allowed_hosts[i]);
	findings_add(findings, FINDING_NOTE, "scrapes",
		     "if Prometheus uses another name: --web.allowed-hosts=NAME",
		     "requests are answered for addresses, names without a dot, *.svc, "
		     "*.cluster.local and these names: %s",
		     names.len ? names.data : "none");
}

void doctor_examine_web(struct findings *findings, const struct config *config,
			struct name_finder *finder)
{
	CLEANUP(strbuf_release) struct strbuf addresses = STRBUF_INIT;
	const char *reachable = config_reachable_address(config);
	char fix[160];

	list_addresses(config, &addresses);
	if (!reachable) {
		findings_add(findings, FINDING_NOTE, "scrapes",
			     "to allow others: --web.listen-address=:28282; the installed service "
			     "also needs IPAddressAllow=, which is printed by kepler config needs "
			     "--web.listen-address=:28282",
			     "only this machine can scrape: web.listen-address is %s",
			     addresses.len ? addresses.data : "empty");
		return;
	}
	(void)snprintf(fix, sizeof(fix), "kepler config needs --web.listen-address=%.60s",
		       reachable);
	if (privileges_runner() != RUN_IN_CONTAINER)
		findings_add(findings, FINDING_NOTE, "scrapes", fix,
			     "other machines can connect to %s; the installed service refuses them "
			     "unless a drop-in allows them",
			     addresses.data);
	else
		findings_add(findings, FINDING_OK, "scrapes", NULL,
			     "other machines can connect to %s", addresses.data);
	examine_names(findings, config, finder);
}
