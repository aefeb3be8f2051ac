/* Records what a program writes below a folder, in the order in which it happens, for replay.rs.
 *
 * Loaded with LD_PRELOAD. DUNNAGE_RECORD_FOLDER is the folder, DUNNAGE_RECORD the file to write. Each call is made and recorded under one
 * lock, so a call that is recorded later also happened later. A record is a line of text with the time in microseconds since 1970,
 * followed by the bytes of a write:
 *
 *   TIME create INODE PATH      TIME rename FROM<tab>TO     TIME write INODE OFFSET LENGTH, then LENGTH bytes
 *   TIME open INODE PATH        TIME remove PATH            TIME truncate INODE LENGTH
 *   TIME folder PATH                                        TIME sync INODE
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FD = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;
static const char *folder;
/* Whether a descriptor is of a file or folder below the recorded one. */
static char recorded[MAX_FD];

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("DUNNAGE_RECORD");
    folder = getenv("DUNNAGE_RECORD_FOLDER");
    if (path && folder) out = fopen(path, "wb");
    unsetenv("LD_PRELOAD");
}

static void note(const char *format, ...) {
    struct timespec now;
    va_list arguments;
    clock_gettime(CLOCK_REALTIME, &now);
    fprintf(out, "%lld ", (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
    fputc('\n', out);
    fflush(out);
}

/* Resolves the folder of `path`, which itself need not exist. Returns whether it is below the recorded folder. */
static int below(const char *path, char *resolved) {
    char above[PATH_MAX], copy[PATH_MAX];
    if (!out || strlen(path) >= sizeof copy) return 0;
    strcpy(copy, path);
    char *slash = strrchr(copy, '/');
    const char *name = slash ? slash + 1 : copy;
    if (slash) *slash = 0;
    if (!realpath(slash ? (*copy ? copy : "/") : ".", above)) return 0;
    if (snprintf(resolved, PATH_MAX, "%s/%s", above, name) >= PATH_MAX) return 0;
    return strncmp(resolved, folder, strlen(folder)) == 0 && strstr(resolved, "-shm") == NULL;
}

static unsigned long long inode(int fd) {
    struct stat about;
    return fstat(fd, &about) == 0 ? (unsigned long long)about.st_ino : 0;
}

static int is_recorded(int fd) { return out && fd >= 0 && fd < MAX_FD && recorded[fd]; }

static int opened(int (*call)(const char *, int, ...), const char *path, int flags, mode_t mode) {
    char resolved[PATH_MAX];
    struct stat about;
    pthread_mutex_lock(&lock);
    int ours = below(path, resolved);
    int existed = ours && stat(resolved, &about) == 0;
    off_t before = existed ? about.st_size : 0;
    int fd = call(path, flags, mode), error = errno;
    if (fd >= 0 && fd < MAX_FD) recorded[fd] = (char)ours;
    if (fd >= 0 && ours) {
        note("%s %llu %s", existed ? "open" : "create", inode(fd), resolved);
        if (existed && (flags & O_TRUNC) && before > 0) note("truncate %llu 0", inode(fd));
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

#define OPEN(name)                                                       \
    int name(const char *path, int flags, ...) {                         \
        va_list arguments;                                               \
        va_start(arguments, flags);                                      \
        mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(arguments, mode_t) : 0; \
        va_end(arguments);                                               \
        return opened(REAL(name), path, flags, mode);                    \
    }
OPEN(open)
OPEN(open64)

int close(int fd) {
    pthread_mutex_lock(&lock);
    if (fd >= 0 && fd < MAX_FD) recorded[fd] = 0;
    int result = REAL(close)(fd), error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

/* Where the next write of `fd` goes. */
static off_t position(int fd) {
    struct stat about;
    if ((fcntl(fd, F_GETFL) & O_APPEND) && fstat(fd, &about) == 0) return about.st_size;
    return lseek(fd, 0, SEEK_CUR);
}

static void wrote(int fd, off_t at, const struct iovec *parts, int count, ssize_t length) {
    if (length <= 0) return;
    note("write %llu %lld %zd", inode(fd), (long long)at, length);
    for (int i = 0; i < count && length > 0; i++) {
        size_t here = parts[i].iov_len < (size_t)length ? parts[i].iov_len : (size_t)length;
        fwrite(parts[i].iov_base, 1, here, out);
        length -= (ssize_t)here;
    }
    fflush(out);
}

#define WRITE(name, parameters, call, at, buffers, count)  \
    ssize_t name parameters {                              \
        if (!is_recorded(fd)) return REAL(name) call;      \
        pthread_mutex_lock(&lock);                         \
        off_t from = at;                                   \
        ssize_t length = REAL(name) call;                  \
        int error = errno;                                 \
        wrote(fd, from, buffers, count, length);           \
        pthread_mutex_unlock(&lock);                       \
        errno = error;                                     \
        return length;                                     \
    }
#define ONE (&(struct iovec){(void *)bytes, length_of})
WRITE(write, (int fd, const void *bytes, size_t length_of), (fd, bytes, length_of), position(fd), ONE, 1)
WRITE(pwrite, (int fd, const void *bytes, size_t length_of, off_t offset), (fd, bytes, length_of, offset), offset, ONE, 1)
WRITE(pwrite64, (int fd, const void *bytes, size_t length_of, off64_t offset), (fd, bytes, length_of, offset), offset, ONE, 1)
WRITE(writev, (int fd, const struct iovec *parts, int count), (fd, parts, count), position(fd), parts, count)

/* A call on a descriptor that is recorded as `line` if it succeeds. */
#define CALL(name, parameters, call, ...)                  \
    int name parameters {                                  \
        if (!is_recorded(fd)) return REAL(name) call;      \
        pthread_mutex_lock(&lock);                         \
        int result = REAL(name) call, error = errno;       \
        if (result == 0) note(__VA_ARGS__);                \
        pthread_mutex_unlock(&lock);                       \
        errno = error;                                     \
        return result;                                     \
    }
CALL(ftruncate, (int fd, off_t length), (fd, length), "truncate %llu %lld", inode(fd), (long long)length)
CALL(ftruncate64, (int fd, off64_t length), (fd, length), "truncate %llu %lld", inode(fd), (long long)length)
CALL(fsync, (int fd), (fd), "sync %llu", inode(fd))
CALL(fdatasync, (int fd), (fd), "sync %llu", inode(fd))

int rename(const char *from, const char *to) {
    char source[PATH_MAX], target[PATH_MAX];
    pthread_mutex_lock(&lock);
    int ours = below(from, source) & below(to, target);
    int result = REAL(rename)(from, to), error = errno;
    if (result == 0 && ours) note("rename %s\t%s", source, target);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int unlink(const char *path) {
    char resolved[PATH_MAX];
    pthread_mutex_lock(&lock);
    int ours = below(path, resolved);
    int result = REAL(unlink)(path), error = errno;
    if (result == 0 && ours) note("remove %s", resolved);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int mkdir(const char *path, mode_t mode) {
    char resolved[PATH_MAX];
    pthread_mutex_lock(&lock);
    int ours = below(path, resolved);
    int result = REAL(mkdir)(path, mode), error = errno;
    if (result == 0 && ours) note("folder %s", resolved);
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
