# Tries whether bubblewrap works on the host for a sandbox, and says so: fairlead:works:PATH (before PATH keys:, if env can
# keep ^C from bubblewrap), fairlead:absent or fairlead:refused:WHY.
#
#= _fl_x _fl_said what bubblewrap says
(PATH=$PATH:/usr/bin:/bin:/usr/local/bin
command -v bwrap >/dev/null 2>&1 || { printf 'fairlead:absent'; exit 0; }
_fl_said=
# In a process namespace of its own a shell has a small number.
bwrap --version >/dev/null 2>&1 && _fl_said=$(bwrap @arguments@ sh -c 'test $$ -lt 100 && test -w . || { echo the directory cannot be written; exit 1; }' 2>&1 </dev/null) && { printf "fairlead:works:$(env --default-signal echo keys: 2>/dev/null)%s" "$(command -v bwrap)"; exit 0; }
printf 'fairlead:refused:%s' "$_fl_said")
