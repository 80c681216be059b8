// SPDX-License-Identifier: Apache-2.0
/*
 * The only program of a guest that the validator starts, as its init: it makes CPUs busy when its
 * console says so. It is built without a C library, so that any kernel can run it from an initramfs
 * with nothing else, and is linked into the validator as data.
 *
 * It writes READY when it runs. "r" starts a process that computes for good, "s" ends all of them.
 */
#include "trial/guest_words.h"

#define SIGKILL 9
#define SIGCHLD 17

/* asm/unistd.h, which a cross compiler may lack. */
#if defined(__x86_64__)
#define READ  0
#define WRITE 1
#define CLONE 56
#define WAIT4 61
#define KILL  62
#elif defined(__aarch64__)
#define READ  63
#define WRITE 64
#define CLONE 220
#define WAIT4 260
#define KILL  129
#else
#error "The system calls of this architecture are not known here."
#endif

static long call(long number, long a, long b, long c, long d)
{
#if defined(__x86_64__)
	register long fourth __asm__("r10") = d, fifth __asm__("r8") = 0;
	long r = number;

	__asm__ volatile("syscall"
			 : "+a"(r)
			 : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
			 : "rcx", "r11", "memory");
	return r;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = 0;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	return x0;
#endif
}

__attribute__((noreturn)) static void compute(void)
{
	for (unsigned long x = 88172645463325252UL;;) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__asm__ volatile("" : "+r"(x)); /* the compiler keeps the work */
	}
}

/* The first process has no C library to call it. */
__attribute__((noreturn)) void _start(void);

void _start(void)
{
	static const char ready[] = GUEST_READY "\n";

	(void)call(WRITE, 1, (long)ready, sizeof(ready) - 1, 0);
	for (;;) {
		char letter = 0;

		if (call(READ, 0, (long)&letter, 1, 0) != 1)
			continue;
		if (letter == GUEST_WORK && call(CLONE, SIGCHLD, 0, 0, 0) == 0)
			compute();
		if (letter != GUEST_REST)
			continue;
		(void)call(KILL, -1, SIGKILL, 0, 0);
		while (call(WAIT4, -1, 0, 0, 0) > 0)
			;
	}
}
