package framing

import "strings"

// rs (record separator) opens every mark, and alone on a line closes what is typed. User text never brings one: the
// encoder writes control bytes as expansions.
const rs = 0x1e

// driver is the program of the shell that runs the commands: it reads frames from the terminal and evaluates them. It comes in
// an environment variable, which [driverCall], the text behind -c, evaluates: so there is no prompt, no line editor, no history
// and no start file, and the list of processes does not show it.
//
// What it keeps to itself: descriptor o (8, in bash 241) is the pipe for output, f (9, 242) the one for errors, 0 the terminal; its own 1 and 2
// are /dev/null, so nothing that the shell says about the driver is seen. The user's command gets the pipes as 1 and 2 (and in bash as 241 and 242, with 243). What it redirects for good is undone with the redirections of the group around it, so it cannot cut them off.
//
// A command is evaluated in no loop and no function, so that break, return and declare mean in it what they mean where it is
// typed. So the driver itself has no loop around it either: 7 is a list of 112 rounds, 8 of 112 times that, 9 of 112 times that. A
// shell ends after 1.4 million commands. All this stands on one line, and so does a frame up to the command: bash and ash count
// the lines of what is evaluated from the line where that is done (ash from 0). zsh alone has a loop for one round, which the
// trap on INT breaks: a break of the command's own, which would end it silently, is told as zsh tells it elsewhere.
//
// A frame is read whole before anything of it runs, and the text that holds the token is an argument of eval: no
// variable, no function and no byte in the terminal's queue holds it while the command runs. Traps on DEBUG and ERR
// and tracing, which could see the printing command, are switched off in a command of their own before it.
//
// _fl_R reads a frame and makes the text of its round, _fl, which begins with taking that away. What is not taken away, or was
// not made, says that the round before went wrong (a syntax that the shell does not read any more, an error in the reading): then, as
// at the end of the terminal and for a frame that the shell cannot read, the lists are emptied, and the shell ends. r, the exit
// code, is empty from the reading to the end of a command. The loops are written with until, so that they end when a
// command switched execution off (set -n): every command then counts as a success. The supervisor tells.
//
// A command that follows another one's failure starts behind _fl_q, which returns that one's code.
//
// An interrupt ends all of a command, and not only the program that the shell waits for: what follows may take for granted that
// this one has done its work. So does SIGURG, which ends the command when its program does: whoever stops a command sends it to the shell
// first, so that it does not matter what the command does about INT. Both traps run g, which sees to that as each shell can. In bash and zsh it leads out of every list, loop
// and function, with a trap on DEBUG that passes over each command until the one that takes the exit code. ksh93 and mksh end
// themselves when another command of the same frame comes: by a trap on DEBUG, and by a PS4 that cannot be expanded. Where there is neither
// (dash, ash) the frame's header says what may be left to run, see afterInterrupt, and the shell ends if there is something. A program that
// somebody sits at may have its own use for the key: there only one that died by a signal counts.
//
// In bash a wrong [[ leaves the parser inside of it until the next error, so one is made: the trailer and the next frame would
// not be understood. In busybox an error in a child of the shell finds its way into the eval of its parent where that is called through
// "command", and never out again: there eval is called as it is (5 is empty), and an error ends the shell.
//
// The directory is PWD where that is true, else what pwd says; mksh's says nothing of a directory that was deleted.
//
// A long script is collected in two steps, because shells copy a string to lengthen it.
//
// The farewell goes the way of the output, so that it comes in its place, and past it only where the shell leaves inside a
// command that has the pipe closed (zsh). A child of bash that is killed before it has become its program runs the trap too.
//
// What is done for every frame is what a silent command costs: every assignment, expansion and builtin counts, a case
// hardly. So most commands go the short way (-), with texts that were put together before; tracing is switched off only
// where it is on; and a header is read with the IFS there is where that is the usual one, for to change it for one command
// would cost bash as much as three assignments.
//
// A line that does not begin a frame was typed at a command that had ended: it is passed over. Where a function of the
// command's took the place of what reads and prints, there is no line either: a test that cannot hold then does, and the shell ends.
// It ends as the command did, and a program that no function can stand in for says where it stands (and not the trap: c is b).
//
// For a terminal that somebody sits at, w cooks it before the command and v makes it raw again after, and throws away what
// was typed and not read: it would be taken for the next frame.
//
// The variables: b what makes a word a builtin, p how to print one word as it is, t how to drop the traps that watch
// commands, c the dialect, q the argument that bash remembers as the last word ($_) instead of the mark, u the
// test that PWD is true, e set when errors need an end mark of their own, x what follows the word in a frame of the usual
// mode, y how to evaluate; 2 set where a list of rounds has not run, 4 what the frame's header says of an interrupt (in mksh, PS4 while another one stands in), 5 what eval is called through, 6 the code of
// a command that was interrupted; 1, 3 and _fl the
// frame: its token, its mode and the word. Below, ^ stands for RS and @1, @2 for the
// halves of the shell's nonce.
const driver = `exec 8>&1 9>&2 >/dev/null 2>&1
unset fairlead _fl_d
_fl_b=command _fl_p='printf %s' _fl_t=: _fl_c=sh _fl_q= _fl_v= _fl_w= _fl_4= _fl_o=8 _fl_f=9 _fl_h='8>&- 9>&-' _fl_i=/dev/null _fl_m=
_fl_s='_fl_r=${_fl_r:-$?} _fl_m=$-' _fl_n='{ ' _fl_x='; } 2>/dev/null'
if test "${BASH_VERSION-}"; then _fl_b=builtin _fl_c=bash _fl_q=" ''" _fl_t='trap - DEBUG ERR
\builtin test "$_fl_r" != 2 || \builtin eval ")"'
_fl_g='\builtin shopt -s extdebug; \builtin trap "{ case \$BASH_COMMAND in (_fl_r=*) \builtin trap - DEBUG; \builtin shopt -u extdebug; _fl_r=\$_fl_6;; (*) ! \builtin break;; esac; } 2>/dev/null" DEBUG'
exec 241>&8 242>&9 243</dev/null && exec 8>&- 9>&- && _fl_o=241 _fl_f=242 _fl_h= _fl_i='&243'
elif test "${ZSH_VERSION-}"; then _fl_b=builtin _fl_t='trap - DEBUG ZERR' _fl_c=zsh
_fl_g='\builtin trap "{ case \$ZSH_DEBUG_CMD in (_fl_r=*) \builtin trap - DEBUG; _fl_r=\$_fl_6;; (*) \builtin break; \builtin setopt errexit;; esac; } 2>/dev/null" DEBUG; _fl_l=; \builtin break'
else case ${KSH_VERSION-} in (*MIRBSD*) _fl_b=builtin _fl_p='print -rn --' _fl_t='trap - ERR' _fl_c=mksh _fl_n= _fl_x=
_fl_g='case $_fl_4 in ("") case $- in (*x*) _fl_4=x$PS4;; (*) _fl_4=-$PS4;; esac; exec 2>/dev/null; PS4=\${_fl_r:?}; set -x;; esac';;
(?*) _fl_p='print -rn --' _fl_t='trap - DEBUG ERR' _fl_c=ksh93 _fl_g='trap "case \$_fl_r in (\"\") exit \$_fl_6;; esac" DEBUG';;
(*) _fl_g='_fl_s=${_fl_3:-$_fl_4}; case $_fl_s in (+*) exit $_fl_6;; (\=*) _fl_s=${_fl_s#=}; case $(command -V "${_fl_s%%=*}") in (*function*|*an\ alias*) exit $_fl_6;; esac;; esac';; esac
fi
_fl_u="\\$_fl_b test . -ef \"\${PWD-}\"" _fl_5=$_fl_b
case $_fl_c in (*ksh*) _fl_s='case ${_fl_r:=$?}${_fl_m:=$-} in (x) ;; esac';;
(sh) case $(ls -l /proc/$$/exe) in (*busybox*) _fl_5=;; esac;; esac
trap "${_fl_n}case \$_fl_r in ('') case \$_fl_w:\$? in (:*|*:12[89]|*:1[3-9]?|*:2??) _fl_6=130; $_fl_g;; esac;; esac$_fl_x" INT
trap "${_fl_n}_fl_6=\$?; case \$_fl_6 in (129|1[3-9]?) ;; (*) _fl_6=130;; esac; case \$_fl_r in ('') $_fl_g;; esac$_fl_x" URG
_fl_q() { case $2$- in (x*e*) ;; (*) \return $1;; esac; }
_fl_y() { eval "$_fl_p \"^@1\"\"@2C\${PWD-}^@1\"\"@2c\""; }
trap '{ _fl_s=$?; set +x; } 2>/dev/null; case $_fl_c${BASHPID-} in (bash|bash$$|[!b]*) { _fl_y >&$_fl_o; } 2>/dev/null || _fl_y 2>/dev/null >/dev/tty;; esac
case $_fl_c$_fl_4 in (mksh) exit $_fl_s;; (mksh*) exit 130;; esac' EXIT
_fl_z() { eval "$_fl_p '^'$1'E'$_fl_r';'$_fl_m';'; \\$_fl_b pwd || $_fl_p \"\${PWD-}
\"; $_fl_p '^'$1'z
'" >&$_fl_o; }
_fl_p="\\$_fl_b $_fl_p"
_fl_j="
} <$_fl_i >&$_fl_o 2>&$_fl_o $_fl_h" _fl_k="
} >&$_fl_o 2>&$_fl_f $_fl_h" _fl_i="
} <$_fl_i >&$_fl_o 2>&$_fl_f $_fl_h"
case $_fl_c in (mksh) _fl_t="$_fl_s
case \$_fl_m in (*x*) set +x
case \$_fl_4 in (-*) PS4=\${_fl_4#?} _fl_m=\${_fl_m%%x*}\${_fl_m#*x};; (x*) PS4=\${_fl_4#?};; esac
_fl_4=;; esac
\\$_fl_b $_fl_t";; (*) _fl_t="$_fl_s
\\$_fl_b $_fl_t
case \$_fl_m in (*x*) \\$_fl_b set +x;; esac";; esac
_fl_t="
$_fl_t
" _fl_l='{ '
case $_fl_c in (zsh) _fl_l='for _fl_l in y; do { ' _fl_t='
_fl_r=${_fl_r:-$?} _fl_l=
done
case $_fl_l in (y) \builtin print -r "(eval):break: not in while, until, select, or repeat loop" >&$_fl_f; _fl_l= _fl_r=1;; esac'$_fl_t;; esac
case $_fl_c in (*ksh*) _fl_n="_fl_m= ";; (*) _fl_n=;; esac
case $_fl_5 in ('') _fl_n="
$_fl_n";; esac
_fl_n="${_fl_n}_fl= _fl_1=;$_fl_l$_fl_p ^" _fl_y="${_fl_5:+\\$_fl_5 }\\eval " _fl_a="S$_fl_q; ${_fl_5:+\\$_fl_5 }\\eval " _fl_u="$_fl_u && $_fl_p ^" _fl_d="E\"\$_fl_r;\$_fl_m;\$PWD\"^" _fl_g="Z'
' >&$_fl_o || _fl_z "
_fl_7="_fl_R;$_fl_y\"\$_fl\";" _fl_8="_fl_2=y;$_fl_y\"\$_fl_7\";case \$_fl_2 in (y) _fl_7=;;esac;" _fl_9="$_fl_y\"\$_fl_8\";"
_fl_7=$_fl_7$_fl_7$_fl_7$_fl_7 _fl_8=$_fl_8$_fl_8$_fl_8$_fl_8 _fl_9=$_fl_9$_fl_9$_fl_9$_fl_9
_fl_7=$_fl_7$_fl_7$_fl_7$_fl_7 _fl_8=$_fl_8$_fl_8$_fl_8$_fl_8 _fl_9=$_fl_9$_fl_9$_fl_9$_fl_9
_fl_7=$_fl_7$_fl_7$_fl_7$_fl_7$_fl_7$_fl_7$_fl_7 _fl_8=$_fl_8$_fl_8$_fl_8$_fl_8$_fl_8$_fl_8$_fl_8 _fl_9=$_fl_9$_fl_9$_fl_9$_fl_9$_fl_9$_fl_9$_fl_9
_fl_x=$_fl_i$_fl_t$_fl_u
_fl_R() {
case $_fl in ('') _fl=: _fl_2=;; (*) _fl_7= _fl_8=;; esac
case ${_fl_7:+$_fl_r} in ('') _fl_1=;; (*)
until case ${IFS-} in (' 	
') "$_fl_b" read -r _fl_1 _fl_3 _fl;; (*) IFS=' ' "$_fl_b" read -r _fl_1 _fl_3 _fl;; esac
case $? in (0) case $_fl_1 in (???????????"''"???????????) ;; (*) "$_fl_b" test '';; esac;; (*) _fl_1=;; esac; do _fl_1=; done;; esac
case $_fl_1 in (???????????"''"???????????) _fl_r=
case $_fl in (*^) ;; (*) _fl_s=
until IFS= "$_fl_b" read -r _fl_l; case $? in (0) ! case x in (x) ;; esac;; esac; do
_fl_s=$_fl_s$_fl_l'
'
case $_fl_l in (*^) _fl=$_fl$_fl_s; break;; esac
case ${#_fl_s} in (?????*) _fl=$_fl$_fl_s _fl_s=;; esac
done
case $_fl in (*^'
') ;; (*) _fl_1=;; esac
_fl_s=;; esac;; (*) _fl_1=;; esac
case ${_fl_1:+${_fl_e-}$_fl_3} in ('') _fl= _fl_7= _fl_8=;;
(-|+-|\=*=-) _fl=$_fl_n$_fl_1$_fl_a${_fl%^*}$_fl_x$_fl_1$_fl_d$_fl_1$_fl_g$_fl_1;;
(*) _fl_s=
case $_fl_3 in (:*) _fl_s=${_fl_3#:} _fl_3=${_fl_s#*:} _fl_s="_fl_q ${_fl_s%%:*} '' || ";; esac
case $_fl_3 in (+*) _fl_4=+ _fl_3=${_fl_3#+};; (\=*) _fl_4=${_fl_3%=*}= _fl_3=${_fl_3##*=};; (*) _fl_4=;; esac
case $_fl_3 in (-) _fl_3=$_fl_i;; (m) _fl_3=$_fl_j;; (t) _fl_3=$_fl_k;;
(/*) _fl_3="
} <$_fl_3 >&$_fl_o 2>&$_fl_f $_fl_h";;
(m*) _fl_3="
} <${_fl_3#m} >&$_fl_o 2>&$_fl_o $_fl_h";;
(x*) _fl_3=${_fl_3#x} _fl_w='PATH=/usr/bin:/bin stty sane -iexten rows '${_fl_3%:*}' cols '${_fl_3#*:}'; _fl_v=${TERM-} TERM=xterm-256color; '
_fl_v='PATH=/usr/bin:/bin stty raw -echo isig -iexten noflsh min 0 time 0
PATH=/usr/bin:/bin cat >/dev/null
PATH=/usr/bin:/bin stty min 1
TERM=$_fl_v _fl_v= _fl_w=
' _fl_3="
} >/dev/tty 2>&1 $_fl_h";; esac
_fl_3=$_fl_3$_fl_t$_fl_v
case ${_fl_e-} in (?*) _fl_3="$_fl_3$_fl_p ^${_fl_1}e'
' >&$_fl_f
";; esac
_fl="_fl_3= _fl_s=; $_fl_w$_fl_n${_fl_1}S$_fl_q; $_fl_s$_fl_y${_fl%^*}$_fl_3$_fl_u$_fl_1$_fl_d$_fl_1$_fl_g$_fl_1";; esac
}
eval "$_fl_p \"^@1\"\"@2H$_fl_c;$$;${_fl_e-};\${PWD-}^@1\"\"@2h\" >&$_fl_o"
_fl_r=0`

// driverCall is what the shell's -c text evaluates, on one line: shells count a command's lines from there. The program at
// the end is one that no function can stand in for.
const driverCall = `\eval "$_fl_d"; \eval "$_fl_9"
case $_fl_r in (?*) _fl_c=b
/bin/sh -c 'printf "^%s%sC%s^%s%sc" @1 @2 "$2" @1 @2; exit "$1"' sh "$_fl_r" "${PWD-}" >&$_fl_o;; esac`

// Repair is the script of a [Tty] frame that makes the terminal raw again, as [Loader] left it.
const Repair = `PATH=/usr/bin:/bin stty raw -echo isig -iexten noflsh <&0 >/dev/null 2>&1`

// withMarks puts RS and the halves of the nonce in their places.
func withMarks(text string, nonce Token) string {
	return strings.NewReplacer("^", "\x1e", "@1", string(nonce[:TokenLen/2]), "@2", string(nonce[TokenLen/2:])).Replace(text)
}
