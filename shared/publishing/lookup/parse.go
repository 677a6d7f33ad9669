package lookup

import (
	"regexp"
	"strings"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

// named is what a pasted text names: a kind and an id, without the secrets of an address or of a key.
type named struct {
	kind, id string
}

// prefixes are the ids that name their kind, whether they can be looked up or not.
var prefixes = map[string]string{
	"rev_": event.OnRevision,
	"upl_": event.OnSession,
	"mem_": event.OnMember,
	"reg_": event.OnRegistration,
	"lkd_": event.OnLockdown,
	"rpt_": event.OnReport,
}

// wellFormed matches the ids with a prefix.
var wellFormed = regexp.MustCompile(`^[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}$`)

// secretKey matches an API key in whole; the first group is its public id.
var secretKey = regexp.MustCompile(`^ap_pk_[a-z]+_([0-9A-HJKMNP-TV-Z]{16})_`)

// read tells what a text names. ok is false where it is neither an id nor an address of this deployment.
func (s *Service) read(text string) (n named, ok bool) {
	text = strings.TrimSpace(text)
	if m := secretKey.FindStringSubmatch(text); m != nil {
		return named{event.OnKey, string(id.NewKey(id.Public(m[1])))}, true
	}
	if k := id.Key(text); k.Valid() {
		return named{event.OnKey, text}, true
	}
	if public, err := id.Link(text).Public(); err == nil {
		return named{event.OnLink, string(public)}, true
	}
	if _, err := id.Workspace(text).Bits(); err == nil {
		return named{event.OnWorkspace, text}, true
	}
	if wellFormed.MatchString(text) && prefixes[text[:4]] != "" {
		return named{prefixes[text[:4]], text}, true
	}
	switch t, is := s.Reader.Read(text); {
	case !is:
		return n, false
	case t.Artifact != "":
		return named{event.OnArtifact, string(t.Artifact)}, true
	case t.Link != "":
		return named{event.OnLink, string(t.Link)}, true
	}
	return n, false
}
