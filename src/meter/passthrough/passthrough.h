/* SPDX-License-Identifier: Apache-2.0 */
/* The source passthrough: the host's account of this virtual machine (docs/passthrough.md). */
#pragma once

struct meter_ops;
extern const struct meter_ops passthrough_meter;

struct passthrough_meter_options {
	char *from; /* meter/passthrough/passthrough_channel.h; borrowed */
};
