package lookup

import (
	"regexp"
	"strings"

	"vitrine/shared/identity/member"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/text"
)

// named is the kind and id in a pasted text, without the secrets of an address or a key, or an e-mail address of
// members.
type named struct {
	kind, id string
	address  member.Address
}

// prefixes maps prefixes of ids to their kinds, including kinds that cannot be looked up.
var prefixes = map[string]string{
	"rev_": event.OnRevision,
	"upl_": event.OnSession,
	"mem_": event.OnMember,
	"reg_": event.OnRegistration,
	"lkd_": event.OnLockdown,
	"rpt_": event.OnReport,
	"exp_": event.OnExport,
}

// wellFormed matches the ids with a prefix.
var wellFormed = regexp.MustCompile(`^[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}$`)

// secretKey matches a whole API key. The first group is its public id.
var secretKey = regexp.MustCompile(`^ap_pk_[a-z]+_([0-9A-HJKMNP-TV-Z]{16})_`)

// read parses a pasted text. ok is false if the text is neither an id, nor an address of this deployment, nor an e-mail
// address.
func (s *Service) read(pasted string) (n named, ok bool) {
	pasted = strings.TrimSpace(pasted)
	if m := secretKey.FindStringSubmatch(pasted); m != nil {
		return named{kind: event.OnKey, id: string(id.NewKey(id.Public(m[1])))}, true
	}
	if k := id.Key(pasted); k.Valid() {
		return named{kind: event.OnKey, id: pasted}, true
	}
	if public, err := id.Link(pasted).Public(); err == nil {
		return named{kind: event.OnLink, id: string(public)}, true
	}
	if _, err := id.Workspace(pasted).Bits(); err == nil {
		return named{kind: event.OnWorkspace, id: pasted}, true
	}
	if wellFormed.MatchString(pasted) && prefixes[pasted[:4]] != "" {
		return named{kind: prefixes[pasted[:4]], id: pasted}, true
	}
	switch t, is := s.Reader.Read(pasted); {
	case is && t.Artifact != "":
		return named{kind: event.OnArtifact, id: string(t.Artifact)}, true
	case is && t.Link != "":
		return named{kind: event.OnLink, id: string(t.Link)}, true
	}
	email, ok := text.Email(pasted)
	return named{kind: event.OnMember, address: member.AddressOf(email)}, ok
}
