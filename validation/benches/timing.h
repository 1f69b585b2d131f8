/* What the client and the control of timing share. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>

/* Ends the program with the last error of the system, or with `invalid` if there is none. */
static inline void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, errno ? strerror(errno) : "invalid");
    exit(1);
}

static inline uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline struct sockaddr_un socket_address(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        fail(path);
    strcpy(address.sun_path, path);
    return address;
}
