# Sets the positional parameters to the command line of the shell that is wanted.
#
#= _fl_s _fl_shell the name of the shell that is wanted, then its path
#= _fl_o _fl_name the name that was asked for, then the shell's own
#= _fl_w _fl_login y for a login shell
#= _fl_f _fl_fail says why there is no shell, and ends when that has been read
#= _fl_x _fl_word is never looked at
_fl_fail() { printf '@rs@%s%sF%s\n' @nonce1@ @nonce2@ "$*"; read -r _fl_word; exit 1; }
_fl_name=$_fl_shell
case $_fl_shell in
(''|auto) case ${SHELL##*/} in (bash|zsh|ksh|ksh93|mksh|dash|ash) _fl_shell=$SHELL;; (*) _fl_shell=$(command -v bash)||_fl_shell=$(command -v sh);; esac;;
(ksh) _fl_shell=$(command -v ksh)||_fl_shell=$(command -v mksh)||_fl_shell=$(command -v ksh93);;
(*) _fl_shell=$(command -v $_fl_name);;
esac
set -- "$_fl_shell"
case $_fl_name$_fl_shell in (ash) _fl_shell=$(command -v busybox) && set -- "$_fl_shell" ash;; esac
case $_fl_shell in ('') _fl_fail "there is no $_fl_name on the host";; esac
# Without a login, no start files of the account's.
case $_fl_login$_fl_shell in
(y*/zsh) set -- "$@" -l;; (*/zsh) set -- "$@" -f;;
(y*/bash) set -- "$@" -l;; (*/bash) set -- "$@" --norc --noprofile;;
(y*) set -- "$@" -l;;
esac
_fl_name=${_fl_shell##*/}
case $_fl_name in (busybox) _fl_name=ash;; esac
