package budget

import (
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
)

// TestAnOwnOriginTakesTheReadsOfTheSharedOne opens an artifact at its own origin and reads it there.
func TestAnOwnOriginTakesTheReadsOfTheSharedOne(t *testing.T) {
	b := newBudgetEnv(t, func(o *stack.Options) { o.OwnOrigins = true })
	b.owner = b.NewAgent(t)
	p := harness.PublishPage(t, b.owner, "own")
	_, rest, _ := strings.Cut(p.RevisionContentURL, "/v/")
	token, _, _ := strings.Cut(rest, "/")
	origin, cookie := b.Origins.Of(p.ArtifactID), "__Host-v="+token
	frame := []string{"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "cross-site"}
	frame = append(frame, "Referer", b.Origins.App+"/")
	b.wantStatus(t, b.Anyone, 200, "GET", p.RevisionContentURL) // the files of the revision are known then
	for _, c := range []struct {
		name, path string
		status     int
		most       budget
		headers    []string
	}{
		{"opening", "/.vitrine/open/" + token + "/index.html", 303, budget{2, 1, 2, 1}, frame},
		{"a file", "/index.html", 200, budget{2, 1, 2, 1}, []string{"Cookie", cookie}},
		{"no file", "/none.html", 404, budget{2, 1, 2, 1}, []string{"Cookie", cookie}},
	} {
		b.wantWithin(t, "own origin, "+c.name, c.most, func() {
			b.wantStatus(t, b.Anyone, c.status, "GET", origin+c.path, c.headers...)
		})
	}
}
