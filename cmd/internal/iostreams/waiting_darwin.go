package iostreams

const fionread = 0x4004667f // FIONREAD, <sys/filio.h>
