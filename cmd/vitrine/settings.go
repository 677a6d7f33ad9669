package main

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/config"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/cmd/vitrine/vault"
)

// Sources of a setting, in the order in which they are read.
const (
	setByEnvironment = "environment"
	setByFile        = "file"
	setByDefault     = "default"
)

// Values of the setting color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// Values of the setting upgrade-check.
const (
	upgradeOn  = "on"
	upgradeOff = "off"
)

// setting describes a setting of the configuration file.
type setting struct {
	name      string
	byDefault string
	env       string // variable that takes precedence; "" for none
	parse     func(value string) (string, error)
}

var (
	urlSetting = setting{
		name:      "url",
		byDefault: defaultURL,
		env:       envURL,
		parse:     parseURLSetting,
	}
	colorSetting   = setting{name: "color", byDefault: colorAuto, parse: parseColorSetting}
	upgradeSetting = setting{name: "upgrade-check", byDefault: upgradeOn, parse: parseUpgradeSetting}
	settings       = []setting{urlSetting, colorSetting, upgradeSetting}
)

func parseURLSetting(value string) (string, error) {
	base, err := client.Base(value)
	if err != nil {
		failure.Of(err).Message = "the setting url is not the address of a server"
	}
	return base, err
}

func parseColorSetting(value string) (string, error) {
	if slices.Contains([]string{colorAuto, colorAlways, colorNever}, value) {
		return value, nil
	}
	return "", failure.New(failure.Invalid, failure.Usage, "the setting color is not %q", value).
		Advise("It is auto, always or never.")
}

func parseUpgradeSetting(value string) (string, error) {
	if value == upgradeOn || value == upgradeOff {
		return value, nil
	}
	return "", failure.New(failure.Invalid, failure.Usage, "the setting upgrade-check is not %q", value).
		Advise("It is on or off.")
}

// settingNamed returns the setting with a name.
func settingNamed(name string) (setting, error) {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.name == name })
	if i >= 0 {
		return settings[i], nil
	}
	var names []string
	for _, s := range settings {
		names = append(names, s.name)
	}
	return setting{}, failure.New(failure.Invalid, failure.Usage, "there is no setting %q", name).
		Advise("The settings are %s.", strings.Join(names, ", "))
}

// config returns the settings file of the current user.
func (a *app) config() config.File { return config.File{Dir: vault.Folder(a.env)} }

// value returns the value of a setting and where it comes from.
func (a *app) value(s setting) (value, source string, err error) {
	if s.env != "" {
		if value = a.env(s.env); value != "" {
			return value, setByEnvironment, nil
		}
	}
	value, err = a.config().Get(s.name)
	if err != nil || value == "" {
		return s.byDefault, setByDefault, err
	}
	value, err = s.parse(value)
	return value, setByFile, err
}

// colors returns whether flags or the setting force colours on or off. NO_COLOR and CI take precedence over the
// setting. A file that cannot be read counts as the default here, because another command reports it.
func (a *app) colors() (on, off bool) {
	if a.flags.color || a.flags.noColor {
		return a.flags.color, a.flags.noColor
	}
	value, err := a.config().Get(colorSetting.name)
	if err != nil {
		return false, false
	}
	return value == colorAlways && a.env("NO_COLOR") == "" && a.env("CI") == "", value == colorNever
}

func (a *app) configCommand() *cobra.Command {
	cmd := a.command("config", "Show and change settings", configGuide, cobra.NoArgs,
		func(context.Context, []string) error { return a.screen.Text(configGuide) })
	cmd.AddCommand(
		a.command("get [NAME]", "Show settings", configGuide, cobra.MaximumNArgs(1),
			func(_ context.Context, args []string) error { return a.getSettings(args) }),
		a.command("set NAME VALUE", "Change a setting", configGuide, exactly(2, "a NAME and a VALUE"),
			func(_ context.Context, args []string) error { return a.setSetting(args[0], args[1]) }),
		a.command("unset NAME", "Remove a setting", configGuide, exactly(1, "one NAME"),
			func(_ context.Context, args []string) error { return a.unsetSetting(args[0]) }),
		a.command("path", "Print the name of the file", configGuide, cobra.NoArgs,
			func(context.Context, []string) error { return a.configPath() }),
		a.workspaceCommand(),
	)
	return cmd
}

