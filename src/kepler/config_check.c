// SPDX-License-Identifier: Apache-2.0
/* Rules that concern several options; src/options has checked each by itself. */
#include <errno.h>

#include "attribution/idle.h"
#include "base/num.h"
#include "kepler/config.h"
#include "net/http_listen.h"

const char *config_reachable_address(const struct config *config)
{
	for (size_t i = 0; i < config->web.listen_count; i++) {
		if (!http_listen_is_local(config->web.listen[i]))
			return config->web.listen[i];
	}
	return NULL;
}

int config_check_interval(const struct config *config, const char *reachable, struct diag *diag)
{
	if (config->monitor.interval_ns >= NSEC_PER_SEC || config->web.allow_fast_updates ||
	    !reachable)
		return 0;
	return diag_set(
		diag, -EINVAL,
		"monitor.interval: processes outside this machine can connect to \"%.100s\", and "
		"readings below 1s reveal what runs here; web.allow-fast-updates allows it",
		reachable);
}

int config_check(const struct option_values *values, struct diag *diag)
{
	const struct config *config = (const struct config *)(const void *)values;

	if (config->idle.mode == IDLE_MODE_FIXED && !config->idle.watts_count)
		return diag_set(diag, -EINVAL,
				"idle.mode: fixed needs idle.watts, as in package=12.5");
	if (!config->web.listen_count)
		return diag_set(diag, -EINVAL,
				"web.listen-address: must have at least one address");
	return config_check_interval(config, config_reachable_address(config), diag);
}
