package main

import (
	"archive/zip"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
)

// architectures maps each architecture of Lambda to the name that scripts/build has for it and to the machine in the
// header of an ELF binary.
var architectures = map[string]struct {
	build   string
	machine elf.Machine
}{
	"arm64": {"arm64", elf.EM_AARCH64}, "x86_64": {"amd64", elf.EM_X86_64},
}

// built returns the path of a function's zip as scripts/build makes it.
func (o options) built(host string) string { return filepath.Join(o.Dist, host+".zip") }

// code returns the path of a function's zip as it is deployed, which has the policy inside.
func (o options) code(host string) string {
	if o.Policy.File == nil {
		return o.built(host)
	}
	return filepath.Join(o.Dist, "policy", host+".zip")
}

// findCode checks that every function is built, and for the right architecture.
func (o options) findCode() error {
	want := architectures[o.Arch]
	for _, host := range functionNames {
		machine, err := machineOf(o.built(host))
		if err == nil && machine != want.machine {
			err = fmt.Errorf("it is for %s", machine)
		}
		if err != nil {
			return fmt.Errorf("%s cannot be deployed on %s (%w): run scripts/build -arch %s first", o.built(host), o.Arch, err,
				want.build)
		}
	}
	return nil
}

// machineOf returns the architecture of the binary named bootstrap in a zip.
func machineOf(file string) (elf.Machine, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return 0, err
	}
	defer z.Close()
	f, err := z.Open("bootstrap")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var head [20]byte // an ELF file has its machine in bytes 18 and 19
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return 0, err
	}
	if string(head[:4]) != elf.ELFMAG {
		return 0, fmt.Errorf("bootstrap is no Linux binary")
	}
	return elf.Machine(binary.LittleEndian.Uint16(head[18:])), nil
}
