package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"vitrine/shared/platform/env"
)

// longestRun is how long a function that was stopped may still run.
const longestRun = 5 * time.Minute

// assertionLife is how long what a lost table of counters knew can be used a second time.
const assertionLife = 15 * time.Minute

// scheduledStacks are the stacks whose rules wake what deletes.
func (w *work) scheduledStacks() []string {
	var all []string
	for _, f := range env.Scheduled {
		all = append(all, w.Name+"-"+strings.ToUpper(f[:1])+f[1:])
	}
	return all
}

func (w *work) holdCalls() []string {
	var calls []string
	for _, stack := range w.scheduledStacks() {
		calls = append(calls, "aws events disable-rule of each rule of "+stack)
	}
	return calls
}

// hold disables the schedules of the jobs. The journal knows which ones were enabled before.
func (w *work) hold(ctx context.Context) error {
	for _, stack := range w.scheduledStacks() {
		said, err := w.Commands.AWS(ctx, "cloudformation", "list-stack-resources", "--stack-name", stack, "--query",
			"StackResourceSummaries[?ResourceType=='AWS::Events::Rule'].PhysicalResourceId", "--output", "json")
		if err != nil {
			return err
		}
		var rules []string
		if err := json.Unmarshal([]byte(said), &rules); err != nil {
			return fmt.Errorf("the rules of %s cannot be read: %w", stack, err)
		}
		for _, rule := range rules {
			if err := w.disable(ctx, rule); err != nil {
				return err
			}
		}
	}
	if len(w.Rules) == 0 {
		return errors.New("no schedule of the jobs was found, so that they cannot be stopped")
	}
	w.sayf("  the alarms of the functions jobs and bundle report that nothing wakes them: that is so until open --expire")
	return nil
}

func (w *work) disable(ctx context.Context, rule string) error {
	if _, known := w.Rules[rule]; !known {
		state, err := w.Commands.AWS(ctx, "events", "describe-rule", "--name", rule, "--query", "State", "--output", "text")
		if err != nil {
			return err
		}
		w.Rules[rule] = strings.TrimSpace(state) == "ENABLED"
		if err := w.save(); err != nil {
			return err
		}
	}
	_, err := w.Commands.AWS(ctx, "events", "disable-rule", "--name", rule)
	return err
}

// wake enables the schedules that were enabled before.
func (w *work) wake(ctx context.Context) error {
	for _, rule := range slices.Sorted(maps.Keys(w.Rules)) {
		if !w.Rules[rule] {
			continue
		}
		if _, err := w.Commands.AWS(ctx, "events", "enable-rule", "--name", rule); err != nil {
			return err
		}
	}
	return nil
}

func (w *work) drainCalls() []string {
	functions, _ := w.functions() // decide refused a deployment that does not tell
	var calls []string
	for _, f := range functions {
		calls = append(calls, "aws lambda put-function-concurrency --function-name "+f+" --reserved-concurrent-executions 0")
	}
	return append(calls, "wait "+longestRun.String())
}

// drain stops every function and waits until none runs. The journal knows what each had reserved.
func (w *work) drain(ctx context.Context) error {
	functions, err := w.functions()
	if err != nil {
		return err
	}
	for _, f := range functions {
		if err := w.stop(ctx, f); err != nil {
			return err
		}
	}
	if w.Drained.IsZero() {
		w.Drained = w.Clock.Now().UTC()
		if err := w.save(); err != nil {
			return err
		}
	}
	return w.waitUntil(ctx, w.Drained.Add(longestRun))
}

func (w *work) waitUntil(ctx context.Context, at time.Time) error {
	left := at.Sub(w.Clock.Now())
	if left <= 0 {
		return nil
	}
	w.sayf("  waiting %s", left.Round(time.Second))
	return w.Clock.Wait(ctx, left)
}

func (w *work) stop(ctx context.Context, function string) error {
	if _, known := w.Reserved[function]; !known {
		said, err := w.Commands.AWS(ctx, "lambda", "get-function-concurrency", "--function-name", function, "--query",
			"ReservedConcurrentExecutions", "--output", "json")
		if err != nil {
			return err
		}
		var reserved *int
		if said = strings.TrimSpace(said); said != "" {
			if err := json.Unmarshal([]byte(said), &reserved); err != nil {
				return fmt.Errorf("what %s has reserved cannot be read: %w", function, err)
			}
		}
		w.Reserved[function] = reserved
		if err := w.save(); err != nil {
			return err
		}
	}
	_, err := w.Commands.AWS(ctx, "lambda", "put-function-concurrency", "--function-name", function,
		"--reserved-concurrent-executions", "0")
	return err
}

// release gives the functions back what they had reserved. Where the counters were lost, it waits until all that they
// knew has ended.
func (w *work) release(ctx context.Context) error {
	if w.HotLost && w.did(lastOfSwitch) {
		if err := w.waitUntil(ctx, w.Began.Add(assertionLife)); err != nil {
			return err
		}
	}
	for _, f := range slices.Sorted(maps.Keys(w.Reserved)) {
		args := []string{"lambda", "delete-function-concurrency", "--function-name", f}
		if n := w.Reserved[f]; n != nil {
			args = []string{"lambda", "put-function-concurrency", "--function-name", f,
				"--reserved-concurrent-executions", strconv.Itoa(*n)}
		}
		if _, err := w.Commands.AWS(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// deploy makes the functions run on the restored set. From here on they may name it, so that it is not abandoned.
func (w *work) deploy(ctx context.Context) error {
	w.Deploys = true
	if err := w.save(); err != nil {
		return err
	}
	args := w.adopting()
	w.sayf("  scripts/deploy %s", strings.Join(args, " "))
	return w.Commands.Deploy(ctx, args...)
}

// verify checks that each function runs on the restored set, and that the deployment woke none.
func (w *work) verify(ctx context.Context) error {
	want := []string{w.Set.Core, w.Set.Events, w.Set.Hot, w.Set.Bucket}
	functions, err := w.functions()
	if err != nil {
		return err
	}
	query := "Environment.Variables.[" +
		strings.Join([]string{env.CoreTable, env.EventsTable, env.HotTable, env.Bucket}, ", ") + "]"
	for _, f := range functions {
		said, err := w.Commands.AWS(ctx, "lambda", "get-function-configuration", "--function-name", f, "--query", query,
			"--output", "json")
		if err != nil {
			return err
		}
		var got []string
		if err := json.Unmarshal([]byte(said), &got); err != nil {
			return fmt.Errorf("the settings of %s cannot be read: %w", f, err)
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("the function %s runs on %v, not on %v: deploy it with the printed arguments", f, got, want)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(w.Rules)) {
		if err := w.disable(ctx, rule); err != nil {
			return err
		}
	}
	return nil
}
