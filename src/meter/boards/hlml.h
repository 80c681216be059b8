/* SPDX-License-Identifier: Apache-2.0 */
/* The source hlml: Intel Gaudi accelerators, through the vendor's library. */
#pragma once

struct meter_ops;
extern const struct meter_ops hlml_meter;

struct hlml_options {
	/* A path, or a name that is loaded if the driver is there; "" or NULL: none; borrowed. */
	char *library;
};
