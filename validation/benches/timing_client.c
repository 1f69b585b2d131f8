/* An NBD client that measures response times: random reads of 4 KiB, each block at most once.
 *
 * Written from the NBD protocol specification. It shares no code with sledlab, so it can check sledlab's timing.
 *
 *   timing_client socket PATH DEPTH COUNT SPAN_BYTES SEED   a Unix socket, requests pipelined by one thread
 *   timing_client file   PATH DEPTH COUNT SPAN_BYTES SEED   a file (nbdfuse), a thread for each outstanding request
 *
 * Prints a line for each read: its offset in bytes, and when it began and ended (CLOCK_MONOTONIC, ns). */
#define _GNU_SOURCE
#include <endian.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "timing.h"

enum { BLOCK = 4096, MAX_DEPTH = 256 };

struct sample {
    uint64_t offset, began, ended;
};

static struct sample *samples;
static long count, depth, next_sample;
static int target;

/* splitmix64 */
static uint64_t random_number(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Draws the offsets without repetition, so that a read is identified by its offset. */
static void draw_offsets(uint64_t blocks, uint64_t seed)
{
    uint64_t *order = malloc(blocks * sizeof *order);
    if (!order || (uint64_t)count > blocks)
        fail("SPAN_BYTES");
    for (uint64_t i = 0; i < blocks; i++)
        order[i] = i;
    for (long i = 0; i < count; i++) {
        uint64_t j = (uint64_t)i + random_number(&seed) % (blocks - (uint64_t)i);
        samples[i].offset = order[j] * BLOCK;
        order[j] = order[i];
    }
    free(order);
}

static void send_all(const void *data, size_t length)
{
    for (const char *at = data; length > 0;) {
        ssize_t n = send(target, at, length, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            fail("send");
        at += n;
        length -= (size_t)n;
    }
}

static void receive_all(void *data, size_t length)
{
    for (char *at = data; length > 0;) {
        ssize_t n = recv(target, at, length, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            fail("receive");
        at += n;
        length -= (size_t)n;
    }
}

/* Fixed newstyle negotiation with NBD_OPT_EXPORT_NAME and an empty name; flags: fixed newstyle, no zeroes. */
static void negotiate(const char *path)
{
    struct sockaddr_un address = socket_address(path);
    target = socket(AF_UNIX, SOCK_STREAM, 0);
    if (target < 0 || connect(target, (struct sockaddr *)&address, sizeof address) < 0)
        fail(path);
    char greeting[18], export_information[10];
    receive_all(greeting, sizeof greeting);
    if (memcmp(greeting, "NBDMAGICIHAVEOPT", 16) != 0)
        fail("greeting");
    static const char option[20] = "\0\0\0\3IHAVEOPT\0\0\0\1\0\0\0\0";
    send_all(option, sizeof option);
    receive_all(export_information, sizeof export_information);
}

struct __attribute__((packed)) request {
    uint32_t magic;
    uint16_t flags, type;
    uint64_t cookie, offset;
    uint32_t length;
};

struct __attribute__((packed)) reply {
    uint32_t magic, error;
    uint64_t cookie;
};

static void send_request(uint16_t type, uint64_t cookie, uint64_t offset, uint32_t length)
{
    struct request request = {htobe32(0x25609513), 0, htobe16(type), htobe64(cookie), htobe64(offset), htobe32(length)};
    send_all(&request, sizeof request);
}

static void begin_read(void)
{
    long i = next_sample++;
    samples[i].began = now_ns();
    send_request(0, (uint64_t)i, samples[i].offset, BLOCK);
}

static void read_by_socket(void)
{
    char block[BLOCK];
    while (next_sample < depth && next_sample < count)
        begin_read();
    for (long received = 0; received < count; received++) {
        struct reply reply;
        receive_all(&reply, sizeof reply);
        receive_all(block, sizeof block);
        uint64_t ended = now_ns(), i = be64toh(reply.cookie);
        if (be32toh(reply.magic) != 0x67446698 || reply.error || i >= (uint64_t)next_sample || samples[i].ended)
            fail("reply");
        samples[i].ended = ended;
        if (next_sample < count)
            begin_read();
    }
    send_request(2, 0, 0, 0);
}

static void *read_by_thread(void *unused)
{
    void *block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        fail("mmap");
    for (long i; (i = __atomic_fetch_add(&next_sample, 1, __ATOMIC_RELAXED)) < count;) {
        samples[i].began = now_ns();
        if (pread(target, block, BLOCK, (off_t)samples[i].offset) != BLOCK)
            fail("pread");
        samples[i].ended = now_ns();
    }
    return unused;
}

static void read_by_file(const char *path)
{
    pthread_t threads[MAX_DEPTH];
    target = open(path, O_RDONLY | O_DIRECT);
    if (target < 0)
        fail(path);
    for (long i = 0; i < depth; i++)
        if (pthread_create(&threads[i], NULL, read_by_thread, NULL) != 0)
            fail("pthread_create");
    for (long i = 0; i < depth; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: timing_client socket|file PATH DEPTH COUNT SPAN_BYTES SEED\n");
        return 2;
    }
    depth = atol(argv[3]);
    count = atol(argv[4]);
    if (depth < 1 || depth > MAX_DEPTH || count < 1)
        fail("DEPTH or COUNT");
    samples = calloc((size_t)count, sizeof *samples);
    if (!samples)
        fail("memory");
    draw_offsets(strtoull(argv[5], NULL, 10) / BLOCK, strtoull(argv[6], NULL, 10));
    if (strcmp(argv[1], "file") == 0) {
        read_by_file(argv[2]);
    } else {
        negotiate(argv[2]);
        read_by_socket();
    }
    for (long i = 0; i < count; i++)
        printf("%llu %llu %llu\n", (unsigned long long)samples[i].offset, (unsigned long long)samples[i].began,
               (unsigned long long)samples[i].ended);
    return 0;
}
