/* SPDX-License-Identifier: Apache-2.0 */
/* A process on its way: from its sample to the question of its owner, from that to the ledger. */
#pragma once

#include "activity/activity.h"
#include "attribution/ledger.h"
#include "workload/identity.h"

/* Borrows the names of @identity. */
struct ledger_owner ledger_owner_of(const struct identity *identity);
/* Borrows the command of @sample. */
struct process_ref process_ref_of(const struct activity_sample *sample);
