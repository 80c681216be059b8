// SPDX-License-Identifier: Apache-2.0
#include "meter/device_uses.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static struct map_key key_of(const struct device_use *use)
{
	return (struct map_key){ use->device ^ use->vm.high, use->pid ^ use->vm.low };
}

static bool is_same(const struct device_use *one, const struct device_use *other)
{
	return one->device == other->device && one->pid == other->pid &&
	       uuid_is_same(&one->vm, &other->vm);
}

static void add_nameless(struct device_uses *uses, uint32_t device, uint64_t busy_ns)
{
	uses->any_nameless = true;
	uses->nameless_ns[device] += busy_ns;
}

static void add(struct device_uses *uses, const struct device_use *use)
{
	uint32_t at;

	if (use->device >= DEVICES_MAX || (!use->busy_ns && !use->held))
		return;
	at = map_find(&uses->known, key_of(use));
	if (at != MAP_NONE && !is_same(&uses->use[at], use)) {
		add_nameless(uses, use->device, use->busy_ns); /* a UUID that was made to be */
		return;
	}
	if (at != MAP_NONE) {
		uses->use[at].busy_ns += use->busy_ns;
		if (uses->use[at].held < use->held)
			uses->use[at].held = use->held;
		return;
	}
	if (!uses->known.limit)
		map_init(&uses->known, DEVICE_USES_MAX);
	if (ARRAY_RESERVE(uses->use, uses->size, uses->count + 1) < 0 ||
	    map_put(&uses->known, key_of(use), (uint32_t)uses->count) < 0)
		add_nameless(uses, use->device, use->busy_ns);
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
	for (uint32_t device = 0; from->any_nameless && device < DEVICES_MAX; device++)
		add_nameless(to, device, from->nameless_ns[device]);
	device_uses_clear(from);
}

void device_uses_clear(struct device_uses *uses)
{
	while (uses->count)
		(void)map_remove(&uses->known, key_of(&uses->use[--uses->count]));
	if (uses->any_nameless)
		memset(uses->nameless_ns, 0, sizeof(uses->nameless_ns));
	uses->any_nameless = false;
}

void device_uses_release(struct device_uses *uses)
{
	free(uses->use);
	map_release(&uses->known);
	*uses = (struct device_uses){ 0 };
}
