"""Asks `pericope mcp` with the official Python SDK: every tool, wrong arguments, a cancelled call, ten clients at once.

    client.py stdio PROGRAM FOLDER      starts PROGRAM mcp in FOLDER
    client.py http URL [KEY]
"""

import sys

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

TOOLS = ["fetch", "list", "read", "search", "status"]
WRONG = [
    ("search", {}, "query"),
    ("search", {"query": 7}, "query"),
    ("search", {"query": " "}, "empty"),
    ("search", {"query": "x", "k": 0}, "k"),
    ("search", {"query": "x", "k": "many"}, "k: "),
    ("search", {"query": "x", "limit": 3}, "limit"),
    ("search", {"query": "x", "mode": "best"}, "mode"),
    ("search", {"query": "x", "index": "nowhere"}, "nowhere"),
    ("fetch", {"id": "00000000-0000-4000-8000-000000000000"}, "no passage"),
    ("read", {"document": "../../etc/passwd"}, "passwd"),
    ("read", {"document": "DOCUMENT", "lines": "9-3"}, "lines"),
    ("read", {"document": "DOCUMENT", "start": 5, "end": 5}, "start"),
    ("list", {"limit": -1}, "limit"),
    ("status", {"index": "nowhere"}, "nowhere"),
]
checks = 0


def check(holds: object, what: object) -> None:
    global checks
    checks += 1
    if not holds:
        raise SystemExit(f"does not hold: {what}")


def connect(arguments: list[str], mode: str = "auto") -> Client:
    match arguments:
        case ["stdio", program, folder]:
            return Client(StdioServerParameters(command=program, args=["mcp"], cwd=folder), mode=mode)
        case ["http", url]:
            return Client(url, mode=mode)
        case ["http", url, key]:
            http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=30)
            return Client(streamable_http_client(url, http_client=http), mode=mode)
    raise SystemExit(__doc__)


def words(result) -> str:
    return "".join(part.text for part in result.content)


async def ask(client: Client, tool: str, **arguments):
    result = await client.call_tool(tool, arguments)
    check(not result.is_error, (tool, arguments, result))
    check(words(result).strip(), (tool, "says something in words"))
    return result.structured_content, words(result)


async def tools(client: Client) -> None:
    check(client.server_info.name == "pericope", client.server_info)
    check("search" in client.instructions, client.instructions)
    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    check(sorted(listed) == TOOLS, sorted(listed))
    for tool in listed.values():
        check(len(tool.description) > 40 and tool.output_schema["type"] == "object", tool)
        check(tool.annotations.read_only_hint and not tool.annotations.open_world_hint, tool)
        for name, about in tool.input_schema["properties"].items():
            check(about.get("description"), (tool.name, name))


async def every_tool(client: Client) -> None:
    found, said = await ask(client, "search", query="how do I feed a sourdough starter", k=3)
    check(len(found["hits"]) == 3 and found["mode"] in ("bm25", "hybrid"), found)
    hit = found["hits"][0]
    first, last = hit["lines"]
    check(1 <= first <= last and hit["heading_path"] and hit["snippet"] in hit["text"], hit)
    check(f"{hit['document']}:{first}" in said and hit["id"] in said and hit["text"].strip() in said, said)
    check(sum(hit["tokens"] for hit in found["hits"]) == found["tokens"], found["tokens"])
    few, _ = await ask(client, "search", query="how do I feed a sourdough starter", budget=hit["tokens"])
    check(few["tokens"] <= hit["tokens"] and len(few["hits"]) <= 1, few)
    folder = hit["document"].rpartition("/")[0]
    below, _ = await ask(client, "search", query="starter", path=[folder], heading=hit["heading_path"][-1])
    check(below["hits"] and all(hit["document"].startswith(folder) for hit in below["hits"]), below)

    passage, said = await ask(client, "fetch", id=hit["id"], context=1)
    check(hit["text"] in passage["text"] and passage["document"] == hit["document"], passage)
    alone, _ = await ask(client, "fetch", id=hit["id"], context=0)
    check(alone["text"] == hit["text"] and alone["lines"] == hit["lines"], alone)
    whole, _ = await ask(client, "fetch", id=hit["document"])
    check(hit["text"].splitlines()[-1] in whole["text"], whole)
    part, _ = await ask(client, "read", document=hit["document"], lines=f"{first}-{last}")
    check(hit["text"].strip() in part["text"] and part["lines"] == [first, last], part)
    wider, _ = await ask(client, "read", document=hit["document"], start=hit["start"], end=hit["end"], context=2)
    check(hit["text"] in wider["text"] and wider["lines"][0] <= first and wider["lines"][1] >= last, wider)

    documents, after = [], None
    while True:
        page, _ = await ask(client, "list", limit=2, **({"after": after} if after else {}))
        documents += [document["id"] for document in page["documents"]]
        after = page.get("next")
        if after is None:
            break
    check(documents == sorted(set(documents)) and hit["document"] in documents, documents)
    status, said = await ask(client, "status")
    index = status["indexes"][0]
    check(index["documents"] == len(documents) and index["passages"] >= len(documents), index)
    check(index["age_seconds"] >= 0 and index["stale"] == {"changed": 0, "gone": 0, "names": []}, index)


async def wrong_arguments(client: Client) -> None:
    listed, _ = await ask(client, "list", limit=1)
    document = listed["documents"][0]["id"]
    for tool, arguments, says in WRONG:
        arguments = {key: document if value == "DOCUMENT" else value for key, value in arguments.items()}
        result = await client.call_tool(tool, arguments)
        check(result.is_error and says in words(result), (tool, arguments, words(result)))
    try:
        await client.call_tool("remove", {})
        check(False, "a tool that is none is refused")
    except MCPError as error:
        check("remove" in str(error), error)


async def cancelled(client: Client) -> None:
    for _ in range(10):
        with anyio.CancelScope() as scope:
            scope.cancel()
            await client.call_tool("search", {"query": "a call that nobody waits for", "k": 100})
        check(scope.cancelled_caught, "the call was cancelled")
    await ask(client, "search", query="sourdough")


async def one_of_many(arguments: list[str], answers: list) -> None:
    async with connect(arguments) as client:
        for _ in range(10):
            found, _ = await ask(client, "search", query="how do I feed a sourdough starter")
            answers.append([hit["id"] for hit in found["hits"]])


async def main(arguments: list[str]) -> None:
    for mode in ("auto", "legacy"):
        async with connect(arguments, mode) as client:
            await tools(client)
            await every_tool(client)
            await wrong_arguments(client)
            await cancelled(client)
    answers: list = []
    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(one_of_many, arguments, answers)
    check(len(answers) == 100 and answers[0] and all(answer == answers[0] for answer in answers), "ten at once agree")
    print(f"python, {arguments[0]}: {checks} checks hold")


anyio.run(main, sys.argv[1:])
