// Package redact takes secrets out of text that agents, records and stores get to see, while the text streams by.
//
// A [Set] holds what is known to be secret. A [Writer] of it takes out known values, in all forms that programs give
// them, and whatever looks like a secret. What it takes out becomes a mark, «redacted:KIND:ID»: KIND says what it was, ID
// is a keyed hash of the value, so that the same value has the same ID within one Set and nobody without its key can
// test a guess. A mark is never a plausible value; [ContainsMark] finds marks in what goes back to a host.
//
// # Streaming
//
// What a Writer passes on does not depend on how its input is cut. It holds back only what is not decided: the end of
// the text if it is the start of a known form (at most six times [MaxSecret], in practice a few bytes), and what
// follows a keyword until the end of its line (at most [Window] bytes). A secret that goes on is not held but dropped, so
// memory is bounded, also for a key block that never ends: that one is taken out until the text ends. [Writer.Flush]
// shows what waits when the source is silent; how much it may show is told there.
//
// # What it looks at
//
// Bytes, as they come, and past control sequences as those of colours, between a name and its value and inside of a
// value. A name or a prefix with a control sequence in the middle, a backspace or a character of no width is other bytes,
// and is not found. Whoever takes these out afterwards puts the secret together, and has to look again: the tools for
// agents do, at the text of streams, pages, screens, prompts, directories and commands. Of a page in which something was
// found only then they give no exact bytes, and they end such a page with a line. What does not hold: records, stores and
// the web page have these bytes as they came; and a secret that is both hidden like this and cut (by an offset in the
// middle of it, by what is left out between the head and the tail of an output, or by the edge of a terminal) is shown in
// its parts.
//
// What programs write before the lines of others is looked past, too: the signs
// of diff, the names of docker compose, the times of logs, the places of grep and
// cat -n, and the marks of comments. So are the lines in a string of JSON, with its escapes.
//
// Some names hand over to the lines that follow them: block scalars of YAML, values on the next line, the text of an
// element, the data of a Kubernetes Secret. Runs of base64 that hold text are decoded, also when they are broken into
// lines, and what would be taken out of the text is taken out of the run. The first three bytes of a run, of a key block
// without its head, and of an AWS secret key that stands alone are shown.
//
// # What it catches
//
// Known values of 4 bytes or more, learned ones of 8 or more ([Set.Learn], [Set.LearnFromCommand]), as they are and as
// URLs, shells (single, double and backslash quotes), JSON, HTML, XML, YAML and SQL write them; from 8 bytes on also in base64 (standard
// and URL alphabet, at each of the three alignments, padded or not) and in hexadecimal digits; of a value of several
// lines also each line of 16 bytes or more.
//
// And these, for [Guarded] readers. What stands between ‹ and › is taken out; {36} stands for 36 letters and digits,
// {hex:32}, {upper:16} and {b64:44} for others.
//
//	kind                 example
//	anthropic-key        ‹sk-ant-api03-{40}›
//	api-key              X-Api-Key: ‹{32}›
//	api-key              APP_KEY=base64:‹{b64:43}=›
//	atlassian-token      ‹ATATT3{60}›
//	authorization        Authorization: Bearer ‹{24}›
//	authorization        headers = {"X": "Bearer ‹abc123›"}
//	aws-access-key-id    ‹AKIA{upper:16}›
//	aws-secret-key       aws_secret_access_key = ‹{40}›
//	aws-secret-key       wJa‹lrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY›
//	aws-signature        https://b.s3.amazonaws.com/k?X-Amz-Signature=‹{hex:64}›
//	age-key              ‹AGE-SECRET-KEY-1{upper:58}›
//	azure-key            AccountName=a;AccountKey=‹{b64:88}›;EndpointSuffix=e
//	cookie               Set-Cookie: session=‹{24}›; HttpOnly
//	databricks-token     ‹dapi{hex:32}›
//	digitalocean-token   ‹dop_v1_{hex:64}›
//	docker-auth          {"auths":{"ghcr.io":{"auth":"‹{b64:24}›"}}}
//	docker-token         ‹dckr_pat_{27}›
//	dsn                  app:‹s3cr3t!›@tcp(db:3306)/app
//	dsn                  postgres://app:‹s3cr3t!›@db:5432/app
//	dsn                  app:‹s3cr3t!›@/app?parseTime=true
//	fairlead-token       ‹fairlead_{26}›
//	github-token         ‹ghp_{36}›
//	gitlab-token         ‹glpat-{20}›
//	google-key           ‹AIza{35}›
//	google-token         ‹ya29.{40}›
//	grafana-token        ‹glsa_{32}_{hex:8}›
//	huggingface-token    ‹hf_{34}›
//	jwt                  ‹eyJ{20}.eyJ{30}.{43}›
//	kubeconfig-key       client-key-data: ‹{b64:64}›
//	linear-key           ‹lin_api_{40}›
//	newrelic-key         ‹NRAK-{upper:27}›
//	npm-token            ‹npm_{36}›
//	openai-key           ‹sk-proj-{48}›
//	password             DB_PASSWORD=‹hunter2›
//	password             DB_PASSWORD=‹hunter2›; export DB_PASSWORD
//	password             "password": "‹hunter2›"
//	password             password: |\n  ‹hunter2 and more›
//	password             "password":\n  "‹hunter2›"
//	password             password: &pw !!str ‹hunter2›
//	password             {password: ‹hunter2›, user: kim}
//	password             ? password\n: ‹hunter2›
//	password             password: "{{ pw | default('‹hunter2›') }}"
//	password             DB_PASSWORD=${DB_PASSWORD:-‹hunter2›}
//	password             "passwords": ["‹hunter2›", "‹other3›"]
//	password             passwords:\n  - ‹hunter2›\n  - ‹other3›
//	password             userPassword:: ‹aHVudGVyMg==›
//	password             powershell -enc cABhAHMAcwB3AG8AcgBkAD0A‹aAB1AG4AdABlAHIAMgA›=
//	password             <password>‹hunter2›</password>
//	password             - name: DB_PASSWORD\n  value: ‹hunter2›
//	password             cGFzc3dvcmQ9‹aHVudGVyMg›==
//	password             server.login("kim", "‹hunter2›")
//	password             define('DB_PASSWORD', '‹hunter2›');
//	password             user.setPassword("‹hunter2›");
//	password             mysql -u root -p‹hunter2› app
//	password             sshpass -p ‹hunter2› ssh web1
//	password             curl -u admin:‹hunter2› http://web1/
//	password             createuser --password=‹hunter2›
//	password             SetEnv DB_PASSWORD ‹hunter2›
//	password             bindpw ‹hunter2›
//	password             oper kim ‹hunter2›
//	password             "kim" "‹Hunter2x›"
//	password             passphrase: ‹correct horse battery staple›
//	password             A temporary password is generated for root@localhost: ‹hunter2›
//	password             enable secret 0 ‹hunter2›
//	password             tacacs-server key 7 ‹0822455D0A16›
//	password             createUser kim SHA "‹hunter22›" AES "‹hunter33›"
//	password             [smtp.example.com]:587 user:‹hunter2›
//	password             kim : EAP "‹hunter2›"
//	password             machine web1\nlogin kim\npassword ‹hunter2›
//	password             echo '‹hunter2›' | sudo -S id
//	password             net user bob ‹hunter2› /add
//	password             cmdkey /add:web1 /user:bob /pass:‹hunter2›
//	password             ConvertTo-SecureString '‹hunter2›' -AsPlainText -Force
//	password             ALTER USER app PASSWORD $$‹hunter2›$$;
//	password             variable "db_password" {\n  default = "‹hunter2›"\n}
//	password             USER  PASSWORD\nkim   ‹hunter2›
//	password             p\0a\0s\0s\0=\0‹h\0u\0n\0t\0e\0r\02\0›
//	password             {User:kim Password:‹hunter2› Host:db}
//	password             ["mysql", "-uroot", "-p‹hunter2›"]
//	password             "db_password": {"value": "‹hunter2›"}
//	password             a:1:{s:8:"password";s:7:"‹hunter2›";}
//	password             &quot;password&quot;:&quot;‹hunter2›&quot;
//	password             %22password%22%3A%22‹hunter2›%22
//	password             USER kim\nPASS ‹hunter2›
//	password             sudo -S id <<< ‹hunter2›
//	password             d-i passwd/root-password password ‹hunter2›
//	password             ssh-keygen -N '‹hunter2›' -f k
//	password             expect "assword:" { send "‹hunter2›\\r" }
//	password-hash        root:‹$6${16}${86}›:19000:0:99999:7:::
//	pgpass               db:5432:app:deploy:‹hunter2›
//	postman-key          ‹PMAK-{hex:24}-{hex:34}›
//	private-key          ‹-----BEGIN OPENSSH PRIVATE KEY-----\n{64}\n-----END OPENSSH PRIVATE KEY-----›
//	private-key          ‹-----BEGIN OpenVPN Static key V1-----\n{hex:32}\n-----END OpenVPN Static key V1-----›
//	private-key          MII‹EpAIBAAKCAQEA{b64:48}\n{b64:64}›
//	private-key          ‹KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn›
//	pulumi-token         ‹pul-{hex:40}›
//	putty-key            ‹Private-Lines: 1\n{64}\nPrivate-MAC:› {hex:40}
//	pypi-token           ‹pypi-AgE{60}›
//	rubygems-key         ‹rubygems_{hex:48}›
//	secret               data:\n  any: ‹aHVudGVyMg==›
//	secret               stringData:\n  any: ‹hunter2›
//	secret               stringData: {any: ‹hunter2›}
//	secret               kubectl create secret generic db --from-literal=any=‹hunter2›
//	secret               key "k" { secret "‹{b64:23}=›"; };
//	secret               client_secret: ‹{24}›
//	sendgrid-key         ‹SG.{22}.{43}›
//	sentry-token         ‹sntrys_{40}›
//	service-token        ‹pplx-{48}›
//	service-token        ‹sha256~{43}›
//	shopify-token        ‹shpat_{hex:32}›
//	slack-token          ‹xoxb-{24}›
//	slack-webhook        https://hooks.slack.com/services/‹T{8}/B{8}/{24}›
//	stripe-key           ‹sk_live_{24}›
//	tailscale-key        ‹tskey-auth-{24}›
//	telegram-token       123456789:‹AA{33}›
//	token                token=‹{16}›
//	twilio-key           ‹SK{hex:32}›
//	vault-unseal-key     Unseal Key 1: ‹{b64:44}›
//	vault-token          ‹hvs.{24}›
//	wireguard-key        PrivateKey = ‹{b64:43}=›
//
// # What it does not catch
//
// Nobody who can run programs on a host is kept from a secret there: this is for accidents, not against intent. Not
// caught, among others:
//
//	why                           example
//	a value without a name        hunter2
//	a word in running text        the password is hunter2
//	a name nobody would guess     DB_CRED_X=hunter2
//	fewer than 3 bytes            password=ab
//	the name of a variable        password=$DB_PASSWORD
//	a hash of htpasswd -d         kim:rqXexS6ZhobKA
//	a hash of htdigest            kim:realm:3f9a0c7be1d48253f9a0c7be1d48253f
//	a command in UTF-16           m\0y\0s\0q\0l\0 \0-\0p\0h\0u\0n\0t\0e\0r\02\0
//	a word behind another         "bob" "plain"
//	a stand-in                    password: changed
//	where a value is kept         password: vault:secret/data/db#password
//	a reversed value              drowssap terces a
//	a name apart from its value   cGFzc3dvcmQ9
//	a dump of a file              70 61 73 73 77 6f 72 64 3d 68 75 6e
//	a public key or certificate   -----BEGIN CERTIFICATE-----\n{64}\n-----END CERTIFICATE-----
//
// # Limits
//
// What is given ([Set.Add], [Set.AddOwn]) is never forgotten. What is learned has limits for each [Owner]: 1024 values of
// 32 KiB together, with at most 512 KiB of forms. What is typed at prompts for passwords ([Owner.LearnTyped]) has the
// same limits again, of its own. No owner's values count for another. Of a value longer than [MaxLearnedValue] the first
// part is learned: what follows that part is taken out as well, as far as the value went on or to the end of the line.
// Of a long value of several lines each line is learned so. A value that is first shown from its middle on is shown.
//
// # More that it does not catch
//
// Also not: a known value that is compressed, encrypted, broken over lines inside base64, in a hexadecimal or octal dump
// with blanks, or encoded twice; in base64 what has neither a name nor a prefix; and base64 that begins with bytes that
// are no text. Next to a value in base64 up to four bits of its first and last byte may stay.
//
// # Concurrency
//
// Sets and Writers may be used from many goroutines. No goroutine is started.
package redact
