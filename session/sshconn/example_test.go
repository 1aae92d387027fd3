package sshconn_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// A program that brings its own keys, and reads none of the user's files.
func ExampleStatic() {
	server, err := sshserver.Start(sshserver.Config{}) // in place of a real one
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	addr, portText, _ := net.SplitHostPort(server.Addr())
	port, _ := strconv.ParseUint(portText, 10, 16)
	web1 := hosts.Host{Name: "web1", Addr: addr, Port: uint16(port), User: "deploy"}

	known, err := knownhosts.Static(knownhosts.StaticKey{Host: knownhosts.Name(web1.Addr, web1.Port), Key: server.HostKey()})
	if err != nil {
		fmt.Println(err)
		return
	}
	dialer, err := sshconn.Static([]ssh.Signer{server.ClientKey()}, known)
	if err != nil {
		fmt.Println(err)
		return
	}
	conn, err := dialer.Dial(context.Background(), web1)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	program, err := conn.Open(context.Background(), session.Program{Line: "echo hello from $0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, _ := io.ReadAll(program)
	exit, err := program.Wait()
	fmt.Printf("%s%+v %v\n", out, exit, err)
	// Output:
	// hello from /bin/sh
	// {Code:0 Signal:} <nil>
}
