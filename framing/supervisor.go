package framing

// The supervisor is the parent of the shell: it relays the shell's two pipes to the terminal, standard output as it
// is and standard error in records, and tells how the shell ended. It makes a fresh token and says it first, so that
// nothing that the shell runs can print a record or an end that counts. It ignores the keyboard's signals.
//
// Below, ^ stands for RS and @1, @2 for the halves of the shell's nonce.

// perlSupervisor does it in one process. Between reading output and passing it on it reads all that waits on the error
// pipe, so errors written before a frame's end come before it. After the shell's end it drains what is left (within
// bounds: a background process may write for ever) and stays until the terminal is closed or a minute has gone,
// because Linux throws away what a terminal still holds when the session leader ends. A shell that was stopped goes on: as
// the terminal's foreground (21520 is Linux's TIOCSPGRP), because what stops a shell is job control that was switched on
// without it. A start mark alone waits 2 ms for what may follow at once: a silent command then costs one packet and not
// two. It waits awake at first, for some 50 µs: to sleep and be woken takes longer than most builtins. When the terminal goes, the kernel tells only its
// foreground. What is left of the session is told here, all of it stopped meanwhile, the shell first: who waits for another
// would take its end for a reason to go on, before it hears of its own. It is told more than once, as a shell's child forgets
// what it hears before its exec. What still does not end is killed: a bash that was interrupted at a bad moment sends itself SIGINT for ever, and looks at
// nothing else. What left the session (setsid) or ignores the hangup (nohup) stays; bit 0 of the 33rd field of
// proc_pid_stat(5) is SIGHUP among what a process ignores.
// The wait of 10 s covers a child that ends just before select; 3 is WNOHANG|WUNTRACED, 4 is EINTR.
const perlSupervisor = `$0="fairlead";delete@ENV{"_fl_p","_fl_e"};$SIG{$_}="IGNORE"for qw(INT QUIT TSTP TTIN TTOU);
open R,"</dev/urandom";sysread R,$t,22;close R;
$t=join"",map{("A".."Z","a".."z",0..9,"_","-")[$_&63]}unpack"C*",$t;
sub f{local$/;open(S,"</proc/$_[0]/stat")&&<S>=~/.*\) (\S+) \S+ \S+ (\d+) (?:\S+ ){26}(\d+) /s&&!($y&&$3&1)&&($z||$1!~/[ZX]/)?$2:0}
sub h{$SIG{HUP}="IGNORE";if(f($$)==$$){$z=1;$a=f($p);$y=1;$y=!$a||f($p);for my$w(.01,.04,.1,.2,0){1while 0<waitpid-1,1;opendir D,"/proc";my@p=grep{!/\D/&&$_!=$$&&f($_)==$$}readdir D;$z=0;@p=sort{($b==$p)-($a==$p)}@p;kill"STOP",@p;kill$w?"HUP":"KILL",@p;kill"CONT",@p;@p||last;select undef,undef,undef,$w}}exit}
pipe O,P;pipe E,F;$SIG{CHLD}=sub{$c=1};$SIG{HUP}=\&h;
defined($p=fork)or exit 126;
if(!$p){$SIG{$_}="DEFAULT"for qw(HUP INT QUIT TSTP TTIN TTOU CHLD);open STDOUT,">&P";open STDERR,">&F";close$_ for O,P,E,F;exec{$ARGV[0]}@ARGV;exit 127}
close P;close F;
sub w{my$d=0;while($d<length$_[0]){my$n=syswrite STDOUT,$_[0],length($_[0])-$d,$d;if(defined$n){$d+=$n}elsif($!!=4){h()}}}
w"^@1"."@2T$t\n";
$h=$u=$v="";vec($u,fileno O,1)=1;vec($v,fileno E,1)=1;$l=4e6;
for(;;){
if(select($r=$u|$v,undef,undef,$h ne""?.002:$c||defined$s?0:10)>0&&$l>0){
$o=$e="";
if(vec$r,fileno O,1){$n=sysread O,$o,65536;vec($u,fileno O,1)=0 if defined$n&&!$n;
if($n==24&&$h eq""&&substr($o,23)eq"S"){$h=$o;$o="";$n=0;for(1..60){select($r=$u,undef,undef,0)>0 and$n=sysread(O,$o,65536),last}$n||next}}
$m=0;while($m<2e6&&vec($v,fileno E,1)&&select($r=$v,undef,undef,0)>0){$n=sysread E,$b,65536;if(!$n){vec($v,fileno E,1)=0 if defined$n;last}$m+=$n;$e.="^$t"."e$n;$b"}
w$e.$h.$o;$h="";$l-=$m+length$o if defined$s;
if(!defined$s&&!unpack"%32b*",$u|$v){waitpid$p,0;$s=$?}
}elsif($h ne""){w$h;$h=""}else{
last if defined$s;
$c=0;if(0<waitpid$p,3){if(($?&255)==127){ioctl STDIN,21520,pack"i",getpgrp$p;kill CONT,$p}else{$s=$?}}
}}
w sprintf"^%sX%d;%d\n",$t,$s>>8,$s&127;
alarm 60;sysread STDIN,$b,1;exit$s>>8`

