# The command line that starts a program of the host which changes accounts, between the quotes of: exec sh -c '…' TEXT COOKED
#
# Every login shell that sshd may hand it to reads it, as framing's loader.sh: it is sent in one line, and holds no single quote,
# no backslash and no "!". TEXT is elevated.sh, and COOKED is y where the terminal is to be as it was in the end. The password is
# typed later: the terminal must not echo it. Messages are in English, because Fairlead reads them.
#
#= _fl_a _fl_saved how the terminal was, where that is to be again
#= _fl_g _fl_language LC_ALL as it was
_fl_saved=
case $1 in (y) _fl_saved=$(stty -g 2>/dev/null);; esac
stty @mode@ 2>/dev/null
_fl_language=${LC_ALL-}
LC_ALL=C
export LC_ALL
@start@
