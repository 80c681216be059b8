/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a machine's BMC is and who may ask it: a file of lines, one for each machine,
 *
 *     NODE,USER,PASSWORD,https://HOST[:PORT][,insecure]
 *
 * as classic Kepler has it; NODE may be * for any machine, which counts where no line names this
 * one. Where the address is an option, a line may be just USER,PASSWORD. A value with a comma is in
 * double quotes, and a double quote in it is doubled (RFC 4180). Empty lines and those that begin
 * with # are skipped. Messages name lines, and nothing that is in them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define REDFISH_URL_MAX    256
#define REDFISH_SECRET_MAX 256

struct redfish_target {
	char url[REDFISH_URL_MAX]; /* "https://10.0.0.5", no slash at its end */
	char user[REDFISH_SECRET_MAX], password[REDFISH_SECRET_MAX];
	bool insecure; /* its certificate is not verified */
};

/* 0; -EINVAL with diag. An address with a path, a user or without https:// is refused. */
int redfish_url_check(const char *url, struct diag *diag);
/*
 * The line of the machine @node in @text; @url counts where it is not "". @name stands for the file
 * in messages. 0; -EINVAL; -ENOENT: none is of this machine. Pure.
 */
int redfish_target_parse(const char *name, const char *text, size_t len, const char *node,
			 const char *url, struct redfish_target *ret, struct diag *diag);
/* The same of a file, which only its owner may be able to read: else -EPERM. */
int redfish_target_read(const char *path, const char *node, const char *url,
			struct redfish_target *ret, struct diag *diag);
void redfish_target_wipe(struct redfish_target *target);
