# The program of the shell that runs the commands: it reads frames from the terminal and evaluates them.
#
# It comes in an environment variable, which driver_call.sh, the text behind -c, evaluates: so there is no prompt, no line
# editor, no history and no start file, and the list of processes does not show it. Its own output and errors are /dev/null,
# so nothing that the shell says about the driver is seen.
#
# Most of it is text that is put together once and evaluated for each frame: what a silent command costs is every
# assignment, expansion and builtin on its way, a case hardly. See README.md for how a round goes and why it is so.
#
# Names, as they are sent and as they are here:
#
#= _fl_d _fl_driver this text, in the environment
#= _fl_b _fl_builtin what makes a word a builtin: "builtin", else "command"
#= _fl_p _fl_print how to print one word as it is
#= _fl_t _fl_drop_traps how to drop the traps that watch commands
#= _fl_c _fl_dialect the shell's family, as the hello says it; b once driver_call.sh has said farewell
#= _fl_q _fl_keep_last_word the argument that bash remembers as the last word ($_) instead of a mark
#= _fl_o _fl_out the descriptor of the pipe for output
#= _fl_f _fl_err the descriptor of the pipe for errors
#= _fl_h _fl_close_pipes closes both for a command, where it may see them
#= _fl_i _fl_null what a command reads from: nothing
#= _fl_m _fl_flags the options of the shell ($-) when a command has ended
#= _fl_e _fl_reader set when errors need an end mark of their own: the reader's name
#= _fl_s _fl_take_status takes the exit code and the options
#= _fl_n _fl_trap_begin how the traps on signals begin, …
#= _fl_x _fl_trap_end … and end
#= _fl_g _fl_stop_command what ends the rest of an interrupted command
#= _fl_6 _fl_interrupted the exit code of a command that was interrupted
#= _fl_4 _fl_may_follow what the frame's header says that an interrupt may leave to run; in mksh, while PS4 has another value, a letter and the old one
#= _fl_5 _fl_through what eval is called through: empty where that would do harm
#= _fl_r _fl_status the exit code; empty from the reading of a frame to the end of its command
#= _fl_l _fl_open_round opens the group that a command runs in
#= _fl_n _fl_begin_round how the text of a round begins
#= _fl_t _fl_after_command what follows a command in a round
#= _fl_y _fl_evaluate how to evaluate the word that follows
#= _fl_a _fl_start the end of the start mark, and how to evaluate
#= _fl_u _fl_if_there tests that PWD is where the shell stands, and prints the end of a command if so
#= _fl_d _fl_fields what the end of a command says
#= _fl_g _fl_end closes it, or prints it with the directory that pwd says
#= _fl_i _fl_end_usual closes the group in a frame of the usual mode, …
#= _fl_j _fl_end_merged … in one whose streams are merged, …
#= _fl_k _fl_end_terminal … and in one that reads from the terminal
#= _fl_x _fl_after_word all that follows the command in a frame of the usual mode
#= _fl_7 _fl_rounds text of 112 rounds
#= _fl_8 _fl_rounds2 text of 112 times as many
#= _fl_9 _fl_rounds3 text of 112 times as many again
#= _fl_2 _fl_idle set while no round of a list has run
#= _fl_1 _fl_token the frame's token, as it is typed
#= _fl_3 _fl_mode its mode, then what closes the group in that mode
#= _fl _fl_frame the word with the command, then the text of the round
#= _fl_l _fl_line a line of a frame
#= _fl_s _fl_text what a function works on
#= _fl_s _fl_exit_status the exit code of the shell
#= _fl_w _fl_cook makes the terminal a person's, before an interactive command
#= _fl_v _fl_uncook makes it raw again; while such a command runs, the TERM of the others
#= _fl_y _fl_farewell says where the shell stands when it leaves
#= _fl_z _fl_print_end prints the end of a command with the directory that pwd says
#= _fl_q _fl_return returns an exit code, for a command that follows a failure
#= _fl_R _fl_read_frame reads a frame and makes the text of its round

