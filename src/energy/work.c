// SPDX-License-Identifier: Apache-2.0
#include "energy/work.h"

uint32_t work_place(const struct work_places *places, const struct domain *domain)
{
	if (domain->kind == DOMAIN_DEVICE && domain->number < DEVICES_MAX)
		return work_device_place(domain->number);
	if (domain->kind == DOMAIN_PARTS)
		return PLACE_PARTS;
	if (domain->kind != DOMAIN_SOCKET)
		return PLACE_NONE;
	for (uint32_t place = 0; place < places->count; place++) {
		if (places->package[place] == domain->number)
			return place;
	}
	return PLACE_NONE;
}
