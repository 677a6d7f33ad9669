package harness

import (
	"strings"
	"testing"

	"vitrine/scripts/testkit/invariant"
)

// WantBreach checks that some breach of the invariant is reported.
func (s *FaultEnv) WantBreach(t testing.TB, name string) {
	t.Helper()
	found := invariant.Check(ctx, s.Deployment())
	for _, err := range found {
		if strings.HasPrefix(err.Error(), name+":") {
			return
		}
	}
	t.Errorf("no breach of %s is reported, but %v", name, found)
}

// Damage changes the first item of a table whose key has these prefixes, or removes it when set is nil. The result puts
// the item back.
func (s *FaultEnv) Damage(t testing.TB, table, pk, sk string, set map[string]any) (repair func()) {
	t.Helper()
	for _, item := range s.Scan(t, table) {
		if strings.HasPrefix(Text(item["pk"]), pk) && (sk == "" || strings.HasPrefix(Text(item["sk"]), sk)) {
			s.RewriteItem(t, table, item, set)
			return func() {
				t.Helper()
				s.RewriteItem(t, table, item, map[string]any{})
			}
		}
	}
	t.Fatalf("there is no %s %s to damage", pk, sk)
	return nil
}
