package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/text"
)

const (
	maxAllowance = 1_000_000 // the most new artifacts a day, and reads a minute
	maxDays      = 3650      // the longest life that is not forever
)

// tier reads the limits of a tier, of which those that raw lacks are p's. scripts are the words for its scripts, and more
// are further members of the object.
func (r *reader) tier(
	at string, raw json.RawMessage, p limits.Policy, scripts []string, more members,
) limits.Policy {
	bytes := func(most int64, to *int64) func(string, json.RawMessage) {
		return func(at string, raw json.RawMessage) { *to = r.number(at, raw, 1, most, *to) }
	}
	count := func(least, most int64, to *int) func(string, json.RawMessage) {
		return func(at string, raw json.RawMessage) { *to = int(r.number(at, raw, least, most, int64(*to))) }
	}
	days := func(to *time.Duration) func(string, json.RawMessage) {
		return func(at string, raw json.RawMessage) { *to = r.days(at, raw, *to) }
	}
	known := members{
		"file_bytes":            bytes(limits.MaxFileSize, &p.FileSize),
		"artifact_bytes":        bytes(limits.MaxArtifactSize, &p.ArtifactSize),
		"files":                 count(1, limits.FilesPerTree, &p.FileCount),
		"default_days":          days(&p.DefaultLife),
		"max_days":              days(&p.MaxLife),
		"pinned_artifacts":      count(0, limits.MaxPins, &p.LiveArtifacts),
		"new_artifacts_per_day": count(1, maxAllowance, &p.NewArtifactsPerDay),
		"revisions":             count(1, limits.MaxRevisions, &p.Revisions),
		"reads_per_minute":      count(1, maxAllowance, &p.Reads),
		"scripts":               func(at string, raw json.RawMessage) { p.Scripts = limits.Scripts(r.word(at, raw, scripts...)) },
	}
	maps.Copy(known, more)
	r.object(at, raw, known)
	if p.FileSize > p.ArtifactSize {
		r.above(at, "file_bytes", p.FileSize, "artifact_bytes", p.ArtifactSize)
	}
	if p.DefaultLife > p.MaxLife {
		r.above(at, "default_days", spell(p.DefaultLife), "max_days", spell(p.MaxLife))
	}
	p.MinLife = min(limits.Day, p.MaxLife)
	return p
}

// above refuses a member that is above another one. Either may be a default.
func (r *reader) above(at, member string, value any, other string, most any) {
	r.wrong = append(r.wrong, fmt.Errorf("%s.%s: %v: must not be above %s, which is %v", at, member, value, other, most))
}

// forever is the word for a life without an end.
const forever = "forever"

// days reads a life in days or forever.
func (r *reader) days(at string, raw json.RawMessage, otherwise time.Duration) time.Duration {
	if string(raw) == `"`+forever+`"` {
		return limits.Forever
	}
	var n int64
	if json.Unmarshal(raw, &n) != nil || n < 1 || n > maxDays {
		r.refuse(at, raw, fmt.Sprintf(`must be a whole number from 1 to %d, or "forever"`, maxDays))
		return otherwise
	}
	return time.Duration(n) * limits.Day
}

// spell returns a life as a file has it.
func spell(life time.Duration) any {
	if life == limits.Forever {
		return forever
	}
	return int64(life / limits.Day)
}

// people reads the limits of workspaces of people. Their scripts need no reader's click.
func (r *reader) people(at string, raw json.RawMessage, p *Policy, t limits.Tier) {
	p.Tiers[t] = r.tier(at, raw, p.Tiers[t], []string{"on", "off"}, nil)
}

func (r *reader) anonymous(at string, raw json.RawMessage, p *Policy) {
	if raw[0] == '"' {
		p.Anonymous = false
		r.word(at, raw, "off")
		return
	}
	tier := r.tier(at, raw, p.Tiers[limits.Ephemeral], []string{"on", "ask", "off"}, members{
		"per_minute": func(at string, raw json.RawMessage) {
			p.PerMinute = int(r.number(at, raw, 1, limits.MaxProvisionQuota, int64(p.PerMinute)))
		},
	})
	if most := limits.EphemeralKey; tier.MaxLife > most {
		r.above(at, "max_days", spell(tier.MaxLife), "the life of an unclaimed workspace's key in days", spell(most))
	}
	p.Tiers[limits.Ephemeral] = tier
}

func (r *reader) signIn(at string, raw json.RawMessage) (s SignIn) {
	if raw[0] == '"' {
		s.Operators = r.word(at, raw, "anybody", "operators") == "operators"
		return s
	}
	before := len(r.wrong)
	r.object(at, raw, members{
		"domains":   func(at string, raw json.RawMessage) { s.Domains = r.texts(at, raw, r.domain) },
		"addresses": func(at string, raw json.RawMessage) { s.Addresses = r.texts(at, raw, r.address) },
	})
	if len(r.wrong) == before && s.Anybody() {
		r.refuse(at, raw, `names nobody; give domains or addresses, or "anybody"`)
	}
	return s
}

