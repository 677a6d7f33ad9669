package invariant

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/rows"
)

// checkRecords checks the first half of I8.
func (s *snapshot) checkRecords(b *breaches) {
	for _, i := range s.hot {
		name := i.Text("pk")
		if !strings.HasPrefix(name, "i:") {
			continue
		}
		if len(i.Bytes("print")) != 32 {
			b.add("I8: the record %s has no fingerprint", name)
		}
		switch state := i.Text("state"); {
		case state == "done" && (!json.Valid(i.Bytes("result")) || i.Has("lease")):
			b.add("I8: the record %s is done with the result %q; a lease is left: %t", name, i.Bytes("result"), i.Has("lease"))
		case state == "flight" && (i.Text("owner") == "" || !i.Has("lease") || i.Has("result")):
			b.add("I8: the record %s is in flight without owner or lease, or with a result", name)
		case state != "done" && state != "flight":
			b.add("I8: the record %s is in state %q", name, state)
		}
	}
}

// secret matches what no table may hold: a credential, a signed upload or a URL, which may be
// signed.
var secret = regexp.MustCompile(`ap_[a-z]{2}_(production|preview)_|X-Amz-|https?://`)

// origins are the attributes that hold origins: the audience of a grant, and the issuer of a
// member.
var origins = []string{"aud", "iss"}

// checkSecrets checks the second half.
func (s *snapshot) checkSecrets(b *breaches) {
	for _, table := range [][]rows.Item{s.core, s.events, s.hot} {
		for _, i := range table {
			for name, v := range i {
				if found := secret.FindString(plain(v)); found != "" && !slices.Contains(origins, name) {
					b.add("I8: the attribute %s of %s %s holds %s…", name, i.Text("pk"), i.Text("sk"), found)
				}
			}
		}
	}
}

func plain(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberB:
		return string(v.Value)
	}
	return ""
}
