// SPDX-License-Identifier: Apache-2.0
/*
 * A web configuration of any bytes: it is refused with a reason that names the file, or every value
 * is within its range and GnuTLS knows the priorities that were made of it.
 */
#include <gnutls/gnutls.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/web/web_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct web_config *config)
{
	gnutls_priority_t priorities;

	if (config->user_count > WEB_USERS_MAX || config->san_count > WEB_SANS_MAX ||
	    config->max_cost > WEB_COST_MAX || (config->rate_interval_ns && !config->rate_burst))
		abort();
	for (size_t i = 0; i < config->user_count; i++) {
		if (!config->users[i].name[0] || strlen(config->users[i].hash) != WEB_BCRYPT_LEN)
			abort();
	}
	if (!config->has_tls)
		return;
	if (!config->cert.text == !config->cert.path || !config->key.text == !config->key.path)
		abort();
	if (gnutls_priority_init(&priorities, config->priority, NULL) < 0)
		abort();
	gnutls_priority_deinit(priorities);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct web_config *config = NULL;
	struct diag diag = { "" };
	int r = web_config_parse("f", (const char *)data, size, &config, &diag);

	if (r < 0 ? config || strncmp(diag.text, "f:", 2) != 0 : !config)
		abort();
	if (r == 0)
		check(config);
	web_config_free(config);
	return 0;
}
