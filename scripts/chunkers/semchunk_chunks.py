"""semchunk, by tokens of MiniLM."""
import semchunk

from protocol import arguments, serve
import tokens

asked = arguments(["tokens"], size=200)
chunker = semchunk.chunkerify(tokens.count, asked.size)
serve(lambda text: chunker(text, offsets=True)[1])
