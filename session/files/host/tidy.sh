# Removes from the directory "$1" what changes of a day ago and more have left. It starts programs only where there is something to look
# at. "-mtime +0" is a day or more (POSIX, find).
for f in "$1"/.fairlead-????????????????; do
[ ! -f "$f" ] || [ -h "$f" ] || find "$f" -prune -type f -mtime +0 -exec rm -f {} \;
done
