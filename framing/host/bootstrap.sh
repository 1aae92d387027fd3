# What is typed once loader.sh waits, behind read_bootstrap.sh: it makes the environment, picks the shell and the reader of
# its errors, and becomes the supervisor.
#
# Texts travel in the environment from here on, and are taken out of it by those that read them.
#
#= _fl_d _fl_driver the text of driver.sh
#= _fl_p _fl_supervisor_pl the text of supervisor.pl
#= _fl_h _fl_supervisor_sh the text of supervisor.sh
#= _fl_s _fl_shell the name of the shell that is wanted, then its path
#= _fl_e _fl_reader the reader of errors that is wanted, or nothing
#= _fl_w _fl_login y for a login shell
@environment@
@settings@_fl_driver=@driver@
fairlead=@driver_call@
_fl_supervisor_pl=@supervisor_pl@
_fl_supervisor_sh=@supervisor_sh@
_fl_shell=@shell@
_fl_reader=@reader@
_fl_login=@login@
@pick_shell@
@forget_shell@
@supervise@
