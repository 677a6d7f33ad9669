package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// fakeBrowser runs a program as a person with a browser does. It opens the address of a sign-in that appears on
// stderr, and writes the final page, after its status, to $WORK/page. With PERSON=interrupt it sends an interrupt
// instead, and with PERSON=patient it does neither. Output and exit code are the program's.
func fakeBrowser() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	pipe, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "person:", err)
		os.Exit(125)
	}
	visited := make(chan error, 1)
	visits := 0
	for s := bufio.NewScanner(pipe); s.Scan(); {
		fmt.Fprintln(os.Stderr, s.Text())
		address := strings.TrimSpace(s.Text())
		isPage := strings.Contains(address, "/oauth2/authorize?")
		switch os.Getenv("PERSON") {
		case "interrupt":
			if isPage || strings.HasPrefix(address, "Waiting;") {
				cmd.Process.Signal(os.Interrupt)
			}
		case "patient":
		default:
			if isPage {
				visits++
				go func() { visited <- visit(address) }()
			}
		}
	}
	for range visits {
		if err := <-visited; err != nil {
			fmt.Fprintln(os.Stderr, "person:", err)
			os.Exit(125)
		}
	}
	cmd.Wait() // the exit code is the outcome
	os.Exit(cmd.ProcessState.ExitCode())
}

// visit is the person's browser.
func visit(address string) error {
	resp, err := http.Get(address)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s\n%s\n%s", resp.Status, resp.Header.Get("Content-Security-Policy"), body)
	return os.WriteFile(filepath.Join(os.Getenv("WORK"), "page"), []byte(text), 0o666)
}

// silent-bus replaces the keyring's bus by one that accepts connections and never answers.
func silentBus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: silent-bus")
	}
	folder, err := os.MkdirTemp("", "bus") // the name of a socket must be short
	ts.Check(err)
	name := filepath.Join(folder, "s")
	l, err := net.Listen("unix", name)
	ts.Check(err)
	ts.Defer(func() {
		l.Close()
		os.RemoveAll(folder)
	})
	ts.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+name)
}
