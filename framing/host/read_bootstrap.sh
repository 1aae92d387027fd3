# The first line that loader.sh reads, sent in one line: it reads the others, as far as an RS on its own, and evaluates them.
#
# head takes them in few pieces, where read takes each byte by itself, which is most of a shell's start. It is for shells of which
# none has a version: bash reads ahead on a terminal, and has a part of the lines by now. Where head knows no -c it has read
# nothing. A text without its end is not evaluated: the terminal was hung up.
#
#= _fl_n _fl_newline a newline
#= _fl_x _fl_text the lines
#= _fl_l _fl_line one of them
_fl_text=
case ${BASH_VERSION-}${KSH_VERSION-}${ZSH_VERSION-} in ('') _fl_text=$(head -c @size@ 2>/dev/null);; esac
case $_fl_text in ('') _fl_newline=$(printf '\n.')
_fl_newline=${_fl_newline%.}
while IFS= read -r _fl_line;do _fl_text=$_fl_text$_fl_line;case $_fl_line in (@rs@) break;;esac
_fl_text=$_fl_text$_fl_newline
done;;
esac
case $_fl_text in (*@rs@) eval "${_fl_text%@rs@}";; esac
