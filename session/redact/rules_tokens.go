package redact

import (
	"bytes"
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// tokenRules take out what its issuer made recognisable. A row: kind, expression, what it may go on with, keywords.
func tokenRules() []*rule {
	token := func(kind, re string, tail *class, keys ...string) *rule {
		return &rule{kind: kind, re: lazyregexp.New(`^` + re), tail: tail, keys: keys, left: wordLeft, hold: true}
	}
	rules := []*rule{
		token("aws-access-key-id", `((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})(?:[^A-Za-z0-9]|$)`, nil, "akia", "asia", "abia", "acca"),
		token("github-token", `gh[pousr]_[A-Za-z0-9]{36}`, wordBytes, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
		token("github-token", `github_pat_[A-Za-z0-9_]{40,}`, wordBytes, "github_pat_"),
		token("gitlab-token", `(?:gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|oas)-|GR1348941)[A-Za-z0-9_-]{20,}`, tokenBytes,
			"glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-", "gloas-", "gr1348941"),
		token("slack-token", `xox[abcdeoprs]-[A-Za-z0-9%-]{10,}`, classOf("A-Za-z0-9_%-"), "xox"),
		token("slack-token", `(?:xapp-\d|xwfp)-[A-Za-z0-9-]{10,}`, wordBytes, "xapp-", "xwfp-"),
		token("stripe-key", `[sr]k_(?:org_)?(?:live|test)_[A-Za-z0-9]{10,}`, alnumBytes,
			"sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_org_live_", "sk_org_test_"),
		token("stripe-key", `whsec_[A-Za-z0-9+/]{24,}`, base64Bytes, "whsec_"),
		token("anthropic-key", `sk-ant-[A-Za-z0-9_-]{20,}`, wordBytes, "sk-ant-"),
		token("openai-key", `sk-(?:(?:proj|svcacct|admin|None|or-v1|lf)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})`, wordBytes, "sk-"),
		token("google-key", `AIza[A-Za-z0-9_-]{35}`, wordBytes, "aiza"),
		token("google-key", `GOCSPX-[A-Za-z0-9_-]{20,}`, wordBytes, "gocspx-"),
		token("google-token", `ya29\.[A-Za-z0-9_-]{20,}`, tokenBytes, "ya29."),
		token("npm-token", `npm_[A-Za-z0-9]{36}`, alnumBytes, "npm_"),
		token("pypi-token", `pypi-AgE[A-Za-z0-9_-]{20,}`, wordBytes, "pypi-age"),
		token("rubygems-key", `rubygems_[0-9a-f]{40,}`, alnumBytes, "rubygems_"),
		token("docker-token", `dckr_[a-z]{1,5}_[A-Za-z0-9_-]{20,}`, wordBytes, "dckr_"),
		token("huggingface-token", `hf_[A-Za-z0-9]{30,}`, alnumBytes, "hf_"),
		token("twilio-key", `(SK[0-9a-f]{32})(?:[^A-Za-z0-9]|$)`, nil,
			hexAfter("sk")...),
		token("sendgrid-key", `SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,}`, wordBytes, "sg."),
		token("digitalocean-token", `do[opr]_v1_[0-9a-f]{64}`, alnumBytes, "doo_v1_", "dop_v1_", "dor_v1_"),
		token("vault-token", `hv[sbr]\.[A-Za-z0-9_-]{20,}`, wordBytes, "hvs.", "hvb.", "hvr."),
		token("grafana-token", `gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}`, base64Bytes, "glsa_", "glc_"),
		token("tailscale-key", `tskey-[a-z]+-[A-Za-z0-9-]{10,}`, wordBytes, "tskey-"),
		token("databricks-token", `((?:dapi|dose)[0-9a-f]{32}(?:-\d)?)(?:[^A-Za-z0-9]|$)`, nil, "dapi", "dose"),
		token("shopify-token", `shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}`, alnumBytes, "shpat_", "shpca_", "shppa_", "shpss_"),
		token("atlassian-token", `AT(?:(?:ATT3|CTT3|BB)[A-Za-z0-9_=-]{32,}|TA[0-9A-Fa-f]{2}[A-Za-z0-9_=-]{30,})`, classOf("A-Za-z0-9_=-"),
			append(starts("atta", hexDigits), "atatt3", "atctt3", "atbb")...),
		token("linear-key", `lin_(?:api|oauth)_[A-Za-z0-9]{32,}`, alnumBytes, "lin_api_", "lin_oauth_"),
		token("newrelic-key", `NR(?:AK|II|JS|RA|IQ)-[A-Za-z0-9_-]{19,}`, wordBytes, "nrak-", "nrii-", "nriq-"),
		token("pulumi-token", `pul-[0-9a-f]{40}`, alnumBytes, "pul-"),
		token("postman-key", `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`, alnumBytes, "pmak-"),
		token("sentry-token", `sntry[su]_[A-Za-z0-9+/=_]{32,}`, base64Bytes, "sntrys_", "sntryu_"),
		token("fairlead-token", `fairlead_(?:approve_)?[A-Za-z0-9]{20,}`, alnumBytes, "fairlead_"),
		token("google-token", `1//0[A-Za-z0-9_-]{30,}`, wordBytes, "1//0"),
		token("npm-token", `_auth["']?[ \t]*[=:][ \t]*["']?([A-Za-z0-9+/]{12,}={0,2})`, base64Bytes, "_auth=", "_auth ", `_auth"`),
		token("service-token", `(?:pplx|gsk|xai|nfp|figd|sbp|sb_secret|rnd|fo1|tvly|nvapi|lsv2_(?:pt|sk)|rdme|pscale_tkn|pscale_pw|bkua|CCIPAT|CFPAT|sq0atp|sq0csp|r8|ntn|sgp|HRKU|xkeysib|CLOJARS|dt0c01|dt0s01|dp\.(?:pt|st|sa|ct|scim|audit)|ops_eyJ|cio|shippo_live|EZAK|aio|tfp|pnu|duffel_live|AKCp)[-_.]?[A-Za-z0-9_.-]{28,}`, tokenBytes,
			"pplx-", "gsk_", "xai-", "nfp_", "figd_", "sbp_", "rdme_", "pscale_tkn", "pscale_pw", "bkua_", "ccipat_", "cfpat-", "sq0atp", "sq0csp", "r8_", "ntn_",
			"sgp_", "hrku-", "xkeysib-", "clojars_", "dt0c01", "dt0s01", "dp.pt", "dp.st", "dp.sa", "dp.ct", "dp.scim", "dp.audit", "sb_secret_", "rnd_", "fo1_", "tvly-", "nvapi-", "lsv2_", "ops_eyj", "shippo_live_", "duffel_live_", "ezak", "aio_", "tfp_", "pnu_", "akcp"),
		token("service-token", `(?:sq[aup]_[0-9a-f]{40}|oy2[a-z0-9]{43}|sl\.[A-Za-z0-9_-]{130,}|EAA[A-Za-z0-9_-]{60,}|at_\d{10}_[A-Za-z0-9]{40,}|v1\.0-[0-9a-f]{24}-[0-9a-f]{146}|`+
			`fm(?:1[ar]|2)_[A-Za-z0-9+/=,_]{60,}|sha256~[A-Za-z0-9_-]{43}|t1\.9eu[A-Za-z0-9_-]{40,}={0,2}\.[A-Za-z0-9_-]{80,}={0,2}|LTAI[A-Za-z0-9]{16,20}|AVNS_[A-Za-z0-9_-]{15,}|`+
			`APP_USR-\d{10,}-\d{6}-[0-9a-f]{32}(?:-\d+)?|rzp_(?:live|test)_[A-Za-z0-9]{14}|FLWSECK(?:_TEST)?-[0-9A-Za-z-]{12,}|pcsk_[A-Za-z0-9_]{40,}|sess-[A-Za-z0-9]{40,}|fw_3[A-Za-z0-9]{20,24}|`+
			`sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}|eyJrIjoi[A-Za-z0-9+/=_-]{40,}|eyJhIjoi[A-Za-z0-9+/=_-]{100,}|dG9rOj[A-Za-z0-9+/=]{40,}|access_token\$production\$[0-9a-z]{16}\$[0-9a-f]{32}|`+
			`(?:access-(?:production|sandbox|development)|sdk|api|pat-(?:na|eu|ap)\d)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|MT[A-Za-z][A-Za-z0-9_-]{21,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})(?:[^A-Za-z0-9_-]|$)`, nil,
			slices.Concat(starts("oy2", "abcdefghijklmnopqrstuvwxyz234567"), starts("sl.", "abcu"), starts("eaa", "abcdefghij"),
				starts("mta", "wxyz012345"), starts("mte", "wxyz012345"), starts("mti", "wxyz012345"), starts("mtm", "wxyz012345"), starts("mtq", "wxyz012345"),
				starts("mtu", "wxyz012345"), starts("mty", "wxyz012345"), starts("mtc", "wxyz012345"), starts("mtg", "wxyz012345"), starts("mtk", "wxyz012345"),
				[]string{"squ_", "sqa_", "sqp_", "at_1", "at_2", "v1.0-", "fm1a_", "fm1r_", "fm2_", "sha256~", "t1.9eu", "ltai", "avns_", "app_usr-", "rzp_live_", "rzp_test_", "flwseck", "pcsk_", "sess-", "fw_3",
					"sk.eyj", "eyjrijoi", "eyjhijoi", "dg9roj", "access_token$production$", "access-production-", "access-sandbox-", "access-development-", "sdk-", "api-", "pat-na", "pat-eu", "pat-ap"})...),
		token("service-token", `(?:api_org_[A-Za-z0-9]{34}|secret_[A-Za-z0-9]{43}|SWMKEY-1-[A-Za-z0-9+/]{43})(?:[^A-Za-z0-9_-]|$)`, nil, "api_org_", "secret_", "swmkey-1-"),
		token("service-token", `(?:phx_[A-Za-z0-9]{40,}|vercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{24,})`, alnumBytes, "phx_", "vercel_blob_rw_"),
		// Of Airtable, Resend and 1Password, each as long as its issuer makes it.
		token("service-token", `(pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})(?:[^A-Za-z0-9_-]|$)`, nil,
			slices.Concat(starts("pat", alnums), starts("re_", alnums), starts("a3-", alnums))...),
		// Of crates.io and ElevenLabs.
		token("service-token", `(cio[A-Za-z0-9]{32}|sk_[0-9a-f]{48})(?:[^A-Za-z0-9_-]|$)`, nil, append(starts("cio", alnums), starts("sk_", hexDigits)...)...),
		token("private-key", `(S[ACNOUX][A-Z2-7]{56})(?:[^A-Za-z0-9_-]|$)`, nil, seeds()...),
		// BIP 32.
		token("private-key", `([txyz]prv[1-9A-HJ-NP-Za-km-z]{107,108})(?:[^A-Za-z0-9_-]|$)`, nil, "xprv", "tprv", "yprv", "zprv"),
		wif(),
		// RFC 7515: three parts, of which the first two are JSON objects; RFC 7516: five.
		token("jwt", `eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*|[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})`,
			tokenBytes, "eyj"),
		// crypt(5).
		token("password-hash", `\$(?:1|5|6|7|14|y|gy|md5|sha1|apr1)\$[./+A-Za-z0-9,=$]{0,80}\$[./+A-Za-z0-9]{20,}`, classOf("./+=A-Za-z0-9"),
			"$1$", "$5$", "$6$", "$7$", "$14$", "$y$", "$gy$", "$sha1$", "$apr1$"),
		token("password-hash", `\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}`, classOf("./A-Za-z0-9"), "$2a$", "$2b$", "$2x$", "$2y$"),
		token("password-hash", `\$(?:argon2(?:id?|d)|scrypt|pbkdf2[a-z0-9-]*)\$[^\s:"']{30,}`, but(`:"'`), "$argon2", "$scrypt$", "$pbkdf2"),
		// Of phpass, Drupal and WordPress; of Werkzeug and Django, which begin with the name of the method.
		token("password-hash", `(?:\$[PH]\$[./A-Za-z0-9]{31}|\$S\$[./A-Za-z0-9]{52}|\$wp\$2y\$\d\d\$[./A-Za-z0-9]{53})`, classOf("./A-Za-z0-9"), "$p$", "$h$", "$s$", "$wp$2y$"),
		token("password-hash", `(?:scrypt:\d+:\d+:\d+|pbkdf2:sha\d+:\d+|pbkdf2_sha\d+\$\d+|scrypt\$[A-Za-z0-9]+\$\d+\$\d+\$\d+)\$([^\s$:"']{1,64}\$[A-Za-z0-9+/=]{27,})`, base64Bytes,
			"scrypt:", "scrypt$", "pbkdf2:sha", "pbkdf2_sha"),
		token("password-hash", `\{(?:SSHA|SHA|SMD5|MD5|CRYPT|SSHA256|SSHA512|PBKDF2[A-Z0-9-]*)\}[A-Za-z0-9+/=.$]{20,}`, but(`,;"'`),
			"{ssha", "{sha}", "{smd5}", "{md5}", "{crypt}", "{pbkdf2"),
	}
	for _, r := range rules {
		switch r.kind {
		case "openai-key":
			r.pre = isOpenAI
		case "atlassian-token":
			r.pre = func(_, _ []byte, name int) bool { return name >= 36 }
		case "jwt":
			r.long, r.pre = true, isJWT
		case "service-token":
			switch r.keys[0] {
			case "pata":
				r.look, r.pre = 128, signAtPlace
			case "cioa":
				r.look, r.ok = 64, func(m *match) bool { return m.win[0] == 's' || random(m.text(1)) }
			}
		case "password-hash":
			if r.look = 256; r.tail != base64Bytes {
				r.pre = longRun
			}
		}
	}
	return append(rules, &rule{ // of Cisco, after the number of its kind
		kind: "password-hash", keys: []string{"secret 8 $", "secret 9 $"}, left: wordLeft, look: 256, tail: classOf("./A-Za-z0-9"),
		re: lazyregexp.New(`^secret [89] (\$[89]\$[./A-Za-z0-9]{10,80}\$[./A-Za-z0-9]{20,})`),
	}, &rule{ // kim:x:19000:0:99999:7:::, with the hash of DES before it
		kind: "password-hash", keys: []string{":99999:"}, look: 64, back: true,
		re: lazyregexp.New(`^:99999:\d*:\d*:\d*:`),
		ok: func(m *match) bool {
			g := shadowDES.FindSubmatchIndex(linePrefix(m.before))
			if g == nil {
				return false
			}
			n := len(linePrefix(m.before))
			m.behind, m.until = n-g[2], n-g[3]
			return true
		},
	}, &rule{
		kind: "telegram-token", keys: []string{":aa"}, re: lazyregexp.New(`^:(AA[A-Za-z0-9_-]{33})(?:[^A-Za-z0-9_-]|$)`),
		ok: func(m *match) bool { return botNumber.Match(m.before) },
	}, &rule{
		kind: "azure-key", keys: []string{"8q~"}, tail: classOf("A-Za-z0-9_~.-"), // three bytes come before
		re: lazyregexp.New(`^8Q~[A-Za-z0-9_~.-]{30,}`),
	}, &rule{
		kind: "password-hash", keys: []string{":aad3b435b51404ee", ":xxxxxxxx"}, look: 128,
		re: lazyregexp.New(`^(?i):((?:[0-9a-f]{32}|x{32}):[0-9a-f]{32})(?:[^0-9a-f]|$)`),
	}, &rule{
		kind: "service-token", keys: []string{"/api/webhooks/"}, tail: wordBytes,
		re: lazyregexp.New(`^/api/webhooks/\d{10,}/([A-Za-z0-9_-]{40,})`),
	}, &rule{
		kind: "service-token", keys: []string{"key-"}, left: wordLeft, look: 64, // Mailgun
		re: lazyregexp.New(`^(key-[0-9a-f]{32})(?:[^A-Za-z0-9-]|$)`),
	}, &rule{
		kind: "slack-webhook", keys: []string{"hooks.slack.com/"}, tail: alnumBytes,
		re: lazyregexp.New(`^hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/]{20,})`),
	})
}

var shadowDES = lazyregexp.New(`^[a-z_][\w.-]*:([./0-9A-Za-z]{13}):\d*:\d*$`)

var botNumber = lazyregexp.New(`\d{8,12}$`)

// isOpenAI reports whether a word that is long enough for a key, or one of the words that keys have, follows sk-.
func isOpenAI(_, win []byte, _ int) bool {
	win = win[len("sk-"):]
	for _, word := range []string{"proj-", "svcacct-", "admin-", "None-", "or-v1-", "lf-"} {
		if bytes.HasPrefix(win, []byte(word)) {
			return true
		}
	}
	n := 0
	for n < len(win) && alnumBytes[win[n]] {
		n++
	}
	return n >= 32
}

// signAtPlace reports whether the sign that is in the middle of a token of three issuers stands where it must.
func signAtPlace(_, win []byte, _ int) bool {
	switch lower(win[0]) {
	case 'p':
		return len(win) > 17 && win[17] == '.'
	case 'r':
		return len(win) > 11 && win[11] == '_'
	}
	return len(win) > 9 && win[9] == '-'
}

// isJWT reports whether the parts of a word are as long as those of a token in the notations of RFC 7515 and 7516.
func isJWT(_, win []byte, name int) bool {
	win = win[:name]
	var dots [4]int
	n, at := 0, 0
	for n < len(dots) {
		i := bytes.IndexByte(win[at:], '.')
		if i < 0 {
			break
		}
		dots[n] = at + i
		n, at = n+1, at+i+1
	}
	if n < 2 || dots[0] < len("eyJ")+8 {
		return false
	}
	if bytes.HasPrefix(win[dots[0]+1:], []byte("eyJ")) && dots[1]-dots[0] > len("eyJ")+4 {
		return true
	}
	return n == 4 && dots[2]-dots[1] > 8 && dots[3]-dots[2] > 8 && len(win)-dots[3] > 8 && bytes.IndexByte(win[dots[3]+1:min(len(win), dots[3]+9)], '.') < 0
}

// longRun reports whether there are as many bytes of crypt's alphabet in a row as the shortest hash has.
func longRun(_, win []byte, _ int) bool {
	for end := 19; end < len(win); {
		i := end
		for i > end-20 && (base64Bytes[win[i]] || win[i] == '.') {
			i--
		}
		if i == end-20 {
			return true
		}
		end = i + 20
	}
	return false
}

// hexAfter returns keywords: a start that is too short for one, with each two hexadecimal digits after it.
func hexAfter(start string) (out []string) {
	for _, one := range starts(start, hexDigits) {
		out = append(out, starts(one, hexDigits)...)
	}
	return out
}

const (
	hexDigits = "0123456789abcdef"
	alnums    = "abcdefghijklmnopqrstuvwxyz0123456789"
)

// seeds returns the starts of the keys of NATS that sign: of an account, a cluster, a server, an operator, a user, and to encrypt. The
// third letter holds the rest of what the second says.
func seeds() (out []string) {
	for _, kind := range "acnoux" {
		out = append(out, starts("s"+string(kind), "abcdefghijklmnopqrstuvwxyz234567")...)
	}
	return out
}

// starts returns keywords: a start that is too short for one, or begins too many words, with each of some bytes after it.
func starts(start, after string) (out []string) {
	for _, c := range after {
		out = append(out, start+string(c))
	}
	return out
}
