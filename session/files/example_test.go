package files_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/dialer"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Write, edit and read a file on a host, here the demo server that is built in.
func ExampleOn() {
	d, err := dialer.New(dialer.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	pool, err := session.NewPool(session.PoolConfig{
		Dial:    d.Dial,
		Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	ctx, conf := context.Background(), filepath.Join(dir, "app.conf")
	remote := files.On(pool, hosts.Host{Name: "demo1", Transport: hosts.Demo})
	if _, err := remote.Write(ctx, conf, []byte("port = 80\n"), files.WriteOptions{}); err != nil {
		log.Fatal(err)
	}
	if _, err := remote.Because("move off port 80").Edit(ctx, conf, []byte("80"), []byte("8080"), files.WriteOptions{}); err != nil {
		log.Fatal(err)
	}
	var content bytes.Buffer
	info, err := remote.Read(ctx, conf, &content)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d bytes: %s", info.Size, content.String())

	_, err = remote.Edit(ctx, conf, []byte("host"), []byte("name"), files.WriteOptions{})
	if e, ok := errors.AsType[*files.Error](err); ok && e.Code == files.CodeNoMatch {
		fmt.Println("no such text")
	}
	// Output:
	// 12 bytes: port = 8080
	// no such text
}
