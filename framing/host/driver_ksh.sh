# What mksh and ksh93 both do in their own way; a part of driver.sh. An assignment would be traced, and lose the exit code.
_fl_begin_round='_fl_flags= ' _fl_take_status='case ${_fl_status:=$?}${_fl_flags:=$-} in (x) ;; esac'
