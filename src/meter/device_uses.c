// SPDX-License-Identifier: Apache-2.0
#include "meter/device_uses.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void add(struct device_uses *uses, const struct device_use *use)
{
	if (use->device >= DEVICES_MAX || !use->busy_ns)
		return;
	if (uses->count >= DEVICE_USES_MAX ||
	    ARRAY_RESERVE(uses->use, uses->size, uses->count + 1) < 0)
		uses->nameless_ns[use->device] += use->busy_ns;
	else
		uses->use[uses->count++] = *use;
}

void device_uses_add(struct device_uses *uses, const struct device_use *use, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add(uses, &use[i]);
}

void device_uses_move(struct device_uses *from, struct device_uses *to)
{
	device_uses_add(to, from->use, from->count);
	for (uint32_t device = 0; device < DEVICES_MAX; device++)
		to->nameless_ns[device] += from->nameless_ns[device];
	device_uses_clear(from);
}

void device_uses_clear(struct device_uses *uses)
{
	uses->count = 0;
	memset(uses->nameless_ns, 0, sizeof(uses->nameless_ns));
}

void device_uses_release(struct device_uses *uses)
{
	free(uses->use);
	*uses = (struct device_uses){ 0 };
}
