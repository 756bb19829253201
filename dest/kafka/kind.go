// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/target"
	"github.com/nib-log/nib/target/tlsfiles"
)

// Kind creates destinations for targets such as
// kafka://broker1:9092,broker2:9092/logs?compression=zstd. A program passes it
// to setup:
//
//	setup.Open(setup.FromEnv("NIB"), setup.Kinds(kafka.Kind))
//
// The password of a user is read from the file password_file, or from the
// environment variable NIB_KAFKA_PASSWORD, because targets are shown in errors
// and process lists.
var Kind = target.Spec{
	Forms:  []string{"kafka://HOST:PORT,HOST:PORT/TOPIC"},
	Doc:    "a topic of Kafka; the password of a user in NIB_KAFKA_PASSWORD or password_file",
	Params: func() target.Params { return new(params) },
}

// passwordVariable is the environment variable with the password.
const passwordVariable = "NIB_KAFKA_PASSWORD"

// params are the parameters of a topic.
type params struct {
	Config
	Partitioning   string `set:"partitioning" is:"per_spool|keyed|round_robin" default:"per_spool, with key keyed; nib relay: as the service" doc:"how partitions are chosen"`
	Key            string `set:"key" default:"none" doc:"field of a line that is the key of its record"`
	User           string `set:"user" default:"none" doc:"user that logs in (SASL)"`
	PasswordFile   string `set:"password_file" default:"none" doc:"file with the password of the user"`
	Mechanism      string `set:"mechanism" is:"scram-sha-512|scram-sha-256|plain" default:"scram-sha-512" doc:"how the user logs in"`
	AllowClearText bool   `set:"allow_clear_text" default:"off" doc:"allow plain without TLS"`
	TLS            bool   `set:"tls" default:"off, on with another tls_" doc:"connections are encrypted"`
	tlsfiles.Files
}

// config returns the Config.
func (p *params) config() (Config, error) {
	c := p.Config
	how := p.Partitioning
	if p.Key != "" {
		how, c.Key = cmp.Or(how, "keyed"), KeyField(p.Key)
	}
	c.RoundRobin = how == "round_robin"
	var errs []error
	if (how == "keyed") != (p.Key != "") {
		errs = append(errs, target.Fault("partitioning", errors.New(
			"keyed needs key=FIELD, the field of a line that is its key, and only keyed has one")))
	}
	var err error
	if load, err := p.Files.Load(); err != nil {
		errs = append(errs, err)
	} else if load != nil {
		c.TLS, _ = load()
		c.certificates = &certificates{load: load}
	}
	if p.TLS && c.TLS == nil {
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if c.SASL, err = p.sasl(); err != nil {
		errs = append(errs, err)
	}
	if p.User != "" && p.Mechanism == "plain" && c.TLS == nil && !p.AllowClearText {
		errs = append(errs,
			target.Fault("mechanism", errors.New(
				"plain would send the password in clear text: write tls=on, mechanism=scram-sha-512, "+
					"or allow_clear_text=on")))
	}
	return c, errors.Join(errs...)
}

// sasl returns the credentials, nil if there are none.
func (p *params) sasl() (*SASL, error) {
	if p.User == "" {
		if p.Mechanism != "" || p.PasswordFile != "" || p.AllowClearText {
			return nil, target.Fault("user",
				errors.New("is missing: mechanism, password_file and allow_clear_text need one"))
		}
		return nil, nil
	}
	password := os.Getenv(passwordVariable)
	if p.PasswordFile != "" {
		text, err := os.ReadFile(p.PasswordFile)
		if err != nil {
			return nil, target.Fault("password_file", err)
		}
		password = string(text)
	}
	if password = strings.TrimRight(password, "\r\n"); password == "" {
		return nil, target.Fault("user",
			fmt.Errorf("has no password: set %s or password_file", passwordVariable))
	}
	return &SASL{
		Mechanism: strings.ToUpper(cmp.Or(p.Mechanism, scramSHA512)), User: p.User,
		Password: password, AllowClearText: p.AllowClearText,
	}, nil
}

// Validate implements [target.Params].
func (p *params) Validate(t target.Target) error {
	c, err := p.config()
	if err != nil {
		return err
	}
	if topic(t) == "" || strings.Contains(topic(t), "/") {
		return fmt.Errorf("want %s, and the topic has a slash or is empty", Kind.Forms[0])
	}
	if p.TransactionalID != "" && c.partitioning() != perSpool {
		return target.Fault("transactional_id",
			errors.New("needs partitioning=per_spool, without a key"))
	}
	return c.Validate()
}

func topic(t target.Target) string { return strings.TrimPrefix(t.Path, "/") }

// Open implements [target.Params]. Unless the target has the parameter,
// partitions are chosen as by the service whose spool has the mark.
func (p *params) Open(t target.Target) (delivery.Destination, error) {
	c, err := p.config()
	if err != nil {
		return nil, err
	}
	service, known := partitioningOf(t.Mark)
	if known && p.Partitioning == "" && service != c.partitioning() {
		switch {
		case service == keyed:
			return nil, errors.New(
				"its service chooses partitions by a key: add key=FIELD with the field that is " +
					"the key, or partitioning=per_spool to put what is left into one partition " +
					"without keys")
		case c.Key != nil:
			return nil, errors.New(
				"its service does not choose partitions by a key: leave out key, or add " +
					"partitioning=keyed to do so")
		}
		c.RoundRobin = service == roundRobin
	}
	return New(strings.Split(t.Host, ","), topic(t), c)
}
