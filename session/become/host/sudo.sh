# sudo(8): the prompt is ours.
exec sudo -S -p @key1@""@key2@ -u @user@ -- sh -c "$0" "$_fl_language" "$_fl_saved"
