# The command line that opens a shell's handshake, between the quotes of: exec sh -c '…'
#
# Every login shell that sshd may hand it to reads it, fish and tcsh included: it is sent in one line, and holds no single
# quote, no backslash and no "!". It makes the terminal raw, prints the nonce as a sign that it waits, and evaluates the line
# that is typed then: the first of bootstrap.sh.
#
# noflsh keeps what is on its way when ^C is typed: without it the terminal throws that away, marks included (termios(3)).
#
#= _fl_x _fl_first the first line
stty raw -echo isig -iexten noflsh 2>/dev/null
printf %s%s%s @nonce1@ @nonce2@ R
IFS= read -r _fl_first
eval "$_fl_first"
