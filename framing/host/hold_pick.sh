# Part of supervise.sh for a shell that is held: where there is no perl, asks for the text of supervise_python.sh, which never comes
# back, and says so where there is no python3 either. What is typed then comes as bootstrap.sh did, behind read_bootstrap.sh.
#
#= _fl_x _fl_word the first line of what is typed
command -v perl >/dev/null 2>&1 || {
	command -v python3 >/dev/null 2>&1 || { printf '@rs@%s%sNit has neither perl nor python3\n' @nonce1@ @nonce2@; read -r _fl_word; exit 1; }
	printf '@rs@%s%sQ\n' @nonce1@ @nonce2@
	IFS= read -r _fl_word
	eval "$_fl_word"
	exit 1
}
