package screen_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/screen"
)

// What real programs show when they wait, byte for byte as a terminal gets it.
var waits = map[screen.Kind][]string{
	screen.Password: {
		"Password: ", "Password:", "\r\nPassword: ", "[sudo] password for ada: ", "[sudo: authenticate] Password: ",
		"sudo: a password is required\r\n[sudo] password for ada: ",
		"Sorry, try again.\r\n[sudo] password for ada: ",
		"ada@web01.example.com's password: ", "(ada@web01) Password: ", "(ada@web01) Verification code: ",
		"Enter passphrase for key '/home/ada/.ssh/id_ed25519': ",
		"Enter passphrase for /home/ada/.ssh/id_rsa: ",
		"Enter passphrase (empty for no passphrase): ", "Enter same passphrase again: ",
		"Enter passphrase for \"/home/ada/.ssh/id_ed25519\" (empty for no passphrase): ",
		"Enter PIN for ECDSA-SK key /home/ada/.ssh/id_ecdsa_sk: ", "Enter PIN for authenticator: ", "PIN: ", "Enter PIN: ",
		"Changing password for ada.\r\nCurrent password: ", "(current) UNIX password: ", "New password: ", "Retype new password: ",
		"Password for 'https://ada@github.com': ", "Password for user postgres: ", "Enter password: ",
		"Enter PEM pass phrase:", "Enter pass phrase for key.pem:", "Verifying - Enter PEM pass phrase:", "Enter Export Password:",
		"enter AES-256-CBC encryption password:", "Verifying - enter AES-256-CBC encryption password:",
		"Please enter passphrase for disk sda2 (luks-1234): ", "Enter passphrase for /dev/sda2: ",
		"Vault password: ", "New Vault password: ", "BECOME password: ", "BECOME password[defaults to SSH password]: ", "SSH password: ",
		"doas (ada@web01) password: ", "Password for ada@EXAMPLE.COM: ", "Kerberos password for ada@EXAMPLE.COM: ",
		"Verification code: ", "One-time password (OATH) for `ada': ", "Enter your OTP: ", "Passcode or option (1-3): ",
		"Enter MFA code for arn:aws:iam::123456789012:mfa/ada: ", "Enter PASSCODE: ", "Two-factor code: ", "Enter the 6-digit code: ",
		"AWS Secret Access Key [None]: ", "? Paste your authentication token: ", "API key: ",
		"\x1b[1mPassword:\x1b[0m ", "\r\x1b[KPassword: ", "\x1b]0;ssh web01\aPassword: ", "garbage\rPassword: \x1b[K", "Passwordx\b: ",
		"Username: ada\r\nPassword: ",
		"[sudo] Passwort für ada: ", "Passwort: ", "Kennwort: ", "[sudo] Mot de passe de ada : ", "Mot de passe : ", "Mot de passe\u00a0: ",
		"[sudo] contraseña para ada: ", "Contraseña: ", "Clave: ", "[sudo] senha para ada: ", "Senha: ",
		"[sudo] password di ada: ", "[sudo] wachtwoord voor ada: ", "Wachtwoord: ", "[sudo] lösenord för ada: ", "[sudo] hasło użytkownika ada: ", "Hasło: ",
		"[sudo] heslo pro ada: ", "[sudo] пароль для ada: ", "Пароль: ", "[sudo] ada のパスワード: ", "パスワード:", "パスワード：",
		"[sudo] ada 的密码： ", "密码：", "密碼: ", "请输入验证码：", "[sudo] ada의 암호: ", "비밀번호: ", "Şifre: ", "รหัสผ่าน: ",
	},
	screen.Confirm: {
		"Do you want to continue? [Y/n] ", "Continue? [Y/n] ", "Proceed (y/N)? ", "Is this ok [y/d/N]: ", "Is this ok [y/N]: ",
		":: Proceed with installation? [Y/n] ", "Are you sure you want to continue connecting (yes/no/[fingerprint])? ",
		"Please type 'yes', 'no' or the fingerprint: ", "Are you sure you want to continue connecting (yes/no)? ",
		"rm: remove regular file 'x'? ", "rm: remove write-protected regular file 'a b'? ", "cp: overwrite './x'? ", "mv: overwrite 'x'? ",
		"replace x.txt? [y]es, [n]o, [A]ll, [N]one, [r]ename: ", "*** foo.conf (Y/I/N/O/D/Z) [default=N] ? ",
		"(1/2) Stage this hunk [y,n,q,a,d,K,g,/,e,?]? ", "Stage this hunk [y,n,q,a,d,e,?]? ",
		"\x1b[1;34m(1/1) Stage this hunk [y,n,q,a,d,e,p,?]?\x1b[m ", "Fix<y>? ", "Overwrite (y/n)? ", "Overwrite? (y/n) ", "/home/ada/.ssh/id_rsa already exists.\r\nOverwrite (y/n)? ",
		"Are you sure? ", "Do you really want to delete it? ", "WARNING! This will remove all stopped containers.\r\nAre you sure you want to continue? [y/N] ",
		"Do you want to perform these actions?\r\n  Only 'yes' will be accepted to approve.\r\n\r\n  Enter a value: ",
		"Möchten Sie fortfahren? [J/n] ", "Souhaitez-vous continuer ? [O/n] ", "¿Desea continuar? [S/n] ", "Fortfahren [y/N]?", "Reload? [yes/no] ",
		"Delete file? [yN] ", "Need to install it. Ok to proceed? (y/n) ", "Would you like to reboot now? ",
	},
	screen.Input: {
		">>> ", "... ", "\r\n>>> ", "Python 3.13.0 (main)\r\nType \"help\" for more.\r\n>>> ", "In [1]: ", "   ...: ",
		"\x1b[32mIn [\x1b[1m1\x1b[0;32m]: \x1b[0m", "(gdb) ", "(lldb) ", "(Pdb) ", "(Pdb++) ", "ipdb> ", "(dlv) ", "  DB<1> ",
		"mysql> ", "    -> ", "MariaDB [(none)]> ", "MariaDB [shop]> ", "postgres=# ", "postgres=> ", "postgres-# ", "shop=*> ", "sqlite> ", "   ...> ",
		"127.0.0.1:6379> ", "redis 127.0.0.1:6379> ", "test> ", "rs0 [direct: primary] test> ", "irb(main):001:0> ", "irb(main):001> ", "[1] pry(main)> ",
		"> ", "php > ", "iex(1)> ", "1> ", "ghci> ", "Prelude> ", "julia> ", "scala> ", "SQL> ", "cqlsh> ", "cqlsh:shop> ", "octave:1> ", "ftp> ", "sftp> ",
		"lftp ada@web01:~> ", "smb: \\> ", "telnet> ", "virsh # ", "R> ",
		"ada@web01:~$ ", "[root@web01 ~]# ", "root@web01:/etc# ", "bash-5.2$ ", "sh-5.2# ", "$ ", "# ", "/ # ", "~ $ ", "web01% ", "➜  src ", "❯ ",
		"\x1b[01;32mada@web01\x1b[00m:\x1b[01;34m~\x1b[00m$ ", "\x1b]0;ada@web01: ~\x07ada@web01:~$ ", "\x1b[?2004hada@web01:~$ ", "(venv) ada@web01:~$ ",
		"PS /home/ada> ", "C:\\Users\\ada>", "Router(config)#", "Router(config-if)# ",
		"login: ", "web01 login: ", "Username for 'https://github.com': ", "Username: ", "AWS Access Key ID [None]: ", "Default region name [None]: ",
		"Enter a number: ", "Select an option: ", "Your choice: ", "Choice [1-3]: ", "Port [22]: ", "package name: (app) ", "#? ", "Command (m for help): ",
		"Country Name (2 letter code) [AU]:", "Enter file in which to save the key (/home/ada/.ssh/id_ed25519): ", "What is your name? ", "? Project name: ",
		"? Pick one: (Use arrow keys)\r\n❯ one\r\n  two ",
	},
	screen.Pager: {
		":", "\x1b[K:\x1b[K", "\r\x1b[K:\x1b[K", "(END)", "\x1b[7m(END)\x1b[27m\x1b[K", "--More--", "--More--(12%)", "\x1b[7m--More--(12%)\x1b[27m", "--More--(Next file: b)",
		"lines 1-23", "lines 1-23/80", "lines 1-23/80 28%", "lines 58-80/80 (END)", "\x1b[7mlines 1-23\x1b[m\x1b[K", "notes.txt lines 1-23/80 28%", "notes.txt (END)",
		" Manual page ls(1) line 1 (press h for help or q to quit)", "Press RETURN to continue", "Press any key to continue . . . ", "-- More --", " --More-- ", "<--- More --->",
		"Press ENTER or type command to continue", "Pattern not found  (press RETURN)", "HELP -- Press RETURN for more, or q when done",
	},
	screen.Running: {
		"", "\r\n", "Password: \r\n", "costs 5$\r\n", "# comment\n", "a > b >\n", "Results:\n", "done:\r\n", "user@host:~$ ls\n", "root@host:~# \n", ">>> \n",
		"Password: hunter2", "password changed", "Resetting passwords", "Setting the password for ada ... ", "Downloading 45%", "Downloading 45% ", "Progress: 45%",
		"\r[=====>     ] 45%", "\r##########            45.0%", "#### ", "foo.tar.gz  45%[====>      ]  1.2M  3.1MB/s  eta 3s", "\rremote: Counting objects: 45% ",
		"checking for gcc... ", "Compiling foo v0.1.0", "Loading", "\rReceiving objects:  12% (1/8)\r", "Working 3/10\r", "\rPassword: \r", "Password: \r\x1b[K",
		"compiling...", ".....", "total 12", "a line without an end", "{\"a\": 1,", "Extracting templates: ", "Waiting for cache lock: ", "2024-01-01 12:00:00 INFO start",
	},
}

