"""An app of the published Python SDK, with async functions on FastAPI or sync ones on Flask. Prints its port when it listens."""

import logging
import os
import socket
import sys

import inngest
from inngest.experimental import ai

framework, service, mode = sys.argv[1:4]
logging.disable(logging.CRITICAL)
client = inngest.Inngest(
    app_id="py",
    api_base_url=service,
    event_api_base_url=service,
    event_key=os.environ["APP_EVENT_KEY"],
    signing_key=os.environ.get("APP_SIGNING_KEY"),
    is_production=mode == "start",
)
MATCH = "event.data.key == async.data.key"


def define(fn_id, **options):
    return client.create_function(fn_id=fn_id, trigger=inngest.TriggerEvent(event=f"py/{fn_id}"), **options)


def ask(url):
    adapter = ai.openai.Adapter(auth_key="sk-secret", base_url=url, model="small")
    return {"adapter": adapter, "body": {"messages": [{"role": "user", "content": "hello"}]}}


def asynchronous():
    @define("child")
    async def child(ctx: inngest.Context):
        return {"doubled": ctx.event.data["number"] * 2}

    @define("all", retries=1)
    async def everything(ctx: inngest.Context):
        step = ctx.step

        async def one():
            return {"text": "ünïcode ✓", "number": 0.1}

        first = await step.run("one", one)
        await step.sleep("nap", 10)
        ids = await step.send_event("send", inngest.Event(name="py/heard", data={"key": ctx.event.data["key"]}))
        answer = await step.wait_for_event("answer", event="py/answer", if_exp=MATCH, timeout=60_000)
        missed = await step.wait_for_event("missed", event="py/never", timeout=1_000)
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


def synchronous():
    @define("child")
    def child(ctx: inngest.ContextSync):
        return {"doubled": ctx.event.data["number"] * 2}

    @define("all", retries=1)
    def everything(ctx: inngest.ContextSync):
        step = ctx.step
        first = step.run("one", lambda: {"text": "ünïcode ✓", "number": 0.1})
        step.sleep("nap", 10)
        ids = step.send_event("send", inngest.Event(name="py/heard", data={"key": ctx.event.data["key"]}))
        answer = step.wait_for_event("answer", event="py/answer", if_exp=MATCH, timeout=60_000)
        missed = step.wait_for_event("missed", event="py/never", timeout=1_000)
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


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(128)
port = listener.getsockname()[1]

if framework == "fastapi":
    import fastapi
    import inngest.fast_api
    import uvicorn

    app = fastapi.FastAPI()
    inngest.fast_api.serve(app, client, asynchronous())
    print(f"listening on {port}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])
else:
    import flask
    import inngest.flask
    from werkzeug.serving import make_server

    app = flask.Flask(__name__)
    inngest.flask.serve(app, client, synchronous())
    print(f"listening on {port}", flush=True)
    make_server("127.0.0.1", port, app, threaded=True, fd=listener.fileno()).serve_forever()
