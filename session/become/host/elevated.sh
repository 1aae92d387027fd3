# What the other account's sh runs, as $0 and $1 LC_ALL and the terminal's settings as they were: it says that it is there, and
# becomes the command line that is typed then. A directory that the account may not enter is left.
#
#= _fl_x _fl_line the command line
case $0 in ("") unset LC_ALL;; (*) LC_ALL=$0
export LC_ALL;; esac
stty raw -echo isig -iexten noflsh 2>/dev/null
cd . 2>/dev/null || cd 2>/dev/null || cd /
printf %s%s @token1@ @token2@
IFS= read -r _fl_line
case $1 in (?*) stty $1 2>/dev/null;; esac
eval "$_fl_line"
