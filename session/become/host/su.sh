# su(1): with -c alone that of util-linux gives its shell no terminal; those of BSD take no shell.
case $(su --help 2>&1) in
(*--session-command*) exec su -s /bin/sh --session-command "$0" @user@ "$_fl_language" "$_fl_saved";;
(*-s*) exec su -s /bin/sh -c "$0" @user@ "$_fl_language" "$_fl_saved";;
(*) exec su @user@ -c "$0" "$_fl_language" "$_fl_saved";;
esac
