# What every shell gets, but for clean ones: nothing that pages, asks, colours or keeps a history.
#
#= _fl_x _fl_word a directory of locales
unset HISTFILE PROMPT_COMMAND BASH_ENV ENV CDPATH
TERM=dumb PAGER=cat GIT_PAGER=cat GH_PAGER=cat SYSTEMD_PAGER=cat MANPAGER=cat NO_COLOR=1
GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= SSH_ASKPASS= GH_PROMPT_DISABLED=1 DEBIAN_FRONTEND=noninteractive
export TERM PAGER GIT_PAGER GH_PAGER SYSTEMD_PAGER MANPAGER NO_COLOR
export GIT_TERMINAL_PROMPT GIT_ASKPASS SSH_ASKPASS GH_PROMPT_DISABLED DEBIAN_FRONTEND
for _fl_word in /usr/lib/locale/C.utf8 /usr/lib/locale/C.UTF-8; do test -d $_fl_word && { LC_ALL=C.UTF-8; export LC_ALL; }; done
