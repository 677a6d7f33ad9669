package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The rules take most of the time of a synthesis, so that they run in a process of their own: the
// strict rules of CloudFormation end it, and the reports of cdk-nag have the rest.
func TestTheRulesHold(t *testing.T) {
	t.Parallel() // with the deployments, which wait for processes too
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	check := exec.CommandContext(t.Context(), self)
	check.Env = append(os.Environ(), checkingRules+"=yes", "CDK_VALIDATION=true")
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// breaches prints the findings of the reports in a folder. It returns 1 if there are any, or if
// there are no reports.
func breaches(folder string) (code int) {
	files, _ := filepath.Glob(filepath.Join(folder, "AwsSolutions-*.csv"))
	if len(files) == 0 {
		fmt.Println("cdk-nag wrote no report")
		return 1
	}
	for _, file := range files {
		text, err := os.Open(file)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		rows, err := csv.NewReader(text).ReadAll()
		text.Close()
		if err != nil || len(rows) < 2 {
			fmt.Println(file, "cannot be read:", err)
			return 1
		}
		for _, row := range rows[1:] {
			if row[2] != "Compliant" && row[2] != "Suppressed" && row[2] != "N/A" {
				fmt.Println(strings.Join(row, " | "))
				code = 1
			}
		}
	}
	return code
}
