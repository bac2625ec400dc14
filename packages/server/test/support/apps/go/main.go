// Apps of the published Go SDK: one for each line of settings, answered by its port.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/inngest/inngestgo"
	"github.com/inngest/inngestgo/errors"
	"github.com/inngest/inngestgo/step"
)

type data = map[string]any
type input = inngestgo.Input[data]

type settings struct {
	ID, Service, EventKey, SigningKey, SigningKeyFallback, Kind string
	IsDev                                                       bool
}

func define(client inngestgo.Client, opts inngestgo.FunctionOpts, handler func(context.Context, input) (any, error)) {
	if _, err := inngestgo.CreateFunction(client, opts, inngestgo.EventTrigger(client.AppID()+"/"+opts.ID, nil), handler); err != nil {
		panic(err)
	}
}

func everything(app string, ctx context.Context, in input) (any, error) {
	first, err := step.Run(ctx, "one", func(context.Context) (string, error) { return "ünïcode ✓", nil })
	if err != nil {
		return nil, err
	}
	step.Sleep(ctx, "nap", 10*time.Millisecond)
	id, err := step.Send(ctx, "send", inngestgo.GenericEvent[data]{Name: app + "/heard"})
	if err != nil {
		return nil, err
	}
	match := "event.data.key == async.data.key"
	answer, err := step.WaitForEvent[inngestgo.GenericEvent[data]](ctx, "answer", step.WaitForEventOpts{Event: app + "/answer", If: &match, Timeout: time.Hour})
	if err != nil {
		return nil, err
	}
	_, missed := step.WaitForEvent[inngestgo.GenericEvent[data]](ctx, "missed", step.WaitForEventOpts{Event: app + "/never", Timeout: time.Second})
	signal, err := step.WaitForSignal[data](ctx, "signal", step.WaitForSignalOpts{Signal: "go " + in.Event.Data["key"].(string), Timeout: time.Hour})
	if err != nil {
		return nil, err
	}
	invoked, err := step.Invoke[data](ctx, "call", step.InvokeOpts{FunctionId: app + "-child", Data: data{"number": 21}, User: data{"id": 7}})
	if err != nil {
		return nil, err
	}
	fetched, err := step.Fetch[string](ctx, "fetch", step.FetchOpts{URL: in.Event.Data["url"].(string), Method: "GET"})
	if err != nil {
		return nil, err
	}
	return data{
		"first": first, "sent": len(id) == 26, "answer": answer.Data["n"], "missed": missed == step.ErrEventNotReceived,
		"signal": signal.Data["by"], "invoked": invoked, "fetched": fetched.StatusCode,
	}, nil
}

func serve(app settings) net.Listener {
	inBand, register := true, app.Service+"/fn/register"
	opts := inngestgo.ClientOpts{
		AppID: app.ID, EventKey: &app.EventKey, Dev: &app.IsDev, APIBaseURL: &app.Service, EventAPIBaseURL: &app.Service,
		RegisterURL: &register, AllowInBandSync: &inBand, SigningKeyFallback: &app.SigningKeyFallback,
		UseStreaming: app.Kind == "streaming", Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if app.SigningKey != "" {
		opts.SigningKey = &app.SigningKey
	}
	client, err := inngestgo.NewClient(opts)
	if err != nil {
		panic(err)
	}
	limits := []inngestgo.ConfigStepConcurrency{{Limit: 5}}
	define(client, inngestgo.FunctionOpts{ID: "all", Concurrency: limits}, func(ctx context.Context, in input) (any, error) {
		return everything(app.ID, ctx, in)
	})
	define(client, inngestgo.FunctionOpts{ID: "child", Retries: inngestgo.IntPtr(0)}, func(_ context.Context, in input) (any, error) {
		return data{"doubled": in.Event.Data["number"].(float64) * 2, "user": in.Event.User}, nil
	})
	define(client, inngestgo.FunctionOpts{ID: "fails", Retries: inngestgo.IntPtr(1)}, func(ctx context.Context, in input) (any, error) {
		return step.Run(ctx, "bad", func(context.Context) (any, error) { return nil, fmt.Errorf("bad luck") })
	})
	define(client, inngestgo.FunctionOpts{ID: "gives-up"}, func(context.Context, input) (any, error) {
		return nil, errors.NoRetryError(fmt.Errorf("no use"))
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/api/inngest", client.Serve())
	go http.Serve(listener, mux)
	return listener
}

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var app settings
		if err := json.Unmarshal(lines.Bytes(), &app); err != nil {
			panic(err)
		}
		fmt.Printf("listening on %d\n", serve(app).Addr().(*net.TCPAddr).Port)
	}
}
