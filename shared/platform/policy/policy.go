// Package policy reads what the owner of a deployment decides: the limits of workspaces, who gets in, what pages may load,
// and the name that the deployment shows. It is one JSON file, which docs/policy.schema.json describes.
package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"vitrine/shared/platform/env"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
)

// MaxBytes is the largest policy with its logo inside.
const MaxBytes = 32 << 10

// Policy is the policy of a deployment.
type Policy struct {
	// Tiers are the limits of workspaces. Those of limits.Ephemeral are for workspaces that nobody has claimed.
	Tiers map[limits.Tier]limits.Policy
	// PerMinute is how many unclaimed workspaces a new deployment makes in a minute.
	PerMinute int
	// Anonymous allows to publish without an account.
	Anonymous bool
	// Agents allows agents to register without a person.
	Agents bool
	SignIn SignIn
	// Loads are the hosts that pages whose scripts run may load from, and StaticLoads those for other pages.
	Loads, StaticLoads media.Sources
	Brand              Brand
	// ClientDocuments says whether apps may name themselves by a document at their own address: "on", "off", or empty if
	// the file leaves it to the environment.
	ClientDocuments string
	// ReportAbuse offers a form for reports of abuse.
	ReportAbuse bool
	// Named are the members of the file that it has, as paths such as "members.file_bytes". The others have defaults.
	Named []string
	// File is the file with the logo inside, and nil without one.
	File []byte
}

// SignIn says which people get in. The zero value lets anybody in.
type SignIn struct {
	// Operators lets in nobody but operators.
	Operators bool
	// Domains and Addresses are those of e-mail addresses, in lower case, with domain names in ASCII. If both are empty and
	// Operators is not set, everybody gets in.
	Domains, Addresses []string
}

// Anybody reports whether everybody gets in.
func (s SignIn) Anybody() bool { return !s.Operators && len(s.Domains) == 0 && len(s.Addresses) == 0 }

// Brand is what pages, e-mail and agents call the deployment.
type Brand struct {
	Name    string
	Accent  string // "#rrggbb", or empty for the colour of the style sheet
	Logo    Logo
	Contact string // a mailto or https URL, or empty
	Terms   string // https URLs, or empty
	Privacy string
}

// Logo is an image that replaces the mark of the pages. Without one it is empty.
type Logo struct {
	Type string // image/svg+xml or image/png
	Data []byte
}

// DefaultName is the name of a deployment whose policy gives none.
const DefaultName = "Vitrine"

// Default returns the policy of a deployment without a file. billing says whether it sells plans: if it does, its limits
// are those of a public service, and otherwise its members have room.
func Default(billing bool) Policy {
	tiers := limits.Default().Tiers
	if !billing {
		tiers[limits.Free] = Roomy()
	}
	return Policy{
		Tiers:       tiers,
		PerMinute:   limits.ProvisionQuota,
		Anonymous:   true,
		Agents:      true,
		Loads:       media.Running(),
		StaticLoads: media.Static(),
		Brand:       Brand{Name: DefaultName},
		ReportAbuse: true,
	}
}

// Roomy returns the limits of members where no plan is sold.
func Roomy() limits.Policy {
	p := limits.Default().Tiers[limits.Pro]
	p.FileSize = 50 * limits.MiB
	p.ArtifactSize = 250 * limits.MiB
	p.FileCount = 1000
	p.DefaultLife, p.MaxLife = 90*limits.Day, limits.Forever
	p.LiveArtifacts = limits.MaxPins
	p.Revisions = limits.MaxRevisions
	return p
}

// Fact is a member of the file with the value that holds.
type Fact struct {
	Member string // its path, such as "members.file_bytes"
	Value  string // as the file has it; lists have a host or an address a line
	Named  bool   // the file has it; otherwise it is the default
}

// Facts returns what holds, in the order of the file's documentation.
func (p Policy) Facts() []Fact {
	var all []Fact
	add := func(member, value string) {
		all = append(all, Fact{Member: member, Value: value, Named: p.named(member)})
	}
	for _, t := range []struct {
		name string
		tier limits.Tier
	}{{"members", limits.Free}, {"paid", limits.Pro}, {"anonymous", limits.Ephemeral}} {
		if t.tier == limits.Ephemeral && !p.Anonymous {
			add(t.name, "off")
			continue
		}
		l := p.Tiers[t.tier]
		for _, fact := range []struct {
			member string
			value  any
		}{
			{"file_bytes", l.FileSize}, {"artifact_bytes", l.ArtifactSize}, {"files", l.FileCount},
			{"default_days", spell(l.DefaultLife)}, {"max_days", spell(l.MaxLife)}, {"pinned_artifacts", l.LiveArtifacts},
			{"new_artifacts_per_day", l.NewArtifactsPerDay}, {"revisions", l.Revisions}, {"reads_per_minute", l.Reads},
			{"scripts", l.Scripts},
		} {
			add(t.name+"."+fact.member, fmt.Sprint(fact.value))
		}
	}
	if p.Anonymous {
		add("anonymous.per_minute", fmt.Sprint(p.PerMinute))
	}
	add("sign_in", p.SignIn.String())
	add("agents", env.OnOff(p.Agents))
	for _, k := range p.kinds() {
		add("loads_from."+k.name, cmp.Or(strings.Join(*k.run, "\n"), "none"))
	}
	b := p.Brand
	add("brand.name", b.Name)
	logo := ""
	if b.Logo.Type != "" {
		logo = fmt.Sprintf("%s, %d bytes", b.Logo.Type, len(b.Logo.Data))
	}
	for _, fact := range [][2]string{
		{"accent", b.Accent}, {"logo", logo}, {"contact", b.Contact}, {"terms", b.Terms}, {"privacy", b.Privacy},
	} {
		add("brand."+fact[0], cmp.Or(fact[1], "none"))
	}
	add("client_documents", cmp.Or(p.ClientDocuments, "on"))
	add("report_abuse", env.OnOff(p.ReportAbuse))
	return all
}

// named reports whether the file has a member, or a whole word in place of what holds it.
func (p Policy) named(member string) bool {
	whole, _, _ := strings.Cut(member, ".")
	return slices.Contains(p.Named, member) || slices.Contains(p.Named, whole) &&
		!slices.ContainsFunc(p.Named, func(n string) bool { return strings.HasPrefix(n, whole+".") })
}

// String lists who gets in, one a line.
func (s SignIn) String() string {
	switch {
	case s.Operators:
		return "operators"
	case s.Anybody():
		return "anybody"
	}
	var lines []string
	for _, d := range s.Domains {
		lines = append(lines, "@"+d)
	}
	return strings.Join(append(lines, s.Addresses...), "\n")
}