func (r *reader) domain(at, s string) string {
	ascii, ok := Domain(s)
	if !ok || !strings.Contains(ascii, ".") {
		r.refuseText(at, s, "must be the domain of e-mail addresses, such as example.com")
	}
	return ascii
}

func (r *reader) address(at, s string) string {
	address, ok := Address(s)
	if !ok {
		r.refuseText(at, s, "must be an e-mail address, such as ada@example.com")
	}
	return address
}

func (r *reader) refuseText(at, s, rule string) {
	raw, _ := json.Marshal(s) // a string is always encoded
	r.refuse(at, raw, rule)
}

// Domain returns a domain name in lower case and ASCII.
func Domain(s string) (string, bool) {
	ascii, err := idna.Lookup.ToASCII(s)
	return ascii, err == nil && ascii != ""
}

// Address returns an e-mail address in lower case, with its domain in ASCII.
func Address(s string) (string, bool) {
	s = strings.TrimSpace(s)
	at := strings.LastIndexByte(s, '@')
	if at < 1 {
		return "", false
	}
	domain, ok := Domain(s[at+1:])
	return strings.ToLower(s[:at]) + "@" + domain, ok
}

// kind is a kind of what pages load, with where its hosts are kept.
type kind struct {
	name        string
	run, static *[]string
}

func (p *Policy) kinds() []kind {
	return []kind{
		{"scripts", &p.Loads.Scripts, &p.StaticLoads.Scripts},
		{"styles", &p.Loads.Styles, &p.StaticLoads.Styles},
		{"fonts", &p.Loads.Fonts, &p.StaticLoads.Fonts},
		{"images", &p.Loads.Images, &p.StaticLoads.Images},
		{"connect", &p.Loads.Connect, &p.StaticLoads.Connect},
	}
}

func (r *reader) loads(at string, raw json.RawMessage, p *Policy) {
	known := members{}
	for _, k := range p.kinds() {
		known[k.name] = func(at string, raw json.RawMessage) {
			*k.run = nil
			if string(raw) != `"none"` {
				*k.run = r.texts(at, raw, r.source)
			}
			*k.static = *k.run
		}
	}
	if string(raw) == `"none"` {
		p.Loads, p.StaticLoads = media.Sources{}, media.Sources{}
		return
	}
	r.object(at, raw, known)
}

// hostSource is the form of a host source of a content security policy that a policy may name. Section 2.3.1 of Content
// Security Policy Level 3 has the grammar. Only https is loaded, so that a scheme says nothing more.
var hostSource = regexp.MustCompile(`^(?:https://)?((?:\*\.[a-z0-9-]+\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::[0-9]{1,5})?)$`)

func (r *reader) source(at, s string) string {
	m := hostSource.FindStringSubmatch(s)
	if m == nil {
		r.refuseText(at, s, "must be a host, such as cdn.example.com or *.example.com, in lower case and without a path")
		return ""
	}
	name, _, _ := strings.Cut(m[1], ":")
	for _, own := range r.hosts {
		if below, wild := strings.CutPrefix(name, "*"); own == name || wild && strings.HasSuffix(own, below) {
			r.refuseText(at, s, "must not cover "+own+", which is a host of this deployment")
		}
	}
	return m[1]
}

const maxName = 30 // characters of a brand's name

func (r *reader) brand(at string, raw json.RawMessage, b *Brand) {
	link := func(to *string, schemes ...string) func(string, json.RawMessage) {
		return func(at string, raw json.RawMessage) { *to = r.link(at, raw, schemes...) }
	}
	r.object(at, raw, members{
		"name":    func(at string, raw json.RawMessage) { b.Name = r.name(at, raw) },
		"accent":  func(at string, raw json.RawMessage) { b.Accent = r.accent(at, raw) },
		"logo":    func(at string, raw json.RawMessage) { b.Logo = r.logo(at, raw) },
		"contact": link(&b.Contact, "mailto", "https"),
		"terms":   link(&b.Terms, "https"),
		"privacy": link(&b.Privacy, "https"),
	})
}

// name reads the name of the deployment, which stands in page titles and in the headers of e-mail.
func (r *reader) name(at string, raw json.RawMessage) string {
	s := r.text(at, raw)
	if text.OneLine(s) != s || s == "" || utf8.RuneCountInString(s) > maxName || strings.ContainsAny(s, "\r\n<>\"\\") {
		r.refuse(at, raw, fmt.Sprintf(`must have 1 to %d characters, without < > " \ and control characters`, maxName))
	}
	return s
}

// maxLink is the longest URL of a brand, in bytes.
const maxLink = 500

func (r *reader) link(at string, raw json.RawMessage, schemes ...string) string {
	s := r.text(at, raw)
	u, err := url.Parse(s)
	valid := err == nil && len(s) <= maxLink && slices.Contains(schemes, u.Scheme)
	if valid && u.Scheme == "mailto" {
		_, err := mail.ParseAddress(u.Opaque)
		valid = err == nil
	} else if valid {
		valid = u.Host != "" && u.User == nil
	}
	if !valid {
		r.refuse(at, raw, fmt.Sprintf("must be a %s URL of at most %d bytes", strings.Join(schemes, " or "), maxLink))
		return ""
	}
	return u.String()
}
