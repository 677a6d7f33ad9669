package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"vitrine/shared/platform/limits"
)

// Deployment is what a policy is judged against.
type Deployment struct {
	Billing bool     // plans are sold
	Hosts   []string // the names of its own hosts, as far as they are known
}

// Read returns the policy in a file whose logo is inside, as Load makes it. Members that the file lacks have their
// defaults. The error has a line for each mistake, which names the member, its value and the rule.
func Read(data []byte, d Deployment) (Policy, error) {
	p := Default(d.Billing)
	if len(data) > MaxBytes {
		return p, fmt.Errorf("the policy has %d bytes with its logo, which are %d more than the most, %d",
			len(data), len(data)-MaxBytes, MaxBytes)
	}
	if !jsontext.Value(data).IsValid() {
		return p, errors.New("the policy is no JSON, or has a member twice")
	}
	r := reader{hosts: d.Hosts}
	r.object("", data, members{
		"$schema":          func(at string, raw json.RawMessage) { r.text(at, raw) },
		"members":          func(at string, raw json.RawMessage) { r.people(at, raw, &p, limits.Free) },
		"paid":             func(at string, raw json.RawMessage) { r.people(at, raw, &p, limits.Pro) },
		"anonymous":        func(at string, raw json.RawMessage) { r.anonymous(at, raw, &p) },
		"sign_in":          func(at string, raw json.RawMessage) { p.SignIn = r.signIn(at, raw) },
		"agents":           func(at string, raw json.RawMessage) { p.Agents = r.word(at, raw, "on", "off") == "on" },
		"loads_from":       func(at string, raw json.RawMessage) { r.loads(at, raw, &p) },
		"brand":            func(at string, raw json.RawMessage) { r.brand(at, raw, &p.Brand) },
		"client_documents": func(at string, raw json.RawMessage) { p.ClientDocuments = r.word(at, raw, "on", "off") },
		"report_abuse":     func(at string, raw json.RawMessage) { p.ReportAbuse = r.word(at, raw, "on", "off") == "on" },
	})
	slices.Sort(r.named)
	p.Named, p.File = r.named, data
	return p, errors.Join(r.wrong...)
}

// reader reads the members of a policy and collects the mistakes.
type reader struct {
	hosts   []string
	wrong   []error
	refused string // the path of the last mistake
	named   []string
}

// members says how the members of an object are read. at is the path of a member.
type members map[string]func(at string, raw json.RawMessage)

// object reads an object.
func (r *reader) object(at string, raw json.RawMessage, known members) {
	var found map[string]json.RawMessage
	if json.Unmarshal(raw, &found) != nil || found == nil {
		r.refuse(at, raw, "is no object")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		path := strings.TrimPrefix(at+"."+name, ".")
		read, ok := known[name]
		if !ok {
			r.refuse(path, found[name], "there is no such member; there are "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			continue
		}
		r.named = append(r.named, path)
		read(path, found[name])
	}
}

// shown is how much of a wrong value a mistake shows.
const shown = 60

// refuse adds a mistake, unless the member has one already.
func (r *reader) refuse(at string, raw json.RawMessage, rule string) {
	if r.refused == at && len(r.wrong) > 0 {
		return
	}
	r.refused = at
	value := string(raw)
	if len(value) > shown {
		value = strings.ToValidUTF8(value[:shown], "") + "…"
	}
	if at == "" {
		at = "the policy"
	}
	r.wrong = append(r.wrong, fmt.Errorf("%s: %s: %s", at, value, rule))
}

func (r *reader) text(at string, raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil || string(raw) == "null" {
		r.refuse(at, raw, "is no text")
	}
	return s
}

// word reads one of some words.
func (r *reader) word(at string, raw json.RawMessage, words ...string) string {
	var s string
	if json.Unmarshal(raw, &s) != nil || !slices.Contains(words, s) {
		r.refuse(at, raw, `must be "`+strings.Join(words, `" or "`)+`"`)
	}
	return s
}

// number reads a whole number within bounds. It returns otherwise for a wrong one.
func (r *reader) number(at string, raw json.RawMessage, least, most, otherwise int64) int64 {
	var n int64
	if json.Unmarshal(raw, &n) != nil || string(raw) == "null" || n < least || n > most {
		r.refuse(at, raw, fmt.Sprintf("must be a whole number from %d to %d", least, most))
		return otherwise
	}
	return n
}

// texts reads a list of at most maxList texts.
func (r *reader) texts(at string, raw json.RawMessage, check func(at, s string) string) []string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 || len(list) > maxList {
		r.refuse(at, raw, fmt.Sprintf("must be a list of 1 to %d texts", maxList))
		return nil
	}
	var out []string
	for i, raw := range list {
		path := fmt.Sprintf("%s[%d]", at, i)
		before := len(r.wrong)
		if s := r.text(path, raw); len(r.wrong) == before {
			out = append(out, check(path, s))
		}
	}
	return out
}

// maxList is how many texts a list of the policy may have.
const maxList = 200
