package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/cmd/vitrine/upgrade"
	"vitrine/cmd/vitrine/vault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/release"
)

// Bounds of the daily look for a newer version and of the first start of a new program.
const (
	versionTime = 2 * time.Second
	startTime   = 30 * time.Second
)

// upgradeFlags are the flags of upgrade.
type upgradeFlags struct{ check, force bool }

func (a *app) upgradeCommand() *cobra.Command {
	var w upgradeFlags
	cmd := a.command("upgrade", "Upgrade this program", upgradeGuide, cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.upgrade(ctx, w) })
	cmd.Flags().BoolVar(&w.check, "check", false, "only tell whether there is a newer version")
	cmd.Flags().BoolVar(&w.force, "force", false, "also go to the same or an older version")
	cmd.MarkFlagsMutuallyExclusive("check", "force")
	return cmd
}

// upgraded is the JSON result of upgrade.
type upgraded struct {
	SchemaVersion string `json:"schema_version"`
	Version       string `json:"version"` // that ran the command
	Latest        string `json:"latest"`
	MinSupported  string `json:"min_supported"`
	Newer         bool   `json:"newer"`
	Upgraded      bool   `json:"upgraded"`
	Path          string `json:"path,omitempty"` // of the program that was replaced
}

// upgrade puts the version that the server has in the place of this program.
func (a *app) upgrade(ctx context.Context, w upgradeFlags) error {
	from, err := a.discover(ctx)
	if err != nil {
		return err
	}
	a.deployment = nil // no note about what this command tells
	known, err := from.Versions(ctx)
	if err != nil {
		return err
	}
	if !release.ValidVersion(known.Latest) {
		return failure.New(failure.Other, failure.BadResponse, "the server has %q as the newest version, which is none",
			known.Latest)
	}
	r := upgraded{
		SchemaVersion: schemaVersion,
		Version:       version,
		Latest:        known.Latest,
		MinSupported:  known.MinSupported,
		Newer:         isNewer(known.Latest),
	}
	if w.check || !r.Newer && !w.force && release.ValidVersion(version) {
		return a.tellVersion(r)
	}
	if r.Path, err = a.replaceable(from); err != nil {
		return err
	}
	program, err := download(ctx, from, known.Latest)
	if err != nil {
		return err
	}
	if err := upgrade.Replace(r.Path, program, func(file string) error { return starts(ctx, file, known.Latest) }); err != nil {
		return failure.New(failure.Other, failure.Unsavable, "vitrine %s was not installed, and %s is as it was: %v",
			known.Latest, r.Path, err).Advise("Free some space or correct what the message names, then run the command again.")
	}
	r.Upgraded = true
	return a.tellVersion(r)
}

// tellVersion reports what upgrade has found or done.
func (a *app) tellVersion(r upgraded) error {
	if a.screen.IsJSON() {
		return a.screen.Object(r)
	}
	what := "vitrine " + r.Version + " is the newest version"
	switch {
	case !r.Upgraded && !release.ValidVersion(r.Version):
		what = "vitrine " + r.Version + " is a development build; the server has " + r.Latest
	case r.Upgraded:
		what = "Upgraded to vitrine " + r.Latest
	case r.Newer:
		what = "vitrine " + r.Latest + " is there; vitrine upgrade installs it"
	case r.Version != r.Latest:
		what = "vitrine " + r.Version + " is newer than " + r.Latest + ", which the server has; --force installs that"
	}
	rows := []screen.Row{{Name: "Version", Value: r.Version}}
	if r.Upgraded {
		rows = []screen.Row{{Name: "Before", Value: r.Version}, {Name: "Program", Value: r.Path}}
	}
	return a.screen.Result(what, rows...)
}