func TestRecogniseRealPrompts(t *testing.T) {
	count := 0
	for kind, texts := range waits {
		for _, text := range texts {
			count++
			for name, before := range map[string]string{"alone": "", "after lines": "some output\r\nmore of it\r\n"} {
				w := screen.Recognise(screen.Look{Tail: []byte(before + text), Silence: 300 * time.Millisecond})
				assert.Equal(t, kind, w.Kind, "%s: %q", name, text)
				assert.Equal(t, kind != screen.Running, w.Known, "%q", text)
			}
		}
	}
	assert.Greater(t, count, 250)
}

func TestRecogniseWaitsForSilence(t *testing.T) {
	for kind, texts := range waits {
		for _, text := range texts {
			w := screen.Recognise(screen.Look{Tail: []byte(text), Silence: 10 * time.Millisecond})
			assert.Equal(t, screen.Running, w.Kind, "%q", text)
			w = screen.Recognise(screen.Look{Tail: []byte(text), Settle: -1})
			assert.Equal(t, kind, w.Kind, "without settling: %q", text)
		}
	}
}

func TestRecogniseByShapeAndSilence(t *testing.T) {
	for _, text := range []string{"Frobnicate with what?", "widget 7:", "thing>", "Router#", "Router>", "Colour: "} {
		l := screen.Look{Tail: []byte(text), Silence: 300 * time.Millisecond}
		assert.NotEqual(t, screen.Password, screen.Recognise(l).Kind, text)
		l.Silence = time.Second
		w := screen.Recognise(l)
		assert.Equal(t, screen.Input, w.Kind, text)
		assert.False(t, w.Known, text)
		assert.Equal(t, strings.TrimSpace(text), w.Prompt)
	}
}

