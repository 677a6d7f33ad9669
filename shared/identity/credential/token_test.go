package credential

import (
	"regexp"
	"strings"
	"testing"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
)

func peppers(t testing.TB) keyring.Derived {
	t.Helper()
	d, err := keyring.New().Pepper.Derive("credential")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSecretsHaveTheShapeThatClientsCheck(t *testing.T) {
	key := regexp.MustCompile(`^ap_pk_(preview|production|live)_[0-9A-HJKMNP-TV-Z]{16}_[A-Za-z0-9_-]{32,}$`)
	claim := regexp.MustCompile(`^ap_ct_(preview|production)_[0-9A-HJKMNP-TV-Z]{16}(\.clm_[0-9A-HJKMNP-TV-Z]{26})?_[A-Za-z0-9_-]{32,}$`)
	for range 100 {
		if s := Mint(APIKey, Preview, id.NewWorkspace(), "").Reveal(); !key.MatchString(s) {
			t.Fatal(s)
		}
		for _, code := range []string{"", "clm_0123456789ABCDEFGHJKMNPQRS"} {
			if s := Mint(ClaimToken, Production, id.NewWorkspace(), code).Reveal(); !claim.MatchString(s) {
				t.Fatal(s)
			}
		}
	}
}

func TestParseReadsWhatMintMade(t *testing.T) {
	p := peppers(t)
	for range 200 {
		minted := Mint(ClaimToken, Preview, id.NewWorkspace(), "clm_0123456789ABCDEFGHJKMNPQRS")
		parsed, err := Parse(minted.Reveal(), ClaimToken, Preview)
		if err != nil || parsed != minted {
			t.Fatalf("%v %v", parsed, err)
		}
		if !parsed.Matches(minted.Hash(p), p) {
			t.Fatal("the hash does not match its own token")
		}
	}
}

func TestOnlyTheVerySecretMatchesItsHash(t *testing.T) {
	p := peppers(t)
	a := Mint(APIKey, Preview, id.NewWorkspace(), "")
	b := Mint(APIKey, Preview, a.Workspace, "")
	b.Public = a.Public
	if b.Matches(a.Hash(p), p) {
		t.Error("another secret matches")
	}
	coded := a
	coded.ClaimCode = "clm_0123456789ABCDEFGHJKMNPQRS"
	if coded.Matches(a.Hash(p), p) {
		t.Error("T68: a swapped claim code matches")
	}
	if h := a.Hash(p); a.Matches(Hash{Pepper: h.Pepper + 1, MAC: h.MAC}, p) || a.Matches(Hash{Pepper: 9}, p) {
		t.Error("a pepper that is gone matches")
	}
}

func TestT07MalformedCredentialsAreRefusedBeforeAnyLookup(t *testing.T) {
	good := Mint(APIKey, Preview, id.NewWorkspace(), "").Reveal()
	flipped := good[:len(good)-10] + string(good[len(good)-10]^1) + good[len(good)-9:]
	for name, bad := range map[string]string{
		"empty": "", "10 KB": strings.Repeat("a", 10240), "bad checksum": flipped, "truncated": good[:len(good)-1],
		"control character": good[:20] + "\n" + good[21:], "space": " " + good, "claim code on a key": strings.Replace(good, good[14:30], good[14:30]+".clm_0123456789ABCDEFGHJKMNPQRS", 1),
	} {
		if _, err := Parse(bad, APIKey, Preview); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := Parse(good, APIKey, Production); err == nil {
		t.Error("a key of another environment is accepted")
	}
	if _, err := Parse(good, ClaimToken, Preview); err == nil {
		t.Error("T06: a key passes as claim token")
	}
}

func TestPrintingATokenHidesItsSecret(t *testing.T) {
	token := Mint(APIKey, Preview, id.NewWorkspace(), "")
	if s := token.String(); strings.Contains(s, token.secret) {
		t.Error(s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Mint(APIKey, Preview, id.NewWorkspace(), "").Reveal())
	f.Fuzz(func(t *testing.T, s string) {
		if token, err := Parse(s, APIKey, Preview); err == nil && token.Reveal() != s {
			t.Errorf("%q is accepted but not what we mint", s)
		}
	})
}
