-- Query 6 of TPC-H, forecasting revenue change, with the parameters of its validation run; source: TPC Benchmark H, specification 3.0.1, section 2.4.6.
SELECT sum(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= DATE '1994-01-01'
    AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR
    AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01
    AND l_quantity < 24
