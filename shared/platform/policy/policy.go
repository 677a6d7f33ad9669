// Package policy reads what the owner of a deployment decides: the limits of workspaces, who gets in, what pages may load,
// and the name that the deployment shows. It is one JSON file, which docs/policy.schema.json describes.
package policy

import (
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
	// Digest identifies the file, and is empty without one.
	Digest string
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
	p.FileSize, p.ArtifactSize, p.BundleSize = limits.MaxFileSize, limits.MaxArtifactSize, limits.MaxArtifactSize
	p.DefaultLife, p.MaxLife = 90*limits.Day, limits.Forever
	p.LiveArtifacts = limits.MaxPins
	p.Revisions = limits.MaxRevisions
	return p
}
