// SPDX-License-Identifier: Apache-2.0
#include "export/guests/guest_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "export/guests/guest_dialogue.h"
#include "net/http_unix.h"

#define TEND_NS (5 * NSEC_PER_SEC)

#define BACKLOG 8

_Static_assert(HTTP_UNIX_PATH_MAX + sizeof(GUEST_SOCKET_NEW) <=
		       sizeof(((struct sockaddr_un *)NULL)->sun_path),
	       "fits");

/* Hypervisors run as other users; which process may connect is checked then. */
#define SOCKET_MODE 0666

/* A file as long as it exists; inode 0: none. */
struct file_mark {
	dev_t device;
	ino_t inode;
};

/* A listener of one guest. */
struct guest_door {
	struct guest_watch watch; /* fd -1: it does not listen */
	struct guest *guest;
	bool is_port; /* ID.vsock_PORT */
	struct file_mark made;
	/* A socket at the path that nothing listened at, when the guest was last tended to. */
	struct file_mark refused;
	char path[HTTP_UNIX_PATH_MAX + 1]; /* "": too long */
};

struct guest_doors {
	struct guest_door serial, port;
	struct guest_stream *stream;  /* of the port; see is_connected() */
	struct guest_stream *channel; /* of the port that libvirt knows */
	uint64_t due_ns;
};

static void init_door(struct guest_door *door, struct guest *guest)
{
	door->watch = (struct guest_watch){ GUEST_WATCH_DOOR, -1 };
	door->guest = guest;
}

static void set_path(struct guest_door *door, int len)
{
	if (len < 0 || (size_t)len >= sizeof(door->path))
		door->path[0] = '\0';
}

static struct guest_doors *doors_of(const struct guest_sockets *sockets, struct guest *guest)
{
	struct guest_doors *doors = guest->doors;

	if (doors || !guest->key[0])
		return doors;
	doors = calloc(1, sizeof(*doors));
	if (!doors)
		return NULL;
	init_door(&doors->serial, guest);
	init_door(&doors->port, guest);
	doors->port.is_port = true;
	if (sockets->folder[0])
		set_path(&doors->serial, snprintf(doors->serial.path, sizeof(doors->serial.path),
						  "%s/%s.sock", sockets->folder, guest->key));
	if (sockets->folder[0] && sockets->port)
		set_path(&doors->port,
			 snprintf(doors->port.path, sizeof(doors->port.path), "%s/%s.vsock_%u",
				  sockets->folder, guest->key, sockets->port));
	guest->doors = doors;
	return doors;
}

/* Once for each error: it may concern all guests, and a guest may cause it. */
static void note_error(struct guest_sockets *sockets, int error, const char *text)
{
	guest_count(&sockets->counts.errors, 1);
	if (guest_errors_have(&sockets->told, error))
		return;
	log_warn("passthrough.sockets: %s", text);
}

static struct file_mark mark_of(const struct stat *st)
{
	return (struct file_mark){ st->st_dev, st->st_ino };
}

static bool is_marked(const struct file_mark *mark, const struct stat *st)
{
	return mark->inode && mark->device == st->st_dev && mark->inode == st->st_ino;
}

/* Another process may have put its own socket in its place. */
static bool is_open(const struct guest_door *door)
{
	struct stat st;

	return door->watch.fd >= 0 && lstat(door->path, &st) == 0 && is_marked(&door->made, &st);
}

static void close_door(struct guest_door *door)
{
	bool is_ours = is_open(door);

	if (door->watch.fd < 0)
		return;
	(void)close(door->watch.fd);
	door->watch.fd = -1;
	if (is_ours)
		(void)unlink(door->path);
}

static void set_address(const char *path, const char *suffix, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	(void)snprintf(ret->sun_path, sizeof(ret->sun_path), "%s%s", path, suffix);
}

/*
 * It gets its name when it listens, and never in the place of another socket: QEMU may have made
 * one in this moment. A hypervisor can write to the directory, so what has the first name by now
 * may be a link to anything, which must not get the mode of a socket.
 */
