package credential

import (
	"testing"

	"vitrine/shared/platform/id"
)

func TestTheNextSecretOfAChainIsFixedByTheSecretAndTheKey(t *testing.T) {
	_, key := peppers(t).Active()
	_, other := peppers(t).Active()
	first := Mint(RefreshToken, Preview, id.NewWorkspace(), "")
	next := first.Next(RefreshToken, key)
	if next != first.Next(RefreshToken, key) || next.Public != first.Public || next.Workspace != first.Workspace {
		t.Error("asked again, another secret comes")
	}
	if parsed, err := Parse(next.Reveal(), RefreshToken, Preview); err != nil || parsed != next {
		t.Error(parsed, err)
	}
	sibling := MintAs(RefreshToken, Preview, first.Workspace, first.Public)
	seen := map[string]string{first.secret: "the first one", next.secret: "the next one"}
	for name, t2 := range map[string]Token{
		"another key": first.Next(RefreshToken, other), "another kind": first.Next(AccessToken, key), "another secret": sibling.Next(RefreshToken, key),
		"two steps": next.Next(RefreshToken, key),
	} {
		if twin, taken := seen[t2.secret]; taken {
			t.Errorf("%s gives the same secret as %s", name, twin)
		}
		seen[t2.secret] = name
	}
}
