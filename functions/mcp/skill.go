package mcp

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/functions/mcp/transport"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
)

// skillURI is the skill as a resource. Its folder is named after the skill.
const skillURI = "skill://vitrine/SKILL.md"

// skillsExtension is the name of the extension that defines skills/list and skills/get.
const skillsExtension = "io.modelcontextprotocol/skills"

//go:embed assets/skill.md
var skillTemplate string

// skill returns the text that teaches an agent to use this deployment.
func (h *Host) skill() string {
	policy := limits.Default().Tiers[limits.Free]
	return strings.NewReplacer(
		"{{name}}", h.name(),
		"{{app}}", h.Origins.App,
		"{{upload}}", h.Origins.Upload,
		"{{content}}", h.Origins.Content,
		"{{title_runes}}", fmt.Sprint(limits.TitleRunes),
		"{{text}}", mebibytes(limits.MCPText),
		"{{files}}", fmt.Sprint(policy.FileCount),
		"{{file_size}}", mebibytes(policy.FileSize),
		"{{artifact_size}}", mebibytes(policy.ArtifactSize),
		"{{new_artifacts}}", fmt.Sprint(policy.NewArtifactsPerDay),
		"{{revisions}}", fmt.Sprint(policy.Revisions),
		"{{requests}}", fmt.Sprint(limits.Default().Actor.Limit),
		"{{put_life}}", span(limits.PutURLLife),
		"{{session_life}}", span(limits.SessionLife),
		"{{default_life}}", span(policy.DefaultLife),
		"{{script_hosts}}", strings.Join(media.Running().Scripts, ", "),
		"{{style_hosts}}", strings.Join(media.Running().Styles[len(media.Running().Scripts):], " and "),
		"{{font_hosts}}", strings.Join(media.Running().Fonts, ", "),
		"{{image_hosts}}", strings.Join(media.Running().Images, ", "),
		"{{connect_hosts}}", strings.Join(media.Running().Connect, ", "),
	).Replace(skillTemplate)
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n/limits.MiB) }

// span formats a duration in the largest unit that fits, which is days from two days on.
func span(d time.Duration) string {
	switch {
	case d >= 2*limits.Day:
		return fmt.Sprintf("%d days", d/limits.Day)
	case d >= time.Hour:
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	return fmt.Sprintf("%d minutes", d/time.Minute)
}

// frontMatter is the head of a skill. Its values are plain YAML scalars, each on one line.
type frontMatter struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// frontMatterOf parses the head of a skill.
func frontMatterOf(text string) (out frontMatter) {
	head, _, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
	for line := range strings.Lines(head) {
		switch name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); name {
		case "name":
			out.Name = value
		case "description":
			out.Description = value
		}
	}
	return out
}

// skillEntry describes a skill and all its files.
//
// Source: the skills extension, https://github.com/modelcontextprotocol/ext-skills.
type skillEntry struct {
	URI         string      `json:"uri"`
	FrontMatter frontMatter `json:"frontmatter"`
	Resources   []skillFile `json:"resources"`
}

type skillFile struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // "sha256:" and lower-case hexadecimal digits
	Size   int    `json:"size"`   // bytes
}

// entryOf returns the entry of a skill that is one file.
func entryOf(text string) skillEntry {
	sum := sha256.Sum256([]byte(text))
	return skillEntry{
		URI:         skillURI,
		FrontMatter: frontMatterOf(text),
		Resources:   []skillFile{{URI: skillURI, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: len(text)}},
	}
}

// complete has the members of every result in the skills extension. The entries change only with a deployment.
type complete struct {
	ResultType string `json:"resultType"`
	TTLMs      int64  `json:"ttlMs"`
	CacheScope string `json:"cacheScope"`
}

var completed = complete{ResultType: "complete", TTLMs: listsLive.Milliseconds(), CacheScope: "public"}

type skillList struct {
	complete
	Skills []skillEntry `json:"skills"`
}

type skillResult struct {
	complete
	Skill skillEntry `json:"skill"`
}

// skillMethods returns the methods skills/list and skills/get, which the SDK does not have.
func skillMethods(text string) map[string]transport.Method {
	entry := entryOf(text)
	return map[string]transport.Method{
		"skills/list": func(_ context.Context, params json.RawMessage) (any, *transport.Failure) {
			var p struct {
				Cursor string `json:"cursor"`
			}
			if !readParams(params, &p) || p.Cursor != "" {
				return nil, invalidParams("invalid_cursor", "the list has one page; send no cursor")
			}
			return skillList{completed, []skillEntry{entry}}, nil
		},
		"skills/get": func(_ context.Context, params json.RawMessage) (any, *transport.Failure) {
			var p struct {
				URI string `json:"uri"`
			}
			if !readParams(params, &p) || p.URI != entry.URI {
				return nil, invalidParams("not_found", "no such skill; skills/list names those that there are")
			}
			return skillResult{completed, entry}, nil
		},
	}
}

// readParams decodes the parameters of a method, which may be missing.
func readParams(params json.RawMessage, into any) bool {
	return params == nil || json.Unmarshal(params, into) == nil
}

func invalidParams(reason, message string) *transport.Failure {
	return &transport.Failure{
		Status:  http.StatusBadRequest,
		Code:    transport.CodeInvalidParams,
		Reason:  reason,
		Message: message,
	}
}

// addSkill adds the skill to the server's resources.
func (h *Host) addSkill(s *mcp.Server) {
	text := h.skill()
	head := frontMatterOf(text)
	s.AddResource(&mcp.Resource{
		URI:         skillURI,
		Name:        head.Name,
		Title:       "How to use " + h.name(),
		Description: head.Description,
		MIMEType:    "text/markdown",
		Size:        int64(len(text)),
	}, constant(&mcp.ResourceContents{URI: skillURI, MIMEType: "text/markdown", Text: text}))
}

// constant returns the handler of a resource that is the same for all callers.
func constant(c *mcp.ResourceContents) mcp.ResourceHandler {
	return func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		copied := *c // a copy, because the SDK fills in missing fields
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&copied}}, nil
	}
}
