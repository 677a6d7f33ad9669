package keyring

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"vitrine/shared/platform/limits"
)

// restartTime is how long instances that started before a flip may go on signing with the previous key.
const restartTime = time.Hour

// kinds are the rings by name, in the order in which they are shown.
var kinds = []struct {
	name string
	of   func(*Set) *Ring
	// drain is how long a key has to check after it stopped signing: the longest life of what it signed, plus
	// restartTime. Zero: some of that never expires, as API keys and links may not.
	drain time.Duration
	later bool // older sets lack the ring
}{
	// an hour more, because token.Until rounds expiries up to the hour
	{"content", func(s *Set) *Ring { return &s.Content }, limits.TokenLife + time.Hour + restartTime, false},
	{"links", func(s *Set) *Ring { return &s.Links }, 0, false},
	{"pepper", func(s *Set) *Ring { return &s.Pepper }, 0, false},
	{"seal", func(s *Set) *Ring { return &s.Seal }, limits.ReplayLife + restartTime, false},
	{"assertion", func(s *Set) *Ring { return &s.Assertion }, limits.RegistrationLife + restartTime, true},
}

// Names returns the names of all rings.
func Names() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Ring returns the ring with a name, or nil for an unknown name.
func (s *Set) Ring(name string) *Ring {
	for _, k := range kinds {
		if k.name == name {
			return k.of(s)
		}
	}
	return nil
}

// Drain returns how long a key of a ring has to check after a flip; zero: only the operator can know.
func Drain(name string) time.Duration {
	for _, k := range kinds {
		if k.name == name {
			return k.drain
		}
	}
	return 0
}

// Complete reads a set like Parse, adds a fresh ring for each one that an older set lacks, and returns the names of the
// added rings. It fails for a ring that is present but broken, because replacing it would invalidate everything that
// the ring signed.
func Complete(data []byte) (s Set, added []string, err error) {
	var there map[string]json.RawMessage
	if err := json.Unmarshal(data, &there); err != nil || there == nil {
		return Set{}, nil, errors.New("the key rings are not valid JSON")
	}
	for _, k := range kinds {
		if there[k.name] != nil || !k.later {
			continue
		}
		if there[k.name], err = json.Marshal(newRing()); err != nil {
			return Set{}, nil, err
		}
		added = append(added, k.name)
	}
	if len(added) > 0 {
		if data, err = json.Marshal(there); err != nil {
			return Set{}, nil, err
		}
	}
	s, err = Parse(data)
	return s, added, err
}

// Over returns the JSON form of s as a replacement of an older form, which may be nil. It keeps members other than the
// rings of Names, because a newer version may need them.
func (s Set) Over(older []byte) ([]byte, error) {
	all := map[string]json.RawMessage{}
	if older != nil {
		if err := json.Unmarshal(older, &all); err != nil {
			return nil, errors.New("the key rings are not valid JSON")
		}
	}
	for _, name := range Names() {
		ring, err := json.Marshal(s.Ring(name))
		if err != nil {
			return nil, err
		}
		all[name] = ring
	}
	return json.MarshalIndent(all, "", "  ")
}

// clone returns a copy of r that shares no slice with it.
func (r Ring) clone() Ring {
	r.Keys = slices.Clone(r.Keys)
	return r
}
