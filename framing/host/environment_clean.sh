# What a clean shell gets: of the account's variables, those that say who it is; see Shell.Clean.
#
#= _fl_x _fl_word the name of a variable, or a directory of locales

# A line of a value that looks like a variable names one that is unset too, or none.
for _fl_word in $(env|sed -n 's/=.*//p'); do case $_fl_word in
(HOME|USER|LOGNAME|SHELL|PATH|LANG|TERM|PWD|_fl_*|*[!A-Za-z0-9_]*|[0-9]*) ;; (*) unset $_fl_word 2>/dev/null;; esac; done

# What the account did not bring of those that are left.
case ${LOGNAME:-} in ('') LOGNAME=${USER:-$(id -un 2>/dev/null)};; esac
case ${USER:-} in ('') USER=$LOGNAME;; esac
case ${HOME:-} in ('') HOME=$(cd ~ 2>/dev/null && pwd || pwd);; esac
case ${LANG:-} in ('') LANG=C; for _fl_word in /usr/lib/locale/C.utf8 /usr/lib/locale/C.UTF-8; do test -d $_fl_word && LANG=C.UTF-8; done;; esac
TERM=dumb
export HOME USER LOGNAME PATH LANG TERM