// shownSetting is a setting as config prints it.
type shownSetting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// shownSettings is the JSON result of config get without a name.
type shownSettings struct {
	SchemaVersion string         `json:"schema_version"`
	Settings      []shownSetting `json:"settings"`
}

// oneSetting is the JSON result of the other commands about settings.
type oneSetting struct {
	SchemaVersion string `json:"schema_version"`
	shownSetting
}

func (a *app) getSettings(args []string) error {
	if len(args) == 1 {
		s, err := settingNamed(args[0])
		if err != nil {
			return err
		}
		return a.showSetting(s)
	}
	var all []shownSetting
	var rows [][]string
	for _, s := range settings {
		value, source, err := a.value(s)
		if err != nil {
			return err
		}
		all = append(all, shownSetting{s.name, value, source})
		rows = append(rows, []string{s.name, value, source})
	}
	if a.screen.IsJSON() {
		return a.screen.Object(shownSettings{schemaVersion, all})
	}
	return a.screen.Table(rows)
}

func (a *app) showSetting(s setting) error {
	value, source, err := a.value(s)
	switch {
	case err != nil:
		return err
	case a.screen.IsJSON():
		return a.screen.Object(oneSetting{schemaVersion, shownSetting{s.name, value, source}})
	}
	return a.screen.Result(value)
}

func (a *app) setSetting(name, value string) error {
	s, err := settingNamed(name)
	if err != nil {
		return err
	}
	if value, err = s.parse(value); err != nil {
		return err
	}
	if err := a.config().Set(name, value); err != nil {
		return err
	}
	a.noteOverridden(s)
	return a.showFileSetting(s, value, setByFile)
}

func (a *app) unsetSetting(name string) error {
	s, err := settingNamed(name)
	if err != nil {
		return err
	}
	if err := a.config().Set(name, ""); err != nil {
		return err
	}
	a.noteOverridden(s)
	return a.showFileSetting(s, s.byDefault, setByDefault)
}

// noteOverridden notes that a change has no effect as long as a variable is set.
func (a *app) noteOverridden(s setting) {
	if s.env != "" && a.env(s.env) != "" {
		a.screen.Note("%s is set and takes precedence over the file", s.env)
	}
}

// showFileSetting shows a setting of the file, regardless of the environment.
func (a *app) showFileSetting(s setting, value, source string) error {
	if a.screen.IsJSON() {
		return a.screen.Object(oneSetting{schemaVersion, shownSetting{s.name, value, source}})
	}
	return a.screen.Result(s.name+" is "+value, screen.Row{Name: "Kept in", Value: a.config().Path()})
}

func (a *app) configPath() error {
	path := a.config().Path()
	switch {
	case path == "":
		return failure.New(failure.Invalid, failure.Unsettable,
			"there is no folder for settings: neither HOME nor XDG_CONFIG_HOME is set").
			Advise("Set one of them to an absolute path.")
	case a.screen.IsJSON():
		return a.screen.Object(struct {
			SchemaVersion string `json:"schema_version"`
			Path          string `json:"path"`
		}{schemaVersion, path})
	}
	return a.screen.Result(path)
}

// serverAddress returns the address of the server from the environment or the settings file.
func (a *app) serverAddress() (string, error) {
	value, _, err := a.value(urlSetting)
	return cmp.Or(value, defaultURL), err
}

const configGuide = `vitrine config shows and changes settings.

  vitrine config get                        all settings, with where each is said
  vitrine config get url
  vitrine config set url https://vitrine.example.com
  vitrine config set color never
  vitrine config unset url
  vitrine config path                       prints the name of the file
  vitrine config workspace life forever     how long new artifacts live, kept on the server

Settings:
  url    the server; VITRINE_URL takes precedence; default http://localhost:8701
  color  auto, always or never; --color, --no-color, NO_COLOR and CI take precedence; default auto
  upgrade-check  on or off: say once a day that there is a newer version; default on

A flag counts before the environment, the environment before the file, the file before the default.
The file is config.json, a JSON object, in the folder of the logins: $XDG_CONFIG_HOME/vitrine or
~/.config/vitrine. Keys and logins are not in it. With VITRINE_URL set, the file's url is not read.

With --json: get gives settings[{name, value, source}], or with a NAME, as set and unset do, name,
value and source; source is environment, file or default. path gives path.
A file that is not JSON, or has another value than those, is exit code 4, config_error.
`
