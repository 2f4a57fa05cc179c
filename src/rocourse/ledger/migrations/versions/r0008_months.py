"""In PostgreSQL, promises and events are in a table a month, by the time in the promise's id.

Ids are UUIDs of version 7. Both tables have the same bounds, so that the events of a promise are in
the month of the promise, and their reference is from month to month. What fits no month is in
`ledger_promises_other`. Tables that hold promises become the first part as they are, up to the end
of their last month: nothing is copied.
"""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

# Everything about a promise but its status and what is personal.
_KEPT = (
    "id, model, schema_version, desired, probability_before, probability_after, robustness, "
    "issued_at, expires_at, decision, tenant, seal, certificate, months"
)
_PERSONAL = "subject, given_row, recourse_row, wishes, salt"
_ERASED = (
    "NEW.subject IS NULL AND CAST(NEW.given_row AS TEXT) = '{}' AND "
    "CAST(NEW.recourse_row AS TEXT) = '{}' AND NEW.wishes IS NULL AND NEW.salt IS NULL"
)
_INDEXES = {
    "ledger_promises_by_expiry": "ledger_promises (expires_at, status)",
    "ledger_promises_that_bind": (
        "ledger_promises (id, expires_at) WHERE status IN ('open', 'broken')"
    ),
    "ledger_promises_by_subject": "ledger_promises (subject, id)",
    "ledger_promises_by_decision": "ledger_promises (decision, id) WHERE decision IS NOT NULL",
    "ledger_events_by_promise": "ledger_events (promise, number)",
}
# Any number will do, as long as every release takes the same one.
_LOCK = 0x726F_6D6F_6E74_6873

