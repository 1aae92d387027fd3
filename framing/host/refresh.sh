# Has a shell forget where it found programs: it does when PATH changes. ksh93 looks anew for directories only then.
case ${PATH+y} in (y) PATH=$PATH:; PATH=${PATH%:};; esac
# Prints the functions of bash, which takes such from the environment. No shell of ours reads a start file but the profile.
@functions@
