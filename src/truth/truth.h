/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's own meters, read in the most direct way there is: a truth that an exporter is
 * compared with. It has a name and an error of its own, which reports show.
 *
 * Sources, and the error that is assumed of each (as a ratio):
 * rapl-sysfs: /sys/class/powercap, counters in µJ that wrap (Documentation/power/powercap): 1 %.
 * perf: the same counters as events of the PMU "power" (truth/meters/perf_meter.h): 1 %.
 * msr: the same counters as registers (truth/meters/msr_meter.h): 1 %.
 * hwmon: energy1_input (µJ), power1_average or power1_input (µW) of each hwmon device that is
 * neither a GPU nor the ACPI meter (Documentation/hwmon/sysfs-interface): 3 %. Only if it is asked
 * for: the machine's owner alone knows what such a device measures.
 * acpi: the ACPI 4.0 power meter, which hwmon shows as "power_meter": 5 %.
 * redfish, ipmi: the management controller, over the network or by the kernel's driver
 * (truth/meters/redfish_meter.h, truth/meters/ipmi_meter.h): 5 %.
 * pdu-file: a file with the power in W, as a script writes that reads a PDU, and that is not older
 * than a minute: 2 %.
 * law: a formula instead of a meter, for a laboratory (truth/meters/law_meter.h): 1 %, which is
 * what the kernel's ticks lose.
 *
 * Zones have the names that exporters use: package, core, uncore, dram, psys, platform. All zones
 * of one kind are one truth: the sum over sockets. GPUs of NVML are also a truth each, because
 * exporters name the GPU of a series; those of hwmon have no name that an exporter shares.
 */
#pragma once

#include "base/diag.h"
#include "truth/truth_meters.h"

/*
 * Finds the meters. 0, also where TRUTH_AUTO finds none; -ENOENT with a diagnosis where a named
 * source has none; -ENOMEM; or what a request to a service failed with. truth_close() in any case.
 */
int truth_open(const struct truth_options *options, struct truth *ret, struct diag *diag);
/*
 * Reads all meters and adds a sample to the series of each zone, at the middle of the time that
 * reading its meters took. Where a meter of a kind cannot be read, the kind has no sample, so its
 * energy is late and not lost. Nor has a kind of counters one, up to three times in a row, if its
 * reading took longer than 0.2 s, as on a busy machine: the next one will be more exact. 0 or
 * -ENOMEM.
 */
int truth_read(struct truth *truth, const struct truth_clock *clock);
void truth_close(struct truth *truth);
const char *truth_source_name(enum truth_source source);