// replaceable returns the path of this program, if nobody else looks after it.
func (a *app) replaceable(from *client.Deployment) (string, error) {
	install := "Install it with: curl -fsSL " + from.Hosts.AppURL + "/install.sh | sh"
	if !release.ValidVersion(version) {
		return "", failure.New(failure.Invalid, failure.Usage, "this is a development build, which is not replaced").
			Advise("%s", install)
	}
	path, err := a.executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", failure.New(failure.Other, failure.Unsavable, "cannot find this program: %v", err).Advise("%s", install)
	}
	if by := upgrade.Manager(path); by != "" {
		return "", failure.New(failure.Invalid, failure.Usage, "%s belongs to %s, which upgrades it", path, by).
			Advise("Upgrade it there, or have a copy of your own. %s", install)
	}
	return path, nil
}

// download returns the program of a release, whose checksum is verified.
func download(ctx context.Context, from *client.Deployment, version string) ([]byte, error) {
	name := release.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}.Archive(version)
	sums, err := from.Release(ctx, version, release.Checksums, 1<<20)
	if err != nil {
		return nil, err
	}
	archive, err := from.Release(ctx, version, name, upgrade.MaxArchive)
	if err != nil {
		return nil, err
	}
	var program []byte
	if err = upgrade.Verify(sums, name, archive); err == nil {
		program, err = upgrade.Unpack(name, archive)
	}
	if err != nil {
		return nil, failure.New(failure.Other, failure.BadResponse, "cannot use the release: %v; nothing was changed", err).
			Advise("Run the command again; if it fails again, tell whoever runs the server.")
	}
	return program, nil
}

// isNewer reports whether a version comes after that of this program, which is a release.
func isNewer(latest string) bool {
	return release.ValidVersion(version) && release.ValidVersion(latest) && release.Compare(latest, version) > 0
}

// starts fails unless a program runs here and is the version that it should be.
func starts(ctx context.Context, file, version string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, file, "version").Output()
	if got := strings.TrimSpace(string(out)); err == nil && got != "vitrine "+version {
		return failure.New(failure.Other, failure.BadResponse, "the new program says that it is %q", got)
	}
	return err
}

// noteNewer says once a day that the server has a newer version. It stays silent for scripts, for whoever has turned it
// off, and if it cannot find out, because nobody has asked.
func (a *app) noteNewer(ctx context.Context) {
	if a.deployment == nil || a.flags.json || a.flags.quiet || a.env("CI") != "" || !release.ValidVersion(version) {
		return
	}
	if set, _, err := a.value(upgradeSetting); err != nil || set == upgradeOff || !a.looksToday() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	known, err := a.deployment.Versions(ctx)
	if err == nil && isNewer(known.Latest) {
		a.screen.Note("vitrine %s is there, and this is %s; vitrine upgrade installs it", known.Latest, version)
	}
}

// looksToday reports whether a day has passed since it last did, and records that it has.
func (a *app) looksToday() bool {
	file := filepath.Join(vault.Folder(a.env), "looked.json")
	var last time.Time
	text, err := os.ReadFile(file)
	if err == nil && json.Unmarshal(text, &last) == nil && a.now().Sub(last).Abs() < limits.Day {
		return false
	}
	text, err = json.Marshal(a.now())
	return err == nil && os.MkdirAll(filepath.Dir(file), 0o700) == nil && os.WriteFile(file, text, 0o600) == nil
}

const upgradeGuide = `vitrine upgrade installs the version of vitrine that the server has.

  vitrine upgrade
  vitrine upgrade --check --json

The archive comes from the server and is compared with its SHA-256. The new program is started once
before it takes the place of this one, in one step, so that there is always a whole program. What a
package manager has installed is left to it (exit code 4), and so are development builds.

Once a day, a command that talks to the server says on stderr that there is a newer version; not in
CI, not with --json or --quiet, and not after vitrine config set upgrade-check off.

With --json: {"schema_version":"1","version":...,"latest":...,"min_supported":...,"newer":...,
"upgraded":...,"path":...}.

Flags:
  --check  only tell whether there is a newer version
  --force  also go to the same version again or to an older one
`
