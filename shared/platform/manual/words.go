package manual

import (
	"fmt"
	"slices"
	"strings"

	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/text"
)

// where says which deployment a text is about, and who gets in.
func (d Deployment) where() string {
	if d.anywhere {
		return "This copy belongs to no deployment. The address of yours is in the environment variable VITRINE_URL; if it " +
			"is not set, ask the person for it. `curl -fsSL \"$VITRINE_URL/skill.md\"` prints the copy with the hosts, limits " +
			"and rules of that deployment: go on with that one if you can. `curl -fsS \"$VITRINE_URL/.well-known/vitrine\"` " +
			"names its hosts: APP_URL below stands for app_url there, and so do UPLOAD_URL, CONTENT_URL and MCP_URL."
	}
	about := fmt.Sprintf("This is about the deployment at %s. Every answer of %s has the header `%s`: if that is not the "+
		"`version` of your copy of the skill, the copy is stale, and %s/skill.md is the one that holds.",
		d.Origins.App, d.Origins.API, VersionHeader, d.Origins.App)
	if !d.Policy.SignIn.Anybody() {
		about += " Not everybody can sign in here: its operator decides who can."
	}
	return about
}

// server says which server the command line asks.
func (d Deployment) server() string {
	if d.anywhere {
		return "It asks the server that VITRINE_URL names."
	}
	return fmt.Sprintf("It asks %[1]s; if `vitrine config get url` says another server, run `vitrine config set url "+
		"%[1]s`.", d.Origins.API)
}

// withoutAccount returns a text where anybody may publish, and nothing elsewhere.
func (d Deployment) withoutAccount(words string) string {
	if !d.Policy.Anonymous {
		return ""
	}
	return words
}

// anonymous says what becomes of what is published without an account.
func (d Deployment) anonymous() string {
	if !d.Policy.Anonymous {
		return " Nobody publishes here without an account."
	}
	return " What is published with `--ephemeral` belongs to no member: everybody who has its link can open it, and it " +
		"ends " + text.Span(d.Limits.Tiers[limits.Ephemeral].DefaultLife) + " after it was last published, unless a person " +
		"claims it. Show the claim_url to nobody but the person it is for."
}

// atOrigin chooses between texts by whether artifacts have origins of their own.
func (d Deployment) atOrigin(own, shared string) string {
	if d.Origins.Own != "" {
		return own
	}
	return shared
}

// limits lists the numbers that publishers meet first.
func (d Deployment) limits() string {
	start := "Limits: "
	if d.anywhere {
		start = "Limits of a deployment that sets none: "
	}
	return start + tier(d.Limits.Tiers[limits.Free]) +
		fmt.Sprintf(", %d calls a minute. A workspace may have larger ones.", d.Limits.Actor.Limit) +
		d.withoutAccount(" Without an account: "+tier(d.Limits.Tiers[limits.Ephemeral])+".")
}

func tier(p limits.Policy) string {
	return fmt.Sprintf("%d files, %s a file, %s an artifact, %d new artifacts a day, %d revisions of an artifact",
		p.FileCount, text.ExactSize(p.FileSize), text.ExactSize(p.ArtifactSize), p.NewArtifactsPerDay, p.Revisions)
}

// MostText is the largest text that a member may send in a call.
func MostText(l *limits.Limits) string {
	return text.ExactSize(min(limits.MCPText, l.Tiers[limits.Free].FileSize))
}

// running says whether scripts of pages run.
func running(s limits.Scripts) string {
	const where = "in the Vitrine page, inline or from a file of the artifact. They do not run when a file is opened by " +
		"its own address."
	switch s {
	case limits.ScriptsOff:
		return "Scripts do not run. Show everything without them."
	case limits.ScriptsAsk:
		return "Scripts run for a reader who asks for them, " + where + " Show what matters without them."
	}
	return "Scripts run " + where
}

// orNone returns a sentence that names hosts, or another one if there are none.
func orNone(hosts []string, some, none string) string {
	if len(hosts) == 0 {
		return none
	}
	return fmt.Sprintf(some, strings.Join(hosts, ", "))
}

func scriptRule(hosts []string) string {
	return orNone(hosts, "Libraries may come from %s. No other host may send scripts.",
		"Libraries are files of the artifact. No other host may send scripts.")
}

// styleRule does not repeat the hosts of scripts, which the sentence before has named, where styles may come from all
// of them.
func styleRule(from media.Sources) string {
	more := slices.DeleteFunc(slices.Clone(from.Styles), func(h string) bool { return slices.Contains(from.Scripts, h) })
	switch {
	case len(from.Scripts) == 0 || len(more)+len(from.Scripts) > len(from.Styles):
		return orNone(from.Styles, "Style sheets may come from %s.", "Style sheets are files of the artifact.")
	case len(more) == 0:
		return "Style sheets may come from these."
	}
	return "Style sheets may come from these and from " + strings.Join(more, " and ") + "."
}

// expiry says when artifacts end.
func expiry(p limits.Policy) string {
	const never = "`expires_at` is in the year 2100 for what does not expire."
	switch ends := "An artifact ends by itself at `expires_at`, " + text.Span(p.DefaultLife) +
		" after it was made unless the workspace chose otherwise."; {
	case p.DefaultLife == limits.Forever:
		return "Artifacts do not expire unless the workspace chose otherwise. " + never
	case p.MaxLife == limits.Forever:
		return ends + " " + never
	default:
		return ends
	}
}