_FIRST_ID = """
CREATE FUNCTION ledger_first_id(moment timestamp) RETURNS uuid LANGUAGE sql AS $$
    SELECT rpad(lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$
"""
_ADD_PART = """
CREATE FUNCTION ledger_add_part(ending text, bounds text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    whole text;
BEGIN
    FOREACH whole IN ARRAY ARRAY['ledger_promises', 'ledger_events'] LOOP
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
                       whole || ending, whole);
        IF whole = 'ledger_events' THEN
            EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (number), '
                           'ADD FOREIGN KEY (promise) REFERENCES %I (id)',
                           whole || ending, 'ledger_promises' || ending);
        END IF;
        PERFORM ledger_attach_part(whole, ending, bounds);
    END LOOP;
END $$
"""
_ATTACH_PART = """
CREATE FUNCTION ledger_attach_part(whole text, ending text, bounds text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I %s', whole, whole || ending, bounds);
    -- The other guards come with the whole: they are for each row.
    EXECUTE format('CREATE TRIGGER ledger_part_is_kept BEFORE TRUNCATE ON %I '
                   'EXECUTE FUNCTION ledger_refuse()', whole || ending);
END $$
"""
_ADD_MONTH = """
CREATE FUNCTION ledger_add_month(month timestamp) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    ending text := to_char(month, '"_"YYYY"_"MM');
    low uuid := ledger_first_id(month);
    high uuid := ledger_first_id(month + interval '1 month');
BEGIN
    -- Months of which the first or the other part has promises stay there.
    IF month < '{begin}' OR to_regclass('ledger_promises' || ending) IS NOT NULL
       OR EXISTS (SELECT FROM ledger_promises_other WHERE id >= low AND id < high) THEN
        RETURN;
    END IF;
    PERFORM ledger_add_part(ending, format('FOR VALUES FROM (%L) TO (%L)', low, high));
END $$
"""
# For roles that may only add, too: it does what its owner may do, and nothing but this.
_MAKE_MONTHS = """
CREATE FUNCTION ledger_make_months() RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = {schema}, pg_temp SET lock_timeout = '200ms' AS $$
DECLARE
    month timestamp := date_trunc('month', now() AT TIME ZONE 'UTC');
BEGIN
    IF to_regclass('ledger_promises' || to_char(month + interval '3 months', '"_"YYYY"_"MM'))
       IS NOT NULL THEN
        RETURN;
    END IF;
    -- The other part is read for a new month, while everybody waits: not if it is large, as where
    -- ids are of another kind.
    IF pg_relation_size('ledger_promises_other') > 256 * 1024 * 1024
       OR NOT pg_try_advisory_xact_lock({lock}) THEN
        RETURN;
    END IF;
    FOR ahead IN 0..3 LOOP
        PERFORM ledger_add_month(month + ahead * interval '1 month');
    END LOOP;
EXCEPTION
    -- Somebody reads all of it, or has just written: there is time until the month begins.
    WHEN lock_not_available OR query_canceled OR check_violation THEN
        RETURN;
END $$
"""
_FUNCTIONS = (
    "ledger_first_id(timestamp)",
    "ledger_attach_part(text, text, text)",
    "ledger_add_part(text, text)",
    "ledger_add_month(timestamp)",
    "ledger_make_months()",
)
_GRANTS = """
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT replace(relname, '_earlier', '') AS whole, '' AS own, given.*
        FROM pg_class, aclexplode(relacl) AS given
        WHERE oid IN ('ledger_promises_earlier'::regclass, 'ledger_events_earlier'::regclass)
          AND given.grantee <> relowner
        UNION ALL
        SELECT replace(relname, '_earlier', ''), format(' (%I)', attname), given.*
        FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid, aclexplode(attacl) AS given
        WHERE attrelid IN ('ledger_promises_earlier'::regclass, 'ledger_events_earlier'::regclass)
          AND given.grantee <> relowner
    LOOP
        EXECUTE format('GRANT %s%s ON %I TO %s', one.privilege_type, one.own, one.whole,
                       CASE one.grantee WHEN 0 THEN 'PUBLIC' ELSE one.grantee::regrole::text END);
        IF one.privilege_type = 'INSERT' AND one.grantee <> 0 THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION ledger_make_months() TO %s',
                           one.grantee::regrole);
        END IF;
    END LOOP;
END $$
"""


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    op.execute("LOCK TABLE ledger_promises, ledger_events IN ACCESS EXCLUSIVE MODE")
    newest = sa.text("SELECT CAST(id AS TEXT) FROM ledger_promises ORDER BY id DESC LIMIT 1")
    last = connection.execute(newest).scalar_one_or_none()
    begin = "-infinity" if last is None else _month_after(last, datetime.now(UTC))
    _set_aside()
    _create()
    schema = connection.execute(sa.text("SELECT quote_ident(current_schema())")).scalar_one()
    for text in (_FIRST_ID, _ATTACH_PART, _ADD_PART, _ADD_MONTH, _MAKE_MONTHS):
        filled = text.replace("{begin}", begin).replace("{schema}", schema)
        op.execute(filled.replace("{lock}", str(_LOCK)))
    for function in _FUNCTIONS:
        op.execute(f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")
    op.execute(_GRANTS)
    if last is None:
        op.execute("DROP TABLE ledger_events_earlier, ledger_promises_earlier")
    else:
        end = "MAXVALUE" if begin == "infinity" else f"''' || ledger_first_id('{begin}') || '''"
        for whole in ("ledger_promises", "ledger_events"):
            op.execute(
                f"SELECT ledger_attach_part('{whole}', '_earlier', "
                f"'FOR VALUES FROM (MINVALUE) TO ({end})')"
            )
    op.execute("SELECT ledger_add_part('_other', 'DEFAULT')")
    op.execute("SELECT ledger_make_months()")


def _month_after(last: str, now: datetime) -> str:
    """The first month that has a table of its own, as text; `infinity` for none."""
    milliseconds = int(last.replace("-", "")[:12], 16)
    if milliseconds > (now.timestamp() + 366 * 86400) * 1000:
        # The ids are of another kind.
        return "infinity"
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    months = max(12 * now.year + now.month - 1, 12 * moment.year + moment.month)
    return f"{months // 12:04d}-{months % 12 + 1:02d}-01"


def _set_aside() -> None:
    """Gives the tables and their indexes other names, and takes the guards of rows from them."""
    for trigger in (
        "ledger_promises_are_kept",
        "ledger_promises_are_erased_whole",
        "ledger_certificates_are_kept",
        "ledger_months_are_kept",
    ):
        op.execute(f"DROP TRIGGER {trigger} ON ledger_promises")
    op.execute("DROP TRIGGER ledger_events_are_kept ON ledger_events")
    for index in ("ledger_promises_pkey", "ledger_events_pkey", *_INDEXES):
        whole = "_".join(index.split("_")[:2])
        op.execute(f"ALTER INDEX {index} RENAME TO {index.replace(whole, whole + '_earlier')}")
    for whole in ("ledger_promises", "ledger_events"):
        op.execute(f"ALTER TABLE {whole} RENAME TO {whole}_earlier")


def _create() -> None:
    for whole, key in (("ledger_promises", "id"), ("ledger_events", "promise")):
        op.execute(
            f"CREATE TABLE {whole} (LIKE {whole}_earlier INCLUDING DEFAULTS INCLUDING CONSTRAINTS) "
            f"PARTITION BY RANGE ({key})"
        )
    op.execute("ALTER TABLE ledger_promises ADD CONSTRAINT ledger_promises_pkey PRIMARY KEY (id)")
    for name, columns in _INDEXES.items():
        op.execute(f"CREATE INDEX {name} ON {columns}")
    op.execute("ALTER SEQUENCE ledger_events_number_seq OWNED BY ledger_events.number")
    for whole, columns in (("ledger_promises", f"OF {_KEPT} "), ("ledger_events", "")):
        for name, changes, each in (
            ("are_kept", f"UPDATE {columns}OR DELETE OR TRUNCATE", "STATEMENT"),
            # These are those of every part, too.
            ("rows_are_kept", f"UPDATE {columns}OR DELETE", "ROW"),
        ):
            op.execute(
                f"CREATE TRIGGER {whole}_{name} BEFORE {changes} ON {whole} "
                f"FOR EACH {each} EXECUTE FUNCTION ledger_refuse()"
            )
    op.execute(
        f"CREATE TRIGGER ledger_promises_are_erased_whole BEFORE UPDATE OF {_PERSONAL} ON "
        f"ledger_promises FOR EACH ROW WHEN (NOT ({_ERASED})) EXECUTE FUNCTION ledger_refuse()"
    )
