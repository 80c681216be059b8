// SPDX-License-Identifier: Apache-2.0
#include "export/guests/guest_vsock.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/vm_sockets.h> /* after sys/socket.h */

#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"

#define BACKLOG     1024
#define ACCEPTS_MAX 4096

int guest_cid_parse(const char *text, struct guest_cid *ret, struct diag *diag)
{
	const char *equals = strchr(text, '=');
	uint64_t cid;

	if (!equals || parse_u64(text, (size_t)(equals - text), &cid) < 0 || cid == 0 ||
	    cid >= UINT32_MAX || !equals[1] || strlen(equals + 1) >= sizeof(ret->id))
		return diag_set(diag, -EINVAL,
				"must be CID=ID with the vm_id of a virtual machine, such as "
				"3=8a4c1f0e-33b7-4d19-9e5f-7c2b6a1d0e48, not \"%.80s\"",
				text);
	*ret = (struct guest_cid){ .cid = (uint32_t)cid };
	memcpy(ret->id, equals + 1, strlen(equals + 1));
	return 0;
}

int guest_vsock_open(struct guest_vsock *vsock, uint32_t port, struct diag *diag)
{
	const struct sockaddr_vm address = { .svm_family = AF_VSOCK,
					     .svm_cid = VMADDR_CID_ANY,
					     .svm_port = port };
	CLEANUP_FD int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0 && errno == EAFNOSUPPORT) {
		log_warn("passthrough.vsock: the kernel has no vsock; load the module vhost_vsock "
			 "and start again");
		guest_count(&vsock->counts.errors, 1);
		return 0;
	}
	if (fd < 0)
		return diag_set(diag, -errno, "passthrough.vsock: cannot make a socket: %s",
				strerrordesc_np(errno));
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return diag_set(diag, -errno, "passthrough.vsock: cannot listen at port %u: %s%s",
				port, strerrordesc_np(errno),
				errno == EACCES ? "; ports below 1024 need CAP_NET_BIND_SERVICE"
						: "");
	vsock->watch = (struct guest_watch){ GUEST_WATCH_VSOCK, fd };
	r = guest_watch_add(vsock->epoll_fd, &vsock->watch, EPOLLIN);
	if (r < 0) {
		vsock->watch.fd = -1;
		return diag_set(diag, r, "passthrough.vsock: %s", strerrordesc_np(-r));
	}
	(void)TAKE_FD(fd); /* it is closed by guest_vsock_close() */
	return 0;
}

void guest_vsock_close(struct guest_vsock *vsock)
{
	if (vsock->watch.fd >= 0)
		(void)close(vsock->watch.fd);
	vsock->watch.fd = -1;
}

static void pause_listening(struct guest_vsock *vsock, bool is_paused)
{
	struct epoll_event event = { .events = is_paused ? 0 : EPOLLIN, .data.ptr = &vsock->watch };

	if (vsock->watch.fd < 0 || vsock->is_paused == is_paused)
		return;
	vsock->is_paused = is_paused;
	(void)epoll_ctl(vsock->epoll_fd, EPOLL_CTL_MOD, vsock->watch.fd, &event);
}

void guest_vsock_begin(struct guest_vsock *vsock)
{
	vsock->accepts_left = ACCEPTS_MAX;
	pause_listening(vsock, false);
}

static struct guest *find_guest(const struct guest_vsock *vsock, const struct guest_table *table,
				uint32_t cid)
{
	struct guest *guest;

	for (size_t i = 0; i < vsock->cid_count; i++) {
		if (vsock->cids[i].cid == cid)
			return guest_table_find_id(table, vsock->cids[i].id);
	}
	guest = guest_table_find_cid(table, cid);
	return guest && guest_process_lives(vsock->proc_fd, &guest->process) ? guest : NULL;
}

void guest_vsock_accept(struct guest_vsock *vsock, const struct guest_table *table)
{
	struct sockaddr_vm peer = { 0 };
	socklen_t len = sizeof(peer);
	struct guest *guest;
	int fd = accept4(vsock->watch.fd, (struct sockaddr *)&peer, &len,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (vsock->accepts_left <= 1)
		pause_listening(vsock, true);
	else
		vsock->accepts_left--;
	if (fd < 0)
		return;
	guest = find_guest(vsock, table, peer.svm_cid);
	if (!guest) {
		guest_count(&vsock->counts.unknown_peers, 1);
		(void)close(fd);
	} else if (guest->connects_left == 0) {
		guest_count(&vsock->counts.refused, 1);
		(void)close(fd);
	} else {
		guest->connects_left--;
		if (!guest_stream_open(vsock->epoll_fd, fd, guest, &vsock->counts))
			guest_count(&vsock->counts.refused, 1);
	}
}
