// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/load_rows.h"

#include "trial/load.h"
#include "trial/load_inference.h"

void load_rows_find(const struct load_cgroup *cgroup, const struct own_container *container,
		    struct own_rows *ret)
{
	*ret = (struct own_rows){ 0 };
	own_rows_add(ret, ENERGY_PROCESS, LOAD_COMM);
	for (size_t i = 0; i < LOAD_STAGES; i++)
		own_rows_add(ret, ENERGY_PROCESS, load_inference.stages[i]);
	ret->is_certain[ENERGY_PROCESS] = true;
	if (cgroup->count > 0) {
		own_rows_add(ret, ENERGY_CONTAINER, cgroup->container);
		own_rows_add(ret, ENERGY_POD, cgroup->pod);
		/* No API server knows this pod. */
		own_rows_add(ret, ENERGY_NAMESPACE, cgroup->pod[0] ? "unknown" : "");
		ret->is_certain[ENERGY_CONTAINER] = true;
		ret->is_certain[ENERGY_POD] = cgroup->pod[0] != '\0';
	}
	own_rows_add(ret, ENERGY_CONTAINER, container->id);
	own_rows_add(ret, ENERGY_CONTAINER, container->pod_uid);
	own_rows_add(ret, ENERGY_CONTAINER, container->pod_name);
	own_rows_add(ret, ENERGY_POD, container->pod_uid);
	own_rows_add(ret, ENERGY_POD, container->pod_name);
	own_rows_add(ret, ENERGY_NAMESPACE, container->namespace);
}
