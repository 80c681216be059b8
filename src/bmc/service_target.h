/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a machine's management controller or console is, and who may ask it: a file of lines, one
 * for each machine,
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

#define SERVICE_URL_MAX    256
#define SERVICE_SECRET_MAX 256

struct service_target {
	char url[SERVICE_URL_MAX]; /* "https://10.0.0.5", no slash at its end */
	char user[SERVICE_SECRET_MAX], password[SERVICE_SECRET_MAX];
	bool insecure; /* its certificate is not verified */
};

/* 0; -EINVAL with diag. An address with a path, a user or without https:// is refused. */
int service_url_check(const char *url, struct diag *diag);
/*
 * The line of the machine @node in @text; @url counts where it is not "". @name stands for the file
 * in messages. 0; -EINVAL; -ENOENT: none is of this machine. Pure.
 */
int service_target_parse(const char *name, const char *text, size_t len, const char *node,
			 const char *url, struct service_target *ret, struct diag *diag);
/* The same of a file, which only its owner may be able to read: else -EPERM. */
int service_target_read(const char *path, const char *node, const char *url,
			struct service_target *ret, struct diag *diag);
void service_target_wipe(struct service_target *target);
