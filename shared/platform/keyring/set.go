package keyring

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"vitrine/shared/platform/limits"
)

// restart is how long instances that were started before a flip may go on signing with the key of before.
const restart = time.Hour

// kinds are the rings by name, in the order in which they are shown.
var kinds = []struct {
	name string
	of   func(*Set) *Ring
	// drain is how long a key still has to check after it stopped signing: the longest life of what it signed, and the
	// restart. Zero: some of it has no end, as API keys have none.
	drain time.Duration
	later bool // sets that are older than the ring lack it
}{
	{"content", func(s *Set) *Ring { return &s.Content }, limits.TokenLife + time.Hour + restart, false}, // ends are rounded up to the hour
	{"links", func(s *Set) *Ring { return &s.Links }, limits.LinkURLLife + restart, false},
	{"pepper", func(s *Set) *Ring { return &s.Pepper }, 0, false},
	{"seal", func(s *Set) *Ring { return &s.Seal }, limits.ReplayLife + restart, false},
	{"assertion", func(s *Set) *Ring { return &s.Assertion }, limits.RegistrationLife + restart, true},
}

// Names are the names of all rings.
func Names() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Ring is the ring of a name, nil for a name that no ring has.
func (s *Set) Ring(name string) *Ring {
	for _, k := range kinds {
		if k.name == name {
			return k.of(s)
		}
	}
	return nil
}

// Drain is how long a key of a ring still has to check after a flip. Zero: nobody can tell but people.
func Drain(name string) time.Duration {
	for _, k := range kinds {
		if k.name == name {
			return k.drain
		}
	}
	return 0
}

// Complete reads a set as Parse does, and gives a fresh ring for each one that the set is older than; it names them.
// A ring that is there and broken is an error: a fresh one in its place would end what the broken one signed.
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

// Over is the JSON form of s in place of an older form. What that holds beside the rings of Names stays: a newer version
// may need it. Without an older form it is nil.
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

// clone is a ring that shares no list with r.
func (r Ring) clone() Ring {
	r.Keys = slices.Clone(r.Keys)
	return r
}
