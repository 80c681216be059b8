// SPDX-License-Identifier: Apache-2.0
/* Names of sensors as vendors and we write them: of parts, and not. */
#include "bmc/part_name.h"

#include "tests/unit/unit.h"

static void parts(void **state)
{
	static const char *const names[] = {
		"CPU Total Power",   "TotalGPU_Power",   "HGX_Chassis_0_TotalGPU_Power_0",
		"Sys_Fan_Pwr",       "sysfanpower",      "Memory Total",
		"MEM Total Power",   "TotalMEMPower",    "MemTotalPwr",
		"Total_Mem",         "DIMM Power",       "DRAM_total_power",
		"Processor Total",   "Pump_Total_Power", "Total Cooling Power",
		"NVMe Total",        "Backplane Power",  "PCIe_Total",
		"Total NIC Power",   "System_SOC_Power", "DPU0_Total_Power",
		"RAID System Power", "Disk_Sys_Power",   "Total_PCI_Power",
		"GPUTotalPower",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!part_name_is_of_a_part(names[i]))
			fail_msg("%s", names[i]);
	}
}

static void others(void **state)
{
	static const char *const names[] = {
		"",
		"Total Power",
		"PDB_0_Total_Power_0",
		"SystemEmbeddedPower",
		"Sys Power",
		"System Level",
		"Pwr Consumption",
		"Chassis_0_Power",
		"Electronics Total Power",
		"SystemBoardPower",
		"Node_Members_Power",
		"total_power",
		"Socotra Node Power",
		"Platform_Total_Watts",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (part_name_is_of_a_part(names[i]))
			fail_msg("%s", names[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts),
		cmocka_unit_test(others),
	};

	return unit_run(tests);
}
