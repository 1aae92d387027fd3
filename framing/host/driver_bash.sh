# What bash does in its own way; a part of driver.sh.

# Descriptors 241 to 244 are out of the way of what people use; the command sees all but the terminal. What bash puts aside for a
# redirection goes behind the one that it copies, and only so out of the way too.
exec 244<&0 241>&8- 242>&9- 243</dev/null && _fl_out=241 _fl_err=242 _fl_close_pipes= _fl_null='&243'
_fl_dialect=bash _fl_builtin=builtin _fl_keep_last_word=" ''"

# A wrong [[ leaves the parser inside of it until the next error, so one is made: what follows would not be understood.
_fl_drop_traps='trap - DEBUG ERR
	\builtin test "$_fl_status" != 2 || \builtin eval ")"'

# The trap on DEBUG leads out of every list, loop and function: it passes over each command until the one that takes the exit code.
_fl_stop_command='\builtin shopt -s extdebug; \
	\builtin trap "{ case \$BASH_COMMAND in \
		(_fl_status=*) \builtin trap - DEBUG; \builtin shopt -u extdebug; _fl_status=\$_fl_interrupted;; \
		(*) ! \builtin break;; \
	esac; } 2>/dev/null" DEBUG'
