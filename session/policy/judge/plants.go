package judge

import (
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

// plants judges where something is written: some files give whoever writes them the host.
func (w *walker) plants(a programs.Arg) {
	p := w.shapeOf(a).wild
	if p == "" || p == "*" || len(p) > maxWord {
		return
	}
	if isWild(p) && !w.patternBudget() {
		return
	}
	if e := plantTable.find(segments(resolve(p, w.dir)), isWild(p)); e != nil {
		w.raise(e.class, e.rule, e.why)
	}
	for _, end := range endings(afterUp(p)) {
		if climbs(p) || throughLink(w.dir) {
			end = "/" + end
		}
		if e := plantTable.find(segments(end), isWild(end)); e != nil {
			w.raise(e.class, e.rule, e.why)
		}
	}
}

// plantTable knows the paths that give whoever writes them more than a file.
var plantTable = plantsOf()

func plantsOf() *pathTable {
	var t pathTable
	add := func(class policy.Class, rule, why, paths string) { t.add(class, rule, why, "", paths) }
	add(policy.Forbidden, "forbidden/keys", "it changes who may log in or take which rights", `
		**/.ssh/authorized_keys **/.ssh/authorized_keys2 **/.ssh/authorized_keys.d/** **/.ssh/rc **/.ssh/environment
		**/.ssh/config **/.rhosts **/.shosts **/.k5login /etc/hosts.equiv /etc/ssh/** /etc/passwd /etc/shadow /etc/group /etc/gshadow
		/etc/subuid /etc/subgid /etc/sudoers /etc/sudoers.d/** /etc/doas.conf /etc/pam.d/** /etc/pam.conf /etc/security/**
		/etc/polkit-1/** /usr/share/polkit-1/** /etc/nsswitch.conf /etc/ld.so.preload /etc/ld.so.conf /etc/ld.so.conf.d/**
		/etc/krb5.keytab /etc/login.defs /etc/dbus-1/**`)
	add(policy.Forbidden, "forbidden/schedule", "it plants something that runs later, unasked", `
		/etc/crontab /etc/anacrontab /etc/cron.d/** /etc/cron.hourly/** /etc/cron.daily/** /etc/cron.weekly/**
		/etc/cron.monthly/** /var/spool/cron/** /var/spool/at/** /var/spool/cron /etc/rc.local /etc/init.d/** /etc/inittab
		/etc/update-motd.d/** /etc/network/if-up.d/** /etc/NetworkManager/dispatcher.d/** /etc/udev/rules.d/** /etc/modprobe.d/**
		/etc/binfmt.d/** /etc/xdg/autostart/** **/.config/autostart/**`)
	add(policy.Forbidden, "forbidden/start-files", "it changes what every later shell runs when it starts", `
		/etc/profile /etc/profile.d/** /etc/bash.bashrc /etc/bashrc /etc/zsh/** /etc/zshrc /etc/zshenv /etc/zprofile /etc/environment
		/etc/ksh.kshrc /etc/csh.cshrc /etc/csh.login /etc/shells /etc/skel/** /etc/inputrc
		**/.bashrc **/.bash_profile **/.bash_login **/.bash_logout **/.bash_aliases **/.profile **/.zshrc **/.zshenv **/.zprofile
		**/.zlogin **/.zlogout **/.kshrc **/.mkshrc **/.shrc **/.cshrc **/.tcshrc **/.login **/.inputrc **/.xprofile **/.xinitrc
		**/.pam_environment **/.config/fish/** **/.config/environment.d/** **/.vimrc **/.exrc **/.gdbinit **/.gitconfig **/.npmrc`)
	add(policy.Forbidden, "forbidden/raw-disk", "it writes to a disk, memory or the kernel directly", `
		/dev/sd* /dev/hd* /dev/vd* /dev/xvd* /dev/nvme* /dev/mmcblk* /dev/md* /dev/dm-* /dev/mapper/** /dev/disk/** /dev/loop*
		/dev/mem /dev/kmem /dev/port /proc/sysrq-trigger /proc/kcore /proc/*/mem /proc/sys/kernel/core_pattern
		/proc/sys/kernel/modprobe /sys/kernel/uevent_helper /dev/rdisk* /dev/disk[0-9]*`)
	add(policy.Dangerous, "paths/system", "it changes the system's own programs, units or settings", `
		/bin/** /sbin/** /lib/** /lib64/** /usr/bin/** /usr/sbin/** /usr/lib/** /usr/lib64/** /usr/libexec/** /boot/** /proc/** /sys/**
		/etc/systemd/** /lib/systemd/** /usr/lib/systemd/** /run/systemd/** **/.config/systemd/** /etc/fstab /etc/hosts /etc/resolv.conf
		/etc/apt/** /etc/yum.repos.d/** /etc/selinux/** /etc/apparmor.d/** /etc/default/grub **/.git/hooks/** **/.git/config
		/usr/local/bin/** /usr/local/sbin/** /etc/fairlead/** **/.config/fairlead/**`)
	return &t
}
