package harness

import (
	"testing"

	"vitrine/shared/platform/id"
)

// PinPath is the route that pins an artifact.
func PinPath(a id.Artifact) string { return "/v1/web/artifacts/" + string(a) + "/pin" }

// UnpinPath is the route that unpins an artifact.
func UnpinPath(a id.Artifact) string { return "/v1/web/artifacts/" + string(a) + "/unpin" }

// PinCount returns the stored number of pinned artifacts, or "none".
func (s *LinkEnv) PinCount(t testing.TB) string {
	t.Helper()
	if n := s.GetItem(t, "W#"+string(s.Member.Workspace), "PINS")["n"]; n != nil {
		return Text(n)
	}
	return "none"
}
