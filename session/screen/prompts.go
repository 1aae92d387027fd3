package screen

// The texts that programs wait with. Lines are cleaned, end where the cursor is, and lack their line's end.

// pager: what less, more, man, git, systemctl, psql, vim and network devices show at the bottom.
var pager = anyOf(
	`^:$`,
	`\(END\)$`,
	`^-{2,4} ?More ?-{2,4}`,
	`^<-+ More -+>$`,
	`-- ?More ?-- ?(\(\d+%\)|\(Next file: .*\))?$`,
	`\blines \d+-\d+(/\d+)?( byte \d+(/\d+)?)?( \d+%)?( \(press h for help or q to quit\))?$`,
	`\(press h for help or q to quit\)$`,
	`^byte \d+(/\d+)?( \d+%)?$`,
	`^(?i)(?:.*\W)?(?:press|hit|strike|type) (?:<?(?:return|enter|space|cr)>?|any key|a key)\b[^?]{0,60}$`,
	`^Pattern not found  \(press RETURN\)$`,
	`^Next page \(.*\)\?$`,
)

// fileName is less's first prompt: a name in reverse video and nothing after it.
var fileName = anyOf(`\x1b\[7m[^\x1b\r\n]{1,200}\x1b\[(?:0|27)?m(?:\x1b\[0?K)?$`)

// passwordEnglish: sudo, su, ssh, ssh-keygen, gpg, openssl, cryptsetup, git, psql, mysql, ansible, PAM modules, Duo and
// other second factors, cloud command lines.
var passwordEnglish = anyOf(
	`(?i)(?:^|[^\pL])(?:pass ?word|pass ?phrase|passcode|passwd|pin|otp|totp|secret|secret access key|api[ -]key|`+
		`(?:(?:access|auth|api|bearer|authentication|personal access|security|session|mfa|2fa) )?token(?: code)?|`+
		`(?:verification|authentication|security|one[- ]time|mfa|2fa|otp|totp|sms|two[- ]factor|access|login|recovery|google authenticator)[- ](?:pass)?code)`+
		`(?:\s+again|\s+\(again\)|\s+or option|\s+confirmation)?`+
		`(?:\s*[(\[].{0,100}[)\]])*`+
		`(?:\s+(?:for|of|to|on|from|as|at|please)\b.{0,200})?\s*[:：?>]+\s*$`,
	`(?i)^enter (?:a |the )?(?:\d.digit )?(?:code|mfa code|passcode)\b.{0,120}:\s*$`,
	`(?i)^(?:enter|type|re-?type|re-?enter|repeat|confirm|verify|input)(?: (?:your|the|a|an|new|old|same|current|unix|ldap))* (?:password|passphrase|pin)\s*(?:again)?\s*[:.…]*\s*$`,
	`(?i)^\[sudo[^\]]{0,40}\].{0,120}:\s*$`,
)

// passwordElsewhere: the same in other languages, as PAM, sudo and OpenSSH are translated.
var passwordElsewhere = anyOf(
	`(?i)(?:^|[^\pL])(?:passwort|kennwort|passphrase|mot de passe|phrase de passe|phrase secrète|contraseña|contrasena|clave|frase de paso|`+
		`senha|palavra-passe|parola d'ordine|parola|wachtwoord|wachtzin|lösenord|losenord|lösenfras|adgangskode|kodeord|passord|salasana|tunnussana|`+
		`hasło|haslo|heslo|geslo|lozinka|jelszó|jelszava|parolă|şifre|parolası|slaptažodis|parool|parole|κωδικός|συνθηματικό|`+
		`пароль|парола|лозинка|kata sandi|mật khẩu|code pin|code de vérification|bestätigungscode|código de verificación|código)`+
		`(?:[^\pL:：].{0,120}?)?\s*[:：]\s*$`,
	`(?:密码|密碼|口令|通行短语|验证码|驗證碼|パスワード|パスフレーズ|暗証番号|確認コード|암호|비밀번호|인증 코드|รหัสผ่าน|סיסמה|ססמה|كلمة المرور|كلمة السر|پاسورد|گذرواژه|पासवर्ड)[^:：]{0,80}[:：]\s*$`,
)

// confirm: apt, dnf, pacman, dpkg, ssh, rm, cp, git, fsck, terraform and the [y/N] of everybody.
var confirm = anyOf(
	`[\[(]\s*\pL{1,12}\s*(?:[/|,]\s*[\pL?!<>.-]{1,12}\s*){1,12}(?:[/|,]\s*\[[a-z ]+\]\s*)?[\])]\s*(?:\[[^\]]{0,20}\]\s*|\(default[^)]{0,20}\)\s*)?[:?？>]*\s*$`,
	`\[\s*[A-Za-z](?:,[^\],\s]{1,4}){2,15}\]\s*\??\s*$`,
	`\((?:Y/I/N/O/D/Z|Y/N|y/n)\)\s*\[default=.\]\s*\?\s*$`,
	`(?i)\byes\b.{0,12}\bno\b.{0,40}[:?]\s*$`,
	`\[Yn\]\s*$|\[yN\]\s*$`,
	`(?i)\b(?:y|yes) ?(?:/|or|\|) ?(?:n|no)\s*\??[:)]?\s*$`,
	`^(?:rm|mv|cp|ln|install|tar|gzip|unzip|bzip2|xz|find): .{0,300}\?\s*$`,
	`^replace .{1,300}\? \[y\]es, .*:\s*$`,
	`(?i)^(?:.*\b)?(?:are you sure|do you (?:really )?(?:want|wish) to|would you like to|proceed|continue|overwrite|is this ok(?:ay)?|ok to|really)\b[^:]{0,200}\?\s*$`,
	`^Fix(?:<y>)?\?\s*(?:yes|no)?\s*$|^.{1,80}<[yn]>\?\s*$`,
)

