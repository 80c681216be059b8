// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/load_account.h"

#include <string.h>

void load_account_begin_page(struct load_account *account)
{
	memset(account->at_zero, 0, sizeof(account->at_zero));
}

void load_account_take(struct load_account *account, unsigned load, size_t word, double joules,
		       double value)
{
	account->joules[load][word] += joules;
	account->at_zero[load] += value <= 0;
}

double load_account_joules(const struct load_account *account, unsigned load)
{
	double sum = 0;

	for (size_t word = 0; word < OWN_WORDS_MAX; word++)
		sum += account->joules[load][word];
	return sum;
}
