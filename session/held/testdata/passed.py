# Asks a service for descriptors, tries to get further with them, and prints the name of each way that went through. Its argument is the
# directory of the sockets, in which "open" is the service.
import array, os, socket, sys
where = sys.argv[1]
service = socket.socket(socket.AF_UNIX)
service.connect(where + "/open")
fds = array.array("i")
_, ancillary, *_ = service.recvmsg(1, socket.CMSG_LEN(4 * 4))
fds.frombytes(ancillary[0][2])
file, directory = fds[:2]
stream, datagram = [socket.socket(fileno=fd) for fd in fds[2:]]
ways = [
    ("its file", lambda: (os.pwrite(file, b"mine", 0), os.ftruncate(file, 4))),
    ("its file, opened again", lambda: os.open("/proc/self/fd/%d" % file, os.O_WRONLY)),
    ("its file's mode", lambda: os.fchmod(file, 0o600)),
    ("a file in its directory", lambda: os.open("made", os.O_WRONLY | os.O_CREAT, dir_fd=directory)),
    ("a directory in its directory", lambda: os.mkdir("made", dir_fd=directory)),
    ("the end of a file in its directory", lambda: os.unlink("file", dir_fd=directory)),
    ("another service", lambda: stream.connect(where + "/other")),
    ("a name of its own", lambda: datagram.bind(where + "/name")),
    ("another's datagram", lambda: datagram.sendto(b"x", where + "/datagrams")),
]
for name, way in ways:
    try:
        way()
        print("IN", name)
    except OSError:
        pass
print(len(ways), "ways")