// yesOnly and enterValue: terraform's and others' way to ask for the word.
var (
	yesOnly    = anyOf(`Only 'yes' will be accepted`, `(?i)type ['"]?yes['"]? to (?:confirm|continue|proceed)`)
	enterValue = anyOf(`^\s*Enter a value:\s*$`, `^\s*>?\s*$`)
)

// menu: lists to choose from with the arrow keys.
var menu = anyOf(`\(Use arrow keys[^)\n]*\)`, `\[Use arrows to move[^\]\n]*\]`, `(?i)use the arrow keys to navigate`, `\(Press <space> to select[^)\n]*\)`)

// marks: prompts that are nothing but a mark: python, node, R, mysql and sqlite going on, bare shells.
var marks = anyOf(
	`^\s*(?:>>>|\.\.\.|>>|->|\.\.\.>|=>|\?>|[>$#%+»›❯❱➜λ∙⋊✗⟩⟫?])\s$`,
	"^\\s*(?:'>|\">|`>|/\\*>)\\s$",
)

// input: REPLs, debuggers, database and file-transfer clients, shells, and questions that name what they want.
var input = anyOf(
	`^In \[\d+\]: $|^\s*\.\.\.: $`,
	`^\((?:gdb|lldb|dlv|Pdb|Pdb\+\+|pdb\+\+|rdb:\d+|rr|byebug|cuda-gdb|kgdb|qemu|jdb|perldb|mdb|bashdb|hledger|ipdb|i?pdb>?)\)\s$`,
	`^\s*DB<+\d+>+\s$`,
	`^\[\d+\] [\w.-]+\([^)]*\)>\s$`,
	`^[\w.-]+(?:\([^)]{0,60}\))?(?::\d+)*(?::?\d{3})?(?:\[[^\]]{0,40}\])?[>*"']?>\s$`, // irb(main):001:0>, iex(1)>, octave:1>, mysql>, 127.0.0.1:6379>
	`^\w[\w ]{0,20} \[[^\]]{1,60}\](?: [\w-]{1,40})?>\s$`,                             // MariaDB [(none)]>
	`^[\w.-]+(?:[=('"^-][*!]?|[*!])[>#]\s$`,                                           // postgres=#
	`^[\w.-]{1,30}(?: [>#]|:[\w.-]{1,60}>)\s$`,                                        // php >, virsh #, cqlsh:shop>
	`^(?:ftp|sftp|lftp [^>]{1,80}|smb: [^>]{0,80}|telnet|virsh|mongo\w*|redis\S*|\S+@\S+|[\w-]+ [\d.:]+)>\s$`,
	`^(?:\([^)]{1,40}\)\s?)?(?:\[[^\]]{1,100}\]|[\w.+-]+@[\w.-]+[^\n]{0,120}|(?:ba|da|z|k|a|mk|fi)?sh(?:-[\d.]+\w?)?)\s?[$#%>❯]\s$`, // user@host:~$, [root@host ~]#, bash-5.2$
	`^(?:/|~)[^\n]{0,100} [$#%]\s$`,                                                                                                 // busybox: / #
	`^[\w.-]+[%#]\s$`,                                                                                                               // zsh and csh: host%
	`^➜\s+\S.{0,100}\s$|^.{1,100}\s[❯➜λ]\s$`,
	`^PS [^\n]{1,120}>\s?$`,
	`^[A-Za-z]:\\[^\n>]{0,120}>$`,
	`^[\w.-]{1,40}\([\w-]{1,30}\)#\s?$`, // network devices: Router(config)#
	`(?i)(?:^|[^\pL])(?:login|log in as|login as|user ?name|user(?:-| )?id|user|benutzername|benutzer|anmeldename|identifiant|nom d'utilisateur|utilisateur|usuario|nombre de usuario|utente|usuário|gebruikersnaam|användarnamn|uživatel|логин|имя пользователя|用户名|用戶名|ユーザー名|ユーザ名|사용자 이름)(?: (?:for|on|at|für|pour|para)\b.{0,200})?\s*[:：]\s*$`,
	`(?i)^(?:\?|\[\?\])\s.{1,200}[:?›»)]\s`,
	`(?i)^(?:please )?(?:enter|type|input|select|choose|pick|specify|provide|give|insert|paste|your (?:choice|selection|answer|name|email)|choice|selection|option|command|answer|name|e-?mail|full name|country name|common name|organi[sz]ation)\b.{0,200}[:?>\])：]\s*$`,
	`\[[^\]\n]{0,80}\]\s*[:?：]\s*$|\(default[^)\n]{0,60}\)\s*[:?]?\s*$|\([^)\n]{1,80}\)\s*:\s*$|:\s+\([^)\n]{1,80}\)\s$`, // Port [22]:
	`^[\pL][^\n]{2,200}\?\s$`,
	`^(?:#\?|\?#|select>|cmd:|Command:|command>|Action:|Command \(m for help\):)\s*$`,
)

// progress: lines that end like a prompt but are written over.
var progress = anyOf(
	`(?:^|[^\pL\d.])\d+(?:[.,]\d+)?\s*%\s*$`,
	`[#=*.>-]{3,}[#>]\s*$`,
	`\.\.\.\s*$`,
	`(?i)\b(?:eta|elapsed|remaining|speed|downloading|uploading|fetching|installing|compiling|building|extracting|loading|waiting|copying|starting|stopping|checking|unpacking|processing|receiving objects|resolving deltas|counting objects|compressing objects)\b[^?]{0,80}[:>#%]?\s*$`,
)

// shape: what ends as prompts do.
var shape = anyOf(`[:?>$#%❯›»：？]\s?$`, `[\])]\s$`)
