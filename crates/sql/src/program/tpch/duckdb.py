import json, os, sys
import duckdb

# Bars of progress, which go to standard output, are no results.
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

folder = sys.argv[1]
key, money, text, date = "bigint", "decimal(15, 2)", "varchar", "date"
tables = {
    "region": dict(r_regionkey=key, r_name=text, r_comment=text),
    "nation": dict(n_nationkey=key, n_name=text, n_regionkey=key, n_comment=text),
    "supplier": dict(s_suppkey=key, s_name=text, s_address=text, s_nationkey=key, s_phone=text, s_acctbal=money, s_comment=text),
    "customer": dict(c_custkey=key, c_name=text, c_address=text, c_nationkey=key, c_phone=text, c_acctbal=money, c_mktsegment=text, c_comment=text),
    "part": dict(p_partkey=key, p_name=text, p_mfgr=text, p_brand=text, p_type=text, p_size="integer", p_container=text, p_retailprice=money, p_comment=text),
    "partsupp": dict(ps_partkey=key, ps_suppkey=key, ps_availqty="integer", ps_supplycost=money, ps_comment=text),
    "orders": dict(o_orderkey=key, o_custkey=key, o_orderstatus=text, o_totalprice=money, o_orderdate=date, o_orderpriority=text, o_clerk=text, o_shippriority="integer", o_comment=text),
    "lineitem": dict(
        l_orderkey=key, l_partkey=key, l_suppkey=key, l_linenumber="integer", l_quantity=money, l_extendedprice=money,
        l_discount=money, l_tax=money, l_returnflag=text, l_linestatus=text, l_shipdate=date, l_commitdate=date,
        l_receiptdate=date, l_shipinstruct=text, l_shipmode=text, l_comment=text),
}
connection = duckdb.connect()
connection.execute("set enable_progress_bar = false")
for name, columns in tables.items():
    path = f"{folder}/{name}.csv".replace("'", "''")
    listed = ", ".join(f"{column} {kind}" for column, kind in columns.items())
    connection.execute(f"create table {name} ({listed})")
    connection.execute(f"copy {name} from '{path}' (header, quote '\"')")


def told(value):
    if value is None:
        return None
    return repr(value) if isinstance(value, float) else str(value)


results = []
for query in json.load(sys.stdin):
    rows = connection.execute(query).fetchall()
    results.append([[told(value) for value in row] for row in rows])
json.dump(results, out)
out.close()
