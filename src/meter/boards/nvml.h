/* SPDX-License-Identifier: Apache-2.0 */
/* The source nvml: NVIDIA GPUs, through the vendor's library. */
#pragma once

struct meter_ops;
extern const struct meter_ops nvml_meter;

struct nvml_options {
	/* A path, or a name that is loaded if the driver is there; "" or NULL: none; borrowed. */
	char *library;
};
