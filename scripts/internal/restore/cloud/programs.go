package cloud

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Programs runs the AWS command line of the operator and scripts/deploy.
type Programs struct {
	Root string // the repository
	Out  io.Writer
}

// AWS implements Commands.
func (p Programs) AWS(ctx context.Context, args ...string) (string, error) {
	var complaint strings.Builder
	cmd := exec.CommandContext(ctx, "aws", args...)
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("aws %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return string(out), nil
}

// Deploy implements Commands.
func (p Programs) Deploy(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(p.Root, "scripts", "deploy"), args...)
	cmd.Stdin = os.Stdin
	cmd.Stdout, cmd.Stderr = p.Out, p.Out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("scripts/deploy: %w", err)
	}
	return nil
}
