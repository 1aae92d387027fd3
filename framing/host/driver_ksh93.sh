# What ksh93 does in its own way; a part of driver.sh, after driver_ksh.sh.
_fl_dialect=ksh93 _fl_print='print -rn --' _fl_drop_traps='trap - DEBUG ERR'

# The shell ends itself when another command of the same frame comes.
_fl_stop_command='trap "case \$_fl_status in (\"\") exit \"\$_fl_interrupted\";; esac" DEBUG'
