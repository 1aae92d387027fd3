# Typed before a shell that is held: only perl can hold it.
#
#= _fl_x _fl_word is never looked at
command -v perl >/dev/null 2>&1 || { printf '@rs@%s%sNit has no perl\n' @nonce1@ @nonce2@; read -r _fl_word; exit 1; }
