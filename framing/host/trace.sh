# Stands before a command that runs with xtrace: inside the command, so that turning it on is not itself traced. A line of its own
# would move the command's lines.
#
#= _fl_A _fl_untraced see driver.sh
_fl_untraced=;\set -x;
