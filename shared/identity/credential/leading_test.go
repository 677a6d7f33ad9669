package credential

import (
	"testing"

	"vitrine/shared/platform/id"
)

func TestASecretIsFoundWhateverFollowsIt(t *testing.T) {
	for _, kind := range []Kind{APIKey, AccessToken, RefreshToken, ClaimToken, ClaimAttempt, DeviceCode, AuthorizationCode} {
		for _, env := range []Environment{Production, Preview} {
			minted := Mint(kind, env, id.NewWorkspace(), "")
			secret := minted.Reveal()
			for _, after := range []string{"", `",`, "\n", "AAAA", "_", secret} {
				if found, n, err := Leading([]byte(secret + after)); err != nil || found != minted || n != len(secret) {
					t.Errorf("%s of %s before %.8q: %v, %d bytes, %v", kind, env, after, found, n, err)
				}
			}
			last := byte('A')
			if secret[len(secret)-1] == last {
				last = 'B'
			}
			for name, text := range map[string]string{
				"too short": secret[:len(secret)-1], "later": " " + secret, "another checksum": secret[:len(secret)-1] + string(last),
				"another environment": "ap_" + string(kind) + "_live" + secret[len("ap_pk_")+len(env):],
			} {
				if found, _, err := Leading([]byte(text)); err == nil {
					t.Errorf("%s of %s, %s: found %v", kind, env, name, found)
				}
			}
		}
	}
	withCode := Mint(ClaimToken, Preview, id.NewWorkspace(), "clm_0123456789ABCDEFGHJKMNPQRS")
	if found, n, err := Leading([]byte(withCode.Reveal() + "x")); err != nil || found != withCode ||
		n != len(withCode.Reveal()) {
		t.Errorf("a claim token with a code: %v, %d bytes, %v", found, n, err)
	}
}