# Descriptor 0 is the terminal. 8 and 9 are the pipes; dash knows no descriptors of two digits.
exec 8>&1 9>&2 >/dev/null 2>&1
unset fairlead _fl_driver
_fl_builtin=command _fl_print='printf %s' _fl_drop_traps=: _fl_dialect=sh _fl_keep_last_word= _fl_uncook= _fl_cook= _fl_may_follow= _fl_out=8 _fl_err=9 _fl_close_pipes='8>&- 9>&-' _fl_null=/dev/null _fl_flags=
_fl_take_status='_fl_status=${_fl_status:-$?} _fl_flags=$-' _fl_trap_begin='{ ' _fl_trap_end='; } 2>/dev/null'
# A wrong [[ leaves bash's parser inside of it until the next error, so one is made: the end and the next frame would
# not be understood.
if test "${BASH_VERSION-}"; then _fl_builtin=builtin _fl_dialect=bash _fl_keep_last_word=" ''" _fl_drop_traps='trap - DEBUG ERR
\builtin test "$_fl_status" != 2 || \builtin eval ")"'
# Out of every list, loop and function: the trap passes over each command until the one that takes the exit code.
_fl_stop_command='\builtin shopt -s extdebug; \builtin trap "{ case \$BASH_COMMAND in (_fl_status=*) \builtin trap - DEBUG; \builtin shopt -u extdebug; _fl_status=\$_fl_interrupted;; (*) ! \builtin break;; esac; } 2>/dev/null" DEBUG'
exec 241>&8 242>&9 243</dev/null && exec 8>&- 9>&- && _fl_out=241 _fl_err=242 _fl_close_pipes= _fl_null='&243'
elif test "${ZSH_VERSION-}"; then _fl_builtin=builtin _fl_drop_traps='trap - DEBUG ZERR' _fl_dialect=zsh
_fl_stop_command='\builtin trap "{ case \$ZSH_DEBUG_CMD in (_fl_status=*) \builtin trap - DEBUG; _fl_status=\$_fl_interrupted;; (*) \builtin break; \builtin setopt errexit;; esac; } 2>/dev/null" DEBUG; _fl_open_round=; \builtin break'
else case ${KSH_VERSION-} in (*MIRBSD*) _fl_builtin=builtin _fl_print='print -rn --' _fl_drop_traps='trap - ERR' _fl_dialect=mksh _fl_trap_begin= _fl_trap_end=
_fl_stop_command='case $_fl_may_follow in ("") case $- in (*x*) _fl_may_follow=x$PS4;; (*) _fl_may_follow=-$PS4;; esac; exec 2>/dev/null; PS4=\${_fl_status:?}; set -x;; esac';;
(?*) _fl_print='print -rn --' _fl_drop_traps='trap - DEBUG ERR' _fl_dialect=ksh93 _fl_stop_command='trap "case \$_fl_status in (\"\") exit \$_fl_interrupted;; esac" DEBUG';;
(*) _fl_stop_command='_fl_text=${_fl_mode:-$_fl_may_follow}; case $_fl_text in (+*) exit $_fl_interrupted;; (\=*) _fl_text=${_fl_text#=}; case $(command -V "${_fl_text%%=*}") in (*function*|*an\ alias*) exit $_fl_interrupted;; esac;; esac';; esac
fi
_fl_if_there="\\$_fl_builtin test . -ef \"\${PWD-}\"" _fl_through=$_fl_builtin
case $_fl_dialect in (*ksh*) _fl_take_status='case ${_fl_status:=$?}${_fl_flags:=$-} in (x) ;; esac';;
(sh) case $(ls -l /proc/$$/exe) in (*busybox*) _fl_through=;; esac;; esac
trap "${_fl_trap_begin}case \$_fl_status in ('') case \$_fl_cook:\$? in (:*|*:12[89]|*:1[3-9]?|*:2??) _fl_interrupted=130; $_fl_stop_command;; esac;; esac$_fl_trap_end" INT
trap "${_fl_trap_begin}_fl_interrupted=\$?; case \$_fl_interrupted in (129|1[3-9]?) ;; (*) _fl_interrupted=130;; esac; case \$_fl_status in ('') $_fl_stop_command;; esac$_fl_trap_end" URG
_fl_return() { case $2$- in (x*e*) ;; (*) \return $1;; esac; }
_fl_farewell() { eval "$_fl_print \"@rs@@nonce1@\"\"@nonce2@C\${PWD-}@rs@@nonce1@\"\"@nonce2@c\""; }
trap '{ _fl_exit_status=$?; set +x; } 2>/dev/null; case $_fl_dialect${BASHPID-} in (bash|bash$$|[!b]*) { _fl_farewell >&$_fl_out; } 2>/dev/null || _fl_farewell 2>/dev/null >/dev/tty;; esac
case $_fl_dialect$_fl_may_follow in (mksh) exit $_fl_exit_status;; (mksh*) exit 130;; esac' EXIT
_fl_print_end() { eval "$_fl_print '@rs@'$1'E'$_fl_status';'$_fl_flags';'; \\$_fl_builtin pwd || $_fl_print \"\${PWD-}
\"; $_fl_print '@rs@'$1'z
'" >&$_fl_out; }
_fl_print="\\$_fl_builtin $_fl_print"
_fl_end_merged="
} <$_fl_null >&$_fl_out 2>&$_fl_out $_fl_close_pipes" _fl_end_terminal="
} >&$_fl_out 2>&$_fl_err $_fl_close_pipes" _fl_end_usual="
} <$_fl_null >&$_fl_out 2>&$_fl_err $_fl_close_pipes"
case $_fl_dialect in (mksh) _fl_drop_traps="$_fl_take_status
case \$_fl_flags in (*x*) set +x
case \$_fl_may_follow in (-*) PS4=\${_fl_may_follow#?} _fl_flags=\${_fl_flags%%x*}\${_fl_flags#*x};; (x*) PS4=\${_fl_may_follow#?};; esac
_fl_may_follow=;; esac
\\$_fl_builtin $_fl_drop_traps";; (*) _fl_drop_traps="$_fl_take_status
\\$_fl_builtin $_fl_drop_traps
case \$_fl_flags in (*x*) \\$_fl_builtin set +x;; esac";; esac
_fl_after_command="
$_fl_drop_traps
" _fl_open_round='{ '
case $_fl_dialect in (zsh) _fl_open_round='for _fl_open_round in y; do { ' _fl_after_command='
_fl_status=${_fl_status:-$?} _fl_open_round=
done
case $_fl_open_round in (y) \builtin print -r "(eval):break: not in while, until, select, or repeat loop" >&$_fl_err; _fl_open_round= _fl_status=1;; esac'$_fl_after_command;; esac
case $_fl_dialect in (*ksh*) _fl_begin_round="_fl_flags= ";; (*) _fl_begin_round=;; esac
case $_fl_through in ('') _fl_begin_round="
$_fl_begin_round";; esac
_fl_begin_round="${_fl_begin_round}_fl_frame= _fl_token=;$_fl_open_round$_fl_print @rs@" _fl_evaluate="${_fl_through:+\\$_fl_through }\\eval " _fl_start="S$_fl_keep_last_word; ${_fl_through:+\\$_fl_through }\\eval " _fl_if_there="$_fl_if_there && $_fl_print @rs@" _fl_fields="E\"\$_fl_status;\$_fl_flags;\$PWD\"@rs@" _fl_end="Z'
' >&$_fl_out || _fl_print_end "
_fl_rounds="_fl_read_frame;$_fl_evaluate\"\$_fl_frame\";" _fl_rounds2="_fl_idle=y;$_fl_evaluate\"\$_fl_rounds\";case \$_fl_idle in (y) _fl_rounds=;;esac;" _fl_rounds3="$_fl_evaluate\"\$_fl_rounds2\";"
_fl_rounds=$_fl_rounds$_fl_rounds$_fl_rounds$_fl_rounds _fl_rounds2=$_fl_rounds2$_fl_rounds2$_fl_rounds2$_fl_rounds2 _fl_rounds3=$_fl_rounds3$_fl_rounds3$_fl_rounds3$_fl_rounds3
_fl_rounds=$_fl_rounds$_fl_rounds$_fl_rounds$_fl_rounds _fl_rounds2=$_fl_rounds2$_fl_rounds2$_fl_rounds2$_fl_rounds2 _fl_rounds3=$_fl_rounds3$_fl_rounds3$_fl_rounds3$_fl_rounds3
_fl_rounds=$_fl_rounds$_fl_rounds$_fl_rounds$_fl_rounds$_fl_rounds$_fl_rounds$_fl_rounds _fl_rounds2=$_fl_rounds2$_fl_rounds2$_fl_rounds2$_fl_rounds2$_fl_rounds2$_fl_rounds2$_fl_rounds2 _fl_rounds3=$_fl_rounds3$_fl_rounds3$_fl_rounds3$_fl_rounds3$_fl_rounds3$_fl_rounds3$_fl_rounds3
_fl_after_word=$_fl_end_usual$_fl_after_command$_fl_if_there
_fl_read_frame() {
case $_fl_frame in ('') _fl_frame=: _fl_idle=;; (*) _fl_rounds= _fl_rounds2=;; esac
case ${_fl_rounds:+$_fl_status} in ('') _fl_token=;; (*)
until case ${IFS-} in (' 	
') "$_fl_builtin" read -r _fl_token _fl_mode _fl_frame;; (*) IFS=' ' "$_fl_builtin" read -r _fl_token _fl_mode _fl_frame;; esac
case $? in (0) case $_fl_token in (???????????"''"???????????) ;; (*) "$_fl_builtin" test '';; esac;; (*) _fl_token=;; esac; do _fl_token=; done;; esac
case $_fl_token in (???????????"''"???????????) _fl_status=
case $_fl_frame in (*@rs@) ;; (*) _fl_text=
until IFS= "$_fl_builtin" read -r _fl_line; case $? in (0) ! case x in (x) ;; esac;; esac; do
_fl_text=$_fl_text$_fl_line'
'
case $_fl_line in (*@rs@) _fl_frame=$_fl_frame$_fl_text; break;; esac
case ${#_fl_text} in (?????*) _fl_frame=$_fl_frame$_fl_text _fl_text=;; esac
done
case $_fl_frame in (*@rs@'
') ;; (*) _fl_token=;; esac
_fl_text=;; esac;; (*) _fl_token=;; esac
case ${_fl_token:+${_fl_reader-}$_fl_mode} in ('') _fl_frame= _fl_rounds= _fl_rounds2=;;
(-|+-|\=*=-) _fl_frame=$_fl_begin_round$_fl_token$_fl_start${_fl_frame%@rs@*}$_fl_after_word$_fl_token$_fl_fields$_fl_token$_fl_end$_fl_token;;
(*) _fl_text=
case $_fl_mode in (:*) _fl_text=${_fl_mode#:} _fl_mode=${_fl_text#*:} _fl_text="_fl_return ${_fl_text%%:*} '' || ";; esac
case $_fl_mode in (+*) _fl_may_follow=+ _fl_mode=${_fl_mode#+};; (\=*) _fl_may_follow=${_fl_mode%=*}= _fl_mode=${_fl_mode##*=};; (*) _fl_may_follow=;; esac
case $_fl_mode in (-) _fl_mode=$_fl_end_usual;; (m) _fl_mode=$_fl_end_merged;; (t) _fl_mode=$_fl_end_terminal;;
(/*) _fl_mode="
} <$_fl_mode >&$_fl_out 2>&$_fl_err $_fl_close_pipes";;
(m*) _fl_mode="
} <${_fl_mode#m} >&$_fl_out 2>&$_fl_out $_fl_close_pipes";;
(x*) _fl_mode=${_fl_mode#x} _fl_cook='PATH=/usr/bin:/bin stty sane -iexten rows '${_fl_mode%:*}' cols '${_fl_mode#*:}'; _fl_uncook=${TERM-} TERM=xterm-256color; '
_fl_uncook='PATH=/usr/bin:/bin stty raw -echo isig -iexten noflsh min 0 time 0
PATH=/usr/bin:/bin cat >/dev/null
PATH=/usr/bin:/bin stty min 1
TERM=$_fl_uncook _fl_uncook= _fl_cook=
' _fl_mode="
} >/dev/tty 2>&1 $_fl_close_pipes";; esac
_fl_mode=$_fl_mode$_fl_after_command$_fl_uncook
case ${_fl_reader-} in (?*) _fl_mode="$_fl_mode$_fl_print @rs@${_fl_token}e'
' >&$_fl_err
";; esac
_fl_frame="_fl_mode= _fl_text=; $_fl_cook$_fl_begin_round${_fl_token}S$_fl_keep_last_word; $_fl_text$_fl_evaluate${_fl_frame%@rs@*}$_fl_mode$_fl_if_there$_fl_token$_fl_fields$_fl_token$_fl_end$_fl_token";; esac
}
eval "$_fl_print \"@rs@@nonce1@\"\"@nonce2@H$_fl_dialect;$$;${_fl_reader-};\${PWD-}@rs@@nonce1@\"\"@nonce2@h\" >&$_fl_out"
_fl_status=0