static int listen_at(struct guest_door *door)
{
	CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	struct stat st;
	int r = 0;

	if (fd < 0)
		return -errno;
	set_address(door->path, GUEST_SOCKET_NEW, &address);
	(void)unlink(address.sun_path); /* left by a program that was killed in between */
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (fchmodat(AT_FDCWD, address.sun_path, SOCKET_MODE, AT_SYMLINK_NOFOLLOW) < 0 ||
	    listen(fd, BACKLOG) < 0 || lstat(address.sun_path, &st) < 0 ||
	    renameat2(AT_FDCWD, address.sun_path, AT_FDCWD, door->path, RENAME_NOREPLACE) < 0) {
		r = -errno;
		(void)unlink(address.sun_path);
	}
	if (r < 0)
		return r;
	door->made = mark_of(&st);
	return TAKE_FD(fd);
}

static void open_door(struct guest_sockets *sockets, struct guest_door *door)
{
	char text[160];
	int r;

	r = listen_at(door);
	if (r >= 0) {
		door->watch.fd = r;
		r = guest_watch_add(sockets->epoll_fd, &door->watch, EPOLLIN);
	}
	if (r >= 0 || r == -EEXIST)
		return;
	(void)snprintf(text, sizeof(text), "cannot listen at %.90s: %s", door->path,
		       strerrordesc_np(-r));
	close_door(door);
	note_error(sockets, r, text);
}

/*
 * A socket that a killed program has left goes, but not before it has refused connections twice:
 * QEMU listens a moment after it has made its own.
 */
