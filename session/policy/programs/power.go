package programs

// power stops or restarts the machine.
var power = []program{
	{name: "reboot|shutdown|halt|poweroff|init|telinit|kexec|pm-suspend|pm-hibernate|rtcwake|systemd-reboot|ctrlaltdel|acpitool|runit-init|openrc-shutdown|systemd-shutdown",
		class: danger, why: "stops or restarts the machine", raw: true, check: func(*call) {}, alone: "--help --version"},
	{name: "zramctl", args: "text...", opts: `-a,--algorithm=text!write -b,--bytes -f,--find!write -n,--noheadings -o,--output=text --output-all --raw -r,--reset!danger -s,--size=text!write -t=text!write -V`},
	{name: "rfkill", args: "text...", opts: `-J -n -o=text -r -V --output-all`, check: verbs("list")},
}