func TestRecogniseSilence(t *testing.T) {
	l := screen.Look{Tail: []byte("working on it\n"), Silence: 9 * time.Second}
	assert.Equal(t, screen.Running, screen.Recognise(l).Kind)
	l.Silence = 10 * time.Second
	assert.Equal(t, screen.Silent, screen.Recognise(l).Kind)
	l.SilentAfter = -1
	assert.Equal(t, screen.Running, screen.Recognise(l).Kind)
	l.SilentAfter, l.Silence = time.Second, time.Second
	assert.Equal(t, screen.Silent, screen.Recognise(l).Kind)
	l.Tail = []byte("Password: ")
	assert.Equal(t, screen.Password, screen.Recognise(l).Kind, "a prompt says more than silence")
	l.Tail, l.Alternate = nil, true
	assert.Equal(t, screen.Fullscreen, screen.Recognise(l).Kind)
}

func TestRecogniseWithEchoOff(t *testing.T) {
	for text, want := range map[string]screen.Kind{
		"Speak, friend: ":      screen.Password,
		"Speak, friend":        screen.Password,
		"Passphrase:\r\n":      screen.Password,
		">>> ":                 screen.Input, // a line editor switches echo off too
		"ada@web01:~$ ":        screen.Input,
		"Continue? [Y/n] ":     screen.Confirm,
		"--More--":             screen.Pager,
		"just a line\r\n":      screen.Running,
		"Downloading 45%":      screen.Running,
		"\rworking 45 of 50\r": screen.Running,
	} {
		w := screen.Recognise(screen.Look{Tail: []byte(text), EchoOff: true, Silence: time.Second})
		assert.Equal(t, want, w.Kind, "%q", text)
	}
}

