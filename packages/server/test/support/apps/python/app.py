"""Apps of the published Python SDK, with async functions on FastAPI or sync ones on Flask: one for each line of settings, answered by its port."""

import json
import logging
import os
import socket
import sys
import threading

import inngest
from inngest.experimental import ai

logging.disable(logging.CRITICAL)
MATCH = "event.data.key == async.data.key"


def client_of(settings):
    # The SDK takes this one from its variable only.
    os.environ.pop("INNGEST_SIGNING_KEY_FALLBACK", None)
    if "signingKeyFallback" in settings:
        os.environ["INNGEST_SIGNING_KEY_FALLBACK"] = settings["signingKeyFallback"]
    return inngest.Inngest(
        app_id=settings["id"],
        api_base_url=settings["service"],
        event_api_base_url=settings["service"],
        event_key=settings["eventKey"],
        signing_key=settings.get("signingKey"),
        is_production=not settings["isDev"],
    )


def definer(client):
    def define(fn_id, **options):
        trigger = inngest.TriggerEvent(event=f"{client.app_id}/{fn_id}")
        return client.create_function(fn_id=fn_id, trigger=trigger, **options)

    return define


def ask(url):
    adapter = ai.openai.Adapter(auth_key="sk-secret", base_url=url, model="small")
    return {"adapter": adapter, "body": {"messages": [{"role": "user", "content": "hello"}]}}


def asynchronous(client):
    define, app = definer(client), client.app_id

    @define("child", retries=0)
    async def child(ctx: inngest.Context):
        return {"doubled": ctx.event.data["number"] * 2}

    @define("all", retries=1)
    async def everything(ctx: inngest.Context):
        step = ctx.step

        async def one():
            return {"text": "ünïcode ✓", "number": 0.1}

        first = await step.run("one", one)
        await step.sleep("nap", 10)
        ids = await step.send_event("send", inngest.Event(name=f"{app}/heard", data={"key": ctx.event.data["key"]}))
        answer = await step.wait_for_event("answer", event=f"{app}/answer", if_exp=MATCH, timeout=3_600_000)
        missed = await step.wait_for_event("missed", event=f"{app}/never", timeout=1_000)
        invoked = await step.invoke("call", function=child, data={"number": 21})

        async def pair():
            return "pair"

        both = await ctx.group.parallel((lambda: step.run("a", pair), lambda: step.run("b", pair)))
        inferred = await step.ai.infer("ask", **ask(ctx.event.data["url"]))
        return {
            "first": first, "ids": len(ids), "answer": answer.data["n"] if answer else None, "missed": missed,
            "invoked": invoked, "both": list(both), "inferred": inferred["authorization"],
        }

    @define("fails", retries=1)
    async def fails(ctx: inngest.Context):
        async def bad():
            raise ValueError(f"attempt {ctx.attempt}")

        await ctx.step.run("bad", bad)

    @define("gives-up")
    async def gives_up(ctx: inngest.Context):
        raise inngest.NonRetriableError("no use")

    return [child, everything, fails, gives_up]


def synchronous(client):
    define, app = definer(client), client.app_id

    @define("child", retries=0)
    def child(ctx: inngest.ContextSync):
        return {"doubled": ctx.event.data["number"] * 2}

    @define("all", retries=1)
    def everything(ctx: inngest.ContextSync):
        step = ctx.step
        first = step.run("one", lambda: {"text": "ünïcode ✓", "number": 0.1})
        step.sleep("nap", 10)
        ids = step.send_event("send", inngest.Event(name=f"{app}/heard", data={"key": ctx.event.data["key"]}))
        answer = step.wait_for_event("answer", event=f"{app}/answer", if_exp=MATCH, timeout=3_600_000)
        missed = step.wait_for_event("missed", event=f"{app}/never", timeout=1_000)
        invoked = step.invoke("call", function=child, data={"number": 21})
        both = ctx.group.parallel((lambda: step.run("a", lambda: "pair"), lambda: step.run("b", lambda: "pair")))
        inferred = step.ai.infer("ask", **ask(ctx.event.data["url"]))
        return {
            "first": first, "ids": len(ids), "answer": answer.data["n"] if answer else None, "missed": missed,
            "invoked": invoked, "both": list(both), "inferred": inferred["authorization"],
        }

    @define("fails", retries=1)
    def fails(ctx: inngest.ContextSync):
        def bad():
            raise ValueError(f"attempt {ctx.attempt}")

        ctx.step.run("bad", bad)

    @define("gives-up")
    def gives_up(ctx: inngest.ContextSync):
        raise inngest.NonRetriableError("no use")

    return [child, everything, fails, gives_up]


def on_fastapi(client, listener):
    import fastapi
    import inngest.fast_api
    import uvicorn

    app = fastapi.FastAPI()
    inngest.fast_api.serve(app, client, asynchronous(client))
    return lambda: uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])


def on_flask(client, listener):
    import flask
    import inngest.flask
    from werkzeug.serving import make_server

    app = flask.Flask(__name__)
    inngest.flask.serve(app, client, synchronous(client))
    port = listener.getsockname()[1]
    return make_server("127.0.0.1", port, app, threaded=True, fd=listener.fileno()).serve_forever


for line in sys.stdin:
    settings = json.loads(line)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    serve = {"fastapi": on_fastapi, "flask": on_flask}[settings["kind"]](client_of(settings), listener)
    threading.Thread(target=serve, daemon=True).start()
    print(f"listening on {listener.getsockname()[1]}", flush=True)
