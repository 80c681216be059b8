/* SPDX-License-Identifier: Apache-2.0 */
/* The values of the options of all exporters that push (push.h). */
#pragma once

#include "base/macro.h"
#include "export/file/file_options.h"
#include "export/guests/passthrough_options.h"
#include "export/otlp/otlp_options.h"
#include "export/remote-write/remote_write_options.h"

struct push_options {
	struct file_options file;
	struct passthrough_options passthrough;
	struct otlp_options otlp;
	struct remote_write_options remote_write;
};

/* Rows over an exporter's options, which are @member of struct push_options. */
#define PUSH_OPTIONS(rows, member)                                                                 \
	{                                                                                          \
		rows, ARRAY_SIZE(rows), offsetof(struct push_options, member)                      \
	}
