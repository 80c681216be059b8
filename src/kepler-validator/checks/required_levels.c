// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/required_levels.h"

#include <errno.h>
#include <string.h>

#include "evidence/pages/energy_metric.h"

int required_levels_parse(char *const *names, size_t count, unsigned *ret, struct diag *diag)
{
	*ret = 0;
	for (size_t i = 0; i < count; i++) {
		unsigned level = 0;

		while (level < ENERGY_LEVELS &&
		       strcmp(energy_level_name((enum energy_level)level), names[i]) != 0)
			level++;
		if (level == ENERGY_LEVELS)
			return diag_set(diag, -EINVAL,
					"require: must be node, process, container, pod, vm or "
					"namespace, not \"%s\"",
					names[i]);
		*ret |= 1U << level;
	}
	return 0;
}
