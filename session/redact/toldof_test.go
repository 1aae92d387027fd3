package redact_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// Whose password it is may stand between the word and the value, in a sentence, a note or a setting.
func TestPasswordsToldWithTheirOwner(t *testing.T) {
	for _, text := range []string{
		"The password for user svc is Hq7vTr2mK9.", "password for svc is: Hq7vTr2mK9", "password of svc: Hq7vTr2mK9", "Password of the account svc is Hq7vTr2mK9",
		"password for svc = Hq7vTr2mK9", "password for svc: Hq7vTr2mK9", "smtp_sasl_password_maps = static:svc:Hq7vTr2mK9",
		"  lmtp_sasl_password_maps=static:svc:Hq7vTr2mK9", "otp_seed=Hq7vTr2mK9", "TOTP_SEED: Hq7vTr2mK9",
	} {
		out, _ := redact.New(redact.Config{}).String(text+"\n", redact.Guarded)
		assert.NotContains(t, out, "Hq7vTr2mK9", text)
	}
	for _, text := range []string{
		"password for svc is required", "the password for user svc is expired.", "password of root: unchanged", "password for svc = <prompt>", "password of length: 12",
		"smtp_sasl_password_maps = hash:/etc/postfix/sasl_passwd", "smtp_sasl_password_maps = static:$user", "location static:assets:images/logo2Big", "otp_seeds 5",
	} {
		out, _ := redact.New(redact.Config{}).String(text+"\n", redact.Guarded)
		assert.Equal(t, text+"\n", out)
	}
}
