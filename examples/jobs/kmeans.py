"""Lloyd's k-means on storage nodes: every round reads a node's points; only sums of clusters leave it."""

import numpy as np


def data(number, nodes, seed):
    """The points of a node, around four centers."""
    random = np.random.default_rng([seed, number])
    centers = np.array([[0, 0], [0, 9], [9, 0], [9, 9]])[random.integers(4, size=50_000)]
    return {"points": centers + random.normal(size=(50_000, 2))}


def kmeans(node, clusters: int = 4, rounds: int = 8):
    """Finds the means of clusters of points.

    Args:
        node: The node.
        clusters: Number of clusters.
        rounds: How often the means are moved.
    """
    node.phase("seeding")
    means = yield node.broadcast(initial_means(node.open("points").rows(0, 1000), clusters))
    for number in range(rounds):
        node.phase(f"round {number + 1}")
        sums = np.zeros((clusters, 3))
        for points in node.read("points"):
            nearest = ((points[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
            for axis, weights in enumerate((points[:, 0], points[:, 1], None)):
                sums[:, axis] += np.bincount(nearest, weights, minlength=clusters)
            node.count_operations(distance=len(points) * clusters)
        sums = yield node.all_reduce(sums)
        means = sums[:, :2] / sums[:, 2:]
    return means.round(3).tolist() if node.number == 0 else None


def initial_means(points, clusters):
    """Points that lie far from each other, to begin with."""
    found = points[:1]
    while len(found) < clusters:
        distances = ((points[:, None] - found) ** 2).sum(axis=2).min(axis=1)
        found = np.vstack([found, points[distances.argmax()]])
    return found
