# The first line that loader.sh reads, sent in one line: it reads the others, as far as an RS on its own, and evaluates them.
#
#= _fl_n _fl_newline a newline
#= _fl_x _fl_text the lines
#= _fl_l _fl_line one of them
_fl_newline=$(printf '\n.')
_fl_newline=${_fl_newline%.}
_fl_text=
while IFS= read -r _fl_line;do case $_fl_line in (@rs@) break;;esac
_fl_text=$_fl_text$_fl_line$_fl_newline
done
eval "$_fl_text"
