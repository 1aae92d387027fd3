# Makes directories for their owner alone, and prints of each "n", for new, or "o", for one that is there.
#
#= d one_dir the next of them
(umask 077
for one_dir do
	if [ -d "$one_dir" ] && [ ! -h "$one_dir" ]; then printf o; else mkdir -- "$one_dir" || exit; printf n; fi
done)
