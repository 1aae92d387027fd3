# trace.sh for a command that follows a failure: its $? is the code. mksh, which traces to where errors went then, gets trace.sh.
#
#= _fl_q _fl_return see driver.sh
{ \set -x; \_fl_return @status@ x; } 2>/dev/null;
