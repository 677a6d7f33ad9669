package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
)

func TestNoFunctionOutlivesARunnerThatIsKilled(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), roleVariable+"="+roleParent)
	parent.Stderr = os.Stderr
	stdout, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var child report
	err = json.NewDecoder(stdout).Decode(&child)
	if err := errors.Join(err, parent.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // says that it was killed
	expect.Soon(t, "the function ends", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child.PID))
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}
