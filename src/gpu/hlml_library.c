// SPDX-License-Identifier: Apache-2.0
#include "gpu/hlml_library.h"

#include "base/macro.h"

#define FUNCTION(member, name, needed)                                                             \
	{                                                                                          \
		"hlml_" name, offsetof(struct hlml_library, member), needed                        \
	}
const struct vendor_function hlml_functions[] = {
	FUNCTION(common.init, "init", true),
	FUNCTION(common.shut_down, "shutdown", true),
	FUNCTION(common.device_count, "device_get_count", true),
	FUNCTION(common.device_by_index, "device_get_handle_by_index", true),
	FUNCTION(common.device_uuid, "device_get_uuid", true),
	FUNCTION(common.device_serial, "device_get_serial", false),
	FUNCTION(common.device_minor, "device_get_minor_number", false),
	FUNCTION(common.total_energy, "device_get_total_energy_consumption", false),
	FUNCTION(common.power, "device_get_power_usage", false),
	FUNCTION(utilization, "device_get_utilization_rates", false),
};
const size_t hlml_function_count = ARRAY_SIZE(hlml_functions);
