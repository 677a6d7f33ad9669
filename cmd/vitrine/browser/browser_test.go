package browser

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const page = "http://api.test/oauth2/authorize?state=1&x=%25s"

func TestCommand(t *testing.T) {
	for _, tt := range []struct {
		name, os, env string
		pipe          bool   // no terminal
		installed     string // in addition to the system's own
		want          string
	}{
		{"Linux with X", "linux", "DISPLAY=:0", false, "xdg-open", "xdg-open " + page},
		{"Linux with Wayland", "linux", "WAYLAND_DISPLAY=wayland-0", false, "xdg-open", "xdg-open " + page},
		{"Linux without a display", "linux", "", false, "xdg-open", ""},
		{"Linux without xdg-open", "linux", "DISPLAY=:0", false, "", ""},
		{"macOS", "darwin", "", false, "open", "open " + page},
		{"Windows", "windows", "", false, "rundll32", "rundll32 url.dll,FileProtocolHandler " + page},
		{"a wish", "linux", "DISPLAY=:0 BROWSER=firefox", false, "xdg-open firefox", "firefox " + page},
		{"a wish without a display", "linux", "BROWSER=remote", false, "remote", "remote " + page},
		{"a wish with a place", "darwin", "BROWSER=web/--new/%s/--quiet", false, "web open",
			"web --new " + page + " --quiet"},
		{"the second wish", "linux", "BROWSER=gone:lynx", false, "lynx", "lynx " + page},
		{"no wish that exists", "linux", "DISPLAY=:0 BROWSER=gone", false, "xdg-open", "xdg-open " + page},
		{"no terminal", "darwin", "BROWSER=web", true, "web open", ""},
		{"CI", "linux", "DISPLAY=:0 CI=1 BROWSER=web", false, "web xdg-open", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Environment{
				OS:       tt.os,
				Terminal: !tt.pipe,
				Env: func(name string) string {
					for pair := range strings.FieldsSeq(tt.env) {
						if value, ok := strings.CutPrefix(pair, name+"="); ok {
							return strings.ReplaceAll(value, "/", " ")
						}
					}
					return ""
				},
				LookPath: func(program string) (string, error) {
					if slices.Contains(strings.Fields(tt.installed), program) {
						return "/bin/" + program, nil
					}
					return "", exec.ErrNotFound
				},
			}
			if got := strings.Join(s.Command(page), " "); got != tt.want {
				t.Errorf("command %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOpenTellsThatThereIsNoBrowser(t *testing.T) {
	s := Environment{OS: "linux", Env: func(string) string { return "" }, LookPath: exec.LookPath}
	if err := s.Open(page); err == nil {
		t.Error("a browser was opened without a terminal")
	}
}