// shellSupervisor does the same with what every host has, in more processes: cat relays the output, and errors go
// through a reader that is chosen where it runs. Such a reader works on its own time, so frames end only when an end
// mark has come through it too (the variable e of the driver). A pipeline needs no named pipe and so no directory.
//
// All of it ignores the keyboard's signals from before it is forked: a reader that is told so only in its own process may hear
// of the first ^C before that. The process that starts the shell catches them, so that the shell has them as they were. In a
// pipeline of ksh93 what is ignored stays so: there they are caught from the start, and the readers ignore them when they can.
//
// _fl_s, _fl_x and _fl_o are the shell's path, options and name, _fl_e the reader. A file that cannot be, /dev/null/fairlead, says
// in the list of processes whose they are. hexdump prints each byte as it comes; the shell's own loop, the last
// resort, works by line, loses NUL bytes and is told as such.
const shellSupervisor = `case $_fl_e in (hexdump) ;; (*) _fl_e=lines;; esac
fairlead="_fl_e=$_fl_e;$fairlead"
set -- "$_fl_s" $_fl_x +x -c '\e\v\a\l "$fairlead"' "$_fl_o"
_fl_1=$_fl_e
unset _fl_h _fl_e _fl_s _fl_x _fl_o
_fl_e=$_fl_1
_fl_t=$(LC_ALL=C tr -dc A-Za-z0-9_- </dev/urandom|head -c 22)
_fl_n=$(printf %.8s "$_fl_t")
_fl_i=
case ${KSH_VERSION-} in (V*) _fl_i=:;; esac
trap "$_fl_i" INT QUIT TSTP
exec 5>&1 2>/dev/null
printf '^%s%sT%s\n' @1 @2 "$_fl_t"
_fl_i=; test -r /dev/stdin && _fl_i='/dev/stdin /dev/null/fairlead'
case $_fl_e in
(hexdump) _fl_h() { exec hexdump -v -e '"^~'"$_fl_n"'" 1/1 "%02x" "\n"' $_fl_i; };;
(*) _fl_h() { LC_ALL=C; while IFS= read -r _fl_l; do printf '^%se%d;%s\n' "$_fl_t" $((${#_fl_l}+1)) "$_fl_l"; done; case $_fl_l in (?*) printf '^%se%d;%s' "$_fl_t" ${#_fl_l} "$_fl_l";; esac; };;
esac
{ {
trap : INT QUIT TSTP
"$@" 2>&3 3>&- 5>&-
_fl_s=$?
printf '^%sX\n' "$_fl_t" >&3
printf '^%sX%d;?\n' "$_fl_t" "$_fl_s"
read -r _fl_x; } | (trap '' INT QUIT TSTP; exec cat - /dev/null/fairlead >&5 3>&- 5>&-); } 3>&1 | (trap '' INT QUIT TSTP; exec >&5 5>&-; _fl_h)
read -r _fl_x`