func TestRecogniseFullScreenPrograms(t *testing.T) {
	for text, want := range map[string]screen.Kind{
		"\x1b[?1049h\x1b[2J\x1b[H~\r\n~\x1b[24;1H\"x\" 3L, 9B\x1b[1;1H": screen.Fullscreen,
		"\x1b[H top - 12:00:00 up 1 day\x1b[K\r\n":                      screen.Fullscreen,
		"\x1b[24;1H\x1b[K:\x1b[K":                                       screen.Pager,
		"text\r\n\x1b[7m(END)\x1b[27m\x1b[K":                            screen.Pager,
		"text\r\n\x1b[7mnotes.txt\x1b[27m\x1b[K":                        screen.Pager,
		" Manual page ls(1) line 1 (press h for help or q to quit)":     screen.Pager,
		"Password: ": screen.Fullscreen, // says nothing there
	} {
		w := screen.Recognise(screen.Look{Tail: []byte(text), Alternate: true})
		assert.Equal(t, want, w.Kind, "%q", text)
	}
}

func TestPromptsAreCleanAndShort(t *testing.T) {
	w := screen.Recognise(screen.Look{Tail: []byte("\x1b[1m[sudo]\x1b[0m\u200b password for ada: "), Silence: time.Second})
	assert.Equal(t, "[sudo] password for ada:", w.Prompt)
	w = screen.Recognise(screen.Look{Tail: []byte(strings.Repeat("x", 3000) + "? "), Silence: time.Minute})
	assert.LessOrEqual(t, len([]rune(w.Prompt)), 201)
}

func FuzzRecognise(f *testing.F) {
	for _, texts := range waits {
		for _, text := range texts {
			f.Add([]byte(text), false, false)
		}
	}
	f.Fuzz(func(t *testing.T, tail []byte, alternate, echoOff bool) {
		l := screen.Look{Tail: tail, Alternate: alternate, EchoOff: echoOff, Silence: time.Second}
		w := screen.Recognise(l)
		assert.NotEmpty(t, w.Kind)
		if !alternate && !echoOff {
			l.Tail = append(append([]byte(nil), tail...), '\x18', '\n') // whatever it was, its line is over
			k := screen.Recognise(l).Kind
			if k != screen.Running && !strings.Contains(string(tail), "arrow") && !strings.Contains(string(tail), "<space>") {
				t.Errorf("a line with an end taken for a prompt: %s", k)
			}
		}
	})
}
