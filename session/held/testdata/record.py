# The same as record.pl, of python.
import _ctypes, ctypes, os, struct, sys
text, version, told = sys.argv[1], int(sys.argv[2]), sys.argv[3] != ""
def plain(value):
    return value.value if isinstance(value, _ctypes._SimpleCData) else value if isinstance(value, bytes) else value.raw
def ops(header):
    count, at = struct.unpack("<H6xQ", header)
    all = [struct.unpack("<HBBL", ctypes.string_at(at + 8 * i, 8)) for i in range(count)]
    return "".join("%d %d %d %s\n" % (*op[:3], "PID" if op[3] == os.getpid() and i and all[i - 1][3] == 0 else op[3]) for i, op in enumerate(all))
def syscall(number, *args):
    number, args = number.value, list(args)
    if number in (125, 90):
        args[1].raw = b"\xff" * 24
    args = [plain(value) for value in args]
    if number in (317, 277):
        print(number, args[0], args[1])
        print(ops(args[2]), end="")
        return 9 if told else -1
    if args[0] == 22:
        print(number, args[0], args[1])
        print(ops(args[2]), end="")
        return 0
    if number in (46, 211):
        print(number, args[0], args[2])
        return 2
    if number in (0, 63):
        print(number, args[0], args[2])
        return 1
    if number == 445:
        args[2] = struct.unpack("<Q", args[2][:8])[0]
    print(number, *[value.hex() if isinstance(value, bytes) else value for value in args])
    return (version if args[0] == 0 else 3) if number == 444 else 0
class function:
    def __init__(self, at):
        assert at == real
    def __call__(self, *args):
        return syscall(*args)
real = _ctypes.dlsym(_ctypes.dlopen(None, 0), "syscall")
_ctypes.CFuncPtr = function
_ctypes.get_errno = lambda: 22
scope = {}
exec(text, scope)
environment = dict(os.environb)
try:
    print(scope["hold"](5, environment))
except Exception as error:
    print(error)
for name in sorted(environment):
    print(name.decode())
