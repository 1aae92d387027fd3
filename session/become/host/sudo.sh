# sudo(8): the prompt is ours, and names the account whose password it wants (targetpw, rootpw and runaspw in sudoers).
exec sudo -S -p @key1@""@key2@%p: -u @user@ -- sh -c "$0" "$_fl_language" "$_fl_saved"
