package sandbox

// SocketFilter is the filter of system calls, and NativeArch whose they are: 0 where there is no filter.
var SocketFilter, NativeArch = socketFilter, nativeArch
