/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A web configuration together with the content of the files that it names: one value, which a
 * server uses as a whole and which is replaced as a whole. It does not change once it is made; each
 * user of it holds a reference.
 */
#pragma once

#include "base/diag.h"
#include "net/web/web_config.h"
#include "net/web/web_files.h"
#include "net/web/web_tls.h"

struct web_security {
	unsigned references; /* atomic */
	struct web_config *config;
	struct web_tls *tls;    /* NULL: none */
	struct web_files files; /* that were read, as they were just before */
	char remark[256];       /* what the operator should know, or "" */
};

/*
 * Reads the file @path and those that it names; they may be on a mount that hangs. 0 or -errno with
 * a diagnosis that has the position and the key.
 */
int web_security_open(const char *path, struct web_security **ret, struct diag *diag);
struct web_security *web_security_ref(struct web_security *security); /* NULL is fine */
void web_security_unref(struct web_security *security);               /* NULL is fine */
