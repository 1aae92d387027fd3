# doas(1) asks at the terminal.
exec doas -u @user@ -- sh -c "$0" "$_fl_language" "$_fl_saved"
