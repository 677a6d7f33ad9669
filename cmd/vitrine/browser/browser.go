// Package browser opens a page in the person's browser.
package browser

import (
	"errors"
	"os/exec"
	"strings"
)

// errNone means that there is no browser to open.
var errNone = errors.New("there is no browser")

// Environment decides whether a browser can be opened for the person.
type Environment struct {
	OS       string // as in runtime.GOOS
	Terminal bool   // stdin and stderr are terminals
	Env      func(name string) string
	LookPath func(program string) (string, error) // exec.LookPath
}

// Command returns the command that opens an http or https address. It returns nil without a terminal and in CI, where
// a browser would not be seen. $BROWSER is a list of commands as xdg-open reads it: separated by colons, %s for the
// address.
func (e Environment) Command(address string) []string {
	if !e.Terminal || e.Env("CI") != "" {
		return nil
	}
	for _, candidate := range e.candidates() {
		command := strings.Fields(candidate)
		if len(command) == 0 {
			continue
		}
		if _, err := e.LookPath(command[0]); err == nil {
			return place(command, address)
		}
	}
	return nil
}

// candidates returns the commands to try; the first that exists is used.
func (e Environment) candidates() []string {
	command := e.Env("BROWSER")
	switch {
	case e.OS == "windows":
		return []string{command, "rundll32 url.dll,FileProtocolHandler"}
	case e.OS == "darwin":
		return append(strings.Split(command, ":"), "open")
	case e.Env("DISPLAY") == "" && e.Env("WAYLAND_DISPLAY") == "":
		return strings.Split(command, ":") // $BROWSER may work where the system's own commands do not
	}
	return append(strings.Split(command, ":"), "xdg-open")
}

func place(command []string, address string) []string {
	placed := make([]string, 0, len(command)+1)
	found := false
	for _, word := range command {
		found = found || strings.Contains(word, "%s")
		placed = append(placed, strings.ReplaceAll(word, "%s", address))
	}
	if !found {
		placed = append(placed, address)
	}
	return placed
}

// Open starts the browser and does not wait for it. Its output is discarded.
func (e Environment) Open(address string) error {
	command := e.Command(address)
	if command == nil {
		return errNone
	}
	c := exec.Command(command[0], command[1:]...)
	if err := c.Start(); err != nil {
		return err
	}
	go c.Wait() // reaps the process, which would otherwise stay a zombie while the login waits
	return nil
}
