"""The claims that papers are known for: those of abstracts and conclusions, in our words."""

from __future__ import annotations

HEADLINES = {
    "H-03": "ZSPTF beats disk-like schedulers; it is near SPTF in response and near C-SCAN in fairness",
    "H-46": "ZSPTF completes more than C-SCAN and SSTF at equal response",
    "H-30": "SPTF is the fastest, and its response times vary most",
    "L-22": "ZSPTF is fairer than SPTF, and a little slower",
    "H-55": "ASPTF is usually the fairest of five",
    "H-04": "parking at once, merging and parts of sectors save up to half of the energy",
    "W-01": "MEMS of 3 % of a disk has 30 to 49 % of the performance of MEMS alone",
    "W-03": "a caching disk is 5.6 to 24 times as fast as a disk",
    "W-40": "a caching disk beats a write buffer on cello",
    "W-43": "MEMS is the better cache than RAM for the same money",
    "W-52": "one old disk with MEMS carries a load of three modern disks",
    "H-66": "parking at once costs up to 0.5 ms of response time",
    "L-14": "schedulers that know of parallelism beat SPTF by far under heavy load",
    "L-17": "PA-SPTF is as fair as any",
    "Y-01": "parking at once halves the energy",
    "Y-02": "merging saves 18 % of the energy of servicing",
    "Y-03": "parts of sectors would save about 30 % of the energy of servicing",
    "C-18": "MEMS G3 joins with a tenth of the I/O time of a disk",
    "C-37": "clustering turns from store-bound to processor-bound with MEMS",
    "C-42": "what holds jobs up: processor, store or network, in 20 cases",
    "C-43": "MEMS improves all five workloads over disks",
}
"""The words, by the id of the claim."""
