package harness

import (
	"testing"

	"vitrine/shared/platform/id"
)

func PinPath(a id.Artifact) string { return "/v1/web/artifacts/" + string(a) + "/pin" }

func UnpinPath(a id.Artifact) string { return "/v1/web/artifacts/" + string(a) + "/unpin" }

// PinCount is what the counter of pins says.
func (s *LinkEnv) PinCount(t testing.TB) string {
	t.Helper()
	if n := s.GetItem(t, "W#"+string(s.Member.Workspace), "PINS")["n"]; n != nil {
		return Text(n)
	}
	return "none"
}