static void remove_left(struct guest_door *door)
{
	struct stat st;

	if (lstat(door->path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	if (is_marked(&door->refused, &st))
		(void)unlink(door->path);
	door->refused = mark_of(&st);
}

/* ---- the serial port ---- */

static bool is_connected(const struct guest *guest, const struct guest_stream *stream)
{
	for (size_t i = 0; stream && i < ARRAY_SIZE(guest->streams); i++) {
		if (guest->streams[i] == stream)
			return true;
	}
	return false;
}

static bool is_hypervisor(const struct guest *guest, const struct ucred *peer)
{
	return guest->process.pid && (uint32_t)peer->pid == guest->process.pid;
}

static int read_peer(int fd, struct ucred *ret)
{
	socklen_t len = sizeof(*ret);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret, &len) < 0 ? -errno : 0;
}

/* A descriptor, or -errno. Not through a link: the path is the identity. */
static int connect_to(const char *path)
{
	struct sockaddr_un address;
	CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct stat st;

	if (fd < 0 || lstat(path, &st) < 0)
		return -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	set_address(path, "", &address);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* Returns true if @fd is connected to a listener of the machine, else it is closed. */
static bool is_of_machine(struct guest_sockets *sockets, const struct guest *guest, int fd)
{
	struct ucred peer = { 0 };

	if (read_peer(fd, &peer) < 0 ||
	    (!is_hypervisor(guest, &peer) && !vm_users_have(sockets->users, peer.uid))) {
		guest_count(&sockets->counts.unknown_peers, 1);
		(void)close(fd);
		return false;
	}
	return true;
}

/* The stream to the listener that @fd is connected to; NULL: it is not the machine's. */
static struct guest_stream *take_listener(struct guest_sockets *sockets, struct guest *guest,
					  int fd)
{
	return is_of_machine(sockets, guest, fd)
		       ? guest_stream_open(sockets->epoll_fd, fd, guest, &sockets->counts)
		       : NULL;
}

/*
 * A descriptor that is connected to a port where QEMU listens until the machine ends; -1: none.
 */
static int connect_port(struct guest_sockets *sockets, const char *path)
{
	char text[160];
	int fd = connect_to(path);

	if (fd < 0 && fd != -EAGAIN && fd != -ENOENT && fd != -ECONNREFUSED) {
		(void)snprintf(text, sizeof(text), "cannot connect to %.90s: %s", path,
			       strerrordesc_np(-fd));
		note_error(sockets, fd, text);
	}
	return MAX(fd, -1);
}

/* The port that libvirt knows. */
static void tend_channel(struct guest_sockets *sockets, struct guest *guest)
{
	struct guest_doors *doors = guest->doors;
	const char *path = guest->process.energy_socket;
	int fd;

	if (!path[0] || strcmp(path, doors->serial.path) == 0 ||
	    is_connected(guest, doors->channel))
		return;
	fd = connect_port(sockets, path);
	if (fd >= 0)
		doors->channel = take_listener(sockets, guest, fd);
}

/* The port of vhostmd, where libvirt has it, or in the directory of sockets. */
static void tend_dialogue(struct guest_sockets *sockets, struct guest *guest)
{
	const char *path = guest->process.vhostmd_socket;
	char own[HTTP_UNIX_PATH_MAX + 1];
	int fd, len;

	if (guest->dialogue)
		return;
	if (!path[0] && sockets->folder[0]) {
		len = snprintf(own, sizeof(own), "%s/%s.vhostmd", sockets->folder, guest->key);
		path = len > 0 && (size_t)len < sizeof(own) ? own : "";
	}
	fd = path[0] ? connect_port(sockets, path) : -1;
	if (fd >= 0 && is_of_machine(sockets, guest, fd))
		(void)guest_dialogue_open(sockets->epoll_fd, fd, guest, &sockets->counts);
}

/* The descriptor of a socket of another process at the door's path; -1: there is none. */
static int tend(struct guest_sockets *sockets, struct guest_door *door)
{
	char text[160];
	int r;

	close_door(door); /* its path is gone, or another socket's */
	r = connect_to(door->path);
	if (r == -ECONNREFUSED)
		remove_left(door);
	if (r == -ENOENT || r == -ECONNREFUSED) {
		open_door(sockets, door);
	} else if (r < 0 && r != -EAGAIN) {
		(void)snprintf(text, sizeof(text), "cannot connect to %.90s: %s", door->path,
			       strerrordesc_np(-r));
		note_error(sockets, r, text);
	}
	return MAX(r, -1);
}

void guest_sockets_tend(struct guest_sockets *sockets, struct guest *guest, uint64_t now_ns)
{
	struct guest_doors *doors = doors_of(sockets, guest);
	int fd;

	if (!doors || now_ns < doors->due_ns)
		return;
	doors->due_ns = now_ns + TEND_NS;
	if (doors->serial.path[0] && !is_connected(guest, doors->stream) &&
	    !is_open(&doors->serial)) {
		fd = tend(sockets, &doors->serial);
		if (fd >= 0)
			doors->stream = take_listener(sockets, guest, fd);
	}
	if (doors->port.path[0] && !is_open(&doors->port)) {
		fd = tend(sockets, &doors->port);
		if (fd >= 0)
			(void)close(fd); /* another program serves it */
	}
	tend_channel(sockets, guest);
	tend_dialogue(sockets, guest);
}

/* ---- connections ---- */

static void admit(struct guest_sockets *sockets, struct guest_door *door, int fd)
{
	struct guest *guest = door->guest;
	struct guest_stream *stream;
	struct ucred peer = { 0 };

	if (read_peer(fd, &peer) < 0 || !is_hypervisor(guest, &peer)) {
		guest_count(&sockets->counts.unknown_peers, 1);
		(void)close(fd);
		return;
	}
	if (!door->is_port && is_connected(guest, guest->doors->stream))
		guest_stream_close(guest->doors->stream); /* the hypervisor has begun again */
	stream = guest_stream_open(sockets->epoll_fd, fd, guest, &sockets->counts);
	if (!stream)
		guest_count(&sockets->counts.refused, 1);
	if (!door->is_port)
		guest->doors->stream = stream;
}

/*
 * A socket that accepts too often in an interval is left alone until the guest is tended to again.
 */
void guest_sockets_accept(struct guest_sockets *sockets, struct guest_watch *watch)
{
	struct guest_door *door = (void *)watch; /* its first member */
	int fd = accept4(watch->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (door->guest->connects_left == 0) {
		guest_count(&sockets->counts.refused, 1);
		(void)close(fd);
		close_door(door);
		return;
	}
	door->guest->connects_left--;
	admit(sockets, door, fd);
}

void guest_sockets_end(struct guest *guest)
{
	if (!guest->doors)
		return;
	close_door(&guest->doors->serial);
	close_door(&guest->doors->port);
	free(guest->doors);
	guest->doors = NULL;
}
