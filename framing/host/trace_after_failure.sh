# trace.sh for a command that follows a failure: its $? is the code. mksh, which traces to where errors went then, gets trace.sh.
#
#= _fl_A _fl_untraced see driver.sh
#= _fl_q _fl_return see driver.sh
{ _fl_untraced=;\set -x; \_fl_return @status@ x; } 2>/dev/null;
