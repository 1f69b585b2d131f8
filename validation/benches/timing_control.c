/* An NBD server that answers each read after a fixed time, measured from when it has received the request.
 *
 *   timing_control SOCKET DELAY_NS
 *
 * Polls the socket and the clock at real-time priority, and keeps all processors busy. Errors of its replies are those
 * of the machine and of the client. Serves one client, then ends. Shares no code with sledlab. */
#define _GNU_SOURCE
#include <endian.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "timing.h"

enum { BLOCK = 4096, PRIORITY = 10, REQUEST_BYTES = 28, REPLY_BYTES = 16 };

/* Keeps a processor busy whenever no other program needs it. */
static void *prevent_idle_state(void *unused)
{
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    for (;;)
        __asm__ volatile("");
    return unused;
}

static void receive_all(int client, void *data, size_t length)
{
    for (char *at = data; length > 0;) {
        ssize_t n = recv(client, at, length, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n <= 0)
            fail("receive");
        at += n;
        length -= (size_t)n;
    }
}

static void send_all(int client, const void *data, size_t length)
{
    if (send(client, data, length, MSG_NOSIGNAL) != (ssize_t)length)
        fail("send");
}

static void negotiate(int client, uint64_t bytes)
{
    unsigned char option[20], export[10];
    send_all(client, "NBDMAGICIHAVEOPT\0\3", 18);
    receive_all(client, option, sizeof option);
    uint64_t size = htobe64(bytes);
    memcpy(export, &size, sizeof size);
    memcpy(export + sizeof size, "\0\1", 2);
    send_all(client, export, sizeof export);
}

static void serve(int client, uint64_t delay_ns)
{
    static unsigned char reply[REPLY_BYTES + BLOCK] = {0x67, 0x44, 0x66, 0x98};
    for (;;) {
        unsigned char request[REQUEST_BYTES];
        receive_all(client, request, sizeof request);
        uint64_t due = now_ns() + delay_ns;
        if (request[7] != 0)
            return; /* the client disconnects */
        memcpy(reply + 8, request + 8, 8);
        while (now_ns() < due)
            ;
        send_all(client, reply, sizeof reply);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: timing_control SOCKET DELAY_NS\n");
        return 2;
    }
    struct sockaddr_un address = socket_address(argv[1]);
    for (long i = sysconf(_SC_NPROCESSORS_ONLN); i > 0; i--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, prevent_idle_state, NULL) != 0)
            fail("pthread_create");
    }
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 1) < 0)
        fail(argv[1]);
    int client = accept(listener, NULL, NULL);
    if (client < 0)
        fail("accept");
    if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){PRIORITY}) < 0)
        fail("real-time priority");
    negotiate(client, (uint64_t)1 << 40);
    serve(client, strtoull(argv[2], NULL, 10));
    return 0;
}
