"""What a generated client does with a running server; see scripts/ci/openapi."""
import sys

from client import Client
from client.api.cut import segment, segmenters
from client.api.search import chunk, document, documents, search
from client.api.service import indexes
from client.models import ProblemBody, SegmentRequest


def main():
    client = Client(base_url=sys.argv[1])
    found = search.sync(client=client, q="full moon", k=3)
    assert found.hits[0].document == "pages/tides.md", found
    assert found.hits[0].heading_path == ["Tides", "Spring tides"], found
    listed = documents.sync(client=client, prefix="pages/")
    assert [one.id for one in listed.documents] == ["pages/tides.md"], listed
    whole = document.sync(client=client, id="pages/tides.md")
    assert whole.text.startswith("# Tides"), whole
    one = chunk.sync(client=client, id=found.hits[0].id)
    assert one.text == found.hits[0].text, one
    cut = segment.sync(client=client, body=SegmentRequest(text="# One\n\nA sentence.\n\n# Two\n\nAnother."))
    assert len(cut.chunks) == 2, cut
    assert any(one.spec == "structure" for one in segmenters.sync(client=client).segmenters)
    assert indexes.sync(client=client).indexes[0].name == "docs"
    problem = search.sync(client=client, q="")
    assert isinstance(problem, ProblemBody) and problem.code == "bad-parameter", problem
    print("the generated client searches, lists, reads and cuts")


if __name__ == "__main__":
    main()
