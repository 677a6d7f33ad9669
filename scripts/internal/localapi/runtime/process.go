package runtime

import (
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is one run of the program, with a Runtime API of its own. The function's lock guards its state.
type process struct {
	function *Function
	command  *exec.Cmd
	server   *http.Server
	output   []*lines
	next     chan *invocation // to the idle process
	ended    chan struct{}

	ready   bool // it has asked for an invocation
	late    bool // it was ended because it did not ask in time
	current *invocation
	free    bool // its answer is read, so that it will ask for the next invocation
}

// start starts the program. The function's lock is held.
func start(f *Function) (*process, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &process{function: f, next: make(chan *invocation, 1), ended: make(chan struct{})}
	p.server = &http.Server{Handler: p.api()}
	stdout, stderr := newLines(f.Name, f.Log), newLines(f.Name, f.Log)
	p.output = []*lines{stdout, stderr}
	p.command = &exec.Cmd{
		Path:        f.Program,
		Args:        []string{f.Program},
		Env:         p.environment(listener.Addr().String()),
		Stdout:      stdout,
		Stderr:      stderr,
		SysProcAttr: ownGroup(),
		WaitDelay:   time.Second,
	}
	if err := p.command.Start(); err != nil {
		listener.Close()
		return nil, err
	}
	go p.server.Serve(listener)
	return p, nil
}

// environment returns what Lambda sets for a function, and its settings.
func (p *process) environment(api string) []string {
	f := p.function
	env := []string{
		"AWS_LAMBDA_RUNTIME_API=" + api, "_HANDLER=bootstrap", "AWS_LAMBDA_FUNCTION_NAME=" + f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=" + strconv.Itoa(f.MemoryMB), "AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/" + f.Name, "AWS_LAMBDA_LOG_STREAM_NAME=local",
		"TZ=:UTC", "LANG=en_US.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin",
	}
	for name, value := range f.Environment {
		env = append(env, name+"="+value)
	}
	return env
}

// take assigns the invocation to the process; its time runs from now. The function's lock is held.
func (p *process) take(i *invocation) {
	p.current, i.deadline = i, time.Now().Add(p.function.Timeout)
	i.timer = time.AfterFunc(p.function.Timeout, func() {
		took := p.function.Timeout.Seconds()
		i.fail(&Failure{"Sandbox.Timedout", fmt.Sprintf("RequestId: %s Error: Task timed out after %.2f seconds", i.id,
			took)})
		p.kill()
	})
}

// finish ends the current invocation of the process. The function's lock is held.
func (p *process) finish() {
	if p.current != nil {
		p.current.timer.Stop()
		p.current, p.free = nil, false
	}
}

// release marks the answer as read.
func (p *process) release() {
	p.function.mu.Lock()
	defer p.function.mu.Unlock()
	p.free = true
}

// wait returns when the process has ended, and why.
func (p *process) wait() *Failure {
	slow := time.AfterFunc(initTimeout, func() {
		p.function.mu.Lock()
		defer p.function.mu.Unlock()
		if !p.ready {
			p.late = true
			p.kill()
		}
	})
	defer slow.Stop()
	_ = p.command.Wait() // how it ended is in its state
	for _, o := range p.output {
		o.flush()
	}
	p.server.Close()
	defer close(p.ended)
	p.function.mu.Lock()
	defer p.function.mu.Unlock()
	if p.late {
		return &Failure{"Sandbox.Timedout", fmt.Sprintf("the function did not start within %v", initTimeout)}
	}
	how := strings.TrimSpace(p.command.ProcessState.String())
	return &Failure{"Runtime.ExitError", "Runtime exited with error: " + how}
}

// kill ends the process and its children. It fails only when they have ended.
func (p *process) kill() { _ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL) }
