package cloud

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/executable"
	"vitrine/scripts/testkit/expect"
)

// The stand-in for the AWS command line keeps rules and concurrency as files, and the one for scripts/deploy the words
// that it was given.
const awsStandIn = `#!/usr/bin/env bash
cd "$ACCOUNT" && echo "$*" >>calls
case $2 in
  list-stack-resources) echo "[\"$4-EveryMinute\"]" ;;
  describe-rule) if [ -e "disabled-$4" ]; then echo DISABLED; else echo ENABLED; fi ;;
  disable-rule) touch "disabled-$4" ;;
  enable-rule) rm "disabled-$4" ;;
  get-function-concurrency) cat "reserved-$4" 2>/dev/null || true ;;
  put-function-concurrency) echo "$6" >"reserved-$4" ;;
  delete-function-concurrency) rm -f "reserved-$4" ;;
  get-function-configuration)
    case $6 in *VITRINE_TABLE_CORE*VITRINE_TABLE_EVENTS*VITRINE_TABLE_HOT*VITRINE_BUCKET*) ;; *) exit 1 ;; esac
    for name in table-core table-events table-hot; do sed -n "s/^$name=//p" words; done |
      node -e 'console.log(JSON.stringify([...require("fs").readFileSync(0, "utf8").trim().split("\n"), "vitrine"]))' ;;
  *) echo "An error occurred (AccessDenied): not $2" >&2; exit 254 ;;
esac
`

const deployStandIn = `#!/usr/bin/env bash
printf '%s\n' "$@" >"$ACCOUNT/words"
[ ! -e "$ACCOUNT/broken" ]
`

// TestARestoreByTheProgramsOfTheOperator runs every command with programs on the path.
func TestARestoreByTheProgramsOfTheOperator(t *testing.T) {
	l := newLoss(t)
	root := t.TempDir()
	executable.Write(t, filepath.Join(root, "bin", "aws"), awsStandIn)
	executable.Write(t, filepath.Join(root, "scripts", "deploy"), deployStandIn)
	t.Setenv("PATH", filepath.Join(root, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("ACCOUNT", root)
	programs := func(r *Restore) { r.Commands = Programs{Root: root, Out: l.out} }
	expect.OK(t, os.WriteFile(filepath.Join(root, "reserved-"+l.name+"-Content-F"), []byte("7\n"), 0o600))

	expect.OK(t, l.restore(l.at, programs).Plan(t.Context()))
	if _, err := os.Stat(filepath.Join(root, "calls")); err == nil {
		t.Error("the plan called aws")
	}
	expect.OK(t, l.restore(l.at, programs).Run(t.Context()))
	expect.OK(t, os.WriteFile(filepath.Join(root, "broken"), nil, 0o600))
	expect.Error(t, l.restore(time.Time{}, programs).Switch(t.Context()), deployStep, "scripts/deploy")
	expect.OK(t, os.Remove(filepath.Join(root, "broken")))
	expect.OK(t, l.restore(time.Time{}, programs).Switch(t.Context()))
	words := string(expect.Value(os.ReadFile(filepath.Join(root, "words")))(t))
	expect.Has(t, "scripts/deploy", words, "--yes\n", "name="+l.name+"\n", "table-read-units=50\n",
		"table-hot="+l.Tables.Hot)
	expect.Lacks(t, "scripts/deploy", words, "table-core=before")
	s := l.restored(t).Set
	expect.OK(t, l.restore(time.Time{}, programs).Open(t.Context(), true))
	left := expect.Value(filepath.Glob(filepath.Join(root, "[dr]*-*")))(t)
	if len(left) != 1 || !strings.HasSuffix(left[0], "reserved-"+l.name+"-Content-F") {
		t.Errorf("in the end these are disabled or reserved: %v", left)
	}
	l.wantRestored(t, s)
}

func TestWhatAWSComplainsOfIsSaid(t *testing.T) {
	root := t.TempDir()
	executable.Write(t, filepath.Join(root, "aws"), awsStandIn)
	t.Setenv("PATH", root+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("ACCOUNT", root)
	_, err := Programs{}.AWS(t.Context(), "events", "remove-rule")
	expect.Error(t, err, "aws events remove-rule", "AccessDenied")
}
