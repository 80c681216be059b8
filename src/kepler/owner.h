/* SPDX-License-Identifier: Apache-2.0 */
/* From what workload knows of a process's owner to what the ledger keeps of it. */
#pragma once

#include "attribution/ledger.h"
#include "workload/identity.h"

/* Borrows the texts of @identity. */
struct ledger_owner ledger_owner_of(const struct identity *identity);
