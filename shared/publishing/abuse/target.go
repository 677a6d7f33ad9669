package abuse

import (
	"slices"
	"strings"
	"time"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/token"
)

// Target has the ids in a pasted text, without the secrets of an address. Both are empty for a forged token.
type Target struct {
	Link     id.Public
	Artifact id.Artifact
}

// Reader finds the target in a text that people paste.
type Reader struct {
	Origins address.Origins
	Tokens  []*token.Codec // of all addresses that have a token
}

// Read reads an id, or an address of this deployment with or without its origin. ok is false for any other text.
// maxTargetBytes is the longest text that a report may name its target by.
const maxTargetBytes = 4 << 10

func (r Reader) Read(text string) (t Target, ok bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxTargetBytes {
		return t, false
	}
	if end := strings.IndexAny(text, "?#"); end >= 0 {
		text = text[:end]
	}
	if _, rest, absolute := strings.Cut(text, "://"); absolute {
		text = rest
	}
	parts := strings.Split(text, "/")
	switch {
	case len(parts) == 1:
		return idOf(text)
	case parts[0] != "" && !r.hosts(parts[0]):
		return t, false
	}
	return r.parsePath(parts[1:])
}

// hosts reports whether the deployment has a host of this name.
func (r Reader) hosts(name string) bool {
	o := r.Origins
	return slices.ContainsFunc([]string{o.App, o.Content, o.API}, func(origin string) bool {
		_, host, _ := strings.Cut(origin, "://")
		return strings.EqualFold(host, name)
	})
}

// parsePath reads the path of an address, which has a link, an artifact or a signed token.
func (r Reader) parsePath(parts []string) (Target, bool) {
	if len(parts) == 4 && slices.Equal(parts[:3], []string{"v1", "public", "agent-view"}) {
		return r.tokenOf(parts[3])
	}
	if len(parts) < 2 {
		return Target{}, false
	}
	switch parts[0] {
	case "al", "artifacts":
		return idOf(parts[1])
	case "v":
		if t, ok := idOf(parts[1]); ok {
			return t, true
		}
		return r.tokenOf(parts[1])
	case "b", "r":
		return r.tokenOf(parts[1])
	}
	return Target{}, false
}

// idOf reads the public id of a link or the id of an artifact.
func idOf(text string) (t Target, ok bool) {
	if _, err := id.Public(text).Bits(); err == nil {
		return Target{Link: id.Public(text)}, true
	}
	if _, err := id.Artifact(text).Bits(); err == nil {
		return Target{Artifact: id.Artifact(text)}, true
	}
	return t, false
}

// tokenOf reads the target of a signed token, which may have expired. ok is true for a forged token of the right form.
func (r Reader) tokenOf(text string) (Target, bool) {
	for _, codec := range r.Tokens {
		if claims, err := codec.Parse(text, time.Time{}); err == nil { // at the zero time no token has expired
			return Target{Link: claims.Link, Artifact: claims.Artifact}, true
		}
	}
	return Target{}, token.Formed(text)
}
