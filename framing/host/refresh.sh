# Has a shell forget where it found programs, and prints its functions, and what zsh takes for aliases. It starts no process.
case ${PATH+y} in (y) PATH=$PATH;; esac
case @dialect@ in
(bash) \builtin declare -F;;
(zsh) \builtin typeset +f; \builtin alias;;
(ksh) \command typeset +f;;
esac
