"""Computes every published rating of a venue again from its exports, and says how far the numbers are apart.

    OPENBLAS_NUM_THREADS=1 python replay_ratings.py http://127.0.0.1:8080 9x9 [SYSTEM]

Needs cgos-client, which reads the exports, and cgos-server, which has the rating systems.
"""

import sys

from cgos_client import api
from cgos_server.service.ratings.replaying_exports import replay

if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
address, venue, *system = sys.argv[1:]
replayed, ratings = replay(api.Server(address), venue, *system)
print(f"{venue}, {replayed.system}: {replayed.entries} entries, {replayed.refits} refits")
compared = replayed.changes + replayed.points
print(f"{compared} published ratings computed again; the largest difference is {replayed.largest:g}")
for name, rating in sorted(ratings.items(), key=lambda item: -item[1].mean):
    print(f"{rating.mean:8.1f} {name}")
